package main

import (
	"slices"
	"strings"
	"testing"
)

// run is what `go test -json` printed of three packages: one whose second test failed and whose
// third was skipped, one that ended before its test did, and one that does not compile.
const run = `{"Action":"start","Package":"muster/host"}
{"Action":"run","Package":"muster/host","Test":"TestOpen"}
{"Action":"output","Package":"muster/host","Test":"TestOpen","Output":"=== RUN   TestOpen\n"}
{"Action":"pass","Package":"muster/host","Test":"TestOpen","Elapsed":2.5}
{"Action":"run","Package":"muster/host","Test":"TestClose"}
{"Action":"output","Package":"muster/host","Test":"TestClose","Output":"    host_test.go:12: it stays open\n"}
{"Action":"fail","Package":"muster/host","Test":"TestClose","Elapsed":0.1}
{"Action":"output","Package":"muster/host","Test":"TestReal","Output":"    host_test.go:20: no quakestat\n"}
{"Action":"skip","Package":"muster/host","Test":"TestReal","Elapsed":0}
{"Action":"fail","Package":"muster/host","Elapsed":3}
{"Action":"output","Package":"muster/peer","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"muster/peer","Elapsed":60}
{"ImportPath":"muster/web","Action":"build-output","Output":"web.go:3: undefined: x\n"}
{"ImportPath":"muster/web","Action":"build-fail"}
{"Action":"fail","Package":"muster/web","Elapsed":0,"FailedBuild":"muster/web"}
go: some words that are no event
`

// TestTally reads a run with every kind of trouble.
func TestTally(t *testing.T) {
	var told, summary strings.Builder
	seen, err := read(strings.NewReader(run), &told)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"host TestClose", "peer", "web"}; !slices.Equal(seen.failed, want) {
		t.Errorf("failed are %q, not %q", seen.failed, want)
	}
	for _, want := range []string{"host_test.go:12: it stays open", "panic: test timed out", "web.go:3: undefined: x", "go: some words"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("it does not tell %q", want)
		}
	}
	if strings.Contains(told.String(), "=== RUN   TestOpen") {
		t.Error("it tells what a test said that passed")
	}
	if !seen.tell(&summary, options{least: 1, slowest: 2, maySkip: "^$"}) {
		t.Error("it finds nothing wrong")
	}
	const want = `  60.0 s  peer
   3.0 s  host
   2.5 s  host TestOpen
skipped, and may not be: host TestReal: host_test.go:20: no quakestat
failed: host TestClose
failed: peer
failed: web
1 passed, 3 failed, 1 skipped
`
	if summary.String() != want {
		t.Errorf("it says\n%s, not\n%s", summary.String(), want)
	}
}

// TestTallyWantsTests: a run that ran hardly anything is no good run, and one whose skipped tests
// may be skipped is.
func TestTallyWantsTests(t *testing.T) {
	passed, skipped, _ := strings.Cut(`{"Action":"pass","Package":"muster/host","Test":"TestOpen"}
{"Action":"skip","Package":"muster/host","Test":"TestReal"}`, "\n")
	for _, c := range []struct {
		lines   string
		o       options
		isWrong bool
	}{
		{passed, options{least: 1, maySkip: "^$"}, false},
		{passed, options{least: 2, maySkip: "^$"}, true},
		{"", options{least: 1, maySkip: "^$"}, true},
		{passed + "\n" + skipped, options{least: 1, maySkip: "^$"}, true},
		{passed + "\n" + skipped, options{least: 1, maySkip: "TestReal"}, false},
	} {
		seen, err := read(strings.NewReader(c.lines), &strings.Builder{})
		if err != nil {
			t.Fatal(err)
		}
		if isWrong := seen.tell(&strings.Builder{}, c.o); isWrong != c.isWrong {
			t.Errorf("%s with %+v is wrong: %v, not %v", c.lines, c.o, isWrong, c.isWrong)
		}
	}
}
