// Package infos keeps the servers' facts as players heard them, and decides which to believe.
//
//	Hear ───▶ ┌───────┐ ─▶ About, Connect, News
//	          │ Infos │
//	Attend ─▶ └───────┘ ─▶ Contradictions
//
// It believes the majority of the players who were asked for a server. It names players who
// contradict most others about several servers.
package infos

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

// Infos has the servers' facts, as each player heard them. A player may lie, so the room believes
// the majority (see [taken]), and names players who contradict it. Friends behind one address have
// a vote each, because one of them may lie.
type Infos struct {
	// words has the newest report of each player, by server.
	words map[int][]word
	// heard are the players whose reports were weighed last, nil before. wanted are the
	// room's wishes: if reports are even, the room believes that the server meets a wish.
	heard  []reportedInfo
	wanted selection.Wishes
	// infos are the believed facts, by server. lone are the servers that only one of several
	// players heard.
	infos map[int]*discovery.Info
	lone  map[int]bool
	// news are the servers that [Infos.News] has yet to return.
	news map[int]bool
	// packed is the saved form of the words, for the players in packedFor. packedFor is nil if the
	// words have changed since.
	packed    Saved
	packedFor []people.ID
}

// About returns servers with the believed facts about them. Later reports change these facts.
func (f *Infos) About(servers selection.Servers) selection.Servers {
	if f.infos == nil {
		f.infos, f.lone = map[int]*discovery.Info{}, map[int]bool{}
	}
	servers.Infos, servers.Lone = f.infos, f.lone
	return servers
}

// Voice is a player who may have heard something.
type Voice struct {
	Player  people.ID
	Results *evidence.PlayerResults
	// Counts says that the player's reports count. Alone says that the round goes on with no other
	// player.
	Counts, Alone bool
}

// reportedInfo is a report on a server, as it was weighed. all says that the player was asked for the
// whole list.
type reportedInfo struct {
	Voice
	all bool
}

// word has a server's facts as somebody heard them.
type word struct {
	// by is empty for the host, which heard the servers of its own networks.
	by people.ID
	// info is never changed, because players who got the same facts share one copy.
	info *discovery.Info
	// at is when the host got the report, from the beginning of the measuring, in whole ms.
	at time.Duration
}

// Hear notes a player's report, which replaces an earlier one. An empty ID stands for the host. At
// is the time since the measuring began. Hear reports whether the believed facts may have changed.
func (f *Infos) Hear(by people.ID, server int, info discovery.Info, at time.Duration) bool {
	f.packedFor = nil
	words := f.words[server]
	own := slices.IndexFunc(words, func(w word) bool { return w.by == by })
	if own >= 0 && info.Name == "" {
		info.Name = words[own].info.Name // programs report names of finalists only
	}
	said := word{by: by, at: max(0, at).Truncate(time.Millisecond)}
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
	if f.words == nil {
		f.words = map[int][]word{}
	}
	f.words[server] = words
	return f.SettleFacts(server)
}

// Keep forgets the reports on a server, except some players'. It reports whether the believed facts
// may have changed.
func (f *Infos) Keep(server int, players []people.ID) bool {
	if words, heard := f.words[server]; heard {
		f.packedFor = nil
		f.words[server] = slices.DeleteFunc(words, func(w word) bool { return !slices.Contains(players, w.by) })
	}
	return f.SettleFacts(server)
}

// Attend takes the room's present players and wishes. It forgets the reports of players who have
// left, and weighs all others again. It returns the servers whose facts may have changed. If the
// same players count as before it does nothing.
func (f *Infos) Attend(voices []Voice, wanted selection.Wishes) (anew []int) {
	now := make([]reportedInfo, len(voices))
	for i, v := range voices {
		now[i] = reportedInfo{v, v.Results.IsAskedForAll()}
	}
	if f.heard != nil && slices.Equal(now, f.heard) && reflect.DeepEqual(wanted, f.wanted) {
		return nil
	}
	f.heard, f.wanted, f.packedFor = now, wanted, nil
	isGone := func(w word) bool { return w.by != "" && f.voice(w.by) == nil }
	for _, server := range slices.Sorted(maps.Keys(f.words)) {
		if f.words[server] = slices.DeleteFunc(f.words[server], isGone); len(f.words[server]) == 0 {
			delete(f.words, server)
		}
		if f.SettleFacts(server) {
			anew = append(anew, server)
		}
	}
	return anew
}

// voice returns a player's voice, nil if there is none.
func (f *Infos) voice(player people.ID) *Voice {
	for i := range f.heard {
		if f.heard[i].Player == player {
			return &f.heard[i].Voice
		}
	}
	return nil
}

// counting returns the reports on a server that count: the host's report, and the reports of
// counting players who were asked for the server. Otherwise two players could call servers full
// before others are asked.
func (f *Infos) counting(server int) []word {
	words := f.words[server]
	ignored := func(w word) bool {
		v := f.voice(w.by)
		return w.by != "" && !(v != nil && v.Counts && v.Results.IsAsked(server))
	}
	if slices.ContainsFunc(words, ignored) {
		words = slices.DeleteFunc(slices.Clone(words), ignored)
	}
	return words
}

// SettleFacts decides which facts about a server to believe. It reports whether the facts may have
// changed.
func (f *Infos) SettleFacts(server int) bool {
	var alone people.ID
	for i := range f.heard {
		if f.heard[i].Counts && f.heard[i].Alone {
			alone = f.heard[i].Player
		}
	}
	info, lone := believed(f.counting(server), alone, f.wanted)
	if info == nil && f.infos[server] == nil {
		return false
	}
	if f.infos == nil {
		f.infos, f.lone = map[int]*discovery.Info{}, map[int]bool{}
	}
	if f.infos[server] = info; info == nil {
		delete(f.infos, server)
	}
	if f.lone[server] = lone; !lone {
		delete(f.lone, server)
	}
	if f.news == nil {
		f.news = map[int]bool{}
	}
	f.news[server] = true
	return true
}

// News returns the servers whose facts may have changed since its last call.
func (f *Infos) News() (servers []int) {
	servers = slices.Sorted(maps.Keys(f.news))
	clear(f.news)
	return servers
}

// Connect returns the address that a player connects to. While players contradict each other about
// the game's port, or only one has heard it, each relies on their own program.
func (f *Infos) Connect(by people.ID, server int, servers *selection.Servers) netip.AddrPort {
	own := f.own(by, server)
	if own == nil {
		return servers.Connect(server)
	}
	addr := servers.List[server].Addr
	return own.Completed(servers.Said.Infos[addr]).Connect(addr)
}

// HeardInfo returns a server's facts as a player last heard them, or nil. The result must not be
// changed.
func (f *Infos) HeardInfo(by people.ID, server int) *discovery.Info {
	for _, w := range f.words[server] {
		if w.by == by {
			return w.info
		}
	}
	return nil
}

// own returns a player's own report on a server. It is nil if the player has none, or if all
// players rely on the same facts.
func (f *Infos) own(by people.ID, server int) *discovery.Info {
	words := f.counting(server)
	own := slices.IndexFunc(f.words[server], func(w word) bool { return w.by == by })
	if own < 0 || len(words) > 1 && agree(words, &discovery.Info{}, gamePort) {
		return nil
	}
	return f.words[server][own].info
}

// Saved is the saved form of [Infos]. Its Infos is a frame of [wire.Infos], with each different
// report on a server once. Words has three numbers for each player's report: its index in Infos;
// the player's number in the room's order, from 1, or 0 for the host; the time in ms.
type Saved struct {
	Infos []byte `json:"infos,omitempty"`
	Words []byte `json:"words,omitempty"`
}

// Save returns the words for [Restore] with the same players.
func (f *Infos) Save(players []people.ID) (s Saved, err error) {
	if f.packedFor != nil && slices.Equal(f.packedFor, players) {
		return f.packed, nil
	}
	said := wire.Infos{Servers: make([]wire.ServerInfo, 0, len(f.words))}
	numbers := map[people.ID]int{"": 0}
	for i, player := range players {
		numbers[player] = 1 + i
	}
	for _, server := range slices.Sorted(maps.Keys(f.words)) {
		first := len(said.Servers)
		var kept []*discovery.Info
		for _, w := range f.words[server] {
			place := slices.Index(kept, w.info)
			if place < 0 {
				place, kept = len(kept), append(kept, w.info)
				said.Servers = append(said.Servers, wire.ServerInfo{Server: server, Info: *w.info})
			}
			for _, n := range []int64{int64(first + place), int64(numbers[w.by]), w.at.Milliseconds()} {
				s.Words = binary.AppendUvarint(s.Words, uint64(n))
			}
		}
	}
	frame, err := wire.Marshal(said)
	if err != nil {
		return s, err
	}
	s.Infos = frame.Data
	f.packed, f.packedFor = s, players
	return s, nil
}

// longestRound bounds the time of a saved report.
const longestRound = 365 * 24 * time.Hour

// Restore returns saved reports on a list of servers. Listed is the length of the list. Any bytes
// are safe. The reports count from the next [Infos.Attend] on.
func Restore(s Saved, players []people.ID, listed int) (f Infos, err error) {
	said, err := wire.Unpack[wire.Infos](s.Infos)
	if err != nil {
		return Infos{}, err
	}
	kept := make([]*discovery.Info, len(said.Servers))
	for i := range said.Servers {
		if server := said.Servers[i].Server; server < 0 || server >= listed {
			return Infos{}, fmt.Errorf("what server %d of %d said", server, listed)
		}
		info := said.Servers[i].Info
		kept[i] = &info
	}
	next := func() (n uint64) {
		n, size := binary.Uvarint(s.Words)
		if size <= 0 {
			s.Words, err = nil, errors.New("words cut off")
			return 0
		}
		s.Words = s.Words[size:]
		return n
	}
	for len(s.Words) > 0 {
		which, who, at := next(), next(), next()
		if err != nil || which >= uint64(len(kept)) || who > uint64(len(players)) || at > uint64(longestRound.Milliseconds()) {
			return Infos{}, cmp.Or(err, fmt.Errorf("word %d of player %d", which, who))
		}
		w := word{info: kept[which], at: time.Duration(at) * time.Millisecond}
		if who > 0 {
			w.by = players[who-1]
		}
		if f.words == nil {
			f.words = map[int][]word{}
		}
		server := said.Servers[which].Server
		f.words[server] = append(f.words[server], w)
	}
	return f, nil
}
