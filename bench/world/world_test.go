package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/selection"

	"muster/host/wire"
)

// TestKept plays the nights in which a promise was once broken.
func TestKept(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		seed, ops, err := kept(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range night(t, seed, ops).broken {
			t.Errorf("%s: %s", file, what)
		}
	}
}

// TestReplay checks that a seed is a world: the same trace to the byte, on one processor and on two. It
// plays the beginnings of nights: bench/experiments/one-world.md says what still differs in some whole ones.
func TestReplay(t *testing.T) {
	for n := range uint64(3) {
		var traces []string
		for _, processors := range []int{1, 2} {
			before := runtime.GOMAXPROCS(processors)
			traces = append(traces, night(t, n, script(n)[:8]).trace)
			runtime.GOMAXPROCS(before)
		}
		one, two := strings.Split(traces[0], "\n"), strings.Split(traces[1], "\n")
		for i := range min(len(one), len(two)) {
			if one[i] != two[i] {
				t.Errorf("night %d differs in line %d:\n%.300s\n%.300s", n, i, one[i], two[i])
				break
			}
		}
		if len(one) < 500 || len(one) != len(two) {
			t.Errorf("night %d has %d and %d lines", n, len(one), len(two))
		}
	}
}

// TestScript checks that an operation is read as it is written, and that no night loses a part of a disk
// while another server lacks something.
func TestScript(t *testing.T) {
	for n := range uint64(300) {
		ops := script(n)
		for _, o := range ops {
			if back, err := parseOp(o.String()); err != nil || back != o {
				t.Errorf("%v is read as %v, %v", o, back, err)
			}
			for _, other := range ops {
				if o.kind == "lose-tail" && other != o && other.isOfNATS() && other.at < o.at+o.lasts && o.at < other.at+other.lasts {
					t.Errorf("night %d: %v meets %v", n, o, other)
				}
			}
		}
	}
}

// TestChecker shows the checker what must not happen, and a whole night in which nothing of it does.
func TestChecker(t *testing.T) {
	w := &world{servers: list(gameServers)}
	room := &group{n: 1}
	for n := range players {
		room.players = append(room.players, w.gamer(room, n, 1))
	}
	ranked := func(by selection.Rule, servers ...int) *wire.Choice {
		c := &wire.Choice{Selection: selection.Selection{By: by}}
		for _, server := range servers {
			r := selection.Ranked{RTT: map[string]float64{}}
			r.Addr.AddrPort = w.servers[server].Addr
			for _, p := range room.players {
				r.RTT[p.name] = float64(ping(p.n, server)) / 1e6
			}
			c.Selection.Ranking = append(c.Selection.Ranking, r)
		}
		return c
	}
	mean := func(server int) (mean time.Duration) {
		for _, p := range room.players {
			mean += ping(p.n, server) / players
		}
		return mean
	}
	first, second := 0, 0 // the farthest, and the nearest, of those that suit
	for n := range gameServers {
		if of, isSilent := info(n); isSilent || of.Players == of.MaxPlayers {
			continue
		}
		if mean(n) > mean(first) {
			first = n
		}
		if mean(n) < mean(second) {
			second = n
		}
	}
	if mean(first) < mean(second)+2*noise {
		t.Fatalf("%v is about %v", mean(first), mean(second))
	}
	wrong := ranked(selection.Mean, second)
	wrong.Selection.Ranking[0].RTT["p02"] += 20
	sees := func(round int, phase wire.PhaseName, choice *wire.Choice) (all []sighting) {
		for _, p := range room.players {
			all = append(all, sighting{who: p.name, room: room, round: round, sent: "198.18.0.1:27960"}, sighting{who: p.name, room: room, round: round, phase: phase, choice: choice})
		}
		return all
	}
	for _, tt := range []struct {
		seen []sighting
		want string
	}{
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, second, first)), ""},
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, first, second)), "comes before"},
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, 3)), "is full or silent"},
		{sees(1, wire.PhaseLaunching, wrong), "p02 has"},
		{sees(1, wire.PhaseVerifying, nil), "waits for ever"},
		{append(sees(1, wire.PhaseLaunching, nil), sighting{who: "p00", room: room, round: 1, sent: "198.18.0.2:27960"}), "has two addresses"},
		{append(sees(1, wire.PhaseLaunching, nil), sighting{who: "p00", room: room, left: "gone"}), "is out of the room"},
	} {
		w.seen = tt.seen
		var broken []string
		for _, who := range w.waiting([]*group{room}) {
			broken = append(broken, "somebody waits for ever: "+who)
		}
		broken = append(broken, w.judge(nil)...)
		if text := fmt.Sprint(broken); (len(broken) > 0) != (tt.want != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s, want %q", text, tt.want)
		}
	}
	told := []sighting{{who: "p00", at: 5, held: true, phase: wire.PhaseLaunching}, {who: "p00", at: 7, phase: wire.PhaseLaunching}, {who: "p00", at: 9, lost: true}}
	for _, tt := range []struct {
		from, to int64
		want     bool
	}{{0, 4, false}, {0, 6, true}, {6, 6, true}, {8, 8, false}, {8, 9, true}} {
		if got := isTold(told, "p00", time.Duration(tt.from), time.Duration(tt.to)); got != tt.want {
			t.Errorf("told from %d to %d: %v", tt.from, tt.to, got)
		}
	}
}
