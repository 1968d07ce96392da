package player

import (
	"net/netip"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
)

const (
	// maxAtAddress bounds how many servers at a launch's address are asked. Several may run there, and query ports
	// differ from game ports.
	maxAtAddress = 8
	// maxAttempts is how often each is asked: a packet or two may get lost.
	maxAttempts = 3
)

// doubt is the reason, if there is one, not to take a player to an address without asking. A host may name any address
// and port. The program trusts it if a server of this round's list accepts players there and has answered this player.
// A latecomer asks that server first.
type doubt struct {
	launch  wire.Launch
	address netip.AddrPort
	round   *round
	// reason is the doubt, zero for none. It is valid once isKnown is true.
	reason  sentence.Sentence
	isKnown bool
	// unheard are the servers still to ask.
	unheard  []int
	attempts int
	// answers says that a server at the launch address has answered.
	answers bool
}

// newDoubt judges a launch by the servers that the player has heard from.
func newDoubt(r *round, m wire.Launch, heard map[int]*discovery.Info) *doubt {
	d := &doubt{launch: m, round: r, isKnown: true}
	address, err := hostport.Parse(m.Address)
	switch {
	case err != nil:
		d.reason = sentence.Of("start.doubt-address")
		return d
	case r == nil || r.number != m.Round:
		d.reason = sentence.Of("start.doubt-unlisted")
		return d
	case r.measure != nil && r.measure.Game != m.Game:
		d.reason = sentence.Of("start.doubt-game")
		return d
	}
	d.address = address
	there := false
	for index := range r.servers {
		if r.servers[index].Addr.Addr() != address.Addr() || !r.mayAsk(index) {
			continue
		}
		there = true
		switch info, answered := heard[index]; {
		case answered && d.takesPlayers(index, info):
			return d
		case answered:
			d.answers = true
		case r.servers[index].Addr.Port() == address.Port(), r.servers[index].Addr.Port() == m.QueryPort:
			d.unheard = append([]int{index}, d.unheard...) // put first the server at exactly that game or query port
		default:
			d.unheard = append(d.unheard, index)
		}
	}
	if !there {
		d.reason = sentence.Of("start.doubt-elsewhere")
		return d
	}
	d.unheard, d.isKnown = d.unheard[:min(len(d.unheard), maxAtAddress)], len(d.unheard) == 0
	if d.isKnown {
		d.reason = d.ofTheSilent()
	}
	return d
}

func (d *doubt) takesPlayers(index int, info *discovery.Info) bool {
	asked := d.round.servers[index].Addr.Port()
	if d.launch.QueryPort != 0 && d.launch.QueryPort != asked {
		return false // the link leads to that port, so it must be this server's
	}
	return asked == d.address.Port() || info != nil && info.GamePort == d.address.Port()
}

// learn takes what the servers at that address answered.
func (d *doubt) learn(found []wire.Finalist, err error) {
	if err != nil {
		d.reason, d.isKnown = sentence.Of("start.doubt-unasked", "why", err.Error()), true
		return
	}
	for _, f := range found {
		if f.State == discovery.Answered && d.takesPlayers(f.Server, f.Info) {
			d.isKnown = true
			return
		}
		d.answers = d.answers || f.State == discovery.Answered
	}
	if d.attempts++; d.attempts == maxAttempts {
		d.reason, d.isKnown = d.ofTheSilent(), true
	}
}

// ofTheSilent returns the doubt when none of the servers there accepts players.
func (d *doubt) ofTheSilent() sentence.Sentence {
	if d.answers {
		return sentence.Of("start.doubt-port")
	}
	return sentence.Of("start.doubt-silent")
}
