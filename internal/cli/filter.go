package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/report"
)

// filter are the flags that say which servers the player wants to see.
type filter struct {
	mapName, mode                 string
	notFull, notEmpty, noPassword bool
}

func (f *filter) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.mapName, "map", "", "only servers on this `MAP`")
	flags.StringVar(&f.mode, "mode", "", "only servers of this game `MODE`")
	flags.BoolVar(&f.notFull, "not-full", false, "only servers with a free seat")
	flags.BoolVar(&f.notEmpty, "not-empty", false, "only servers where people play; bots do not count")
	flags.BoolVar(&f.noPassword, "no-password", false, "only servers without a password")
}

// keeps tells whether the player wants to see a server. What does not answer
// has no map and no seats: it stays in reports, and is not shown anyway.
func (f *filter) keeps(m *report.Measurement) bool {
	if m.State != discovery.Answered {
		return true
	}
	switch {
	case f.mapName != "" && !strings.EqualFold(f.mapName, m.Map),
		f.mode != "" && !strings.EqualFold(f.mode, m.Mode),
		f.notFull && m.Players >= m.MaxPlayers,
		f.notEmpty && m.Players <= m.Bots,
		f.noPassword && m.Password:
		return false
	}
	return true
}
