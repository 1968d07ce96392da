package main

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
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

// TestReplay checks that a seed is a world: the same trace to the byte, on one processor and on two. One
// of these nights is on a disk.
func TestReplay(t *testing.T) {
	for _, n := range []uint64{0, 1, 9} {
		r, differs := repeated(t, n, script(n))
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
	// choose returns the choice among some servers by a rule, by package selection: with second looks, or none.
	choose := func(by selection.Rule, looks bool, keep int, servers ...int) *wire.Choice {
		of := selection.Servers{List: w.servers, Infos: map[int]*discovery.Info{}}
		table := selection.NewTable([]string{"p00", "p01", "p02", "p03"}, gameServers)
		for _, server := range servers {
			if told, isSilent := info(server); !isSilent {
				of.Infos[server] = &told
			}
			for i := range room.players {
				table.Set(i, server, discovery.Answered, ping(i, server))
				if looks && server%4 > 0 {
					table.SetQuality(i, server, selection.Quality{Loss: float64(server%3*i) / 10, Jitter: time.Duration(server*i%5) * time.Millisecond})
				}
			}
		}
		criteria := selection.Criteria{By: by, Seats: players, Spare: 2 * time.Millisecond}
		if keep >= 0 {
			criteria.Keep = w.servers[keep].Addr
		}
		return &wire.Choice{Selection: selection.Select(of, table, criteria)}
	}
	all := []int{0, 1, 2, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23}
	changed := func(change func(*selection.Selection)) *wire.Choice {
		c := choose(selection.Mean, true, -1, all...)
		change(&c.Selection)
		return c
	}
	nearest := choose(selection.Mean, false, -1, all...).Selection.Ranking
	far := slices.Index(all, nearest[len(nearest)-1].Server)
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
		{sees(1, wire.PhaseLaunching, choose(selection.Mean, false, -1, all...)), ""},
		{sees(1, wire.PhaseLaunching, choose(selection.Mean, true, -1, all...)), ""},
		{sees(1, wire.PhaseLaunching, choose(selection.Minimax, true, -1, all...)), ""},
		{sees(1, wire.PhaseLaunching, choose(selection.Fairness, true, -1, all...)), ""},
		{sees(1, wire.PhaseLaunching, choose(selection.Mean, false, all[far], all...)), ""},
		{sees(1, wire.PhaseLaunching, choose(selection.Fairness, true, all[far], all...)), ""},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { slices.Reverse(s.Ranking) })), "comes before"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Chosen = &s.Ranking[1] })), "is the best, and the choice is"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Keep = &selection.Stay{Addr: s.Ranking[1].Addr} })), "is the best, and the choice is"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Keep = &selection.Stay{Addr: s.Ranking[1].Addr, Unlisted: true} })), "and suits: false"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].Score += 0.01 })), "has the score"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.By = selection.Minimax })), "by minimax"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.By = selection.Fairness })), "by fairness"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].Tight = !s.Ranking[5].Tight })), "is called tight"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { delete(s.Ranking[5].RTT, "p02") })), "without the ping of p02"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].RTT["p02"] += 20 })), "p02 has"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].RTT["p02"]-- })), "p02 has"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].Addr.AddrPort = w.servers[3].Addr })), "is full or silent"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].Addr.AddrPort = w.servers[5].Addr })), "is full or silent"},
		{sees(1, wire.PhaseLaunching, changed(func(s *selection.Selection) { s.Ranking[5].Addr.AddrPort = netip.AddrPort{} })), "is in no list"},
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
		{append(launched, state(1, "1998"), state(1, "1999")), "after a later one"},
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
		l := look{asked: asked, told: asked + 1, room: room, status: status, of: shown{Round: round, MaxRTTMs: limit, Phase: wire.Phase{Name: wire.PhaseVoting},
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
	room.by = "minimax"
	if why := w.misjudged(choose(selection.Mean, false, -1, all...), room); !strings.Contains(why, "the room's rule is minimax") {
		t.Errorf("a choice by another rule: %q", why)
	}
	counts := changed(func(s *selection.Selection) {})
	unseen := choose(selection.Mean, false, -1, all...)
	alone := *counts
	alone.Selection.Players = alone.Selection.Players[:3]
	for _, tt := range []struct {
		choice *wire.Choice
		want   string
	}{{counts, ""}, {unseen, "nobody has looked twice"}, {&alone, "p03 does not count"}, {nil, "sees no choice"}} {
		w.seen = sees(1, wire.PhaseLaunching, tt.choice)
		if why := w.uncounted(room); (why != "") != (tt.want != "") || !strings.Contains(why, tt.want) {
			t.Errorf("%q, want %q", why, tt.want)
		}
	}
	for _, tt := range []struct {
		epochs []uint64
		claims []claim
		want   string
	}{
		{[]uint64{1, 1, 2, 4}, []claim{{"a", 1}, {"a", 1}, {"b", 1}, {"b", 2}}, "[]"},
		{[]uint64{1, 2, 1}, []claim{{"a", 1}, {"b", 1}, {"a", 1}}, "after epoch"}, // written over
		{[]uint64{1, 1}, []claim{{"a", 1}, {"b", 1}}, "two claims"},
		{[]uint64{1, 1}, []claim{{"a", 1}, {"a", 2}}, "two claims"},
		{[]uint64{1, 3, 2}, []claim{{"a", 1}, {"b", 1}, {"c", 1}}, "after epoch 3"},
	} {
		w.claims, w.rivals = map[string]*epochs{}, nil
		for i, epoch := range tt.epochs {
			w.held("R", epoch, tt.claims[i])
		}
		if text := fmt.Sprint(w.rivals); !strings.Contains(text, tt.want) {
			t.Errorf("%v: %s, want %q", tt.epochs, text, tt.want)
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
