package selection

import (
	"strings"

	"muster/discovery"
)

// Criterion is one demand on the facts that a server reports: a row of the table that flags and
// [Filter] read.
type Criterion struct {
	// Flag is the criterion's name on command lines, and Usage its help.
	Flag, Usage string
	// Of returns a pointer to the wanted value: a string, a bool, or an int that may be missing.
	Of func(*Criteria) any
	// fails reports whether a server's facts do not meet the demand, and cause is the reason to
	// leave it out.
	fails func(*Criteria, *discovery.Info) bool
	cause Cause
}

// asked is the table. It never changes.
var asked = [...]Criterion{
	{"map", "only servers on this `MAP`", func(c *Criteria) any { return &c.Map },
		func(c *Criteria, info *discovery.Info) bool { return !strings.EqualFold(c.Map, info.Map) }, Filtered},
	{"mode", "only servers of this game `MODE`", func(c *Criteria) any { return &c.Mode },
		func(c *Criteria, info *discovery.Info) bool { return !strings.EqualFold(c.Mode, info.Mode) }, Filtered},
	{"version", "only servers of this `VERSION` of the game, or with the number of their protocol",
		func(c *Criteria) any { return &c.Version },
		func(c *Criteria, info *discovery.Info) bool { return c.isOtherVersion(info) }, WrongVersion},
	{"mod", "only servers with this `MOD`", func(c *Criteria) any { return &c.Mod },
		func(c *Criteria, info *discovery.Info) bool { return !strings.EqualFold(c.Mod, info.Mod) }, Filtered},
	{"tags", "only servers with all of these `TAGS`, and none that has a minus before it: \"no3rd -mod\"",
		func(c *Criteria) any { return &c.Tags },
		func(c *Criteria, info *discovery.Info) bool { return !info.Tags.Meets(c.Tags) }, Filtered},
	{"no-password", "only servers without a password", func(c *Criteria) any { return &c.NoPassword },
		func(_ *Criteria, info *discovery.Info) bool { return info.Password }, Passworded},
	{"max-bots", "only servers with at most `N` bots", func(c *Criteria) any { return &c.MaxBots },
		func(c *Criteria, info *discovery.Info) bool { return info.Bots > *c.MaxBots }, Filtered},
}

// Asked lists the possible demands on servers.
func Asked() []Criterion { return append([]Criterion(nil), asked[:]...) }

// isSet reports whether the criteria make this demand.
func (a *Criterion) isSet(c *Criteria) bool {
	switch to := a.Of(c).(type) {
	case *string:
		return *to != ""
	case *bool:
		return *to
	case **int:
		return *to != nil
	}
	return false
}

// set lists the demands that the criteria make.
func (c *Criteria) set() (rows []Criterion) {
	for _, row := range asked {
		if row.isSet(c) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Asks reports whether a server with these facts meets the criteria. Seats, vetoes and editions
// depend on the group and do not count.
func (c *Criteria) Asks(info *discovery.Info) bool {
	for _, row := range c.set() {
		if row.fails(c, info) {
			return false
		}
	}
	return true
}
