//go:build unix

package game

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/await"
	"muster/internal/catalogue"
	"muster/internal/term"
)

// TestAutoAsksAtLast checks that a host that moves its players repeatedly cannot flood a machine with games, even with
// --launch auto.
func TestAutoAsksAtLast(t *testing.T) {
	games := load(t, "")
	over := filepath.Join(t.TempDir(), "over")
	console, out := testConsole()
	l := &Launcher{
		Starts: StartAuto, Command: "sh -c 'until test -e " + over + "; do sleep 0.01; done'", Games: games,
		Console: console, settle: time.Millisecond,
	}
	send := func(round int) (state wire.LaunchState) {
		to := wire.Launch{Round: round, Game: "openarena", Address: "192.0.2.1:27960"}
		l.Launch(t.Context(), to, sentence.Sentence{}, func(s wire.LaunchState, _ sentence.Sentence) { state = s })
		return state
	}
	for round := range maxRunning {
		if state := send(round); state != wire.LaunchStarted {
			t.Errorf("game %d is %q:\n%s", round, state, out)
		}
	}
	if state := send(maxRunning); state != wire.LaunchByHand ||
		!strings.Contains(out.String(), "3 games that Muster started are still running") {
		t.Errorf("one game more is %q:\n%s", state, out)
	}
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	allEnd(t, l)
	defer allEnd(t, l) // before their folder is removed
	if state := send(maxRunning + 1); state != wire.LaunchStarted {
		t.Errorf("after the others have ended a game is %q:\n%s", state, out)
	}
}

// allEnd waits until all games of a launcher have ended.
func allEnd(t *testing.T, l *Launcher) {
	t.Helper()
	await.Until(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.running == 0
	}, "a game does not end")
}

// TestAutoIsBounded checks that games which end at once do not escape the bound on starts.
func TestAutoIsBounded(t *testing.T) {
	games := load(t, "")
	console, out := testConsole()
	l := &Launcher{Starts: StartAuto, Command: "true {address}", Games: games, Console: console}
	started := 0
	for round := range 100 {
		to := wire.Launch{Round: round, Game: "openarena", Address: "192.0.2.1:27960"}
		l.Launch(t.Context(), to, sentence.Sentence{}, func(s wire.LaunchState, _ sentence.Sentence) {
			if s == wire.LaunchStarted {
				started++
			}
		})
		allEnd(t, l)
	}
	if started != maxHourly || !strings.Contains(out.String(), "Muster has started 6 games within an hour") {
		t.Errorf("%d games were started:\n%s", started, out)
	}
}

// TestOnceASession checks that a player who has said yes to a game is asked again only for another game, or if
// something is wrong.
func TestOnceASession(t *testing.T) {
	games := load(t, "")
	screen := term.NewScreen(term.New(io.Discard, func(string) string { return "" }), catalogue.InEnglish())
	l := &Launcher{
		Starts:  StartAsk,
		Command: "true {address}",
		Games:   games,
		Console: term.NewConsole(strings.NewReader("y\nn\nn\n"), screen, func(string) {}, func() {}),
	}
	for i, c := range []struct {
		game  string
		doubt sentence.Sentence
		want  []wire.LaunchState
	}{
		{"openarena", sentence.Sentence{}, []wire.LaunchState{wire.LaunchAsking, wire.LaunchStarted}},
		{"openarena", sentence.Sentence{}, []wire.LaunchState{wire.LaunchStarted}},
		{"openarena", sentence.Of("start.doubt-silent"), []wire.LaunchState{wire.LaunchAsking, wire.LaunchDeclined}},
		{"xonotic", sentence.Sentence{}, []wire.LaunchState{wire.LaunchAsking, wire.LaunchDeclined}},
		{"openarena", sentence.Sentence{}, []wire.LaunchState{wire.LaunchStarted}},
	} {
		var states []wire.LaunchState
		l.Launch(t.Context(), wire.Launch{Round: i, Game: c.game, Address: "192.0.2.1:27960"}, c.doubt, func(s wire.LaunchState, _ sentence.Sentence) {
			states = append(states, s)
		})
		if !slices.Equal(states, c.want) {
			t.Errorf("launch %d, of %s, %v: %v, want %v", i, c.game, c.doubt, states, c.want)
		}
	}
}

// TestTypedPassword checks that the player sees the password just before the game starts, if Muster cannot pass it on.
// Otherwise it stays masked, because people look on.
func TestTypedPassword(t *testing.T) {
	for _, tt := range []struct {
		name, command, password string
		shown                   bool
	}{
		{"a place for it", "true +password {password} +connect {address}", "club", false},
		{"no place for it", "true +connect {address}", "club", true},
		{"not this one", "true +password {password} +connect {address}", "a;b", true},
		{"a link may be read otherwise", "true x://{address}{/password}", "a b", true},
		{"none", "true +connect {address}", "", false},
	} {
		console, out := testConsole()
		l := &Launcher{Starts: StartAuto, Command: tt.command, Games: load(t, ""), Console: console, settle: 1}
		var came wire.LaunchState
		l.Launch(t.Context(), wire.Launch{Game: "openarena", Address: "192.0.2.1:27960", Password: tt.password}, sentence.Sentence{},
			func(state wire.LaunchState, _ sentence.Sentence) {
				came = state
			})
		before, after, isShown := strings.Cut(out.String(), "when the game asks for the server's password, type: "+tt.password+"\n")
		if isShown != tt.shown || came != wire.LaunchStarted || tt.password != "" && strings.Contains(before+after, tt.password) {
			t.Errorf("%s: shown: %v, the game is %q:\n%s", tt.name, isShown, came, out)
		}
	}
}
