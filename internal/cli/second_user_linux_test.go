package cli

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"muster/internal/home"
	"muster/internal/lobby"
)

// nobody is another user of this machine.
const nobody = 65534

// curlAs requests a URL as a user, and returns the status and the redirect.
func curlAs(t *testing.T, uid uint32, url string) (answer string) {
	t.Helper()
	c := exec.Command("curl", "--silent", "--noproxy", "*", "--max-time", "30", "--output", "/dev/null", "--write-out",
		"%{http_code} %{redirect_url}", url)
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, _ := c.Output() // "000" if nobody listens any more
	return strings.TrimSpace(string(out))
}

// TestSecondUser checks that another user, who reads the browser's command line and is faster than
// the browser, gets nowhere. The user's own browser still gets in.
func TestSecondUser(t *testing.T) {
	if _, err := exec.LookPath("curl"); os.Getuid() != 0 || err != nil {
		t.Skip("needs root, to be somebody else, and curl")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	atHome, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := home.New(ctx, atHome.Addr(), home.Config{
		Page: http.NotFoundHandler(), Stays: true,
		Favourites: t.TempDir() + "/servers.json", Logger: slog.New(slog.DiscardHandler),
		Games: func() ([]home.Game, error) {
			return nil, nil
		}, Settings: func() (map[string]string, error) { return nil, nil }, Settle: func(map[string]string) error { return nil },
	})
	served := make(chan error, 1)
	go func() { served <- h.Serve(atHome) }()
	defer func() { cancel(); <-served }()
	const page = "http://127.0.0.1:1/#BAKODI.SECRET"
	for name, link := range map[string]string{
		"a room": lobby.Ticket(ctx, page),
		"Home":   "http://" + atHome.Addr().String() + h.Ticket(),
	} {
		for range 2 {
			if got := curlAs(t, nobody, link); !strings.HasPrefix(got, "4") {
				t.Errorf("%s: another user is answered %s", name, got)
			}
		}
		if got := curlAs(t, 0, link); !strings.HasPrefix(got, "303 http") {
			t.Errorf("%s: the user is answered %s", name, got)
		}
		if got := curlAs(t, 0, link); strings.HasPrefix(got, "3") {
			t.Errorf("%s: a second visit is answered %s", name, got)
		}
	}
}
