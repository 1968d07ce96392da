package trust

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection"
	"muster/selection/anomaly"
)

// Doubts are the reasons to doubt players and servers in a round, and the players that the
// organiser vouches for. The zero value doubts nobody.
type Doubts struct {
	players map[string]doubt
	// tooNear are the servers that lie about their distance.
	tooNear []int
}

// doubt has the facts against a player, or for one.
type doubt struct {
	// vouched says that the organiser vouches for the player, from then on.
	vouched bool
	// The anomaly in excluded is the reason why the player's numbers do not count. The one in odd
	// is of numbers that still count. The one in contradicts is why the player's word about servers
	// does not count.
	excluded, odd, contradicts *anomaly.Anomaly
	// raised has the least RTT that counts, for servers that only this player was too near to.
	raised map[int]time.Duration
}

func (d doubt) isNone() bool {
	return !d.vouched && d.excluded == nil && d.odd == nil && d.contradicts == nil && len(d.raised) == 0
}

func (d *Doubts) set(player string, to doubt) {
	if to.isNone() {
		delete(d.players, player)
		return
	}
	if d.players == nil {
		d.players = map[string]doubt{}
	}
	d.players[player] = to
}

// Verdict has the players that the round goes on without, and notes for people.
type Verdict struct {
	LeftOut []string
	Notes   []sentence.Sentence
}

func (v *Verdict) note(key string, pairs ...any) {
	v.Notes = append(v.Notes, sentence.Of(key, pairs...))
}

// few returns how many players a room can do without, so that no single one decides for all: one of
// three, and less than a third of more. Nobody can tell which of two is right.
func few(players int) int {
	if players < 3 {
		return 0
	}
	return max(1, (players-1)/3)
}

// Next returns the doubts of the next round: the organiser vouches for the same players.
func (d *Doubts) Next() (next Doubts) {
	for name, p := range d.players {
		next.set(name, doubt{vouched: p.vouched})
	}
	return next
}

// Rename notes that a player has another name.
func (d *Doubts) Rename(from, to string) {
	p := d.players[from]
	d.Forget(from)
	d.set(to, p)
}

// Forget drops the facts about a player who has left.
func (d *Doubts) Forget(player string) { delete(d.players, player) }

// Vouched is the change when the organiser vouches for a player.
type Vouched struct {
	Notes []sentence.Sentence
	// WasExcluded says that the player's numbers did not count. WasRaised says that some of the
	// pings counted as more.
	WasExcluded, WasRaised bool
}

// Vouch takes the organiser's word that a player's numbers are true.
func (d *Doubts) Vouch(player string) (v Vouched) {
	p, vouches := d.players[player], sentence.Of("room.vouches", "player", player)
	v.WasExcluded, v.WasRaised = p.excluded != nil, len(p.raised) > 0
	if p.contradicts != nil || v.WasRaised {
		v.Notes = append(v.Notes, vouches)
	}
	if v.WasExcluded {
		v.Notes = append(v.Notes, vouches)
	}
	d.set(player, doubt{vouched: true})
	return v
}

// IsExcluded reports whether a player's numbers do not count.
func (d *Doubts) IsExcluded(player string) bool { return d.players[player].excluded != nil }

// IsBelieved reports whether a player's word about servers counts.
func (d *Doubts) IsBelieved(player string) bool {
	p := d.players[player]
	return p.excluded == nil && p.contradicts == nil
}

// Raised returns the least RTT that counts for some of a player's servers; see [Doubts.Try].
func (d *Doubts) Raised(player string) map[int]time.Duration {
	return maps.Clone(d.players[player].raised)
}

// Blacklist returns the addresses of the servers that lie about their distance.
func (d *Doubts) Blacklist(servers *selection.Servers) (list []netip.Prefix) {
	for _, server := range d.tooNear {
		list = append(list, address(servers, server))
	}
	return list
}

func address(servers *selection.Servers, server int) netip.Prefix {
	addr := servers.List[server].Addr.Addr()
	return netip.PrefixFrom(addr, addr.BitLen())
}

// Reason returns the doubt about a player, or nothing.
func (d *Doubts) Reason(player string, servers *selection.Servers) sentence.Sentence {
	p := d.players[player]
	for _, a := range []*anomaly.Anomaly{p.excluded, p.contradicts} {
		if a != nil {
			return whole(*a)
		}
	}
	if len(p.raised) > 0 {
		return whole(d.alone(player, servers))
	}
	return sentence.Sentence{}
}

// whole returns an anomaly as a sentence of its own.
func whole(a anomaly.Anomaly) sentence.Sentence {
	return sentence.Of("why.doubt", "doubt", a.Sentence())
}

// alone names the player's pings that count as more than the player reported.
func (d *Doubts) alone(player string, servers *selection.Servers) (a anomaly.Anomaly) {
	raised := d.players[player].raised
	for server := range raised {
		a = tooNearFor(player, server, servers)
	}
	if a.Servers = len(raised); a.Servers > 1 {
		a.Addr = hostport.AddrPort{}
	}
	return a
}

// tooNearFor describes the oddity of a player's ping to one server.
func tooNearFor(player string, server int, servers *selection.Servers) anomaly.Anomaly {
	return anomaly.Anomaly{Player: player, Sign: anomaly.Nearer, Servers: 1, Addr: hostport.At(servers.Connect(server))}
}

// List returns everything that is odd about players. The basis has the players that count.
// Everybody are all players in their order. Answered is the number of servers that answered each of
// them.
func (d *Doubts) List(b selection.Basis, everybody []string, answered map[string]int) []anomaly.Anomaly {
	return slices.Concat(d.excluded(everybody), d.odd(b, answered), d.discredited(everybody))
}

// excluded returns the anomalies of players whose numbers do not count.
func (d *Doubts) excluded(players []string) (all []anomaly.Anomaly) {
	for _, name := range players {
		if a := d.players[name].excluded; a != nil {
			all = append(all, *a)
		}
	}
	return all
}

// odd returns the anomalies of players whose numbers count, those of now and earlier ones.
func (d *Doubts) odd(b selection.Basis, answered map[string]int) []anomaly.Anomaly {
	odd := d.Find(b)
	for _, name := range b.Table.Players() {
		p := d.players[name]
		if len(p.raised) > 0 {
			a := d.alone(name, &b.Servers)
			a.Of = answered[name]
			odd = append(odd, a)
		}
		if p.odd != nil && !isAbout(odd, name) {
			odd = append(odd, *p.odd)
		}
	}
	return odd
}

// discredited returns the contradictions of players whose word does not count.
func (d *Doubts) discredited(players []string) (all []anomaly.Anomaly) {
	for _, name := range players {
		if a := d.players[name].contradicts; a != nil {
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
	return slices.DeleteFunc(slices.Clone(found), func(a anomaly.Anomaly) bool { return d.players[a.Player].vouched })
}

// Discredit takes the players who contradict most others, and returns notes for people. Their words
// no longer count in this round, unless the organiser vouches for them or they are not the minority
// of the players who count.
func (d *Doubts) Discredit(found []anomaly.Anomaly, counting, everybody []string) (notes []sentence.Sentence) {
	found = d.unvouched(found)
	believed := anomaly.Exclude(counting, slices.Concat(found, d.discredited(everybody)))
	for _, a := range found {
		if !slices.Contains(believed, a.Player) {
			p := d.players[a.Player]
			p.contradicts = &a
			d.set(a.Player, p)
			notes = append(notes, sentence.Of("room.odd-word", "player", a.Player, "oddity", a.Sentence()))
		}
	}
	return notes
}

// isAbout reports whether some anomalies are about a player.
func isAbout(some []anomaly.Anomaly, player string) bool {
	return slices.ContainsFunc(some, func(a anomaly.Anomaly) bool { return a.Player == player })
}
