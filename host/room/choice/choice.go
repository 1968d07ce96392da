// Package choice keeps a round's choice and its basis. It also knows what another rule would choose
// instead, and what the organiser can do.
//
//	basis ─▶ Try ─▶ Take ────▶ the newest choice ─▶ View ─▶ what people see, with advice
//	          │     Refine            │
//	          ▼                       ▼
//	        Record ─▶ Culled        Suppose ─▶ a what-if
//
// The basis comes from the room. It has the players' measurements and the group's criteria. Package
// selection makes the choice itself.
package choice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

const (
	// spareSeat is the ping that the group pays for a server with a seat left over, because
	// somebody may take a seat meanwhile. It costs a tenth of a millisecond on average, and halves
	// the launches that fail.
	spareSeat = 2 * time.Millisecond
	// rankingLength is how many servers a choice ranks and shows.
	rankingLength = 25
	// reasonsLength is how many culled servers a choice shows: the ones that were nearly chosen.
	// Everyone gets them, so they are few.
	reasonsLength = 50
	// maxAllowed is the highest limit that makes sense, in ms. At a second nobody can play.
	maxAllowed = 1000
)

// Choice is a round's choice. The zero value has chosen nothing yet.
type Choice struct {
	state  State
	record *Record
	// shown and shownIf are the newest choice and the what-if as people see them.
	shown, shownIf named
}

// State is the saved state of a choice.
type State struct {
	// Newest never changes, because views share it.
	Newest *selection.Selection `json:"selection,omitempty"`
	WhatIf *whatIf              `json:"what_if,omitempty"`
	// Previous is the server of the round before. The group stays there unless another is worth the
	// move.
	Previous netip.AddrPort `json:"previous,omitzero"`
}

// State returns the state, to save or restore it.
func (c *Choice) State() *State { return &c.state }

// Next returns the choice of the next round, which knows only the group's last server.
func (c *Choice) Next() Choice {
	if c.state.Newest != nil && c.state.Newest.Chosen != nil {
		return Choice{state: State{Previous: c.state.Newest.Chosen.Addr.AddrPort}}
	}
	return c.Forget()
}

// Forget returns the choice of a round that chooses again.
func (c *Choice) Forget() Choice { return Choice{state: State{Previous: c.state.Previous}} }

// Previous returns the server of the round before, invalid if there is none.
func (c *Choice) Previous() netip.AddrPort { return c.state.Previous }

// whatIf is the choice by other settings, which the organiser may apply. Everyone sees it.
type whatIf struct {
	Player people.ID `json:"player"`
	// Patch turns the room's settings into the other settings.
	Patch     json.RawMessage     `json:"patch"`
	Selection selection.Selection `json:"selection"`
}

// Criteria returns the criteria of settings, for a choice that people see. Spare is that of
// [selection.Criteria]: negative is none, and 0 the usual one.
func Criteria(s wire.Settings, spare time.Duration) selection.Criteria {
	c := s.Criteria()
	c.Spare = max(0, cmp.Or(spare, spareSeat))
	c.Top, c.Reasons, c.Differing = rankingLength, reasonsLength, true
	return c
}

// Newest returns the newest choice, nil before there is one. It must not be changed.
func (c *Choice) Newest() *selection.Selection { return c.state.Newest }

// Try returns the choice from a basis, and keeps a record of it. If estimates would leave no
// server, it chooses without them.
func (c *Choice) Try(b selection.Basis) selection.Selection {
	s := b.Select()
	if s.Chosen == nil && len(b.Estimated) > 0 {
		b = b.Measured()
		s = b.Select()
	}
	// Nobody takes a choice without a server, or all give up. So the earlier record stays.
	if s.Chosen != nil || c.record == nil || !c.record.found {
		c.record = recordOf(b, s.Chosen != nil)
	}
	return s
}

// Take makes a choice the newest, and forgets the what-if.
func (c *Choice) Take(s selection.Selection) { c.state.Newest, c.state.WhatIf = &s, nil }

// Refine replaces the newest choice when more is known of it. The what-if stays.
func (c *Choice) Refine(s selection.Selection) { c.state.Newest = &s }

// NoteInfluence notes the players whose numbers decide the newest choice, by a basis of the same
// players.
func (c *Choice) NoteInfluence(b selection.Basis) {
	s, why := *c.state.Newest, selection.Why{}
	if s.Why != nil {
		why = *s.Why
	}
	influences := selection.Influences(b.Servers, b.Table, b.Criteria, s.Chosen.Server)
	why.Influences = slices.DeleteFunc(influences, func(i selection.Influence) bool {
		return b.Estimated[i.Player] > 0 || b.Estimated[i.With] > 0 // guests report nothing
	})
	s.Why = &why
	c.Refine(s)
}

// Go makes a server the newest choice, if it still suits everyone in a basis, and reports whether
// it does. Seats is the number of seats that the server needs.
func (c *Choice) Go(server, seats int, b selection.Basis) bool {
	c.record = nil
	record := recordOf(b, true)
	b.Criteria.Seats, b.Criteria.Top = seats, len(b.Servers.List)
	s := b.Select()
	place := slices.IndexFunc(s.Ranking, func(ranked selection.Ranked) bool { return ranked.Server == server })
	if place < 0 {
		return false
	}
	ranked := s.Ranking[place]
	if s.Ranking = s.Ranking[:min(rankingLength, len(s.Ranking))]; place >= rankingLength {
		s.Ranking[rankingLength-1] = ranked
	}
	c.record = record
	c.Refine(s)
	return true
}

// Basis returns the basis of the newest choice, if it is one of these players. It saves time,
// because making a basis takes as long as choosing.
func (c *Choice) Basis(players []people.ID) (b selection.Basis, isOfThem bool) {
	if !c.isRecorded() || !slices.Equal(c.record.basis.Table.Players(), people.Texts(players)) {
		return selection.Basis{}, false
	}
	return c.record.basis, true
}

// Suppose ranks the measurements by other settings, on somebody's order. The patch makes these
// settings out of the room's, and the basis already has them.
func (c *Choice) Suppose(by people.ID, patch json.RawMessage, b selection.Basis) {
	b.Criteria.Reasons = -1
	c.state.WhatIf = &whatIf{by, patch, b.Select()}
}

// ClearWhatIf takes the what-if back.
func (c *Choice) ClearWhatIf() { c.state.WhatIf = nil }

// Supposed returns the patch of the what-if, nil without one.
func (c *Choice) Supposed() json.RawMessage {
	if c.state.WhatIf == nil {
		return nil
	}
	return c.state.WhatIf.Patch
}

// Allow returns settings with another limit of pings, in ms. Stricter limits stay, and come first.
func Allow(s wire.Settings, limitMS float64) (wire.Settings, error) {
	limit := math.Ceil(limitMS)
	if !(limit > 0 && limit <= maxAllowed) {
		return s, fmt.Errorf("a limit is between 1 and %d ms", maxAllowed)
	}
	limits := []float64{limit}
	if rules.Of(s.By).HasLadder() {
		for _, l := range s.Limits {
			if ms := discovery.MS(l); ms < limit {
				limits = append(limits, ms)
			}
		}
		slices.Sort(limits)
	}
	patch, err := json.Marshal(map[string][]float64{"limits_ms": limits})
	if err != nil {
		return s, err
	}
	return s.Patched(patch, wire.OnPage)
}

// Lack says why there is nothing to choose: the number of servers that were culled, by cause.
func Lack(s *selection.Selection) (lack []sentence.Sentence) {
	c := s.Culled
	for _, part := range []struct {
		n   int
		key string
	}{
		{c.Unreachable, "lack.unreachable"},
		{c.Full, "lack.full"},
		{c.Filtered + c.Unknown, "lack.kind"},
		{c.Passworded, "lack.password"},
		{c.Hygiene + c.Blacklisted + c.Vetoed, "lack.unwanted"},
		{c.Hidden, "lack.hidden"},
		{c.PingLimits, "lack.ping-limits"},
		{c.OverThreshold, "lack.far"},
		{c.Unmeasured, "lack.unmeasured"},
	} {
		if part.n > 0 {
			lack = append(lack, sentence.Of(part.key, "n", part.n))
		}
	}
	switch players := shutOut(s); {
	case c.WrongVersion == 0:
	case len(players) == 0:
		lack = append(lack, sentence.Of("lack.version", "n", c.WrongVersion))
	default:
		lack = append(lack, sentence.Of("lack.version-of", "n", c.WrongVersion, "count", len(players), "players", players))
	}
	return lack
}

// shutOut returns the players who do not get into some of the culled servers.
func shutOut(s *selection.Selection) []string {
	var players []string
	for _, reason := range s.Reasons {
		if reason.Cause == selection.WrongVersion {
			players = append(players, reason.Players...)
		}
	}
	slices.Sort(players)
	return slices.Compact(players)
}

// Place finds the servers of a saved choice in the list. An error says that one is not there.
func (s *State) Place(list []discovery.Server) error {
	if s.Newest != nil {
		if err := place(s.Newest, list); err != nil {
			return err
		}
	}
	if s.WhatIf != nil {
		return place(&s.WhatIf.Selection, list)
	}
	return nil
}

// place finds the servers of a selection in a list. Its document names them by address.
func place(s *selection.Selection, list []discovery.Server) (err error) {
	places := map[netip.AddrPort]int{}
	for i := range list {
		places[list[i].Addr] = i
	}
	find := func(server *int, addr netip.AddrPort) {
		var listed bool
		if *server, listed = places[addr]; !listed {
			err = fmt.Errorf("a choice of %v, which is not listed", addr)
		}
	}
	for i := range s.Ranking {
		find(&s.Ranking[i].Server, s.Ranking[i].Addr.AddrPort)
	}
	for i := range s.Reasons {
		find(&s.Reasons[i].Server, s.Reasons[i].Addr.AddrPort)
	}
	if s.Chosen != nil {
		find(&s.Chosen.Server, s.Chosen.Addr.AddrPort)
	}
	if s.Why != nil {
		for i := range s.Why.Influences {
			find(&s.Why.Influences[i].Server, s.Why.Influences[i].Addr.AddrPort)
		}
		for i := range s.Why.Rivals {
			find(&s.Why.Rivals[i].Server, s.Why.Rivals[i].Addr.AddrPort)
		}
	}
	return err
}
