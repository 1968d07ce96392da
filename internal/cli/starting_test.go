//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/internal/echo"
)

// gameServer answers as an OpenArena server does, with a delay.
func gameServer(t *testing.T, later time.Duration) string {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			if asked, err := quake3.ParseRequest(b[:n]); err == nil {
				answer := quake3.AppendInfoResponse(nil, discovery.Info{Name: "Den", Map: "oa_dm1", MaxPlayers: 16}, asked.Challenge(), 71)
				time.AfterFunc(later, func() { conn.WriteToUDPAddrPort(answer, from) })
			}
		}
	}()
	return conn.LocalAddr().String()
}

// TestStartCommand checks that the organiser's command starts a server if none suits and the
// room has found a place. The room goes there once it answers, and the server ends with the session. Failures
// are said plainly, and leave the room as it is.
func TestStartCommand(t *testing.T) {
	t.Parallel()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	at := conn.LocalAddr().String()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- echo.New("den", echo.Bounds{}).Serve(ctx, conn) }()
	t.Cleanup(func() { stop(); <-ended })
	far, near := gameServer(t, 300*time.Millisecond), gameServer(t, 0)
	places := writeFile(t, "places.txt", "The Den, "+at+"\n")
	servers := writeFile(t, "servers.txt", far+"\n")
	opens := func(t *testing.T, script string, more ...string) *player {
		command := fmt.Sprintf("sh '%s' --at {place} {game} {players} {room}", writeFile(t, "start.sh", script))
		return begin(t, append([]string{"host", "--game", "openarena", "--servers", servers, "--listen", "127.0.0.1:0",
			"--new", "--no-browser", "--no-mdns", "--name", "org", "--players", "1",
			"--by", "threshold", "--max-rtt", "150ms", "--places", places, "--start-command", command, "--launch",
			"never", "--lan", "off"}, more...)...)
	}
	t.Run("it goes there", func(t *testing.T) {
		t.Parallel()
		marks := writeFile(t, "marks", "")
		h := opens(t, "trap 'echo ended >> "+marks+"; exit' TERM; echo \"$@\" > "+marks+"; echo "+near+
			"; while :; do sleep 0.1; done", "--start", "auto")
		h.says(t, "no server suits everyone")
		h.says(t, `host it in The Den: \d+ ms on average, \d+ at worst`)
		h.says(t, "starting in The Den: sh ")
		h.says(t, "the server in The Den answers: the room goes there")
		h.says(t, "start it yourself with the line above")
		if out := h.out.String() + h.err.String(); !strings.Contains(out, near) {
			t.Errorf("nobody is sent to %s", near)
		}
		h.types(t, "end")
		h.exits(t, 0)
		b, _ := os.ReadFile(marks)
		text := string(b)
		if !strings.HasPrefix(text, "--at The Den openarena 1 ") || !strings.HasSuffix(text, "ended\n") {
			t.Errorf("the command was told, and left behind, %q", text)
		}
	})
	t.Run("it is asked for first", func(t *testing.T) {
		t.Parallel()
		h := opens(t, "exit 0")
		h.says(t, `start it now\? \[y/N\]`)
		h.types(t, "")
		h.says(t, "OK, no server is started")
		h.types(t, "end")
		h.exits(t, 0)
	})
	for name, c := range map[string]struct{ script, says, within string }{
		"it fails": {"echo 'no money left' >&2; exit 7",
			"(?s)the start command failed: exit status 7. Its last words:.*no money left", "1m"},
		"it never answers":  {"sleep 600", "the server in The Den hasn't answered at 127.0.0.1:27960 for 1 second: giving up on it", "1s"},
		"it only says that": {"sleep 600 &", "the server in The Den hasn't answered at 127.0.0.1:27960 for 1 second: giving up on it", "1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := opens(t, c.script, "--start", "auto", "--start-within", c.within)
			h.says(t, c.says)
			h.types(t, "end")
			h.exits(t, 0)
		})
	}
}

func TestStartCommandWrongUse(t *testing.T) {
	places := writeFile(t, "places.txt", "The Den, 192.0.2.1\n")
	for _, args := range [][]string{
		{"--start-command", "start {address}"}, {"--places", places, "--start-command", "start {password}"},
		{"--places", places, "--start-command", "start 'x"},
		{"--places", places, "--start-command", "start", "--start-within", "-1s"},
		{"--places", writeFile(t, "wrong.txt", "The Den")}, {"--start", "maybe"},
	} {
		if got := muster(t, append([]string{"host", "--game", "openarena", "--listen", "127.0.0.1:0", "--no-browser"},
			args...)...); got.code != 2 {
			t.Errorf("%v: %+v", args, got)
		}
	}
	// A file that cannot be read is no wrong usage, whichever flag names it.
	if got := muster(t, "host", "--game", "openarena", "--listen", "127.0.0.1:0", "--no-browser", "--places",
		"no-such-file"); got.code != 1 || !strings.Contains(got.err, "no-such-file") {
		t.Errorf("%+v", got)
	}
}

// TestDiscoverPlaces checks that a single player, too, is told how a server at a place would do. A
// busy machine delays each ping, sometimes the near one more, though not always.
func TestDiscoverPlaces(t *testing.T) {
	t.Parallel()
	const later = 300
	near, far := gameServer(t, 0), gameServer(t, later*time.Millisecond)
	places := writeFile(t, "places.txt", "Far, "+far+", quake3\nDen, "+near+", quake3\nNowhere, 127.0.0.1:1, tcp\n")
	servers := writeFile(t, "servers.txt", far+"\n")
	told := regexp.MustCompile(`a server of your own would give: (\w+) (\d+) ms, (\w+) (\d+) ms, Nowhere does not answer; the nearest there is gives (\d+)`)
	for deadline := time.Now().Add(time.Minute); ; {
		got := muster(t, "discover", "--game", "openarena", "--servers", servers, "--places", places, "--lan", "off",
			"--max-rtt", "1s", "--fresh")
		found := told.FindStringSubmatch(strings.Join(strings.Fields(got.err), " "))
		if got.code != 0 || found == nil {
			t.Fatalf("%+v", got)
		}
		rtt := map[string]int{}
		for place, text := range map[string]string{found[1]: found[2], found[3]: found[4], "nearest": found[5]} {
			rtt[place], _ = strconv.Atoi(text)
		}
		if min(rtt["Far"], rtt["nearest"]) < later || rtt[found[1]] > rtt[found[3]] {
			t.Fatalf("%q", found[0])
		}
		if rtt["Den"] < later {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the near server stays far: %q", found[0])
		}
	}
}
