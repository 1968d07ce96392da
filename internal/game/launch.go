package game

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/term"
)

// Starts is who starts the game.
type Starts string

const (
	StartAsk   Starts = "ask"   // Muster, after a yes
	StartAuto  Starts = "auto"  // Muster
	StartNever Starts = "never" // the player
)

// Launcher takes one player into the game, as often as the room says.
type Launcher struct {
	Starts Starts
	// Command is the player's own template, or empty for the game's.
	Command      string
	Games        Table
	Player, Room string
	// Version is what the player has of the game, as they say; empty is what Games say.
	Version string
	Console *term.Console
	// After is what to say at the end.
	After string

	settle time.Duration // [settleTime] if it is zero; tests are in a hurry

	mu      sync.Mutex  // guards following
	running int         // games that Muster has started
	started []time.Time // when it did so within the last hour
	// agreedTo is the game that the player has said yes to: once an evening is enough.
	agreedTo string
}

// Check refuses a template that cannot work, before anybody waits for it.
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

// A host may begin as many rounds as it likes. These bound what Muster starts unasked.
const (
	// maxRunning is how many games that Muster has started may run.
	maxRunning = 3
	// maxHourly is how many games Muster starts within an hour: a group that changes
	// its server every ten minutes is in a hurry.
	maxHourly = 6
)

// Launch takes the player to the server the host names: with the player's own
// template, and only after a yes unless they said [StartAuto] and there is no doubt
// about the server, which is a sentence about it.
func (l *Launcher) Launch(ctx context.Context, to wire.Launch, doubt string, tell func(wire.LaunchState, string)) {
	if l.After != "" {
		defer l.Console.Say("%s", l.After)
	}
	argv, env, isTyped, err := l.fill(ctx, to)
	var unknown *UnknownError
	if errors.As(err, &unknown) {
		l.Console.Say("this muster does not know %s: join by hand, at %s", discovery.CleanText(to.Game), discovery.CleanText(to.Address))
		l.unmask(to)
		tell(wire.LaunchByHand, "")
		return
	}
	if err != nil {
		l.failed(to, err, tell)
		return
	}
	l.Console.Say("%s", l.Console.Bold(show(argv, to.Password)))
	if state := l.agreed(ctx, to.Game, doubt, tell); state != "" {
		l.unmask(to)
		tell(state, "")
		return
	}
	if ctx.Err() != nil {
		return // another round has begun
	}
	if isTyped {
		l.Console.Say("when the game asks for the server's password, type: %s", discovery.CleanText(to.Password))
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
	l.Console.Say("the game is starting; have fun")
	tell(wire.LaunchStarted, "")
}

// Types reports whether the player types the password of a game's server: the game takes
// none from Muster, or the player starts it.
func (l *Launcher) Types(ctx context.Context, id string) bool {
	_, _, isTyped, err := l.fill(ctx, wire.Launch{Game: id, Address: nobodys, Password: "x"})
	return isTyped || err != nil || l.Starts == StartNever
}

// fill fills the player's template with what the host says. IsTyped reports whether the
// player has to type the server's password in the game.
func (l *Launcher) fill(ctx context.Context, to wire.Launch) (argv, env []string, isTyped bool, err error) {
	g, err := l.Games.Find(to.Game)
	if err != nil && l.Command == "" {
		return nil, nil, false, err
	}
	address, err := netip.ParseAddrPort(to.Address)
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
	return argv, g.environ(target, to.Name), isTyped, err
}

// agreed asks the player if need be. The state is empty if the game is to be
// started, or if it is too late for that.
func (l *Launcher) agreed(ctx context.Context, game, doubt string, tell func(wire.LaunchState, string)) wire.LaunchState {
	l.mu.Lock()
	l.started = slices.DeleteFunc(l.started, func(at time.Time) bool { return time.Since(at) > time.Hour })
	running, lately := l.running, len(l.started)
	isAuto := l.Starts == StartAuto || l.Starts == StartAsk && game == l.agreedTo
	l.mu.Unlock()
	question := "start it now? [Y/n] "
	switch {
	case l.Starts == StartNever:
		l.Console.Say("start it yourself with the line above")
		return wire.LaunchByHand
	case doubt != "":
		l.Console.Say("careful: %s", doubt)
		question = "start it all the same? [y/N] "
	case isAuto && running >= maxRunning:
		l.Console.Say("%d games that muster has started are still running", running)
	case isAuto && lately >= maxHourly:
		l.Console.Say("muster has started %d games within an hour", lately)
	case isAuto:
		return ""
	}
	tell(wire.LaunchAsking, "")
	switch answer, ok := l.Console.Ask(ctx, question); {
	case ctx.Err() != nil:
		return ""
	case !ok && doubt != "":
		l.Console.Say("nobody here to answer: if you trust the host, start it yourself with the line above")
		return wire.LaunchByHand
	case !ok:
		l.Console.Say("nobody here to answer: start it yourself with the line above, or say --launch auto")
		return wire.LaunchByHand
	case !term.Yes(answer), doubt != "" && answer == "":
		l.Console.Say("as you like; the line above takes you there later")
		return wire.LaunchDeclined
	}
	return ""
}

// unmask shows the game server's password to whoever has to type it; for the
// others it stays masked, as people look on.
func (l *Launcher) unmask(to wire.Launch) {
	if to.Password != "" {
		l.Console.Say("the server's password: %s", discovery.CleanText(to.Password))
	}
}

// failed says why the game does not start. The others in the room hear the
// reason, but not where this machine keeps its programs.
func (l *Launcher) failed(to wire.Launch, err error, tell func(wire.LaunchState, string)) {
	var start *StartError
	if errors.As(err, &start) {
		err = start.Plain()
	}
	for _, line := range hint.Lines(err) {
		l.Console.Say("%s", line)
	}
	l.Console.Say("connect by hand: %s", discovery.CleanText(to.Address))
	l.unmask(to)
	tell(wire.LaunchFailed, hint.Plain(err.Error()))
}

// StartError says why a game did not start.
type StartError struct {
	Program string
	Err     error
	// OnFlathub is by which id Flathub has the game, if it does and that may help.
	OnFlathub string
}

func (e *StartError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) && !strings.ContainsAny(e.Program, `/\`) {
		return fmt.Sprintf("game: there is no program %s in %s", e.Program, os.Getenv("PATH"))
	}
	return fmt.Sprintf("game: cannot start %s: %v", e.Program, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// Hint is what a user can do about it.
func (e *StartError) Hint() string {
	if errors.Is(e.Err, errNoHandler) {
		what := "is what opens " + e.Program + " links installed?"
		if e.Program == "steam://" {
			what = "is Steam installed? It takes these links once it has been started."
		}
		return what + " Or say how the game starts with --launch-command, or with launch in games.toml"
	}
	if e.OnFlathub != "" {
		return "is the game installed? flatpak install flathub " + e.OnFlathub +
			" gets it. If it is here, say how it starts with --launch-command, or with launch in games.toml"
	}
	return "is the game installed? Say how it starts with --launch-command, or with launch in games.toml"
}

// Plain is the error as the others in the room may read it, without where this machine
// keeps its programs.
func (e *StartError) Plain() error {
	name := e.Program[strings.LastIndexAny(e.Program, `/\`)+1:]
	switch {
	case errors.Is(e.Err, errNoHandler):
		return hint.With(fmt.Errorf("nothing on this machine opens %s links", e.Program), e.Hint())
	case errors.Is(e.Err, exec.ErrNotFound):
		return hint.With(fmt.Errorf("there is no program %s on this machine", name), e.Hint())
	}
	return hint.With(fmt.Errorf("cannot start %s: %w", name, hint.Reason(e.Err)), e.Hint())
}

// Start starts a command with the environment env added to Muster's own; wait waits
// until it has ended, and a launcher such as xdg-open ends as soon as it has passed
// the address on. The game gets a session of its own, so that it outlives Muster
// and the terminal. A program that is given by its path runs in its folder, where
// many games look for their files. Errors are [*StartError]s, or the context's.
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
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, &StartError{Program: argv[0], Err: err}
	}
	return cmd, nil
}

// checkBatch refuses to pass a batch file of Windows what its interpreter would take
// for a command: cmd.exe reads the line again, quotes or not, and nothing escapes all
// of it. Elsewhere such a name is a program's like any other.
func checkBatch(goos, path string, args []string) error {
	name := strings.ToLower(strings.TrimRight(path, ". "))
	if goos != "windows" || !strings.HasSuffix(name, ".bat") && !strings.HasSuffix(name, ".cmd") {
		return nil
	}
	for _, arg := range args {
		if at := strings.IndexAny(arg, batchCommands); at >= 0 {
			return &StartError{Program: path, Err: fmt.Errorf("an argument holds %q, which a batch file would take for a command", arg[at])}
		}
	}
	return nil
}

// batchCommands are the characters that cmd.exe gives a meaning of their own.
const batchCommands = "&|<>^%!\"()\r\n\x00"

// environ says to scripts that start games where the game goes, as XQF does. The
// password is not among it: others on the machine may read a process's environment.
func (g Game) environ(t Target, server string) []string {
	return []string{
		"MUSTER_GAME=" + g.ID,
		"MUSTER_SERVER=" + t.Address.String(),
		"MUSTER_SERVER_NAME=" + discovery.CleanText(server),
		"MUSTER_ROOM=" + discovery.CleanText(t.Room),
		"MUSTER_PLAYER=" + discovery.CleanText(t.Player),
	}
}
