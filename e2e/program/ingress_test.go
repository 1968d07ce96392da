//go:build linux

package program_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/internal/freeport"
)

// TestChangedCertificate checks that a host keeps its certificate over a restart. If the
// certificate is lost, or another host answers at the address, the link opens nothing.
func TestChangedCertificate(t *testing.T) {
	t.Parallel()
	servers := writeFile(t, "servers.txt", "127.0.0.1:27960\n")
	at, home := freeport.TCP(t), t.TempDir()
	begin := func() (*process, string) {
		h := run(t, home, "host", "host", "--game", "openarena", "--servers", servers, "--listen", at,
			"--tls", "--no-play", "--no-mdns", "--no-browser", "--players", "2")
		link := h.awaits(`(?m)^link +(\S+)$`)[1]
		return h, link
	}
	player := t.TempDir()
	h, link := begin()
	if !strings.HasPrefix(link, "https://"+at+"/#") || len(strings.SplitN(link, "~", 2)[1]) != 26 {
		t.Fatalf("link %q", link)
	}
	run(t, player, "ann", "join", link, "--name", "ann", "--launch", "never").awaits("ann is here")
	h.stop(syscall.SIGTERM)
	h, again := begin()
	if again != link {
		t.Errorf("after a restart the link is %q, was %q", again, link)
	}
	h.stop(syscall.SIGTERM)
	if err := os.Remove(filepath.Join(home, "state", "muster", "certificate.pem")); err != nil {
		t.Fatal(err)
	}
	begin()
	run(t, t.TempDir(), "bob", "join", link, "--name", "bob", "--launch", "never").
		awaits("shows a different certificate from the one in the link\nhint: ")
}

// TestLocalNetwork checks that a host announces its room on the local network. A player in another
// namespace finds it, confirms it, and is let in with the code, by the pinned certificate. One of
// the host's addresses may be blocked. After the host has ended, nothing is found.
func TestLocalNetwork(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "unshare", "-n", "bash", "testdata/network.sh", file).CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{
		"1  Friday  openarena   0 of 4  olga\njoin Friday? [Y/n] \nthe room's code: \n", "bob is here\n",
		"1  Friday  openarena   1 of 4  olga\njoin Friday? [Y/n] \nmuster: you haven't joined a room\n",
		"muster: there's no keyboard here to answer: standard input has ended\n",
		"1  Open  openarena   0 of 4  olga       open\njoin Open? [Y/n] \n", "cat is here\n", "dan is here\n",
		"muster: no room found on the local network\nhint: paste the line",
		"connecting to [2001:db8:9::1]:7777 …\n", "eve is here\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}
