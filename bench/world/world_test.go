package main

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
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
// plays the beginnings of nights: bench/experiments/one-world.md says how many whole ones still differ.
func TestReplay(t *testing.T) {
	for n := range uint64(6) {
		r, differs := repeated(t, n, script(n)[:8])
		if lines := strings.Count(r.trace, "\n"); differs != "" || lines < 500 {
			t.Errorf("night %d has %d lines; %s", n, lines, differs)
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
	first, second := 0, 0 // the farthest, and the nearest, of those that suit
	mean := func(server int) (mean time.Duration) {
		for _, p := range room.players {
			mean += ping(p.n, server) / players
		}
		return mean
	}
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
	// uneven returns a choice by which the second server is only the better one on average.
	uneven := func(by selection.Rule) *wire.Choice {
		c := ranked(by, second, first)
		c.Selection.Ranking[0].RTT, c.Selection.Ranking[1].RTT = map[string]float64{"ann": 150, "bob": 150}, map[string]float64{"ann": 10, "bob": 200}
		return c
	}
	changed := func(change func(*selection.Ranked)) *wire.Choice {
		c := ranked(selection.Mean, second)
		change(&c.Selection.Ranking[0])
		return c
	}
	here, there := w.servers[0].Addr.String(), w.servers[1].Addr.String()
	sees := func(round int, phase wire.PhaseName, choice *wire.Choice) (all []sighting) {
		for _, p := range room.players {
			all = append(all, sighting{who: p.name, room: room, round: round, sent: here, life: 1},
				sighting{who: p.name, room: room, round: round, phase: phase, limit: "2000", choice: choice})
		}
		return all
	}
	w.words = []word{{room: room, kind: "limit", text: "2000", kept: 1}, {room: room, kind: "limit", text: "1999", asked: 10, kept: 12},
		{room: room, kind: "limit", text: "1998", asked: 20}, {room: room, kind: "vote", who: "p00", text: here, round: 2, asked: 30, kept: 32},
		{room: room, kind: "vote", who: "p00", text: there, round: 2, asked: 40, kept: 44}, {room: room, kind: "removed", who: "p03", asked: 50, kept: 52}}
	launched := slices.Clip(sees(1, wire.PhaseLaunching, nil))
	state := func(round int, limit string) sighting {
		return sighting{who: "p00", room: room, round: round, phase: wire.PhaseLaunching, limit: limit}
	}
	for _, tt := range []struct {
		seen []sighting
		want string
	}{
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, second, first)), ""},
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, first, second)), "comes before"},
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, 3)), "is full or silent"},
		{sees(1, wire.PhaseLaunching, ranked(selection.Mean, 5)), "is full or silent"},
		{sees(1, wire.PhaseLaunching, uneven(selection.Minimax)), ""},
		{sees(1, wire.PhaseLaunching, uneven(selection.Fairness)), ""},
		{sees(1, wire.PhaseLaunching, uneven(selection.Mean)), "by mean"},
		{sees(1, wire.PhaseLaunching, changed(func(r *selection.Ranked) { r.RTT["p02"] += 20 })), "p02 has"},
		{sees(1, wire.PhaseLaunching, changed(func(r *selection.Ranked) { r.RTT["p02"]-- })), "p02 has"},
		{sees(1, wire.PhaseLaunching, changed(func(r *selection.Ranked) { r.Addr.AddrPort = netip.AddrPort{} })), "is in no list"},
		{sees(1, wire.PhaseVerifying, nil), "waits for ever"},
		{sees(1, wire.PhaseLaunching, nil)[:6], "p03 of room 1, sent in round 0 of 1"},
		{append(launched, state(2, "2000")), "sent in round 1 of 2"},
		{append(launched, sighting{who: "p00", room: room, round: 1, life: 2, sent: "198.18.9.9:1"}), "which is in no list"},
		{append([]sighting{{who: "p00", room: room, round: 1, phase: wire.PhaseCountdown, limit: "2000", choice: &wire.Choice{Target: there}}}, launched...), "and the choice was " + there},
		{append(sees(1, wire.PhaseLaunching, nil), sighting{who: "p00", room: room, round: 1, life: 2, sent: there}), "has two addresses"},
		{append(launched, sighting{who: "p00", room: room, round: 1, life: 1, sent: here}), "is sent twice"},
		{append(launched, sighting{who: "p00", room: room, round: 1, life: 2, sent: here, at: toldTime}), ""},
		{append(launched, sighting{who: "p00", room: room, round: 1, life: 2, sent: here, at: toldTime + 1}), "is sent twice"},
		{append(launched, sighting{who: "p00", lost: true}, sighting{who: "p00", room: room, round: 1, life: 2, sent: here, at: toldTime + 1}), ""},
		{append(launched, sighting{who: "p00", room: room, left: "gone"}), "is out of the room"},
		{append(launched, sighting{who: "p00", room: room, left: "removed", isOut: true}), ""},
		{append(launched, state(2, "2000"), state(1, "2000")), "goes back from round 2"},
		{append(launched, state(1, "1999"), state(1, "2000")), "after a later one"},
		{append(launched, state(1, "1999"), state(1, "1998")), ""},
		{append(launched, state(1, "1991")), "after a later one"},
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
	w.seen = []sighting{{who: "p00", at: 5 * time.Second, lost: true}}
	if text := fmt.Sprint(w.judge([]op{{kind: "alone", a: 0, at: time.Second}, {kind: "alone", a: 1, at: time.Second}})); text != "[p01 is not told of the alone within a minute]" {
		t.Errorf("two are alone, and one is told: %s", text)
	}
	if text := fmt.Sprint(w.judge([]op{{kind: "outage", at: time.Second}})); strings.Count(text, "is not told") != rooms*players-1 {
		t.Errorf("NATS is away, and one is told: %s", text)
	}
	at := func(asked time.Duration, status, round int, limit float64, vote string, members ...string) look {
		l := look{asked: asked, told: asked + 1, room: room, status: status, of: wire.Document{Round: round, MaxRTTMs: limit, Phase: wire.Phase{Name: wire.PhaseVoting},
			Ballot: []wire.Nominee{{Addr: here}, {Addr: there}}}}
		for _, name := range append(members, "p00") {
			l.of.Members = append(l.of.Members, wire.Member{Name: name})
		}
		l.of.Members[len(members)].Vote = vote
		return l
	}
	late := at(61, 0, 0, 0, "")
	late.told += 2 * answerTime
	for _, tt := range []struct {
		looks []look
		want  string
	}{
		{[]look{at(5, 200, 1, 2000, "")}, ""},
		{[]look{at(5, 200, 1, 1991, "")}, "which nobody gave it"},
		{[]look{at(11, 200, 1, 2000, "")}, ""}, // which is not acknowledged yet
		{[]look{at(13, 200, 1, 2000, "")}, "and had 1999"},
		{[]look{at(21, 200, 1, 1999, ""), at(22, 200, 1, 1998, "")}, ""},
		{[]look{at(13, 200, 3, 1999, ""), at(15, 200, 2, 1999, "")}, "is in round 2, and was in round 3"},
		{[]look{at(61, 200, 1, 1999, "")}, "is in round 1, and was in round 2"}, // as a player has seen
		{[]look{at(31, 200, 2, 1999, "")}, ""},
		{[]look{at(33, 200, 2, 1999, "")}, "p00 has voted for " + here},
		{[]look{at(33, 200, 3, 1999, "")}, ""},
		{[]look{at(41, 200, 2, 1999, here), at(42, 200, 2, 1999, there)}, ""},
		{[]look{at(45, 200, 2, 1999, here)}, "p00 has voted for " + there},
		{[]look{at(51, 200, 2, 1999, there, "p03")}, ""},
		{[]look{at(53, 200, 2, 1999, there, "p03")}, "p03 is still there, who was removed"},
		{[]look{at(53, 404, 0, 0, "")}, "is gone"},
		{[]look{at(53, 410, 0, 0, "")}, "is over, which nobody has ended"},
		{[]look{at(53, 503, 0, 0, "")}, ""},
		{[]look{late}, "although all is whole"},
	} {
		text := fmt.Sprint(judgeLooks(tt.looks, w.words, []sighting{{room: room, at: 60, round: 2}}, 60))
		if (text != "[]") != (tt.want != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%+v: %s, want %q", tt.looks, text, tt.want)
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
	cut := []sighting{{who: "p00", at: 5, lost: true}, {who: "p00", at: 6, lost: true}, {who: "p01", at: 7, joined: true}, {who: "p00", at: 9, joined: true}, {who: "p00", at: 20, waits: true},
		{who: "p00", at: 40, joined: true}, {who: "p00", at: 41, phase: wire.PhaseVoting, held: true}, {who: "p00", at: 43, phase: wire.PhaseVoting}}
	for _, tt := range []struct{ from, to, want time.Duration }{{0, 4, 0}, {0, 8, 3}, {7, 15, 2}, {10, 15, 0}, {0, 30, 10}, {41, 60, 2}} {
		if got := away(cut, "p00", tt.from, tt.to); got != tt.want {
			t.Errorf("away from %d to %d: %d", tt.from, tt.to, got)
		}
	}
}
