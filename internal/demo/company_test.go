package demo

import (
	"cmp"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/selection"
)

// TestCompany checks that the demo's players vote one after the other, one of them for the server nearest to that
// player. They are ready only after the visitor has said something, or when no visitor with a name has been there for
// long.
func TestCompany(t *testing.T) {
	const best, near = "192.0.2.7:27960", "192.0.2.9:27960"
	for _, test := range []struct {
		what    string
		visitor []wire.Person
		// speaks is when the visitor votes; 0 means never.
		speaks time.Duration
		// ready is about when the first player is ready; 0 means never.
		ready time.Duration
	}{
		{"nobody at the page", nil, 0, aloneFor + thinksFor},
		{"a visitor who reads", []wire.Person{{Name: "zoe", Guest: true, Page: true}}, 0, 0},
		{"a visitor who votes", []wire.Person{{Name: "zoe", Guest: true, Page: true}}, 20 * time.Second, 20*time.Second + thinksFor},
	} {
		t.Run(test.what, func(t *testing.T) {
			s := voting()
			s.Voting.Ballot = []string{best, "192.0.2.8:27960", near}
			s.People = nil
			names := []string{"ben", "eve", "ann"} // the third is contrary
			for _, name := range names {
				s.People = append(s.People, wire.Person{Name: name, Peer: true, Connected: true, Asked: true})
			}
			s.People = append(s.People, test.visitor...)
			c, began := company{names: names, haste: 1}, time.Unix(1e9, 0)
			var votes []string
			var first time.Duration
			for at := time.Duration(0); at < 2*time.Minute; at += 250 * time.Millisecond {
				if test.speaks > 0 && at >= test.speaks {
					s.People[3].Vote = near
				}
				all := c.step(s, began.Add(at))
				if len(all) > 1 {
					t.Errorf("%v: %d speak at once", at, len(all))
				}
				for _, r := range all {
					switch r.say.What {
					case wire.SayVote:
						s.People[r.player].Vote = r.say.Addr.String()
						votes = append(votes, names[r.player]+" "+r.say.Addr.String())
					case wire.SayReady:
						s.People[r.player].Ready = true
						first = cmp.Or(first, at)
					}
				}
			}
			if want := []string{"ben " + best, "eve " + best, "ann " + near}; !slices.Equal(votes, want) {
				t.Errorf("votes %v, want %v", votes, want)
			}
			if first != test.ready {
				t.Errorf("the first is ready after %v, want %v", first, test.ready)
			}
		})
	}
	s := voting()
	s.People = []wire.Person{{Name: "ben", Peer: true, Connected: true}}
	c, began := company{names: []string{"ben"}, haste: 1}, time.Unix(1e9, 0)
	c.step(s, began)
	s.Voting.LaunchAt = began.Add(time.Minute)
	if all := c.step(s, began.Add(time.Minute)); len(all) > 0 {
		t.Errorf("a word during the countdown would stop it: %v", all)
	}
}

// voting returns a room where ann and ben vote on three servers. zoe came too late to be measured.
func voting() wire.Snapshot {
	addr := func(n string) netip.AddrPort { return netip.MustParseAddrPort("192.0.2." + n + ":27960") }
	s := wire.Snapshot{Room: wire.Head{Stage: wire.Chosen}}
	s.Room.Round = 2
	s.People = []wire.Person{{Name: "ann", Peer: true, Page: true}, {Name: "ben", Peer: true, Asked: true},
		{Name: "zoe", Peer: true}, {Name: "eve", Guest: true, Page: true}}
	s.Voting = wire.Voting{Open: true, Rule: wire.MaxVotes, Ballot: []string{addr("7").String(), addr("8").String(), addr("9").String()}}
	s.Choice = &wire.Choice{
		Selection: selection.Selection{Ranking: []selection.Ranked{
			{Addr: hostport.At(addr("7")), MeanMS: 48, RTT: map[string]float64{"ann": 88, "ben": 9}},
			{Addr: hostport.At(addr("8")), MeanMS: 59, RTT: map[string]float64{"ann": 97, "ben": 22}},
			{Addr: hostport.At(addr("9")), MeanMS: 45, RTT: map[string]float64{"ann": 12, "ben": 78, "zoe": 30}},
		}},
		Servers: map[string]wire.ServerCard{
			addr("7").String(): {Name: "pro-g InstaGib", Map: "q3dm7", Country: "CA", Players: 4, MaxPlayers: 16},
			addr("8").String(): {Name: "RedEye TDM", Country: "US", Players: 9, MaxPlayers: 8},
		},
	}
	return s
}
