package selection

import (
	"slices"
	"strings"

	"muster/discovery"
)

// Wishes are the values of the criteria in [Asked]. An empty text, nil or false means no wish.
type Wishes struct {
	// Map and Mode, if not empty, must be the server's, ignoring case.
	Map  string `json:"map"`
	Mode string `json:"mode"`
	// Mod must be the server's, and the server must be of Version (see
	// [discovery.Info.IsOfVersion]). Tags are words that it must have, or must not (see
	// [discovery.Tags.Meets]).
	Mod     string `json:"mod,omitempty"`
	Version string `json:"version,omitempty"`
	Tags    string `json:"tags,omitempty"`
	// MaxBots is how many bots may play on the server; nil is any number.
	MaxBots *int `json:"max_bots,omitempty"`
	// NoPassword says that the group knows no password.
	NoPassword bool `json:"-"`
}

// Criterion is one demand on the facts that a server reports: a row of the table that flags, a room's
// settings and [Filter] read.
type Criterion struct {
	// Key is the criterion's name among a room's settings. It is empty if a room has no such
	// setting. Rare says that hardly anybody needs the criterion.
	Key  string
	Rare bool
	// Flag is the criterion's name on command lines, and Usage its help.
	Flag, Usage string
	// Of returns a pointer to the wanted value: a string, a bool, or an int that may be missing.
	Of func(*Wishes) any
	// fails reports whether a server's facts do not meet the demand, and cause is the reason to
	// leave it out.
	fails func(*Wishes, *discovery.Info) bool
	cause Cause
	// isTold reports whether a server's facts say anything about the demand; nil is always.
	isTold func(*discovery.Info) bool
	// copy copies the wanted fact to other facts. It is nil for a count, which changes from moment
	// to moment.
	copy func(to, from *discovery.Info)
}

// asked is the table. It never changes.
var asked = [...]Criterion{
	{
		Key: "map", Flag: "map", Usage: "only servers on this `MAP`", Of: func(w *Wishes) any { return &w.Map },
		fails:  func(w *Wishes, info *discovery.Info) bool { return !strings.EqualFold(w.Map, info.Map) },
		cause:  Filtered,
		isTold: func(info *discovery.Info) bool { return info.Map != "" },
		copy:   func(to, from *discovery.Info) { to.Map = from.Map },
	},
	{
		Key: "mode", Flag: "mode", Usage: "only servers of this game `MODE`", Of: func(w *Wishes) any { return &w.Mode },
		fails:  func(w *Wishes, info *discovery.Info) bool { return !strings.EqualFold(w.Mode, info.Mode) },
		cause:  Filtered,
		isTold: func(info *discovery.Info) bool { return info.Mode != "" },
		copy:   func(to, from *discovery.Info) { to.Mode = from.Mode },
	},
	{
		Key: "version", Flag: "version", Usage: "only servers of this `VERSION` of the game, or with the number of their protocol",
		Rare: true, Of: func(w *Wishes) any { return &w.Version },
		fails:  func(w *Wishes, info *discovery.Info) bool { return !info.IsOfVersion(w.Version) },
		cause:  WrongVersion,
		isTold: func(info *discovery.Info) bool { return info.Version != "" },
		copy: func(to, from *discovery.Info) {
			to.Version, to.Protocol, to.OldestProtocol = from.Version, from.Protocol, from.OldestProtocol
		},
	},
	{
		Key: "mod", Flag: "mod", Usage: "only servers with this `MOD`", Rare: true, Of: func(w *Wishes) any { return &w.Mod },
		fails:  func(w *Wishes, info *discovery.Info) bool { return !strings.EqualFold(w.Mod, info.Mod) },
		cause:  Filtered,
		isTold: func(info *discovery.Info) bool { return info.Mod != "" },
		copy:   func(to, from *discovery.Info) { to.Mod = from.Mod },
	},
	{
		Key: "tags", Flag: "tags", Usage: "only servers with all of these `TAGS`, and none that has a minus before it: \"no3rd -mod\"",
		Rare: true, Of: func(w *Wishes) any { return &w.Tags },
		fails:  func(w *Wishes, info *discovery.Info) bool { return !info.Tags.Meets(w.Tags) },
		cause:  Filtered,
		isTold: func(info *discovery.Info) bool { return info.Tags != "" },
		copy:   func(to, from *discovery.Info) { to.Tags = from.Tags },
	},
	{
		Flag: "no-password", Usage: "only servers without a password", Of: func(w *Wishes) any { return &w.NoPassword },
		fails: func(_ *Wishes, info *discovery.Info) bool { return info.Password },
		cause: Passworded,
		copy:  func(to, from *discovery.Info) { to.Password = from.Password },
	},
	{
		Key: "max_bots", Flag: "max-bots", Usage: "only servers with at most `N` bots", Rare: true,
		Of:    func(w *Wishes) any { return &w.MaxBots },
		fails: func(w *Wishes, info *discovery.Info) bool { return info.Bots > *w.MaxBots },
		cause: Filtered,
	},
}

// Asked lists the possible demands on servers.
func Asked() []Criterion { return slices.Clone(asked[:]) }

// isSet reports whether the wishes make this demand.
func (a *Criterion) isSet(w *Wishes) bool {
	switch to := a.Of(w).(type) {
	case *string:
		return *to != ""
	case *bool:
		return *to
	case **int:
		return *to != nil
	}
	return false
}

// set lists the demands that the wishes make.
func (w *Wishes) set() (rows []Criterion) {
	for _, row := range asked {
		if row.isSet(w) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Asks reports whether a server with these facts meets the wishes.
func (w *Wishes) Asks(info *discovery.Info) bool {
	return !slices.ContainsFunc(w.set(), func(row Criterion) bool { return row.fails(w, info) })
}

// AllowsCounts reports whether a server with these facts meets the wishes about counts, which change
// from moment to moment.
func (w *Wishes) AllowsCounts(info *discovery.Info) bool {
	return !slices.ContainsFunc(w.set(), func(row Criterion) bool { return row.copy == nil && row.fails(w, info) })
}

// Take copies from one report on a server to another those facts that meet a wish, except counts.
func (w *Wishes) Take(to, from *discovery.Info) {
	for _, row := range w.set() {
		if row.copy != nil && !row.fails(w, from) {
			row.copy(to, from)
		}
	}
}
