// Package choice keeps what a round has chosen and from what, what another rule would choose
// instead, and what the organiser can do about either.
//
//	basis ─▶ Try ─▶ Take ────▶ the newest choice ─▶ View ─▶ what people see, with advice
//	          │     Refine            │
//	          ▼                       ▼
//	        Record ─▶ Culled        Suppose ─▶ a what-if
//
// A basis comes from the room, and has what players measured and what the group wants. The
// choice itself is made by package selection.
package choice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

const (
	// spareSeat is by how much a server with a seat left over is preferred to a better one
	// that the group would fill: somebody may take a seat on the way there. It costs a tenth
	// of a millisecond on average, and halves the launches that fail.
	spareSeat = 2 * time.Millisecond
	// rankingLength is how many servers a choice ranks and shows.
	rankingLength = 25
	// reasonsLength is how many of the culled servers it tells of, those that got furthest:
	// everyone is sent them.
	reasonsLength = 50
	// mostAllowed is the highest limit that makes sense, in ms: a second is no game any more.
	mostAllowed = 1000
)

// Choice is what a round has chosen. The zero value is nothing yet.
type Choice struct {
	// newest is never changed, as pages may be shown it.
	newest *selection.Selection
	record *Record
	whatIf *whatIf
	// previous is the server of the round before: the group stays there unless another is
	// worth the move.
	previous netip.AddrPort
}

// Next returns what is left of the choice in the next round: where the group was.
func (c *Choice) Next() Choice {
	if c.newest != nil && c.newest.Chosen != nil {
		return Choice{previous: c.newest.Chosen.Addr}
	}
	return c.Forget()
}

// Forget returns what is left of the choice when the round chooses anew.
func (c *Choice) Forget() Choice { return Choice{previous: c.previous} }

// Previous returns the server of the round before, invalid if there is none.
func (c *Choice) Previous() netip.AddrPort { return c.previous }

// whatIf is what other settings would choose. Everyone sees it, and the organiser may make
// it so.
type whatIf struct {
	Player string `json:"player"`
	// Patch makes those settings of the room's.
	Patch     json.RawMessage     `json:"patch"`
	Selection selection.Selection `json:"selection"`
}

// Criteria returns what settings ask of a server, of a choice that is shown. Spare is that of
// [selection.Criteria]: negative is none, and 0 the usual one.
func Criteria(s wire.Settings, spare time.Duration) selection.Criteria {
	c := s.Criteria()
	c.Spare = max(0, cmp.Or(spare, spareSeat))
	c.Top, c.Reasons = rankingLength, reasonsLength
	return c
}

// Newest returns the newest choice, nil before there is one. It must not be changed.
func (c *Choice) Newest() *selection.Selection { return c.newest }

// Try returns what would be chosen from a basis, and keeps a record of it. An estimate is no
// reason to play nowhere: then the choice is without.
func (c *Choice) Try(b selection.Basis) selection.Selection {
	s := b.Select()
	if s.Chosen == nil && len(b.Estimated) > 0 {
		b = b.Measured()
		s = b.Select()
	}
	// Nobody takes a choice of nothing, or all give up.
	if s.Chosen != nil || c.record == nil || !c.record.found {
		c.record = recordOf(b, s.Chosen != nil)
	}
	return s
}

// Take makes a choice the newest, and forgets the what-if.
func (c *Choice) Take(s selection.Selection) { c.newest, c.whatIf = &s, nil }

// Refine puts a choice in the place of the newest of which more is known now. The what-if
// stays.
func (c *Choice) Refine(s selection.Selection) { c.newest = &s }

// Weigh notes on whose word the newest choice hangs, for a basis of those for whom it was made.
func (c *Choice) Weigh(b selection.Basis) {
	s, why := *c.newest, selection.Why{}
	if s.Why != nil {
		why = *s.Why
	}
	influences := selection.Influences(b.Servers, b.Table, b.Criteria, s.Chosen.Server)
	why.Influences = slices.DeleteFunc(influences, func(i selection.Influence) bool {
		return b.Estimated[i.Player] > 0 // who report nothing
	})
	s.Why = &why
	c.Refine(s)
}

// Go makes a server the newest choice that has so many seats, if it still suits everyone in
// a basis, and reports whether it does.
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

// Basis returns what the newest choice was made from, and whether that was of these players.
// To make it takes as long as the choice.
func (c *Choice) Basis(players []string) (b selection.Basis, isOfThem bool) {
	record, isKnown := c.Record()
	if record == nil || !isKnown || !slices.Equal(record.basis.Table.Players(), players) {
		return selection.Basis{}, false
	}
	return record.basis, true
}

// Suppose ranks what was measured by other settings, which a patch makes of the room's, for
// somebody who asks. The basis is by those settings.
func (c *Choice) Suppose(by string, patch json.RawMessage, b selection.Basis) {
	b.Criteria.Reasons = -1
	c.whatIf = &whatIf{by, patch, b.Select()}
}

// Unsuppose takes the what-if back.
func (c *Choice) Unsuppose() { c.whatIf = nil }

// Supposed returns the patch of the what-if, nil without one.
func (c *Choice) Supposed() json.RawMessage {
	if c.whatIf == nil {
		return nil
	}
	return c.whatIf.Patch
}

// Allow returns settings that let people be as far away as a limit, in ms. The stricter
// limits are still tried first.
func Allow(s wire.Settings, limitMS float64) (wire.Settings, error) {
	limit := math.Ceil(limitMS)
	if !(limit > 0 && limit <= mostAllowed) {
		return s, fmt.Errorf("a limit is between 1 and %d ms", mostAllowed)
	}
	limits := []float64{limit}
	if rules.Of(s.By).NeedsLimit {
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

// Lack says why a choice of nothing has nothing to choose: how many servers went, and what
// for.
func Lack(s *selection.Selection) string {
	var parts []string
	c := s.Culled
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Unreachable, "unreachable for someone"},
		{c.Full, "without enough free seats"},
		{c.Filtered + c.Unknown, "of the wrong kind"},
		{c.Passworded, "with a password"},
		{c.Hygiene + c.Blacklisted + c.Vetoed, "unwanted"},
		{c.Hidden, "that somebody hides"},
		{c.PingLimits, "that refuse someone's ping"},
		{c.OverThreshold, "too far for someone"},
		{c.Unmeasured, "not measured by everyone"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if n := c.WrongVersion; n > 0 {
		text := fmt.Sprintf("%d of another version", n)
		if players := shutOut(s); len(players) > 0 {
			text += " than " + strings.Join(players, ", ") + " has"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// shutOut returns the players whom some of the culled servers do not let in.
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
