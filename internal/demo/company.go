package demo

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/lobby"
)

// The demo's players take their time, as people do.
const (
	// arrivesEvery is the time between two players' arrivals in the lobby, and startsEvery between two starts of their
	// games.
	arrivesEvery = 900 * time.Millisecond
	startsEvery  = 700 * time.Millisecond
	// looksFor is how long all players look at the findings before anybody votes; the page shows them that long.
	// thinksFor is the time between two players' remarks.
	looksFor  = 5 * time.Second
	thinksFor = 1500 * time.Millisecond
	// heardWithin is how long the room may take to show a remark. Only then is it repeated.
	heardWithin = 3 * time.Second
	// aloneFor is how long the players wait for a visitor who has no name on the page and says nothing.
	aloneFor = 45 * time.Second
	// contrary makes every third player vote for another server than the best.
	contrary = 3
)

// company are the demo's players while people vote. They vote one after the other, and report ready only after the
// visitor has said something, so that nothing is decided behind the visitor's back.
type company struct {
	names []string
	haste float64
	round int
	// opened is when the round's vote began. spoken is when the visitor first said something, or when the players
	// stopped waiting. Both are zero before.
	opened, spoken time.Time
	// said is when each player last sent a message.
	said [len(names)]time.Time
}

// inHaste shortens a person's usual time by the factor haste.
func inHaste(usual time.Duration, haste float64) time.Duration {
	return time.Duration(float64(usual) / haste)
}

// remark is what a player says.
type remark struct {
	player int
	say    wire.Say
}

// step returns what the players say now.
func (c *company) step(s wire.Snapshot, now time.Time) (all []remark) {
	if !s.Voting.Open || !s.Voting.LaunchAt.IsZero() { // a remark would stop the countdown
		return nil
	}
	if c.round != s.Room.Round {
		*c = company{names: c.names, haste: c.haste, round: s.Room.Round, opened: now}
	}
	isThere := false
	for _, p := range s.People {
		if slices.Contains(c.names, p.Name) {
			continue
		}
		isThere = isThere || p.Page
		if c.spoken.IsZero() && (p.Vote != "" || p.Ready) {
			c.spoken = now
		}
	}
	if c.spoken.IsZero() && !isThere && now.Sub(c.opened) >= aloneFor {
		c.spoken = now
	}
	for i, name := range c.names {
		at := slices.IndexFunc(s.People, func(p wire.Person) bool { return p.Name == name && p.Connected && !p.LeftOut })
		if at < 0 || now.Sub(c.said[i]) < heardWithin {
			continue
		}
		p, say, turn := s.People[at], wire.Say{Round: s.Room.Round}, inHaste(time.Duration(i+1)*thinksFor, c.haste)
		switch {
		case p.Vote == "" && now.Sub(c.opened) >= inHaste(looksFor, c.haste)+turn:
			say.What, say.Addr = wire.SayVote, hostport.At(prefers(s, i, name))
		case p.Vote != "" && !p.Ready && !c.spoken.IsZero() && now.Sub(c.spoken) >= turn:
			say.What = wire.SayReady
		default:
			continue
		}
		c.said[i] = now
		all = append(all, remark{i, say})
	}
	return all
}

// prefers returns the candidate that a player votes for: usually the best for all, sometimes the player's nearest among
// the others.
func prefers(s wire.Snapshot, player int, name string) (addr netip.AddrPort) {
	all := lobby.Candidates(s)
	if len(all) == 0 {
		return addr
	}
	choice := all[0]
	if others := all[1:]; len(others) > 0 && player%contrary == contrary-1 {
		choice = slices.MinFunc(others, func(a, b lobby.Candidate) int { return cmp.Compare(a.RTT[name], b.RTT[name]) })
	}
	return choice.Addr.AddrPort
}
