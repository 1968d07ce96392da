package host

import (
	"net/netip"
	"time"

	"muster/host/wire"
	"muster/selection"
)

// Together is what people do in a room with the page, beside measuring.
type Together struct {
	Guests []*Guest `json:"guests,omitempty"`
	// Locked: nobody new comes in.
	Locked bool `json:"locked,omitempty"`
	// Measuring is when the round's measuring began.
	Measuring time.Time `json:"measuring,omitzero"`
	// Agreement is not nil while people agree on where to go.
	Agreement *Agreement       `json:"agreement,omitempty"`
	Vetoes    []selection.Veto `json:"vetoes,omitempty"`
	WhatIf    *WhatIf          `json:"what_if,omitempty"`
	// Target is the server of the launch, by the address that answers queries.
	Target netip.AddrPort `json:"target,omitzero"`
	// Evening is where the room went, round by round.
	Evening []Played `json:"evening,omitempty"`
}

// dismiss sends a member away for good.
type dismiss struct {
	name string
	why  wire.Refusal
}

func (dismiss) isEffect() {}

// anew forgets what was said about the round before.
func (t *Together) anew() {
	t.Agreement, t.Vetoes, t.WhatIf, t.Target = nil, nil, nil, netip.AddrPort{}
	for _, g := range t.Guests {
		g.Ready, g.Vetoed, g.ByHand, g.Vote = false, false, false, netip.AddrPort{}
	}
}
