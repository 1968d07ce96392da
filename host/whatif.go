package host

import (
	"errors"
	"time"

	"muster/selection"
)

// WhatIf is what another rule or another limit would choose. Everyone sees it,
// the organiser may make it so.
type WhatIf struct {
	Player    string              `json:"player"`
	By        selection.Rule      `json:"by"`
	Limits    []time.Duration     `json:"limits,omitempty"`
	Selection selection.Selection `json:"selection"`
}

var errNothingMeasured = errors.New("nothing has been measured yet")

// Suppose ranks what was measured by another wish.
func (r *Room) Suppose(player string, by selection.Rule, limits []time.Duration) error {
	wish := selection.Criteria{By: by, Limits: limits}
	if err := wish.Check(nil); err != nil {
		return err
	}
	if r.Selection == nil {
		return errNothingMeasured
	}
	group := r.chosenFor()
	wish = r.wish(group)
	wish.By, wish.Limits, wish.Reasons = by, limits, -1
	r.WhatIf = &WhatIf{Player: player, By: by, Limits: limits, Selection: selection.Select(r.servers(), r.table(group), wish)}
	return nil
}

// Apply makes the rule and the limits of the what-if those of the room, and
// chooses by them.
func (r *Room) Apply(now time.Time) ([]effect, error) {
	if r.WhatIf == nil || r.Selection == nil {
		return nil, errNothingMeasured
	}
	r.Settings.By, r.Settings.Limits = r.WhatIf.By, r.WhatIf.Limits
	r.note(now, "the rule is now %s", r.Settings.rule())
	return r.rechoose(r.selectFor(r.chosenFor()), now), nil
}
