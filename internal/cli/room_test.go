package cli_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/host"
	"muster/host/wire"
	"muster/internal/await"
	"muster/internal/cli"
	"muster/internal/leak"
)

// decided matches the reason of a room that chooses by the average. On a busy machine a reply may
// be late or lost, and then quality decides.
const decided = "has the lowest average|is best counting loss and jitter: "

// player is a command that runs while the test goes on.
type player struct {
	in       io.WriteCloser // what is typed
	out, err *buffer
	code     chan int
}

// begin runs a command in the background.
func begin(t *testing.T, args ...string) *player {
	t.Helper()
	in, typed := io.Pipe()
	p := &player{in: typed, out: &buffer{}, err: &buffer{}, code: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { p.code <- cli.Run(ctx, args, cli.Streams{In: in, Out: p.out, Err: p.err}) })
	t.Cleanup(func() {
		cancel()
		typed.Close()
		work.Wait()
		if t.Failed() {
			t.Logf("muster %s printed\n%s%s", strings.Join(args, " "), p.out, p.err)
		}
	})
	return p
}

// says waits until the command has printed what pattern matches.
func (p *player) says(t *testing.T, pattern string) (found []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	await.Until(t, func() bool {
		found = re.FindStringSubmatch(p.out.String() + p.err.String())
		return found != nil
	}, "never says %q", pattern)
	return found
}

// types writes a line to the command.
func (p *player) types(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		t.Fatal(err)
	}
}

// exits waits for the end of the command.
func (p *player) exits(t *testing.T, want int) {
	t.Helper()
	select {
	case code := <-p.code:
		if code != want {
			t.Errorf("exit status %d, want %d", code, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("does not end")
	}
}

// TestSession plays with an organiser and two friends. The organiser's game starts after a yes, one
// friend says no, and the other's game is not installed. Nothing is left running.
func TestSession(t *testing.T) {
	t.Parallel()
	leak.Mark(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startLoopback(t, 40)
	game := self + " -test.run=^$ {address}"
	common := []string{"--once", "--listen-addr", l.from, "--rate", "1000"}
	host := begin(t, append([]string{"host", "--game", "openarena", "--servers", l.file, "--listen", "127.0.0.1:0",
		"--no-browser", "--name", "org", "--launch-command", game}, common...)...)
	link := host.says(t, `(?m)^link  (\S+)$`)[1]
	ann := begin(t, append([]string{"join", link, "--name", "ann", "--launch-command", game}, common...)...)
	bob := begin(t, append([]string{"join", link, "--name", "bob", "--launch-command", "no-such-game {address}",
		"--launch", "auto"}, common...)...)
	host.says(t, "ann is here")
	host.says(t, "bob is here")
	host.types(t, "") // go
	host.says(t, `start it now\? \[Y/n\]`)
	ann.says(t, `start it now\? \[Y/n\]`)
	ann.types(t, "n")
	host.says(t, "ann stays behind")
	host.types(t, "y")
	ann.exits(t, 0)
	bob.exits(t, 0)
	host.exits(t, 0)
	bob.says(t, "there's no program no-such-game on this machine\nhint: ")
	bob.says(t, `connect by hand: 127\.`)
	host.says(t, "bob couldn’t start openarena: there's no program no-such-game on this machine")
	host.says(t, "the game is starting")
	host.says(t, decided)
	if log := host.err.String(); strings.Contains(log, os.Getenv("PATH")) {
		t.Error("the room learns what is on bob's machine")
	}
	for _, p := range []*player{host, ann, bob} {
		p.in.Close()
	}
	nothingRuns(t)
}

// TestVoteAtTerminal checks that the organiser and a friend can vote at the terminal, without a
// page.
func TestVoteAtTerminal(t *testing.T) {
	t.Parallel()
	leak.Mark(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startLoopback(t, 40)
	common := []string{"--once", "--listen-addr", l.from, "--rate", "1000", "--no-browser", "--launch", "auto",
		"--launch-command", self + " -test.run=^$ {address}"}
	host := begin(t, append([]string{"host", "--game", "openarena", "--servers", l.file, "--listen", "127.0.0.1:0",
		"--name", "org", "--vote", "--players", "2"}, common...)...)
	link := host.says(t, `(?m)^link  (\S+)$`)[1]
	ann := begin(t, append([]string{"join", link, "--name", "ann"}, common...)...)
	ann.says(t, "where shall we play\\? most votes win; ties go to the server listed first")
	host.says(t, "press Enter to launch without waiting")
	ann.types(t, "9")
	ann.says(t, `your page does everything else: http`)
	host.types(t, "set map dm6")
	host.says(t, "the organiser wants .*dm6|the organiser set .*dm6")
	host.types(t, "set map")
	ann.types(t, "2")
	host.says(t, `2 has 1 vote \(ann\)`)
	host.types(t, "v1")
	ann.says(t, "org vetoes ")
	host.says(t, "(?s)org vetoes .*where shall we play")
	host.types(t, "v2")
	host.says(t, "you have one veto a round")
	host.types(t, "r")
	ann.says(t, "everyone is ready: launch in")
	ann.types(t, "w")
	host.says(t, "the countdown is stopped")
	host.types(t, "r")
	ann.says(t, "everyone to ")
	ann.exits(t, 0)
	host.exits(t, 0)
	for _, p := range []*player{host, ann} {
		p.in.Close()
	}
	nothingRuns(t)
}

// TestEndOfSession checks that the organiser can end the session at the terminal. Every program says
// once who ended it, and exits with 0, wherever the room is.
func TestEndOfSession(t *testing.T) {
	newState(t)
	l := startLoopback(t, 5)
	s := startService(t, l.file)
	for _, where := range [][]string{{"--servers", l.file, "--listen", "127.0.0.1:0"},
		{"--servers", l.file, "--listen", "127.0.0.1:0", "--no-play"}, {"--at", s.URL},
		{"--at", s.URL, "--new", "--no-play"}, {"--at", s.URL, "--new", "--no-play", "--every", "fri 20:00 Europe/Berlin"}} {
		t.Run(strings.Join(where, " "), func(t *testing.T) {
			host := begin(t, append([]string{"host", "--game", "openarena", "--no-browser", "--name", "org"}, where...)...)
			link := host.says(t, `(?m)^link  (\S+)$`)[1]
			ann := begin(t, "join", link, "--name", "ann", "--launch", "never")
			host.says(t, "ann is here")
			host.types(t, "end")
			ann.exits(t, 0)
			host.exits(t, 0)
			for name, p := range map[string]*player{"ann": ann, "org": host} {
				if n := strings.Count(p.err.String(), "has ended the night. Good night!"); n != 1 {
					t.Errorf("%s is told %d times that the night has ended", name, n)
				}
				if strings.Contains(p.err.String(), "you're not playing any more") {
					t.Errorf("%s is told that the host goes on", name)
				}
			}
		})
	}
}

// TestAwayAtTheEnd checks a player whose connection is lost while the organiser ends the session.
// The player is told when it is back, and the program ends like the others.
func TestAwayAtTheEnd(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 5)
	s := startService(t, l.file)
	for name, stays := range map[string][]string{"a room that ends": {"--new"},
		"a room that stays": {"--new", "--every", "fri 20:00 Europe/Berlin"}} {
		t.Run(name, func(t *testing.T) {
			line := newLine(t, s.Listener.Addr().String())
			host := begin(t, append([]string{"host", "--game", "openarena", "--no-browser", "--name", "org", "--at",
				s.URL, "--no-play"}, stays...)...)
			link := host.says(t, `(?m)^link  (\S+)$`)[1]
			there := strings.Replace(link, s.Listener.Addr().String(), line.Addr().String(), 1)
			ann := begin(t, "join", there, "--name", "ann", "--launch", "never")
			host.says(t, "ann is here")
			ann.says(t, "ann is here") // before that the line's end is a host that does not answer
			if len(stays) > 1 {
				ann.says(t, "next game night: .*\nmore on your page: http")
			}
			line.cut(true)
			host.says(t, "lost the connection to ann")
			host.types(t, "end")
			host.says(t, "Good night!")
			line.cut(false)
			ann.exits(t, 0)
			if n := strings.Count(ann.err.String(), "the night ended while the connection was lost"); n != 1 {
				t.Errorf("ann is told %d times", n)
			}
		})
	}
}

// line forwards to an address unless it is cut.
type line struct {
	net.Listener
	mu    sync.Mutex // guards what follows
	isCut bool
	conns []net.Conn
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", to)
			l.mu.Lock()
			if err != nil || l.isCut {
				here.Close()
			}
			if err == nil {
				l.conns = append(l.conns, here, there)
				work.Go(func() { io.Copy(there, here); there.Close() })
				work.Go(func() { io.Copy(here, there); here.Close() })
			}
			l.mu.Unlock()
		}
	})
	t.Cleanup(func() { listener.Close(); l.cut(true); work.Wait() })
	return l
}

// cut cuts the line or mends it.
func (l *line) cut(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = is
	for _, conn := range l.conns {
		conn.Close()
	}
	l.conns = nil
}

// nothingRuns waits until no goroutine is left from a command that the test has started. The test
// has marked its own goroutines.
func nothingRuns(t *testing.T) {
	t.Helper()
	var left []string
	await.Until(t, func() bool {
		_, stacks := leak.Marked(t)
		left = in(stacks, "muster/internal/cli.", "muster/internal/term.", "muster/internal/ingress.",
			"muster/internal/listing.", "muster/host.", "muster/host/wire.", "muster/peer.", "muster/discovery/prober.")
		return len(left) == 0
	}, "left running:\n%q", &left)
}

func in(stacks []string, packages ...string) []string {
	return slices.DeleteFunc(stacks, func(stack string) bool {
		return !slices.ContainsFunc(packages, func(name string) bool { return strings.Contains(stack, name) })
	})
}

// TestNobodyToPressEnter checks that a host without a keyboard says how to go on.
func TestNobodyToPressEnter(t *testing.T) {
	list := writeFile(t, "list.txt", closedPort(t)+"\n")
	host := begin(t, "host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0", "--no-play", "--no-browser")
	host.says(t, "press Enter when everyone is here")
	host.in.Close()
	host.says(t, "there's no keyboard here to press Enter.*--players N")
}

// TestNothingForTheGroup checks that a room ends with status 3 if no server answers.
func TestNothingForTheGroup(t *testing.T) {
	t.Parallel()
	list := writeFile(t, "list.txt", closedPort(t)+"\n")
	host := begin(t, "host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0", "--players", "1",
		"--once", "--no-browser", "--retries", "0")
	host.exits(t, 3)
	host.says(t, "muster: found nothing suitable")
}

// orders sends an order as a page does, with a personal link. It returns the answer's status.
func orders(t *testing.T, link, action, body string) int {
	t.Helper()
	at, key, _ := strings.Cut(link, "#")
	room, secret, _ := strings.Cut(key, ".")
	code, _, _ := strings.Cut(room, "_")
	request, err := http.NewRequest("POST", at+"api/rooms/"+code+"/"+action, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestPersonalLinks checks the links that host and join print, by which a page acts for the player.
// A player who leaves by it ends the program without an error. A host keeps the room when its own
// player is removed from it.
func TestPersonalLinks(t *testing.T) {
	l := startLoopback(t, 5)
	host := begin(t, "host", "--game", "openarena", "--servers", l.file, "--listen", "127.0.0.1:0", "--no-browser",
		"--no-mdns", "--name", "org", "--listen-addr", l.from)
	link := host.says(t, `(?m)^link +(\S+_[A-Z2-7]{16})$`)[1]
	secret := host.says(t, `(http://\S+\.[A-Z2-7]{26})\n`)[1]
	host.says(t, "org is here")
	ann := begin(t, "join", link, "--name", "ann", "--launch", "never", "--listen-addr", l.from)
	page := ann.says(t, `the page, to watch and to vote: (\S+\.[A-Z2-7]{16})\n`)[1]
	for _, tt := range []struct {
		link, action, body string
		want               int
	}{
		{page, "lock", `{"locked":true}`, 403},
		{page, "rename", `{"name":"org"}`, 409},
		{page, "rename", `{"name":"anna"}`, 204},
		{secret, "remove", `{"name":"org"}`, 204},
		{secret, "lock", `{"locked":false}`, 204},
		{secret, "renew", "", 200},
		{secret, "lock", `{"locked":false}`, 403},
	} {
		if got := orders(t, tt.link, tt.action, tt.body); got != tt.want {
			t.Errorf("%s %s by %s is answered %d, want %d", tt.action, tt.body, tt.link, got, tt.want)
		}
	}
	host.says(t, "removed you from the room. The room goes on")
	renewed := host.says(t, `your link to steer has changed; the old one doesn't work any more:\n(\S+)\n`)[1]
	if got := orders(t, renewed, "lock", `{"locked":false}`); got != 204 {
		t.Errorf("by the new link the lock is answered %d", got)
	}
	bob := begin(t, "join", link, "--name", "bob", "--launch", "never", "--listen-addr", l.from)
	bob.says(t, "anna is here|you're in")
	if got := orders(t, page, "leave", ""); got != 204 {
		t.Errorf("ann's leave is answered %d", got)
	}
	ann.exits(t, 0)
	host.says(t, "anna has left")
}

// TestOwnHostIsSteeredByHTTP checks that a program with its own host steers the room like any
// client, also over TLS. It keeps steering after the organiser's link was renewed on the page.
func TestOwnHostIsSteeredByHTTP(t *testing.T) {
	t.Parallel()
	list := writeFile(t, "servers.txt", "127.0.0.1:1\n")
	for name, more := range map[string][]string{"in the clear": nil, "encrypted": {"--tls"}} {
		t.Run(name, func(t *testing.T) {
			host := begin(t, append([]string{"host", "--game", "openarena", "--servers", list, "--listen",
				"127.0.0.1:0", "--no-browser", "--no-play"}, more...)...)
			secret := host.says(t, `(https?://\S+\.[A-Z2-7]{26})\n`)[1]
			host.types(t, "")
			host.says(t, "nobody is here yet")
			if strings.HasPrefix(secret, "http://") {
				if got := orders(t, secret, "renew", ""); got != 200 {
					t.Fatalf("the renewal is answered %d", got)
				}
				host.says(t, "the old one doesn't work any more")
			}
			host.types(t, "end")
			host.says(t, "has ended the night")
			host.exits(t, 0)
		})
	}
}

// TestJoinWithoutCode checks that an open room asks nobody for a code. Another room asks until the
// code is right.
func TestJoinWithoutCode(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { rooms.Close(); server.Close() })
	at := strings.TrimPrefix(server.URL, "http://")
	code, _, _ := rooms.Open(wire.Settings{Game: "openarena"})

	ann := begin(t, "join", at, "--name", "ann")
	ann.says(t, "the room's code: ")
	ann.types(t, "GUESS")
	ann.says(t, `no room has the code "GUESS"`)
	ann.types(t, strings.ToLower(code[:3])+"-"+code[3:])
	ann.says(t, "ann is here")

	rooms.Open(wire.Settings{Game: "openarena", Open: true})
	bob := begin(t, "join", at, "--name", "bob")
	bob.says(t, "bob is here")
	if strings.Contains(bob.err.String(), "code: ") {
		t.Errorf("bob is asked for a code:\n%s", bob.err)
	}
}

// TestImpatient checks that a player who leaves before the host has answered was never in.
func TestImpatient(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, leave := context.WithCancel(t.Context())
	said := &buffer{}
	code := make(chan int)
	go func() {
		code <- cli.Run(ctx, []string{"join", mute.Addr().String(), "--code", "TABOMI"},
			cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: said})
	}()
	conn, err := mute.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	leave()
	if got, want := <-code, 1; got != want || said.String() != "connecting to "+mute.Addr().String()+" …\nmuster: stopped\n" {
		t.Errorf("exit status %d, want %d:\n%s", got, want, said)
	}
}

// TestPipedCode checks that piped input answers the question for the code.
func TestPipedCode(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { rooms.Close(); server.Close() })
	code, _, _ := rooms.Open(wire.Settings{Game: "openarena"})
	ann := begin(t, "join", server.URL, "--name", "ann")
	ann.types(t, code) // before the question: the pipe waits for its reader
	ann.says(t, "ann is here")
}
