package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/plan/history"
	"muster/internal/await"
)

// visitsFile returns the file of the visits to a game's servers, and removes it. Each test has a
// game of its own that no other test visits, because they run in parallel.
func visitsFile(t *testing.T, game string) string {
	file := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "muster", "visits", game+".json")
	os.Remove(file)
	t.Cleanup(func() { os.Remove(file) })
	return file
}

func readVisits(t *testing.T, file string) history.Memory {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	memory, err := history.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return memory
}

// startsWarm runs the command, which must find servers, and reports whether it says that it starts
// from the last visit. Its timeout is short, so that it waits for no far or silent servers, unless
// args have another.
func startsWarm(t *testing.T, args []string) bool {
	t.Helper()
	if !slices.Contains(args, "--timeout") {
		args = append(args, "--timeout", "2s")
	}
	o := muster(t, args...)
	if o.code != 0 {
		t.Fatalf("exit status %d\n%s", o.code, o.err)
	}
	return strings.Contains(o.err, "starting from the last visit")
}

func TestTheNextVisitStartsFromTheLast(t *testing.T) {
	t.Parallel()
	file := visitsFile(t, "warsow")
	l := startLoopback(t, 60)
	discover := func(more ...string) []string { return l.discover(append(more, "--game", "warsow")...) }
	// What it remembers counts: on a busy machine answers are late.
	if startsWarm(t, discover("--timeout", "2s")) {
		t.Error("the first visit starts from another")
	}
	first := readVisits(t, file)
	if len(first) < 20 {
		t.Errorf("%d networks remembered of 60 servers", len(first))
	}
	t.Run("by each strategy", func(t *testing.T) {
		for _, strategy := range discovery.Strategies()[1:] {
			t.Run(string(strategy), func(t *testing.T) {
				t.Parallel()
				if !startsWarm(t, discover("--strategy", string(strategy))) {
					t.Error("the visit does not start from the last")
				}
			})
		}
	})
	if startsWarm(t, discover("--fresh")) {
		t.Error("--fresh starts from the last visit")
	}
	if !startsWarm(t, discover()) {
		t.Error("--fresh left nothing for the next visit")
	}
	await.Until(t, func() bool { // other tests' visits have theirs
		drafts, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".draft-*"))
		return err == nil && len(drafts) == 0
	}, "drafts are left")
}

// TestABrokenMemoryIsNone checks that a damaged file of visits is ignored silently and replaced.
func TestABrokenMemoryIsNone(t *testing.T) {
	t.Parallel()
	file := visitsFile(t, "nexuiz")
	l := startLoopback(t, 30)
	for _, text := range []string{"", "\x00\xff", `{"format":"muster.report/1"}`,
		`{"format":"muster.memory/1","networks":[{"prefix":"10.0.0.0/8"}]}`} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := muster(t, l.discover("--game", "nexuiz", "--timeout", "2s")...)
		if o.code != 0 || strings.Contains(o.err, "last visit") || strings.Contains(o.err, "malformed") {
			t.Errorf("with %q: exit status %d\n%s", text, o.code, o.err)
		}
		if len(readVisits(t, file)) == 0 {
			t.Errorf("after %q nothing was remembered", text)
		}
	}
}

// TestNoFolderIsNoError checks a file in place of the folder.
func TestNoFolderIsNoError(t *testing.T) {
	folder := filepath.Dir(visitsFile(t, "openarena"))
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Dir(folder), 0o700), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(folder)
	if startsWarm(t, startLoopback(t, 30).discover()) {
		t.Error("it starts from a visit that cannot be known")
	}
}

// TestATravellerIsTold checks the message if the remembered visit was from another place.
func TestATravellerIsTold(t *testing.T) {
	t.Parallel()
	file := visitsFile(t, "smokinguns")
	l := startLoopback(t, 60)
	startsWarm(t, l.discover("--game", "smokinguns", "--auto-stop", "off"))
	memory := readVisits(t, file)
	for i := range memory {
		memory[i].RTT += 900e6
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.WriteJSON(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if o := muster(t, l.discover("--game", "smokinguns")...); o.code != 0 || !strings.Contains(o.err, "does not hold here") {
		t.Errorf("exit status %d\n%s", o.code, o.err)
	}
	for _, n := range readVisits(t, file) {
		if n.RTT > 900e6 {
			t.Errorf("%v is still remembered at %v ms", n.Prefix, n.RTT)
		}
	}
}
