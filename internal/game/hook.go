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
)

// Hook is a command of the organiser's that starts a game server somewhere: on this
// computer, at a provider, by a script of theirs.
type Hook struct{ template []string }

// Venue is where a hook is to start a server, and for whom.
type Venue struct {
	// Place is what the place is called, and Address where the server is to answer.
	Place   string
	Address netip.AddrPort
	// Room is the room's code, one word, and Map may be empty.
	Room, Game, Map string
	Players         int
}

// hookPlaceholders are those of a hook, for people.
const hookPlaceholders = "{place} {address} {host} {port} {room} {game} {map} {players}"

// NewHook reads a command as a person types it, for no shell to see; see [split].
func NewHook(command string) (Hook, error) {
	template, err := split(command)
	if err == nil {
		trial := Venue{Place: "p", Address: netip.MustParseAddrPort("192.0.2.1:1"), Room: "r", Game: "g", Map: "m", Players: 1}
		_, err = Hook{template}.Fill(trial)
	}
	return Hook{template}, err
}

// Program is the program that the hook runs, and whether it is on this machine, as far as
// that can be told before its placeholders are filled in.
func (h Hook) Program() (name string, isThere bool) {
	name = h.template[0]
	_, err := exec.LookPath(name)
	return name, err == nil || errors.Is(err, exec.ErrDot) || strings.Contains(name, "{")
}

// Fill is the program and its arguments for a venue. An argument whose placeholder has no
// value is left out together with the option right before it. A value is letters, digits
// and what means nothing to a shell: no shell is run here, but ssh hands what it is given to
// one on the other machine. A room's code has no blanks, which would make it several words
// there.
func (h Hook) Fill(v Venue) ([]string, error) {
	values := map[string]string{
		"place": discovery.CleanText(v.Place), "address": v.Address.String(), "host": v.Address.Addr().String(),
		"port": strconv.Itoa(int(v.Address.Port())),
		"room": v.Room, "game": v.Game, "map": v.Map, "players": strconv.Itoa(v.Players),
	}
	argv, err := expand(h.template, values)
	for _, name := range [...]string{"place", "room", "game", "map"} {
		if wrong := strings.IndexFunc(values[name], heeded); err == nil && wrong >= 0 && h.has(name) {
			return nil, fmt.Errorf("{%s} is %q, and a shell on the way may take %q for a command", name, values[name], values[name][wrong:wrong+1])
		}
	}
	if err == nil && h.has("room") && strings.ContainsFunc(v.Room, unicode.IsSpace) {
		return nil, fmt.Errorf("{room} is %q, and a room's code has no blanks", v.Room)
	}
	var unknown *PlaceholderError
	if errors.As(err, &unknown) {
		return nil, fmt.Errorf("there is no placeholder %s here; known are %s", unknown.Placeholder, hookPlaceholders)
	}
	return argv, err
}

// has reports whether a placeholder stands in the command.
func (h Hook) has(name string) bool {
	return slices.ContainsFunc(h.template, func(arg string) bool { return strings.Contains(arg, "{"+name+"}") })
}

// heeded reports whether a shell may take a character for something else than itself,
// blanks aside.
func heeded(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-:,/@=", r)
}

// Show is a command for people to read.
func Show(argv []string) string { return show(argv, "") }

const (
	// tailBytes is how much is kept of what a hook says last, and tailLines of it shown.
	tailBytes, tailLines = 4 << 10, 5
	// stopTime is how long its programs have to end by themselves.
	stopTime = 5 * time.Second
	// lastWords is how long those of a command that has ended may take to arrive: what it
	// has started, and runs on, may hold its standard error open for ever.
	lastWords = time.Second
)

// Running is a hook under way, and all the programs that it has started in its group.
type Running struct {
	cmd   *exec.Cmd
	group group
	says  tail
	told  chan netip.AddrPort
	ended chan struct{}
	err   error // how, once it has ended
	// left is closed once nobody of the group is there any more: its number may be
	// another's from then on. It is looked after until stopping.
	left     chan struct{}
	stopping context.Context
	stop     context.CancelFunc
	pipes    []*os.File
	work     sync.WaitGroup
}

// Start runs the command, in a group of its own that [Running.Stop] ends.
func (h Hook) Start(ctx context.Context, v Venue) (*Running, error) {
	argv, err := h.Fill(v)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := locate(argv[0])
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
	// Files of their own: a program that outlives the command keeps no pipe of ours open.
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

// leftEvery is how often the group of a command that has ended is looked after: systems
// hand numbers out in turn, and none comes round to one within that.
const leftEvery = time.Second

// watches notes when nobody of the group is left.
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

// listen reads what the command prints: a line that is an address says where the server is,
// where the command alone knows, and all else is nobody's business.
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

// Told is where the command says that the server is, if it does.
func (r *Running) Told() <-chan netip.AddrPort { return r.told }

// Ended is closed when the command has ended; Err says how then. What it has started may
// run on.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Err is why the command failed, nil if it did not; its last words stand in it.
func (r *Running) Err() error {
	if r.err == nil {
		return nil
	}
	if words := r.says.last(); words != "" {
		return fmt.Errorf("the start command failed: %w. Its last words:\n%s", r.err, words)
	}
	return fmt.Errorf("the start command failed: %w", r.err)
}

// Stop ends the command and what it has started in its group, first by asking, and waits
// for it.
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

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex // guards following
	text []byte
}

// Write takes all of it.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = bytes.Clone(t.text[max(0, len(t.text)-tailBytes):])
	return len(b), nil
}

// last are the last lines, cleaned for display.
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
