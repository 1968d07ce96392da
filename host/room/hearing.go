package room

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
)

// hearing is what each player heard the servers say of themselves. One of them may
// be lying, so the room takes for true what most heard (see [taken]), and names who
// contradicts the others. Each player is one voice, also behind a shared address:
// friends in one home run programs of their own, of which one may lie.
type hearing struct {
	// words are by server, one of each player who heard anything: the newest.
	words map[int][]word
	// players were there when all was weighed last, heeded are those of them whose
	// words count, alone who of these goes on if nobody else does, and wanted is what
	// breaks ties.
	players, heeded []*player
	alone           *player
	wanted          wanted
}

// word is what somebody heard a server say of itself.
type word struct {
	// by is nil for the host, which heard the servers of its own networks.
	by *player
	// info is never changed: who heard the same share one.
	info *discovery.Info
	// at is when the host was told, since the round's measuring began, in whole ms.
	at time.Duration
}

// wanted is what the room asks of a server: as long as as many say that it has it as
// say that it has not, it is not lost for that.
type wanted struct{ gameMap, mode, version, mod, tags string }

// hear notes a word, which takes the place of the one before.
func (h *hearing) hear(by *player, server int, info discovery.Info, at time.Duration) {
	words := h.words[server]
	own := slices.IndexFunc(words, func(w word) bool { return w.by == by })
	if own >= 0 && info.Name == "" {
		info.Name = words[own].info.Name // peers say it of finalists only
	}
	said := word{by: by, at: at}
	if same := slices.IndexFunc(words, func(w word) bool { return *w.info == info }); same >= 0 {
		said.info = words[same].info
	} else {
		first := info
		said.info = &first
	}
	if own >= 0 {
		words[own] = said
	} else {
		words = append(words, said)
	}
	if h.words == nil {
		h.words = map[int][]word{}
	}
	h.words[server] = words
}

// counting are the words of a server from those who are heeded, and were asked for it,
// and the host's: otherwise two could call full whatever nobody has asked yet.
func (h *hearing) counting(server int) []word {
	words := h.words[server]
	ignored := func(w word) bool {
		return w.by != nil && !(w.by.witness.IsAsked(server) && slices.Contains(h.heeded, w.by))
	}
	if slices.ContainsFunc(words, ignored) {
		words = slices.DeleteFunc(slices.Clone(words), ignored)
	}
	return words
}

// taken is what is true of a server as far as the words tell, or nil if there are
// none. Lone: one of several players said it, and it rules nothing out for good.
//
//   - Who goes on alone is believed: it is that player's evening only.
//   - A lone word counts but for what it could send all astray with: no name, game
//     port or ping limit.
//   - Of several a field is what more than half have heard. Where no value has that
//     many there is no name, game port, password or ping limit, and the map and mode
//     are those that the room wants, or the newest. The host's own word breaks ties.
//   - Seats are taken as in the word in the middle, of two the one with fewer: people
//     come and go between one look and the next.
func taken(words []word, alone *player, want wanted) (info *discovery.Info, lone bool) {
	if len(words) == 0 {
		return nil, false
	}
	newest := words[0]
	var host *discovery.Info
	for _, w := range words {
		if w.at >= newest.at {
			newest = w
		}
		switch {
		case w.by == nil:
			host = w.info
		case w.by == alone:
			return w.info, false
		}
	}
	if len(words) == 1 && host != nil {
		return host, false
	}
	if len(words) == 1 {
		lone := *newest.info
		lone.Name, lone.GamePort, lone.MinPing, lone.MaxPing = "", 0, 0, 0
		return shared(&lone, words), true
	}
	if !slices.ContainsFunc(words, func(w word) bool { return w.info != words[0].info }) {
		return words[0].info, false
	}
	tie := discovery.Info{Map: newest.info.Map, Mode: newest.info.Mode, Mod: newest.info.Mod, Tags: newest.info.Tags}
	tie.Version, tie.Protocol, tie.OldestProtocol = newest.info.Version, newest.info.Protocol, newest.info.OldestProtocol
	for _, w := range words {
		tie.MaxPlayers = max(tie.MaxPlayers, w.info.MaxPlayers)
		if strings.EqualFold(w.info.Map, want.gameMap) {
			tie.Map = w.info.Map
		}
		if strings.EqualFold(w.info.Mode, want.mode) {
			tie.Mode = w.info.Mode
		}
		if want.version != "" && w.info.IsOfVersion(want.version) {
			tie.Version, tie.Protocol, tie.OldestProtocol = w.info.Version, w.info.Protocol, w.info.OldestProtocol
		}
		if want.mod != "" && strings.EqualFold(w.info.Mod, want.mod) {
			tie.Mod = w.info.Mod
		}
		if want.tags != "" && w.info.Tags.Meets(want.tags) {
			tie.Tags = w.info.Tags
		}
	}
	if host != nil {
		tie = *host
	}
	settled, middle := settle(words, tie), middleOf(words)
	settled.Players, settled.Bots = middle.Players, middle.Bots
	return shared(&settled, words), false
}

// settle puts into each field of an Info, but the counts of players, what more than
// half of the words have there, if they do.
func settle(words []word, info discovery.Info) discovery.Info {
	agree(words, &info, func(i *discovery.Info) *string { return &i.Map })
	agree(words, &info, func(i *discovery.Info) *string { return &i.Mode })
	agree(words, &info, func(i *discovery.Info) *string { return &i.Version })
	agree(words, &info, func(i *discovery.Info) *int { return &i.Protocol })
	agree(words, &info, func(i *discovery.Info) *int { return &i.OldestProtocol })
	agree(words, &info, func(i *discovery.Info) *string { return &i.Mod })
	agree(words, &info, func(i *discovery.Info) *discovery.Tags { return &i.Tags })
	agree(words, &info, func(i *discovery.Info) *int { return &i.MaxPlayers })
	agree(words, &info, func(i *discovery.Info) *bool { return &i.Password })
	agree(words, &info, gamePort)
	agree(words, &info, func(i *discovery.Info) *uint64 { return &i.AppID })
	agree(words, &info, func(i *discovery.Info) *time.Duration { return &i.MinPing })
	agree(words, &info, func(i *discovery.Info) *time.Duration { return &i.MaxPing })
	// Who says no name has not asked for it, and one player's alone is none.
	nameless := func(w word) bool { return w.info.Name == "" }
	if named := slices.DeleteFunc(slices.Clone(words), nameless); len(named) > 1 {
		agree(named, &info, func(i *discovery.Info) *string { return &i.Name })
	}
	return info
}

func gamePort(i *discovery.Info) *uint16 { return &i.GamePort }

// agree puts into a field what more than half of the words have there, and reports
// whether there is such a value. Every other word cancels one that has it, as in
// Boyer and Moore's vote.
func agree[V comparable](words []word, into *discovery.Info, field func(*discovery.Info) *V) bool {
	var most V
	lead, votes := 0, 0
	for _, w := range words {
		switch said := *field(w.info); {
		case lead == 0:
			most, lead = said, 1
		case said == most:
			lead++
		default:
			lead--
		}
	}
	for _, w := range words {
		votes += count(*field(w.info) == most)
	}
	if 2*votes <= len(words) {
		return false
	}
	*field(into) = most
	return true
}

// shared is an Info, or the same one that somebody's word has.
func shared(info *discovery.Info, words []word) *discovery.Info {
	for _, w := range words {
		if *w.info == *info {
			return w.info
		}
	}
	return info
}

// middleOf is the word with the median number of players, of two the lower.
func middleOf(words []word) *discovery.Info {
	sorted := slices.SortedFunc(slices.Values(words), func(a, b word) int {
		return cmp.Or(cmp.Compare(a.info.Players, b.info.Players), cmp.Compare(b.info.Bots, a.info.Bots))
	})
	return sorted[(len(sorted)-1)/2].info
}

const (
	// sameMoment is within what time two words are of the same game: a look takes
	// some seconds, a map ten minutes.
	sameMoment = 15 * time.Second
	// crowdApart is by which share of the seats two counts of players are apart that
	// nobody's coming and going explains in that time.
	crowdApart = 0.5
	// leastContradicted is on how many servers a player has to contradict most others
	// to be named: a server may start again with other settings while it is asked.
	leastContradicted = 3
	// contradictedShare is which share of the servers that may be judged this has to
	// be, and changedShare the same where only what changes differs, and of the few that
	// have a second look.
	contradictedShare, changedShare = 0.05, 0.4
	// fewestToJudge is how many words it takes to see who of them is alone. They have to
	// be those of more than half of the room, too: two could make a liar of whoever was
	// asked for the same servers as they were.
	fewestToJudge = 3
)

// contradiction counts the servers of which a player said other things than most
// who heard them.
type contradiction struct {
	differs, of       int // by what does not change
	changed, ofMoment int // by what does, among words of the same moment
	seen, ofSeen      int // by either, of those that had their second look
}

// isNamed reports whether time and chance do not explain it, and of how many servers
// out of how many.
func (c contradiction) isNamed() (servers, of int, named bool) {
	for _, kind := range []struct {
		n, of int
		share float64
	}{{c.differs, c.of, contradictedShare}, {c.changed, c.ofMoment, changedShare}, {c.seen, c.ofSeen, changedShare}} {
		if kind.n >= leastContradicted && float64(kind.n) > kind.share*float64(kind.of) {
			return kind.n, kind.of, true
		}
	}
	return 0, 0, false
}

// contradictions are those of everybody who is heeded, in that order, if these servers
// have had their second look.
func (h *hearing) contradictions(seen []int) []contradiction {
	all, fewest := make([]contradiction, len(h.heeded)), max(fewestToJudge, len(h.heeded)/2+1)
	for server, words := range h.words {
		if len(words) < fewest {
			continue
		}
		if words = h.counting(server); len(words) < fewest {
			continue
		}
		first := words[0].info // most often all have heard the same
		agreed := !slices.ContainsFunc(words, func(w word) bool { return w.info != first })
		wasLookedAt := slices.Contains(seen, server)
		for _, w := range words {
			if w.by == nil {
				continue
			}
			c := &all[slices.Index(h.heeded, w.by)]
			c.of++
			c.ofSeen += count(wasLookedAt)
			if agreed {
				c.ofMoment++
				continue
			}
			lasting, _ := denied(w, words)
			changing := false
			moment := slices.DeleteFunc(slices.Clone(words), func(other word) bool { return (other.at - w.at).Abs() > sameMoment })
			if len(moment) >= fewest {
				c.ofMoment++
				_, changing = denied(w, moment)
				c.changed += count(changing)
			}
			c.differs += count(lasting)
			c.seen += count(wasLookedAt && (lasting || changing))
		}
	}
	return all
}

// denied reports whether most of the words have something else than one of them has:
// of what lasts, and of what may have changed in between.
func denied(w word, words []word) (lasting, changing bool) {
	said, most := *w.info, settle(words, *w.info)
	crowd, middle := said.Players, middleOf(words).Players
	changing = said.Map != most.Map || said.Mode != most.Mode ||
		float64(max(crowd-middle, middle-crowd)) > crowdApart*float64(max(most.MaxPlayers, 1))
	most.Map, most.Mode = said.Map, said.Mode
	most.Tags = said.Tags // some tell how full a server is
	if said.Name == "" {
		most.Name = ""
	}
	return said != most, changing
}

// said has somebody heard, nil for the host, and weighs what is known of the server
// anew.
func (r *Room) said(by *player, server int, info discovery.Info) {
	r.round.hearing.hear(by, server, info, max(0, r.now.Sub(r.round.measuring)).Truncate(time.Millisecond))
	r.round.weigh(server)
}

// weigh takes for true what most heard of a server, of which somebody has.
func (r *round) weigh(server int) {
	h := &r.hearing
	if _, heard := h.words[server]; !heard {
		return
	}
	info, lone := taken(h.counting(server), h.alone, h.wanted)
	if info == nil {
		delete(r.servers.Infos, server)
	} else {
		r.servers.Infos[server] = info
	}
	if lone {
		r.servers.Lone[server] = true
	} else {
		delete(r.servers.Lone, server)
	}
	if r.search != nil {
		r.search.planner.Inform(server)
	}
}

// attend weighs all words anew if others count than before, or the room wants
// something else of a server. What players said who have left meanwhile still counts.
func (r *Room) attend() {
	h := &r.round.hearing
	want := wanted{r.settings.Map, r.settings.Mode, r.settings.Version, r.settings.Mod, r.settings.Tags}
	var heeded []*player
	var alone *player
	active := r.round.active()
	for _, p := range r.round.players {
		if p.anomaly != nil || p.contradicts != nil {
			continue
		}
		heeded = append(heeded, p)
		if len(active) == 1 && p == active[0] {
			alone = p
		}
	}
	if slices.Equal(r.round.players, h.players) && slices.Equal(heeded, h.heeded) && alone == h.alone && want == h.wanted {
		return
	}
	h.players, h.heeded, h.alone, h.wanted = slices.Clone(r.round.players), heeded, alone, want
	for _, server := range slices.Sorted(maps.Keys(h.words)) {
		h.words[server] = slices.DeleteFunc(h.words[server], func(w word) bool { return w.by != nil && !slices.Contains(h.players, w.by) })
		r.round.weigh(server)
		if len(h.words[server]) == 0 {
			delete(h.words, server)
		}
	}
}

// discredit names who contradicts most others about servers, and heeds them no more
// in this round, unless the organiser vouches for them or they are not the fewer.
func (r *Room) discredit() {
	r.attend()
	var found []anomaly.Anomaly
	said := r.round.hearing.contradictions(r.round.look.Seen)
	for i, by := range r.round.hearing.heeded {
		if servers, of, named := said[i].isNamed(); named && !by.trusted {
			found = append(found, anomaly.Anomaly{Player: by.name, Sign: anomaly.Contradicts, Servers: servers, Of: of})
		}
	}
	counted := anomaly.Exclude(names(r.round.active()), slices.Concat(found, r.round.discredited()))
	for _, a := range found {
		if !slices.Contains(counted, a.Player) {
			r.round.player(a.Player).contradicts = &a
			r.note("%s: that does not count", strings.TrimSuffix(a.String(), "."))
		}
	}
	r.attend()
}

// discredited are the contradictions for which somebody is not heeded.
func (r *round) discredited() (discredited []anomaly.Anomaly) {
	for _, p := range r.players {
		if p.contradicts != nil {
			discredited = append(discredited, *p.contradicts)
		}
	}
	return discredited
}

// mostLone is how many servers that a lone word culls are looked at along with the
// finalists: who hides more of them is named by then.
const mostLone = 3

// culledByLone are the best servers that would be in a ranking if those did not count
// that one of several players alone said, best first.
func (r *Room) culledByLone(selected *selection.Selection) []int {
	var lone []int
	if len(r.round.servers.Lone) == 0 {
		return nil
	}
	group := r.round.active()
	criteria := r.criteria(r.settings, group)
	criteria.Top, criteria.Reasons, criteria.Charitable = finalists, -1, true
	for _, ranked := range selection.NewFilter(r.round.servers, criteria).Select(r.round.table(group)).Ranking {
		isRanked := slices.ContainsFunc(selected.Ranking, func(other selection.Ranked) bool { return other.Server == ranked.Server })
		if r.round.servers.Lone[ranked.Server] && !isRanked && !slices.Contains(r.round.look.Seen, ranked.Server) && len(lone) < mostLone {
			lone = append(lone, ranked.Server)
		}
	}
	return lone
}

// connectFor is where a player connects to. As long as players contradict each other
// about the game's port, or only one has heard it, everybody goes where they
// themselves were told.
func (r *round) connectFor(p *player, server int) netip.AddrPort {
	words := r.hearing.counting(server)
	own := slices.IndexFunc(r.hearing.words[server], func(w word) bool { return w.by == p })
	if own < 0 || len(words) > 1 && agree(words, &discovery.Info{}, gamePort) {
		return r.connect(server)
	}
	addr := r.servers.List[server].Addr
	return connectTo(addr, r.hearing.words[server][own].info.Completed(r.servers.Said.Infos[addr]))
}

// The saved form of a hearing: Infos has what was heard, each thing once a server, and
// Words who heard it, as numbers: which of them, who in the order of the players from
// 1, or 0 for the host, and when, in ms.

// save is both of them.
func (r *round) saveHearing() (infos, words []byte, err error) {
	heard := wire.Infos{Round: r.number, Servers: make([]wire.ServerInfo, 0, len(r.hearing.words))}
	for _, server := range slices.Sorted(maps.Keys(r.hearing.words)) {
		first := len(heard.Servers)
		var kept []*discovery.Info
		for _, w := range r.hearing.words[server] {
			place := slices.Index(kept, w.info)
			if place < 0 {
				place, kept = len(kept), append(kept, w.info)
				heard.Servers = append(heard.Servers, wire.ServerInfo{Server: server, Info: *w.info})
			}
			who := 1 + slices.IndexFunc(r.players, func(p *player) bool { return p == w.by })
			for _, n := range []int64{int64(first + place), int64(who), w.at.Milliseconds()} {
				words = binary.AppendUvarint(words, uint64(n))
			}
		}
	}
	infos, err = pack(heard)
	return infos, words, err
}

// restoreHearing takes back what saveHearing wrote.
func (r *round) restoreHearing(infos, words []byte) error {
	heard, err := unpack[wire.Infos](infos)
	if err != nil {
		return err
	}
	kept := make([]*discovery.Info, len(heard.Servers))
	for i := range heard.Servers {
		if server := heard.Servers[i].Server; server >= len(r.servers.List) {
			return fmt.Errorf("what server %d of %d said", server, len(r.servers.List))
		}
		info := heard.Servers[i].Info
		kept[i] = &info
	}
	next := func() (n uint64) {
		n, size := binary.Uvarint(words)
		if size <= 0 {
			words, err = nil, errors.New("words cut off")
			return 0
		}
		words = words[size:]
		return n
	}
	for len(words) > 0 {
		which, who, at := next(), next(), next()
		if err != nil || which >= uint64(len(kept)) || who > uint64(len(r.players)) || at > uint64(longestRound.Milliseconds()) {
			return cmp.Or(err, fmt.Errorf("word %d of player %d", which, who))
		}
		w := word{info: kept[which], at: time.Duration(at) * time.Millisecond}
		if who > 0 {
			w.by = r.players[who-1]
		}
		server := heard.Servers[which].Server
		if r.hearing.words == nil {
			r.hearing.words = map[int][]word{}
		}
		r.hearing.words[server] = append(r.hearing.words[server], w)
	}
	return nil
}

// longestRound bounds the clock of a saved word.
const longestRound = 365 * 24 * time.Hour
