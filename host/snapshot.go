package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"muster/discovery"
)

// The page's state comes in sections, each sent again only when it changes: a
// log of an evening need not travel along with every percent of progress.
type section struct {
	name string
	data json.RawMessage
	// edition is that of the snapshot in which the section was new.
	edition int
}

// snapshot is everything pages show, at one moment. It is never changed.
type snapshot struct {
	edition  int
	round    int
	sections []section
	traces   []story
	// badges tell whose page it is by the token or secret that it shows.
	badges map[string]badge
}

// story is how one player's discovery went.
type story struct {
	player string
	probes []discovery.Result
}

// badge is what a page may do.
type badge struct {
	Name      string `json:"name,omitempty"`
	Organiser bool   `json:"organiser,omitempty"`
}

// snapshotOf is the room as pages show it now, after what they were shown
// before.
func (r *Room) snapshotOf(before *snapshot, config *Config) (*snapshot, error) {
	s := &snapshot{edition: before.edition + 1, round: r.Round, badges: map[string]badge{r.Secret: {Organiser: true}}}
	for i, v := range r.pageState(config) {
		data, err := json.Marshal(v.value)
		if err != nil {
			return nil, fmt.Errorf("host: page's %s: %w", v.name, err)
		}
		old := section{}
		if i < len(before.sections) {
			old = before.sections[i]
		}
		if old.edition == 0 || !bytes.Equal(old.data, data) {
			old = section{v.name, data, s.edition}
		}
		s.sections = append(s.sections, old)
	}
	for _, m := range r.Members {
		s.traces = append(s.traces, story{m.Name, m.Probes})
	}
	for _, g := range r.Guests {
		s.badges[g.Token] = badge{g.Name, g.Organiser}
	}
	return s, nil
}

// tells reports whether a page that shows the other snapshot has to be sent
// anything.
func (s *snapshot) tells(other *snapshot) bool {
	return other.edition == 0 || s.round != other.round || len(s.badges) != len(other.badges) ||
		slices.ContainsFunc(s.sections, func(sec section) bool { return sec.edition == s.edition }) ||
		!slices.EqualFunc(s.traces, other.traces, func(a, b story) bool { return a.player == b.player && len(a.probes) == len(b.probes) })
}
