package cli

import (
	"time"

	"muster/host/schedule"
	"muster/internal/hint"

	"github.com/thlib/go-timezone-local/tzlocal"
)

// takeEvery reads when the group meets, in this machine's time zone unless the text names another, and
// says how it has understood the text.
func (h *hostCommand) takeEvery() error {
	if h.settings.Every == "" {
		return nil
	}
	zone, err := tzlocal.RuntimeTZ()
	if err != nil {
		zone = ""
	}
	when, err := schedule.Parse(h.settings.Every, zone)
	if err != nil {
		return hint.With(usagef("--every %q is no time to meet", h.settings.Every), err.Error())
	}
	if when.IsOver(time.Now()) {
		return hint.With(usagef("--every %q: %w", h.settings.Every, schedule.ErrOver),
			"say the next date, or a day of each week, as in \"fri 20:00\"")
	}
	h.settings.Every = when.String()
	h.screen.Say("%s", h.screen.Language.Say(when.Words()))
	return nil
}
