package choice

import (
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/selection"
)

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
