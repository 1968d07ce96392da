// Package ballot keeps people's votes and vetoes on a round's choice. It also keeps who is ready to
// go, and who has joined the game server by hand.
//
//	ranking, second looks ─▶ Among ─▶ Options ─▶ Open ─▶ numbers of the candidates
//	                                     │
//	people ──▶ Refusal ──▶ Vote, Veto ───┴─▶ Favourite ─▶ where the group goes
//	               └─────▶ Ready ──────────▶ IsReady ───▶ the countdown
//
// A [Box] belongs to one round. It knows people by their IDs and servers by their index in the
// list. Its owner tells it the people of the room ([Electorate]) and the candidates ([Options]).
// The box decides whose vote counts, whether everybody is ready, and which server leads.
package ballot

import (
	"fmt"
	"net/netip"
	"slices"

	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

const (
	// maxCandidates bounds the candidates. If there are fewer than minCandidates, everyone looks
	// at more servers.
	maxCandidates = 5
	minCandidates = 3
	// enoughPages is the number of players with an open page at which people vote, unless the
	// organiser has decided otherwise.
	enoughPages = 2
)

// Box has people's votes and other words on one round's choice. Its zero value is empty.
type Box struct{ state State }

// State is the saved state of a box.
type State struct {
	// Opened says that people have voted in this round, or could.
	Opened bool                `json:"opened,omitempty"`
	Papers map[people.ID]Paper `json:"papers,omitempty"`
	Vetoes []selection.Veto    `json:"vetoes,omitempty"`
	// Numbers are the servers that were candidates, in the order of their numbers. The first has
	// number 1.
	Numbers []int `json:"numbers,omitempty"`
	// Offered are the choices that people have seen, in order. A choice keeps its place even when
	// it is vetoed or no longer special.
	Offered []int `json:"offered,omitempty"`
}

// State returns the state, to save or restore it.
func (b *Box) State() *State { return &b.state }

// Validate returns the first fault of a saved box, or nil. Servers is the length of the list.
func (s *State) Validate(servers int) error {
	isListed := func(server int) bool { return server >= 0 && server < servers }
	for _, server := range slices.Concat(s.Numbers, s.Offered) {
		if !isListed(server) {
			return fmt.Errorf("a candidate %d of %d", server, servers)
		}
	}
	for _, p := range s.Papers {
		if p.Vote != nil && !isListed(*p.Vote) {
			return fmt.Errorf("a vote for server %d of %d", *p.Vote, servers)
		}
	}
	return nil
}

// Paper has one person's votes and words.
type Paper struct {
	// Vote is the person's server, nil for none.
	Vote  *int `json:"vote,omitempty"`
	Ready bool `json:"ready,omitempty"`
	// ByHand says that the person has joined the game server without Muster.
	ByHand bool `json:"by_hand,omitempty"`
	// Vetoed says that the person has used the round's veto.
	Vetoed bool `json:"-"`
}

// Options are the servers that people choose between.
type Options struct {
	// Rule is the server that the room's rule has chosen, -1 for none.
	Rule int
	// Candidates are the servers that people may vote for. Those of Choices come first, and then the
	// best other servers by the rule.
	Candidates []selection.Ranked
	// Choices are the candidates that differ in a way that players feel, the rule's first. If there
	// is only one, it is the best in every way. There are none until everyone has looked again at
	// the rule's candidate.
	Choices []selection.Alternative
	// More are other servers that suit everyone. Everyone should look at them again, because there
	// are too few candidates. Unseen are servers that would be choices after a second look.
	More, Unseen []int
}

// Among returns the options of a choice: the servers of its ranking at which everyone has looked
// again. Without a choice there are none.
func Among(s *selection.Selection, looked []int) Options {
	o := Options{Rule: -1}
	if s == nil {
		return o
	}
	var seen []selection.Ranked
	for _, ranked := range s.Ranking {
		switch isSeen := slices.Contains(looked, ranked.Server); {
		case isSeen:
			seen = append(seen, ranked)
		case len(o.More) < maxCandidates:
			o.More = append(o.More, ranked.Server)
		}
	}
	if s.Chosen != nil {
		o.Rule = s.Chosen.Server
		if slices.Contains(looked, o.Rule) {
			o.Choices = selection.Alternatives(s.By, *s.Chosen, seen)
		}
		for _, c := range selection.Alternatives(s.By, *s.Chosen, s.Ranking) {
			if !slices.Contains(looked, c.Server) {
				o.Unseen = append(o.Unseen, c.Server)
			}
		}
	}
	isChoice := func(r selection.Ranked) bool {
		return slices.ContainsFunc(o.Choices, func(c selection.Alternative) bool { return c.Server == r.Server })
	}
	for _, c := range o.Choices {
		if at := slices.IndexFunc(seen, func(r selection.Ranked) bool { return r.Server == c.Server }); at >= 0 {
			o.Candidates = append(o.Candidates, seen[at])
		}
	}
	for _, ranked := range seen {
		if !isChoice(ranked) && len(o.Candidates) < maxCandidates {
			o.Candidates = append(o.Candidates, ranked)
		}
	}
	if len(o.Candidates) >= minCandidates {
		o.More = nil
	}
	return o
}

// IsSettled reports whether there is nothing to vote about: one server is the best in every way.
func (o Options) IsSettled() bool { return len(o.Choices) == 1 }

func (o Options) place(server int) int {
	return slices.IndexFunc(o.Candidates, func(c selection.Ranked) bool { return c.Server == server })
}

// Open begins the vote, or goes on with other options. Then it forgets votes for servers that are
// no longer candidates. New candidates get the next numbers, the best by the rule first. All others
// keep theirs, so that nobody's vote goes elsewhere when a candidate comes or goes.
func (b *Box) Open(o Options) {
	if b.state.Opened && len(b.state.Offered) == 0 && len(o.Choices) > 1 {
		b.state.Offered = slices.Clone(b.state.Numbers) // people have seen all candidates
	}
	b.state.Opened = true
	b.Offer(o)
}

// Offer shows people the candidates of a vote that need not begin. It treats votes and numbers as
// [Box.Open] does.
func (b *Box) Offer(o Options) {
	for person, p := range b.state.Papers {
		if p.Vote != nil && o.place(*p.Vote) < 0 {
			b.mark(person, func(p *Paper) { p.Vote = nil })
		}
	}
	for _, c := range o.Candidates {
		if !slices.Contains(b.state.Numbers, c.Server) {
			b.state.Numbers = append(b.state.Numbers, c.Server)
		}
	}
	for _, c := range o.Choices {
		if len(o.Choices) > 1 && !slices.Contains(b.state.Offered, c.Server) {
			b.state.Offered = append(b.state.Offered, c.Server)
		}
	}
}

// Vote takes a person's vote for the candidate with an address, or takes it back if the
// address is the zero value. It reports whether another server leads now.
func (b *Box) Vote(person people.ID, addr netip.AddrPort, o Options) (turned bool, err error) {
	before, vote := b.Favourite(o), (*int)(nil)
	if addr.IsValid() {
		at := slices.IndexFunc(o.Candidates, func(c selection.Ranked) bool { return c.Addr.AddrPort == addr })
		if at < 0 {
			return false, wire.Refuse(wire.ReasonAction, "refused.no-candidate")
		}
		server := o.Candidates[at].Server
		vote = &server
	}
	b.mark(person, func(p *Paper) { p.Vote = vote })
	return b.Favourite(o) != before, nil
}

// Favourite returns the server with the most votes. Of several it returns the one with the lowest
// number, and without votes the best by the rule; see [wire.MaxVotes].
func (b *Box) Favourite(o Options) int {
	best := o.Rule
	most, _ := b.count(best)
	for _, c := range o.Candidates {
		n, _ := b.count(c.Server)
		if n > most || n == most && n > 0 && b.number(c.Server) < b.number(best) {
			best, most = c.Server, n
		}
	}
	return best
}

// number returns a candidate's number, or 0 if the server was none.
func (b *Box) number(server int) int { return 1 + slices.Index(b.state.Numbers, server) }

// count returns how many people have voted for a server, and how many have voted.
func (b *Box) count(server int) (votes, of int) {
	for _, p := range b.state.Papers {
		if p.Vote != nil {
			of++
			if *p.Vote == server {
				votes++
			}
		}
	}
	return votes, of
}

// Decide returns a choice with a server as its result, and says whether that is by the rule or by
// votes. If open, people may still change their minds.
func (b *Box) Decide(s selection.Selection, server int, open bool) selection.Selection {
	if votes, of := b.count(server); votes > 0 {
		return s.Voted(server, votes, of, open)
	}
	return s
}

// Veto keeps a server or a map out of the choice. A person has one veto a round.
func (b *Box) Veto(v selection.Veto) error {
	switch {
	case b.hasVetoed(people.ID(v.Player)):
		return wire.Refuse(wire.ReasonAction, "refused.one-veto")
	case !v.Server.IsValid() && v.Map == "":
		return wire.Refuse(wire.ReasonAction, "refused.no-veto")
	}
	b.state.Vetoes = append(slices.Clip(b.state.Vetoes), v) // views share the old ones
	return nil
}

// Vetoes returns the vetoes in the order of their arrival. They must not be changed.
func (b *Box) Vetoes() []selection.Veto { return b.state.Vetoes }

func (b *Box) hasVetoed(person people.ID) bool {
	return slices.ContainsFunc(b.state.Vetoes, func(v selection.Veto) bool { return v.Player == string(person) })
}

// Ready notes that a person is ready to go.
func (b *Box) Ready(person people.ID) { b.mark(person, func(p *Paper) { p.Ready = true }) }

// ByHand notes that a person has joined the game server without Muster.
func (b *Box) ByHand(person people.ID) { b.mark(person, func(p *Paper) { p.ByHand = true }) }

// Words is a set of the things that a person can say, a bit each.
type Words int

// The things that a person can say.
const (
	Vote Words = 1 << iota
	Veto
	Ready
	ByHand
	All = Vote | Veto | Ready | ByHand
)

// Withdraw takes back words of a person, or of everybody if the ID is empty.
func (b *Box) Withdraw(person people.ID, words Words) {
	isTheirs := func(of people.ID) bool { return person == "" || of == person }
	if words&Veto != 0 {
		b.state.Vetoes = slices.DeleteFunc(slices.Clone(b.state.Vetoes), func(v selection.Veto) bool { return isTheirs(people.ID(v.Player)) })
	}
	for of := range b.state.Papers {
		if isTheirs(of) {
			b.mark(of, func(p *Paper) {
				p.Ready = p.Ready && words&Ready == 0
				p.ByHand = p.ByHand && words&ByHand == 0
				if words&Vote != 0 {
					p.Vote = nil
				}
			})
		}
	}
}

// Paper returns a person's words.
func (b *Box) Paper(person people.ID) Paper {
	p := b.state.Papers[person]
	p.Vetoed = b.hasVetoed(person)
	return p
}

// mark changes a person's paper. It throws an empty one away.
func (b *Box) mark(person people.ID, change func(*Paper)) {
	p := b.state.Papers[person]
	change(&p)
	if b.state.Papers == nil {
		b.state.Papers = map[people.ID]Paper{}
	}
	if b.state.Papers[person] = p; p == (Paper{}) {
		delete(b.state.Papers, person)
	}
}

// View returns the options as everybody sees them, if the vote is open.
func (b *Box) View(open bool, o Options, names *people.Names) wire.Voting {
	v := wire.Voting{Open: open, Vetoes: []string{}, Ballot: []string{}}
	if !open {
		return v
	}
	v.Rule = wire.MaxVotes
	for _, c := range o.Candidates {
		v.Ballot = append(v.Ballot, hostport.Text(c.Addr.AddrPort))
		v.Numbers = append(v.Numbers, b.number(c.Server))
	}
	v.Choices = b.choices(o)
	for i := range v.Choices {
		v.Choices[i].Payer = names.Text(v.Choices[i].Payer)
	}
	return v
}

// choices returns the choices in the order in which people first saw them. A choice keeps its place
// if it is vetoed, or no longer special. If there was a single choice, and a vote nevertheless,
// people see all candidates.
func (b *Box) choices(o Options) (all []wire.Option) {
	left, places := slices.Clone(o.Choices), b.state.Offered
	if len(places) == 0 && o.IsSettled() {
		places = b.state.Numbers
	}
	for _, server := range places {
		one := wire.Option{Alternative: selection.Alternative{Kind: selection.Also, Server: server}}
		now := slices.IndexFunc(left, func(c selection.Alternative) bool { return c.Server == server })
		at, rule := o.place(server), o.place(o.Rule)
		switch {
		case now >= 0:
			one.Alternative = left[now]
			left = slices.Delete(left, now, now+1)
		case at < 0:
			one.Gone = true
		case rule >= 0:
			one.Alternative = selection.AlternativeOf(o.Candidates[at], o.Candidates[rule])
		}
		all = append(all, one)
	}
	for _, c := range left {
		all = append(all, wire.Option{Alternative: c})
	}
	return all
}
