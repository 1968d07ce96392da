package game

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"muster/discovery"
	"muster/discovery/hostport"
)

// Hook is the organiser's command that starts a game server somewhere: on this computer, at a provider, or by a script.
type Hook struct{ template []string }

// Venue says where a hook starts a server, and for what room.
type Venue struct {
	// Place is the place's name, and Address where the server should answer. An address that is known only once the
	// server runs has just the port.
	Place   string
	Address netip.AddrPort
	// Room is the room's code, a single word. Map may be empty.
	Room, Game, Map string
	Players         int
	// Files are the paths of files about a match of two sides, by their placeholder; see
	// [MatchFiles]. In other rooms there are none.
	Files map[string]string
}

// MatchFiles returns the placeholders for files about a match: the match as Muster keeps it, and in
// the forms of package matchfile.
func MatchFiles() []string { return []string{"match", "get5", "matchzy", "tmt2"} }

// hookPlaceholders lists a hook's placeholders for people.
const hookPlaceholders = "{place} {address} {host} {port} {room} {game} {map} {players} {match} {get5} {matchzy} {tmt2}"

// NewHook parses a command as a person types it; no shell sees it. See [split].
func NewHook(command string) (Hook, error) {
	template, err := split(command)
	if err == nil {
		trial := Venue{Place: "p", Address: netip.MustParseAddrPort("192.0.2.1:1"), Room: "r", Game: "g", Map: "m", Players: 1}
		_, err = Hook{template}.Fill(trial)
	}
	return Hook{template}, err
}

// Program returns the hook's program, and whether it is on this machine. Its placeholders are not yet
// filled in, so the answer may change.
func (h Hook) Program() (name string, isThere bool) {
	name = h.template[0]
	_, err := exec.LookPath(name)
	return name, err == nil || errors.Is(err, exec.ErrDot) || strings.Contains(name, "{")
}

// Fill returns the program and its arguments for a venue. An argument whose placeholder has no value disappears,
// together with the option right before it. Values contain only letters, digits and characters without meaning to a
// shell. No shell runs here, but ssh passes its arguments to one on the other machine. For the same reason a room's
// code has no blanks.
func (h Hook) Fill(v Venue) ([]string, error) {
	values := map[string]string{
		"place": discovery.CleanText(v.Place), "address": hostport.Text(v.Address), "host": hostport.Host(v.Address.Addr()),
		"port": strconv.Itoa(int(v.Address.Port())),
		"room": v.Room, "game": v.Game, "map": v.Map, "players": strconv.Itoa(v.Players),
	}
	if !v.Address.Addr().IsValid() {
		values["address"], values["host"] = "", ""
	}
	for _, name := range MatchFiles() {
		values[name] = v.Files[name]
	}
	argv, err := expand(h.template, values)
	for _, name := range [...]string{"place", "room", "game", "map"} {
		if wrong := strings.IndexFunc(values[name], isSpecial); err == nil && wrong >= 0 && h.Has(name) {
			return nil, fmt.Errorf("{%s} is %q, and a shell on the way may take %q for a command", name, values[name], values[name][wrong:wrong+1])
		}
	}
	if err == nil && h.Has("room") && strings.ContainsFunc(v.Room, unicode.IsSpace) {
		return nil, fmt.Errorf("{room} is %q, and a room's code has no blanks", v.Room)
	}
	if unknown, is := errors.AsType[*PlaceholderError](err); is {
		return nil, fmt.Errorf("there is no placeholder %s here; known are %s", unknown.Placeholder, hookPlaceholders)
	}
	return argv, err
}

// Has reports whether the command contains a placeholder.
func (h Hook) Has(name string) bool {
	return slices.ContainsFunc(h.template, func(arg string) bool { return strings.Contains(arg, "{"+name+"}") })
}

// isSpecial reports whether a shell may give a character a meaning other than itself, blanks aside.
func isSpecial(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-:,/@=", r)
}

// Show returns a command for people to read.
func Show(argv []string) string { return show(argv, "") }

const (
	// tailBytes is how much of a hook's last output is kept, and tailLines how much of that is shown.
	tailBytes, tailLines = 4 << 10, 5
	// stopTime is how long the hook's programs may take to end by themselves.
	stopTime = 5 * time.Second
	// lastWords is how long to wait for the last output of a command that has ended. A program that it started may keep
	// its standard error open for ever.
	lastWords = time.Second
)

// Running is a running hook, with all the programs that it has started in its group.
type Running struct {
	cmd   *exec.Cmd
	group group
	says  tail
	told  chan netip.AddrPort
	ended chan struct{}
	err   error // the outcome, once it has ended
	// left is closed once the group is empty, because the system may then reuse its number. The group is watched until
	// stopping.
	left     chan struct{}
	stopping context.Context
	stop     context.CancelFunc
	pipes    []*os.File
	work     sync.WaitGroup
}

// Start runs the command in a group of its own, which [Running.Stop] ends.
func (h Hook) Start(ctx context.Context, v Venue) (*Running, error) {
	argv, err := h.Fill(v)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := locateHere(argv[0])
	if err != nil {
		return nil, fmt.Errorf("there is no program %s", argv[0])
	}
	r := &Running{
		cmd:   exec.Command(path, argv[1:]...),
		told:  make(chan netip.AddrPort, 1),
		ended: make(chan struct{}),
		left:  make(chan struct{}),
	}
	r.stopping, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	// These are pipes of our own, so a program that outlives the command does not keep Wait from returning.
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errOut, errIn, err := os.Pipe()
	if err != nil {
		out.Close()
		in.Close()
		return nil, err
	}
	r.cmd.Stdout, r.cmd.Stderr = in, errIn
	r.group.prepare(r.cmd)
	err = r.cmd.Start()
	in.Close()
	errIn.Close()
	if err != nil {
		out.Close()
		errOut.Close()
		return nil, fmt.Errorf("cannot start %s: %w", argv[0], err)
	}
	r.group.adopt(r.cmd)
	r.pipes = []*os.File{out, errOut}
	r.work.Go(func() { r.listen(out) })
	read := make(chan struct{})
	r.work.Go(func() { defer close(read); io.Copy(&r.says, errOut) })
	r.work.Go(func() {
		r.err = r.cmd.Wait()
		select {
		case <-read:
		case <-time.After(lastWords):
		}
		close(r.ended)
		r.watches()
	})
	return r, nil
}

// leftEvery is how often the group of an ended command is checked. Systems assign numbers in turn, and none returns to
// the same one within a second.
const leftEvery = time.Second

// watches notes when the group is empty.
func (r *Running) watches() {
	tick := time.NewTicker(leftEvery)
	defer tick.Stop()
	for !r.group.isEmpty(r.cmd) {
		select {
		case <-tick.C:
		case <-r.stopping.Done():
			return
		}
	}
	close(r.left)
}

// listen reads what the command prints. A line with only an address is the server's, if only the command knows it. The
// rest is ignored.
func (r *Running) listen(out io.Reader) {
	var line []byte
	b := make([]byte, 512)
	for {
		n, err := out.Read(b)
		for _, c := range b[:n] {
			if c != '\n' {
				if len(line) < tailBytes {
					line = append(line, c)
				}
				continue
			}
			if addr, err := netip.ParseAddrPort(strings.TrimSpace(string(line))); err == nil && addr.Port() != 0 {
				select {
				case r.told <- addr:
				default: // the first one counts
				}
			}
			line = line[:0]
		}
		if err != nil {
			return
		}
	}
}

// Told delivers the server's address if the command prints one.
func (r *Running) Told() <-chan netip.AddrPort { return r.told }

// Ended is closed when the command has ended; Err then says how. Programs that it started may still run.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Err returns why the command failed, with the last lines of its output. It is nil if the command
// did not fail.
func (r *Running) Err() error {
	if r.err == nil {
		return nil
	}
	if words := r.says.last(); words != "" {
		return fmt.Errorf("the start command failed: %w. Its last words:\n%s", r.err, words)
	}
	return fmt.Errorf("the start command failed: %w", r.err)
}

// Stop ends the command and its group, first by asking, and waits for them.
func (r *Running) Stop() {
	defer r.work.Wait()
	defer func() {
		for _, pipe := range r.pipes {
			pipe.Close()
		}
	}()
	r.stop()
	select {
	case <-r.left:
		return
	default:
	}
	r.group.end(r.cmd, false)
	deadline := time.NewTimer(stopTime)
	defer deadline.Stop()
	isEmpty := false
	select {
	case <-r.ended:
		isEmpty = r.group.waits(r.cmd, deadline.C)
	case <-deadline.C:
	}
	if !isEmpty {
		r.group.end(r.cmd, true)
	}
	<-r.ended
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex // guards the fields below
	text []byte
}

// Write accepts everything.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = bytes.Clone(t.text[max(0, len(t.text)-tailBytes):])
	return len(b), nil
}

// last returns the last lines, cleaned for display.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(t.text)) {
		if line = discovery.CleanText(line); line != "" {
			lines = append(lines, "  "+line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
