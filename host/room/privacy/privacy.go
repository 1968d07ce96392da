// Package privacy keeps the players' pings in a match from each other. Captains ban servers, and a
// captain who knew one opponent's pings would ban that player's best ones.
//
//	          ┌─▶ what everyone sees: sides' averages once captains may ban, and no player's ping
//	snapshot ─┤
//	          └─▶ each player's own pings
//
// Before the captains' first turn nobody sees an average: a side that knew how it stands could still
// delay its pings. The package says nothing of them before the finalists are fixed.
//
// Once a server is decided everyone sees its pings. The pings of other servers stay hidden, because
// the sides may play again.
//
// This package lists the fields of a choice that it shows. A field that a later release adds stays
// hidden until somebody lists it, too.
package privacy

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/law"
)

// limitStep is the step, in ms, to which an advised limit is rounded up. The least limit that
// suffices is some player's ping, and would give it away.
const limitStep = 10

// Split divides the snapshot of a match into the part that everyone sees, and each person's own
// pings by name. It returns any other snapshot unchanged. The results share memory with the
// snapshot.
func Split(s wire.Snapshot) (shown wire.Snapshot, own map[string]wire.Own) {
	if s.Match == nil {
		return s, nil
	}
	h := hiding{own: map[string]wire.Own{}, sealed: len(s.Match.Servers) == 0}
	switch {
	case s.Way != nil && s.Choice != nil: // players may connect to another port than they ask
		h.open = s.Choice.Target
	case s.Match.Decided:
		h.open = s.Match.Server
	}
	s.Match = h.match(*s.Match)
	s.Log = h.log(s.Log)
	if s.Room.Search = search(s.Room.Search); tellsPing(s.Room.Forecast) {
		s.Room.Forecast = sentence.Sentence{}
	}
	s.WhatIf = nil
	if s.Choice != nil {
		s.Choice = h.choice(s.Choice)
		s.Choice.Target = h.open
	}
	s.Voting.Choices, s.Moving = nil, nil
	s.People = slices.Clone(s.People)
	for i := range s.People {
		if tellsPing(s.People[i].Doubt) {
			s.People[i].Doubt = sentence.Sentence{}
		}
	}
	if s.Look != nil {
		s.Look = h.look(s.Look)
	}
	if s.Standing != nil {
		s.Standing = h.standing(s.Standing)
	}
	if s.Seats != nil {
		s.Seats = h.seats(s.Seats)
	}
	return s, h.own
}

// hiding hides the pings of one snapshot.
type hiding struct {
	// open is the address of the server whose pings are shown, empty if there is none.
	open string
	// sealed says that nobody may see the sides' averages yet.
	sealed bool
	own    map[string]wire.Own
}

// keep notes pings to a server as the players' own.
func (h *hiding) keep(server string, pings map[string]float64) {
	for name, ms := range pings {
		if h.own[name] == nil {
			h.own[name] = wire.Own{}
		}
		h.own[name][server] = ms
	}
}

func (h *hiding) match(m wire.Match) *wire.Match {
	if h.open == "" {
		m.Even = nil
	}
	if h.open == "" && m.Law != nil {
		l := *m.Law
		l.Breaks, l.Said = nil, slices.DeleteFunc(slices.Clone(l.Said), tellsPing)
		m.Law = &l
	}
	m.Servers = slices.Clone(m.Servers)
	for i := range m.Servers {
		for side, ms := range m.Servers[i].MeansMS {
			m.Servers[i].MeansMS[side] = math.Round(ms)
		}
	}
	return &m
}

// log returns the log without notes of players' pings.
func (h *hiding) log(log []wire.Note) []wire.Note {
	log = slices.Clone(log)
	for i := range log {
		if log[i].Key == "room.odd-raised" { // the oddity stays, and the pings go
			if oddity, is := log[i].With.Values()["oddity"].(sentence.Sentence); is {
				log[i].Sentence = sentence.Of("why.doubt", "doubt", oddity)
			}
		}
	}
	return slices.DeleteFunc(log, func(note wire.Note) bool { return tellsPing(note.Sentence) })
}

// figures are the names of arguments that are pings in most sentences. In exempt sentences they are
// something else: the organiser's limit, the usual error of an estimate, a short time, or a server
// that is decided.
var (
	figures = []string{"ms", "instead", "worst", "mean", "chosen", "figures", "average"}
	exempt  = []string{"room.allows", "room.counts", "unit.ms", "room.launch"}
)

// tellsPing reports whether a sentence has a ping among its arguments.
func tellsPing(s sentence.Sentence) bool {
	for name, value := range s.With.Values() {
		switch v := value.(type) {
		case sentence.Sentence:
			if tellsPing(v) {
				return true
			}
		case []sentence.Sentence:
			if slices.ContainsFunc(v, tellsPing) {
				return true
			}
		}
		if slices.Contains(figures, name) && !slices.Contains(exempt, s.Key) {
			return true
		}
	}
	return false
}

func search(s *wire.Search) *wire.Search {
	if s == nil {
		return nil
	}
	return &wire.Search{Rounds: s.Rounds, Found: s.Found}
}

// rounded returns the sides' averages in whole ms, nil if there are none.
func rounded(m *selection.SideMeans) *selection.SideMeans {
	if m == nil {
		return nil
	}
	return &selection.SideMeans{A: math.Round(m.A), B: math.Round(m.B)}
}

func (h *hiding) choice(c *wire.Choice) *wire.Choice {
	s := &c.Selection
	shown := &wire.Choice{
		Selection: selection.Selection{
			Format: s.Format, By: s.By, Players: s.Players, Sides: s.Sides, Ranking: []selection.Ranked{},
			Culled: s.Culled, Reasons: []selection.Reason{}, LimitMS: s.LimitMS, Estimated: s.Estimated,
			LookedS: s.LookedS, Doubts: s.Doubts,
		},
		Explain: []sentence.Sentence{}, Servers: c.Servers,
	}
	for _, ranked := range s.Ranking {
		shown.Selection.Ranking = append(shown.Selection.Ranking, h.ranked(ranked))
	}
	if s.Chosen != nil {
		chosen := h.ranked(*s.Chosen)
		shown.Selection.Chosen = &chosen
	}
	if !h.sealed {
		shown.Selection.Excess, shown.Explain = s.Excess, append(shown.Explain, s.ExcessSentences()...)
	}
	for _, doubt := range s.Doubts { // both captains see the doubts about players' numbers
		shown.Explain = append(shown.Explain, sentence.Of("why.doubt", "doubt", doubt.Sentence()))
	}
	for _, advice := range c.Advice {
		if limit := &advice.Argument.LimitMS; *limit > 0 {
			*limit = (*limit + limitStep - 1) / limitStep * limitStep
		}
		shown.Advice = append(shown.Advice, advice)
	}
	if miss := c.Miss; miss != nil {
		h.keep(miss.Addr, miss.RTT)
		shown.Miss = &wire.Miss{Addr: miss.Addr, LimitMS: miss.LimitMS, RTT: map[string]float64{}}
	}
	return shown
}

func (h *hiding) ranked(r selection.Ranked) selection.Ranked {
	addr := r.Addr.String()
	h.keep(addr, r.RTT)
	shown := selection.Ranked{
		Addr: r.Addr, RTT: map[string]float64{}, Tight: r.Tight, Ours: r.Ours, Server: r.Server,
	}
	if !h.sealed {
		shown.SideMeanMS = rounded(r.SideMeanMS)
	}
	if r.Law != nil {
		judged := *r.Law
		judged.Said = slices.DeleteFunc(slices.Clone(judged.Said), tellsPing)
		if shown.Law = &judged; addr != h.open {
			judged.Breaks = []law.Break{} // the highest ping, or the sides' lowest
		}
	}
	if addr == h.open {
		shown.RTT, shown.MeanMS, shown.MaxMS, shown.WorstOff = maps.Clone(r.RTT), r.MeanMS, r.MaxMS, r.WorstOff
	}
	return shown
}

// look returns a long look without the pings: only how many packets each player has sent.
func (h *hiding) look(l *wire.LongLook) *wire.LongLook {
	shown := &wire.LongLook{Until: l.Until, Finalists: slices.Clone(l.Finalists)}
	for i := range shown.Finalists {
		f := &shown.Finalists[i]
		lines := f.Lines
		f.Lines = map[string]wire.Line{}
		for name, line := range lines {
			h.keep(f.Addr, map[string]float64{name: line.RTT})
			f.Lines[name] = wire.Line{Sent: line.Sent}
		}
	}
	return shown
}

func (h *hiding) standing(s *wire.Standing) *wire.Standing {
	shown := *s
	shown.Leaders = slices.Clone(s.Leaders)
	for i, leader := range s.Leaders {
		h.keep(strconv.Itoa(leader.ID), leader.RTT)
		shown.Leaders[i] = wire.Leader{
			ID: leader.ID, ServerCard: leader.ServerCard, Complete: leader.Complete, RTT: map[string]float64{},
		}
	}
	return &shown
}

func (h *hiding) seats(s *wire.Seats) *wire.Seats {
	shown := *s
	for _, list := range []*[]wire.SeatsOn{&shown.Servers, &shown.Instead} {
		*list = slices.Clone(*list)
		for i := range *list {
			server := &(*list)[i]
			h.keep(server.Addr, server.RTT)
			server.MeanMS, server.MaxMS, server.RTT = 0, 0, map[string]float64{}
			if tellsPing(server.Dropped) {
				server.Dropped = sentence.Sentence{}
			}
		}
	}
	for _, said := range []*sentence.Sentence{&shown.News, &shown.Over, &shown.Chance} {
		if tellsPing(*said) {
			*said = sentence.Sentence{}
		}
	}
	return &shown
}
