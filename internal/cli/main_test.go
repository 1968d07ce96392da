package cli_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/adrg/xdg"

	"muster/internal/cli"
)

// TestMain gives the tests folders of their own. They see no room, token or game of this machine's
// user, and leave nothing behind.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "muster-cli")
	if err == nil {
		err = errors.Join(folders(home), os.Setenv("LC_ALL", "C"),
			os.Setenv("MUSTER_LOCAL", "1")) // the doctor sends nothing off this machine
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Set("test.parallel", "12") // sessions wait for people, games and silent servers
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // commands leave much garbage; collecting it took a fifth of the time
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

func folders(home string) error {
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"} {
		folder := filepath.Join(home, name)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Setenv(name, folder)); err != nil {
			return err
		}
	}
	xdg.Reload()
	return nil
}

// outcome is the result of a command.
type outcome struct {
	code     int
	out, err string
}

// muster runs the command to its end, with nothing on standard input.
func muster(t *testing.T, args ...string) outcome {
	t.Helper()
	return musterWith(t, "", args...)
}

// musterWith runs the command to its end with a text on standard input.
func musterWith(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	out, err := &buffer{}, &buffer{}
	code := cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(in), Out: out, Err: err})
	return outcome{code, out.String(), err.String()}
}

// succeeds runs the command, which must exit with 0, and returns its results.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	o := muster(t, args...)
	if o.code != 0 {
		t.Fatalf("muster %s: exit status %d\n%s", strings.Join(args, " "), o.code, o.err)
	}
	return o.out
}

// buffer may be read while a command still writes to it.
type buffer struct {
	mu   sync.Mutex // guards what follows
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestUnitCarriesWhatDocsSay checks that the service may open as many files as docs/scale.md needs
// for the rooms of one host.
func TestUnitCarriesWhatDocsSay(t *testing.T) {
	find := func(file, pattern string) string {
		t.Helper()
		text, err := os.ReadFile("../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s has no %s", file, pattern)
		}
		return strings.ReplaceAll(string(found[1]), ",", "")
	}
	unit, counted := find("serve/muster.service", `(?m)^LimitNOFILE=(\d+)$`), find("scale.md", "`LimitNOFILE=` ([0-9,]+)")
	if unit != counted {
		t.Errorf("muster.service allows %s open files, docs/scale.md wants %s", unit, counted)
	}
}
