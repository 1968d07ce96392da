package game

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/term"
)

// Starts says how the game starts.
type Starts string

const (
	StartAsk   Starts = "ask"   // Muster starts it after a yes
	StartAuto  Starts = "auto"  // Muster starts it
	StartNever Starts = "never" // the player starts it
)

// Launcher takes one player into the game, as often as the room says.
type Launcher struct {
	Starts Starts
	// Command is the player's own template. If it is empty, the game's template is used.
	Command      string
	Games        Table
	Player, Room string
	// Version is the player's version of the game, as the player says. Empty uses the one in Games.
	Version string
	Console *term.Console
	// After is printed at the end.
	After string

	settle time.Duration // [settleTime] if zero; tests shorten it

	mu      sync.Mutex  // guards the fields below
	running int         // games started by Muster that still run
	started []time.Time // when Muster started games within the last hour
	// agreedTo is the game to which the player has agreed. One yes a session suffices.
	agreedTo string
}

// Check refuses a broken template before anybody waits for it.
func (l *Launcher) Check() error {
	if l.Command == "" {
		return nil
	}
	template, err := split(l.Command)
	if err == nil {
		err = checkTemplate(template)
	}
	return err
}

// These bound what Muster starts without asking, since a host may begin as many rounds as it likes.
const (
	// maxRunning bounds the games started by Muster that run at once.
	maxRunning = 3
	// maxHourly bounds the games that Muster starts within an hour. A group that changes its server every ten minutes
	// is in a hurry.
	maxHourly = 6
)

// Launch takes the player to the host's server with the player's own template. It asks first, unless the player chose
// [StartAuto] and there is no doubt about the server.
func (l *Launcher) Launch(ctx context.Context, to wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
	if l.After != "" {
		defer l.Console.Say("%s", l.After)
	}
	if region, is := l.Games.Region(to.Game, to.Name); is {
		l.Console.Tell("start.region", "region", region.Name, "how", region.How)
	}
	argv, env, isTyped, err := l.fill(ctx, to)
	if _, is := errors.AsType[*UnknownError](err); is {
		l.Console.Tell("start.launch-unknown", "game", to.Game, "address", to.Address)
		l.unmask(to)
		tell(wire.LaunchByHand, sentence.Sentence{})
		return
	}
	if errors.Is(err, errNoTemplate) { // the table does not know how this game takes an address
		if !doubt.IsZero() {
			l.Console.Tell("start.careful", "doubt", doubt)
		}
		l.tellByHand(to)
		l.unmask(to)
		tell(wire.LaunchByHand, sentence.Sentence{})
		return
	}
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	l.Console.Say("%s", l.Console.Bold(show(argv, to.Password)))
	if !takesAddress(argv, to.Address) {
		l.tellByHand(to)
	}
	if state := l.agreed(ctx, to.Game, doubt, tell); state != "" {
		l.unmask(to)
		tell(state, sentence.Sentence{})
		return
	}
	if ctx.Err() != nil {
		return // the next round has begun
	}
	if isTyped {
		l.Console.Tell("start.type-password", "password", to.Password)
	}
	if scheme, isLink := linkOf(argv); isLink && !openerTells && !opens(ctx, scheme) {
		l.failed(to, &StartError{Program: scheme + "://", Err: errNoHandler}, tell)
		return
	}
	wait, err := Start(ctx, argv, env)
	if start := new(StartError); errors.As(err, &start) && errors.Is(err, exec.ErrNotFound) {
		start.OnFlathub = l.onFlathub(to.Game)
	}
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	l.mu.Lock()
	l.running++
	l.started = append(l.started, time.Now())
	l.agreedTo = to.Game
	l.mu.Unlock()
	ended := make(chan error, 1)
	go func() { // reaps the game, which may outlive Muster
		err := wait()
		l.mu.Lock()
		l.running--
		l.mu.Unlock()
		ended <- err
	}()
	if err := settles(ctx, ended, cmp.Or(l.settle, settleTime)); err != nil {
		program := programOf(argv)
		if scheme, _, isLink := strings.Cut(argv[len(argv)-1], "://"); isLink {
			program, err = scheme+"://", errNoHandler
		}
		l.failed(to, &StartError{Program: program, Err: err}, tell)
		return
	}
	l.Console.Tell("start.launched")
	tell(wire.LaunchStarted, sentence.Sentence{})
}

// Types reports whether the player types the password of a game's server: Muster cannot pass it to the game, or the
// player starts the game.
func (l *Launcher) Types(ctx context.Context, id string) bool {
	_, _, isTyped, err := l.fill(ctx, wire.Launch{Game: id, Address: nobodys, Password: "x"})
	return isTyped || err != nil || l.Starts == StartNever
}

// fill fills in the player's template with the host's values. IsTyped reports whether the player must type the server's
// password in the game.
func (l *Launcher) fill(ctx context.Context, to wire.Launch) (argv, env []string, isTyped bool, err error) {
	g, err := l.Games.Find(to.Game)
	if err != nil && l.Command == "" {
		return nil, nil, false, err
	}
	address, err := hostport.Parse(to.Address)
	if err != nil {
		return nil, nil, false, fmt.Errorf("the host sends us to %q, which is no address", discovery.CleanText(to.Address))
	}
	var template []string
	if l.Command == "" {
		template = g.template(ctx)
	} else if template, err = split(l.Command); err != nil {
		return nil, nil, false, err
	}
	target := Target{Address: address, QueryPort: to.QueryPort, Password: to.Password, Player: l.Player, Room: l.Room}
	argv, isTyped, err = g.commandFor(template, target)
	if err == nil && g.DelayLine != nil && l.Command == "" && address.Addr().IsLoopback() && !isURL(argv[len(argv)-1]) { // a link takes no arguments
		argv = append(argv, g.DelayLine.Args...)
	}
	return argv, g.environ(target, to.Name), isTyped, err
}

// agreed asks the player if necessary. An empty state means that the game starts, or that it is too late to ask.
func (l *Launcher) agreed(
	ctx context.Context, game string, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence),
) wire.LaunchState {
	l.mu.Lock()
	l.started = slices.DeleteFunc(l.started, func(at time.Time) bool { return time.Since(at) > time.Hour })
	running, lately := l.running, len(l.started)
	isAuto := l.Starts == StartAuto || l.Starts == StartAsk && game == l.agreedTo
	l.mu.Unlock()
	question := "start.launch-it"
	switch {
	case l.Starts == StartNever:
		l.Console.Tell("start.launch-yourself")
		return wire.LaunchByHand
	case !doubt.IsZero():
		l.Console.Tell("start.careful", "doubt", doubt)
		question = "start.launch-anyway"
	case isAuto && running >= maxRunning:
		l.Console.Tell("start.games-running", "n", running)
	case isAuto && lately >= maxHourly:
		l.Console.Tell("start.games-started", "n", lately)
	case isAuto:
		return ""
	}
	tell(wire.LaunchAsking, sentence.Sentence{})
	switch answer, ok := l.Console.Ask(ctx, l.Console.Words(question)+" "); {
	case ctx.Err() != nil:
		return ""
	case !ok && !doubt.IsZero():
		l.Console.Tell("start.launch-nobody-careful")
		return wire.LaunchByHand
	case !ok:
		l.Console.Tell("start.start-nobody", "flag", "--launch auto")
		return wire.LaunchByHand
	case !l.Console.Yes(answer), !doubt.IsZero() && answer == "":
		l.Console.Tell("start.launch-declined")
		return wire.LaunchDeclined
	}
	return ""
}

// takesAddress reports whether a command tells the game where to go. Some programs only start, and the player types the
// address there.
func takesAddress(argv []string, address string) bool {
	to, err := hostport.Parse(address)
	return err == nil && slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, hostport.Host(to.Addr())) })
}

// tellByHand shows the server's address, and where in the game the player types it if the table knows.
func (l *Launcher) tellByHand(to wire.Launch) {
	if _, isRegion := l.Games.Region(to.Game, to.Name); isRegion {
		return // nobody plays at the endpoint of a region
	}
	l.Console.Tell("start.by-hand", "address", to.Address)
	g, unknown := l.Games.Find(to.Game)
	address, bad := hostport.Parse(to.Address)
	if unknown != nil || bad != nil {
		return
	}
	texts, err := g.typed(Target{Address: address, QueryPort: to.QueryPort, Password: to.Password}, to.Name)
	if err != nil {
		return
	}
	for _, text := range texts {
		l.Console.Tell(g.Type.key(), "text", text)
	}
}

// unmask shows the game server's password to a player who has to type it. For others it stays
// masked, because people may be watching the screen.
func (l *Launcher) unmask(to wire.Launch) {
	if to.Password != "" {
		l.Console.Tell("start.server-password", "password", to.Password)
	}
}

// failed reports why the game does not start. The others in the room get the reason without the paths on this machine.
func (l *Launcher) failed(to wire.Launch, err error, tell func(wire.LaunchState, sentence.Sentence)) {
	if start, is := errors.AsType[*StartError](err); is {
		err = start.Plain()
	}
	for _, line := range hint.Lines(l.Console.Language, err) {
		l.Console.Say("%s", line)
	}
	l.tellByHand(to)
	l.unmask(to)
	tell(wire.LaunchFailed, hint.Sentence(err))
}

// StartError says why a game did not start.
type StartError struct {
	Program string
	Err     error
	// OnFlathub is the game's id on Flathub, if it is there and that may help.
	OnFlathub string
}

func (e *StartError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) && !strings.ContainsAny(e.Program, `/\`) {
		return fmt.Sprintf("game: there is no program %s in %s", e.Program, os.Getenv("PATH"))
	}
	return fmt.Sprintf("game: cannot start %s: %v", e.Program, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// Hint says what a user can do about the error, in English.
func (e *StartError) Hint() string { return hint.Of(e.Plain()) }

// Plain returns the error for the others in the room, without the paths on this machine.
func (e *StartError) Plain() error {
	name := e.Program[strings.LastIndexAny(e.Program, `/\`)+1:]
	switch {
	case errors.Is(e.Err, errNoHandler):
		return e.advising(hint.Say("start.no-opener", "scheme", e.Program))
	case errors.Is(e.Err, exec.ErrNotFound):
		return e.advising(hint.Say("start.no-program", "program", name))
	}
	return e.advising(hint.Say("start.cannot-start", "program", name, "why", hint.Reason(e.Err)))
}

// advising adds to an error what a user can do about it.
func (e *StartError) advising(says *hint.Said) error {
	const flag, key, file = "--launch-command", "launch", "games.toml"
	switch {
	case errors.Is(e.Err, errNoHandler) && e.Program == "steam://":
		return says.Advising("start.no-steam-hint", "flag", flag, "key", key, "file", file)
	case errors.Is(e.Err, errNoHandler):
		return says.Advising("start.no-opener-hint", "scheme", e.Program, "flag", flag, "key", key, "file", file)
	case e.OnFlathub != "":
		return says.Advising("start.flathub-hint", "command", "flatpak install flathub "+e.OnFlathub, "flag", flag, "key", key, "file", file)
	}
	return says.Advising("start.installed-hint", "flag", flag, "key", key, "file", file)
}

// Start starts a command with the environment env added to Muster's own. wait waits until it has ended; a launcher such
// as xdg-open ends as soon as it has passed the address on. The game gets a session of its own, so that it outlives
// Muster and the terminal. A program given by its path runs in its folder, where many games look for their files.
// Errors are [*StartError]s, or the context's.
func Start(ctx context.Context, argv, env []string) (wait func() error, err error) {
	cmd, err := start(ctx, argv, env)
	if err != nil {
		return nil, err
	}
	return cmd.Wait, nil
}

func start(ctx context.Context, argv, env []string) (*exec.Cmd, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	if len(argv) == 0 {
		return nil, errNoTemplate
	}
	path, err := locate(argv[0])
	if err != nil {
		return nil, &StartError{Program: argv[0], Err: err}
	}
	if err := checkBatch(runtime.GOOS, path, argv[1:]); err != nil {
		return nil, err
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	if filepath.IsAbs(argv[0]) {
		cmd.Dir = filepath.Dir(argv[0])
	}
	if inSandbox() {
		spawn := outsideCommand(argv, path, env, cmd.Dir)
		cmd = exec.Command(spawn[0], spawn[1:]...)
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, &StartError{Program: argv[0], Err: err}
	}
	return cmd, nil
}

// checkBatch refuses arguments that a Windows batch file's interpreter could take for commands. cmd.exe parses the line
// again, quotes or not, and no escaping covers everything. On other systems such a name is an ordinary program's.
func checkBatch(goos, path string, args []string) error {
	name := strings.ToLower(strings.TrimRight(path, ". "))
	if goos != "windows" || !strings.HasSuffix(name, ".bat") && !strings.HasSuffix(name, ".cmd") {
		return nil
	}
	for _, arg := range args {
		if at := strings.IndexAny(arg, batchCommands); at >= 0 {
			return &StartError{Program: path, Err: hint.Say("start.batch-argument", "character", string(arg[at]))}
		}
	}
	return nil
}

// batchCommands are the characters that cmd.exe gives a meaning of their own.
const batchCommands = "&|<>^%!\"()\r\n\x00"

// environ tells scripts that start games the destination, in XQF's variables. It leaves out the password, because
// others on the machine may read a process's environment.
func (g Game) environ(t Target, server string) []string {
	return []string{
		"MUSTER_GAME=" + g.ID,
		"MUSTER_SERVER=" + hostport.Text(t.Address),
		"MUSTER_SERVER_NAME=" + discovery.CleanText(server),
		"MUSTER_ROOM=" + discovery.CleanText(t.Room),
		"MUSTER_PLAYER=" + discovery.CleanText(t.Player),
	}
}
