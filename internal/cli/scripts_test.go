package cli_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"muster/internal/cli"
	"muster/internal/game"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

var rewrite = flag.Bool("rewrite", false, "write what the commands print now into the scripts")

// TestScripts runs the commands of testdata/script as a user would, and checks what a user reads.
// Scripts can use these commands and testscript's own:
//
//	muster ARGUMENT …   runs the command in this process
//	status N            wants that exit status of the last one
//	says 'LINE'         wants a line on standard error, as it stands
//	table2 ARGUMENT …   runs muster select on the reports of Table 2 of MUSST
//	server GAME         starts a server of the game on this machine; SERVER is its address
//	closed              SERVER is an address on this machine where nothing listens
func TestScripts(t *testing.T) {
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(back)
	runScripts(t, filepath.Join(back, "testdata/script"), func(env *testscript.Env) error {
		return os.Chdir(env.WorkDir)
	})
}

// TestWaitingScripts runs the scripts of testdata/waiting beside other tests, because they wait for silent servers. Their
// commands know no working directory but the test's: a script says $WORK/FILE.
func TestWaitingScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/waiting", nil)
}

func runScripts(t *testing.T, folder string, setup func(*testscript.Env) error) {
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var status int
	muster := func(ts *testscript.TestScript, neg bool, args []string) {
		streams := cli.Streams{In: strings.NewReader(""), Out: ts.Stdout(), Err: ts.Stderr()}
		if status = cli.Run(t.Context(), args, streams); (status != 0) != neg {
			ts.Fatalf("exit status %d", status)
		}
	}
	reports := table2(t)
	for i, file := range reports {
		reports[i] = filepath.Join(back, file)
	}
	says := func(ts *testscript.TestScript, neg bool, lines []string) {
		text := ts.ReadFile("stderr")
		for _, line := range lines {
			if slices.Contains(strings.Split(text, "\n"), line) == neg {
				ts.Fatalf("has the line %q: %v; standard error is\n%s", line, neg, text)
			}
		}
	}
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir:           folder,
		UpdateScripts: *rewrite,
		Setup:         setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"muster": muster,
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := fmt.Sprint(status); len(args) != 1 || got != args[0] {
					ts.Fatalf("exit status %s, want %v", got, args)
				}
			},
			"says":   says,
			"server": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv("SERVER", listedNowhere(t, args[0])) },
			"closed": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("SERVER", closedPort(t)) },
			"table2": func(ts *testscript.TestScript, neg bool, args []string) {
				muster(ts, neg, slices.Concat([]string{"select"}, args, reports))
			},
		},
	})
}

// listedNowhere starts a server of a known game, which answers everybody, and returns its address.
func listedNowhere(t *testing.T, id string) string {
	games, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	g, err := games.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	world := sim.Night2005(1, 1)
	one := &world.Servers[0]
	one.Silent, one.Refusing, one.Limited, one.Loss = false, false, false, 0
	one.Info.Name, one.Info.Mod = "The tavern", "tavern"
	running, err := fleet.Start(t.Context(), fleet.Playing(g, world))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running.Close() })
	return running.Servers()[0].Addr.String()
}

// inTurn runs scripts one after the other, because each changes the process's working directory.
type inTurn struct{ *testing.T }

func (inTurn) Parallel() {}

func (t inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(inTurn{t}) })
}
