package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/history"
)

// visitsFile is where the visits to OpenArena's servers are kept, empty now.
func visitsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "muster", "visits", "openarena.json")
	forget := func() {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	t.Cleanup(forget)
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

// startsWarm runs the command, which must find servers, and reports whether it said
// that it starts from the last visit. It waits for none that are far or silent.
func startsWarm(t *testing.T, args []string) bool {
	t.Helper()
	o := muster(t, append(args, "--timeout", "300ms")...)
	if o.code != 0 {
		t.Fatalf("exit status %d\n%s", o.code, o.err)
	}
	return strings.Contains(o.err, "starting from the last visit")
}

func TestTheNextVisitStartsFromTheLast(t *testing.T) {
	file := visitsFile(t)
	l := startLoopback(t, 60)
	if startsWarm(t, l.discover()) {
		t.Error("the first visit starts from another")
	}
	first := readVisits(t, file)
	if len(first) < 20 {
		t.Errorf("%d networks remembered of 60 servers", len(first))
	}
	for _, strategy := range discovery.Strategies()[1:] {
		if !startsWarm(t, l.discover("--strategy", string(strategy))) {
			t.Errorf("a visit by %s does not start from the last", strategy)
		}
	}
	if startsWarm(t, l.discover("--fresh")) {
		t.Error("--fresh starts from the last visit")
	}
	if !startsWarm(t, l.discover()) {
		t.Error("--fresh left nothing for the next visit")
	}
	if drafts, err := os.ReadDir(filepath.Dir(file)); err != nil || len(drafts) != 1 {
		t.Errorf("%d files are left, %v", len(drafts), err)
	}
}

// TestABrokenMemoryIsNone: whatever lies there, the visit goes on without a
// word, and leaves a good one.
func TestABrokenMemoryIsNone(t *testing.T) {
	file := visitsFile(t)
	l := startLoopback(t, 30)
	for _, text := range []string{"", "\x00\xff", `{"format":"muster.report/1"}`, `{"format":"muster.memory/1","networks":[{"prefix":"10.0.0.0/8"}]}`} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := muster(t, l.discover("--timeout", "300ms")...)
		if o.code != 0 || strings.Contains(o.err, "last visit") || strings.Contains(o.err, "malformed") {
			t.Errorf("with %q: exit status %d\n%s", text, o.code, o.err)
		}
		if len(readVisits(t, file)) == 0 {
			t.Errorf("after %q nothing was remembered", text)
		}
	}
}

// TestNoFolderIsNoError: a file stands where the folder should be.
func TestNoFolderIsNoError(t *testing.T) {
	file := visitsFile(t)
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(file)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if startsWarm(t, startLoopback(t, 30).discover()) {
		t.Error("it starts from a visit that cannot be known")
	}
}

// TestATravellerIsTold: the memory is of another place.
func TestATravellerIsTold(t *testing.T) {
	file := visitsFile(t)
	l := startLoopback(t, 60)
	startsWarm(t, l.discover("--auto-stop", "off"))
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
	if o := muster(t, l.discover()...); o.code != 0 || !strings.Contains(o.err, "does not hold here") {
		t.Errorf("exit status %d\n%s", o.code, o.err)
	}
	for _, n := range readVisits(t, file) {
		if n.RTT > 900e6 {
			t.Errorf("%v is still remembered at %v ms", n.Prefix, n.RTT)
		}
	}
}
