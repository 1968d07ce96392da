package infos

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
)

// believed returns the facts to believe from reports on a server, or nil without reports. lone says
// that only one of several players reported. Such a report rules nothing out for good.
//
//   - A player who goes on alone is believed, because nobody else is concerned.
//   - A lone report counts without name, game port and ping limits, because these
//     could send all astray.
//   - Of several reports each field takes the value that more than half have. Without
//     a majority there is no name, game port, password or ping limit, and the map and
//     mode are the ones that the room wants, or the newest. The host's report breaks ties.
//   - The counts of players come from the median report, or from the lower one of two,
//     because people come and go between looks.
func believed(words []word, alone people.ID, want selection.Wishes) (info *discovery.Info, lone bool) {
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
		case w.by == "":
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
		want.Take(&tie, w.info)
	}
	if host != nil {
		tie = *host
	}
	settled, middle := settle(words, tie), middleOf(allowed(words, want))
	settled.Players, settled.Bots = middle.Players, middle.Bots
	return shared(&settled, words), false
}

// allowed returns the reports with counts that the room wants, or all reports if those are less than
// half.
func allowed(words []word, want selection.Wishes) []word {
	few := slices.DeleteFunc(slices.Clone(words), func(said word) bool { return !want.AllowsCounts(said.info) })
	if 2*len(few) < len(words) {
		return words
	}
	return few
}

// settle puts the majority's value, if there is one, into each field of an Info except the counts
// of players.
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
	// A player who reports no name has not asked for it. One player's name alone does not count.
	nameless := func(w word) bool { return w.info.Name == "" }
	if named := slices.DeleteFunc(slices.Clone(words), nameless); len(named) > 1 {
		agree(named, &info, func(i *discovery.Info) *string { return &i.Name })
	}
	return info
}

func gamePort(i *discovery.Info) *uint16 { return &i.GamePort }

// agree puts the majority's value into a field and reports whether there is one. Reports with
// different values cancel each other, as in Boyer and Moore's vote.
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
		votes += toInt(*field(w.info) == most)
	}
	if 2*votes <= len(words) {
		return false
	}
	*field(into) = most
	return true
}

// shared returns an Info, or an equal one that a report already has.
func shared(info *discovery.Info, words []word) *discovery.Info {
	for _, w := range words {
		if *w.info == *info {
			return w.info
		}
	}
	return info
}

// middleOf returns the report with the median number of players, the lower of two.
func middleOf(words []word) *discovery.Info {
	sorted := slices.SortedFunc(slices.Values(words), func(a, b word) int {
		return cmp.Or(cmp.Compare(a.info.Players, b.info.Players), cmp.Compare(b.info.Bots, a.info.Bots))
	})
	return sorted[(len(sorted)-1)/2].info
}
