package trust

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/anomaly"
)

// Doubts are the reasons to doubt players and servers in a round, and the players that the
// organiser vouches for. The zero value doubts nobody.
type Doubts struct{ state State }

// State is the saved state of doubts.
type State struct {
	Players map[people.ID]doubt `json:"players,omitempty"`
	// TooNear are the servers that lie about their distance.
	TooNear []int `json:"too_near,omitempty"`
}

// doubt holds the facts for or against a player.
type doubt struct {
	// Vouched says that the organiser vouches for the player, in later rounds, too.
	Vouched bool `json:"vouched,omitempty"`
	// Excluded is the reason why the player's numbers do not count. Odd is an anomaly of numbers
	// that still count. Contradicts is the reason why the player's reports about servers do not
	// count.
	Excluded    *anomaly.Anomaly `json:"excluded,omitempty"`
	Odd         *anomaly.Anomaly `json:"odd,omitempty"`
	Contradicts *anomaly.Anomaly `json:"contradicts,omitempty"`
	// Raised has the least RTT that counts, for servers to which only this player was near.
	Raised map[int]time.Duration `json:"raised,omitempty"`
}

func (d doubt) isNone() bool {
	return !d.Vouched && d.Excluded == nil && d.Odd == nil && d.Contradicts == nil && len(d.Raised) == 0
}

// State returns the state, to save or restore it.
func (d *Doubts) State() *State { return &d.state }

// Validate returns the first fault of saved doubts, or nil. Listed is the length of the list.
func (s State) Validate(players []people.ID, listed int) error {
	isListed := func(server int) bool { return server >= 0 && server < listed }
	for player, p := range s.Players {
		if !slices.Contains(players, player) {
			return fmt.Errorf("a doubt about %q, who is no player", player)
		}
		for server, rtt := range p.Raised {
			if !isListed(server) || rtt <= 0 {
				return fmt.Errorf("a ping of %v of server %d of %d", rtt, server, listed)
			}
		}
	}
	for _, server := range s.TooNear {
		if !isListed(server) {
			return fmt.Errorf("a server %d of %d", server, listed)
		}
	}
	return nil
}

// Next returns the doubts of the next round, or of a round that has lost its list. The organiser
// still vouches for the same players.
func (s State) Next() (next State) {
	for player, p := range s.Players {
		next.set(player, doubt{Vouched: p.Vouched})
	}
	return next
}

func (s *State) set(player people.ID, to doubt) {
	switch {
	case to.isNone():
		delete(s.Players, player)
		return
	case s.Players == nil:
		s.Players = map[people.ID]doubt{}
	}
	s.Players[player] = to
}

// Verdict has the players that the round goes on without, and notes for people.
type Verdict struct {
	LeftOut []people.ID
	Notes   []sentence.Sentence
}

func (v *Verdict) note(key string, pairs ...any) {
	v.Notes = append(v.Notes, sentence.Of(key, pairs...))
}

// maxDispensable returns how many players a room can do without, so that no single player decides for
// all. This is one of three players, and less than a third of more players. Of two players nobody can
// tell which one is right.
func maxDispensable(players int) int {
	if players < 3 {
		return 0
	}
	return max(1, (players-1)/3)
}

// Next returns the doubts of the next round.
func (d *Doubts) Next() Doubts { return Doubts{d.state.Next()} }

// Forget drops the facts about a player who has left.
func (d *Doubts) Forget(player people.ID) { delete(d.state.Players, player) }

// Vouched is the effect of the organiser's vouching for a player.
type Vouched struct {
	Notes []sentence.Sentence
	// WasExcluded says that the player's numbers did not count. WasRaised says that some of the
	// pings counted as more.
	WasExcluded, WasRaised bool
}

// Vouch notes that the organiser vouches for a player's numbers.
func (d *Doubts) Vouch(player people.ID) (v Vouched) {
	p, vouches := d.state.Players[player], sentence.Of("room.vouches", "player", player)
	v.WasExcluded, v.WasRaised = p.Excluded != nil, len(p.Raised) > 0
	if p.Contradicts != nil || v.WasRaised {
		v.Notes = append(v.Notes, vouches)
	}
	if v.WasExcluded {
		v.Notes = append(v.Notes, vouches)
	}
	d.state.set(player, doubt{Vouched: true})
	return v
}

// IsExcluded reports whether a player's numbers do not count.
func (d *Doubts) IsExcluded(player people.ID) bool { return d.state.Players[player].Excluded != nil }

// IsBelieved reports whether a player's reports about servers count.
func (d *Doubts) IsBelieved(player people.ID) bool {
	p := d.state.Players[player]
	return p.Excluded == nil && p.Contradicts == nil
}

// Raised returns the least RTT that counts for some of a player's servers; see [Doubts.Try].
func (d *Doubts) Raised(player people.ID) map[int]time.Duration {
	return maps.Clone(d.state.Players[player].Raised)
}

// Blacklist returns the addresses of the servers that lie about their distance.
func (d *Doubts) Blacklist(servers *selection.Servers) (list []netip.Prefix) {
	for _, server := range d.state.TooNear {
		list = append(list, address(servers, server))
	}
	return list
}

func address(servers *selection.Servers, server int) netip.Prefix {
	addr := servers.List[server].Addr.Addr()
	return netip.PrefixFrom(addr, addr.BitLen())
}

// Reason returns the doubt about a player, or nothing.
func (d *Doubts) Reason(player people.ID, servers *selection.Servers) sentence.Sentence {
	p := d.state.Players[player]
	for _, a := range []*anomaly.Anomaly{p.Excluded, p.Contradicts} {
		if a != nil {
			return whole(*a)
		}
	}
	if len(p.Raised) > 0 {
		return whole(d.raisedAnomaly(player, servers))
	}
	return sentence.Sentence{}
}

// whole returns an anomaly as a sentence of its own.
func whole(a anomaly.Anomaly) sentence.Sentence {
	return sentence.Of("why.doubt", "doubt", a.Sentence())
}

// raisedAnomaly returns the anomaly of a player's raised pings.
func (d *Doubts) raisedAnomaly(player people.ID, servers *selection.Servers) (a anomaly.Anomaly) {
	raised := d.state.Players[player].Raised
	for server := range raised {
		a = tooNearFor(player, server, servers)
	}
	if a.Servers = len(raised); a.Servers > 1 {
		a.Addr = hostport.AddrPort{}
	}
	return a
}

// tooNearFor describes the oddity of a player's ping to one server.
func tooNearFor(player people.ID, server int, servers *selection.Servers) anomaly.Anomaly {
	return anomaly.Anomaly{Player: string(player), Sign: anomaly.Nearer, Servers: 1, Addr: hostport.At(servers.Connect(server))}
}

// List returns all anomalies of players. The basis covers the players that count, and everybody
// lists all players in order. Answered is the number of servers that answered each player.
func (d *Doubts) List(b selection.Basis, everybody []people.ID, answered map[people.ID]int) []anomaly.Anomaly {
	return slices.Concat(d.excluded(everybody), d.odd(b, answered), d.discredited(everybody))
}

// excluded returns the anomalies of players whose numbers do not count.
func (d *Doubts) excluded(players []people.ID) (all []anomaly.Anomaly) {
	for _, player := range players {
		if a := d.state.Players[player].Excluded; a != nil {
			all = append(all, *a)
		}
	}
	return all
}

// odd returns the anomalies of players whose numbers count, present and earlier ones.
func (d *Doubts) odd(b selection.Basis, answered map[people.ID]int) []anomaly.Anomaly {
	odd := d.Find(b)
	for _, player := range people.IDs(b.Table.Players()) {
		p := d.state.Players[player]
		if len(p.Raised) > 0 {
			a := d.raisedAnomaly(player, &b.Servers)
			a.Of = answered[player]
			odd = append(odd, a)
		}
		if p.Odd != nil && !isAbout(odd, string(player)) {
			odd = append(odd, *p.Odd)
		}
	}
	return odd
}

// discredited returns the contradictions of players whose reports do not count.
func (d *Doubts) discredited(players []people.ID) (all []anomaly.Anomaly) {
	for _, player := range players {
		if a := d.state.Players[player].Contradicts; a != nil {
			all = append(all, *a)
		}
	}
	return all
}

// Find returns the anomalies of players that the organiser does not vouch for.
func (d *Doubts) Find(b selection.Basis) []anomaly.Anomaly {
	return d.unvouched(anomaly.Find(b.Servers.List, b.Table))
}

func (d *Doubts) unvouched(found []anomaly.Anomaly) []anomaly.Anomaly {
	return slices.DeleteFunc(slices.Clone(found), func(a anomaly.Anomaly) bool { return d.state.Players[people.ID(a.Player)].Vouched })
}

// Discredit stops believing players' reports about servers for this round, if they contradict most
// others. It still believes players for whom the organiser vouches, and players who are not in a
// minority. It returns notes for people.
func (d *Doubts) Discredit(found []anomaly.Anomaly, counting, everybody []people.ID) (notes []sentence.Sentence) {
	found = d.unvouched(found)
	believed := anomaly.Exclude(people.Texts(counting), slices.Concat(found, d.discredited(everybody)))
	for _, a := range found {
		if !slices.Contains(believed, a.Player) {
			player := people.ID(a.Player)
			p := d.state.Players[player]
			p.Contradicts = &a
			d.state.set(player, p)
			notes = append(notes, sentence.Of("room.odd-word", "player", player, "oddity", a.Sentence()))
		}
	}
	return notes
}

// isAbout reports whether some anomalies are about a player.
func isAbout(some []anomaly.Anomaly, player string) bool {
	return slices.ContainsFunc(some, func(a anomaly.Anomaly) bool { return a.Player == player })
}
