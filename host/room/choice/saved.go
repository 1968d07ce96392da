package choice

import (
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/selection"
)

// Saved is the section of the saved room.
type Saved struct {
	Selection *selection.Selection `json:"selection,omitempty"`
	WhatIf    *whatIf              `json:"what_if,omitempty"`
}

// Save returns the section of the saved room. The basis is not saved.
func (c *Choice) Save() Saved { return Saved{c.newest, c.whatIf} }

// Restore returns the choice that was saved, among the servers of a list. Previous is the server of
// the round before.
func Restore(s Saved, previous netip.AddrPort, list []discovery.Server) (Choice, error) {
	c := Choice{newest: s.Selection, whatIf: s.WhatIf, previous: previous}
	if c.newest != nil {
		if err := place(c.newest, list); err != nil {
			return Choice{}, err
		}
	}
	if c.whatIf != nil {
		if err := place(&c.whatIf.Selection, list); err != nil {
			return Choice{}, err
		}
	}
	return c, nil
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
