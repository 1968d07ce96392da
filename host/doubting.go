package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/selection/anomaly"
)

// fullReport is how many servers a member must have measured to be judged while
// others still measure.
const fullReport = 16

// distrust leaves those out whose numbers fit nobody else's, as long as the
// others are the most. It does not change its mind: that is for the organiser, see
// [Room.Trust], and for the next round.
func (r *Room) distrust(group []*Member, now time.Time) {
	doubts, acted, players := r.doubtsAbout(group), r.acted(), names(group)
	for _, d := range acted {
		players = append(players, d.Player)
	}
	trusted := anomaly.Exclude(players, slices.Concat(acted, doubts))
	for _, doubt := range doubts {
		if !slices.Contains(trusted, doubt.Player) {
			m := r.member(doubt.Player)
			m.Doubt, m.LeftOut = &doubt, true
			r.note(now, "%s: that does not count in the choice", strings.TrimSuffix(doubt.String(), "."))
		}
	}
}

// acted are the doubts for which somebody is left out.
func (r *Room) acted() (doubts []anomaly.Anomaly) {
	for _, m := range r.Members {
		if m.Doubt != nil {
			doubts = append(doubts, *m.Doubt)
		}
	}
	return doubts
}

// doubtsAbout are those about members whom the organiser has not vouched for.
func (r *Room) doubtsAbout(group []*Member) []anomaly.Anomaly {
	return slices.DeleteFunc(anomaly.Find(r.Servers, r.table(group)), func(d anomaly.Anomaly) bool {
		return r.member(d.Player).Trusted
	})
}

// Trust is the organiser's word that a member's numbers are true: they count from
// now on, in this round too if a server is left that suits the member.
func (r *Room) Trust(name string, now time.Time) ([]effect, error) {
	m := r.member(name)
	if m == nil {
		return nil, fmt.Errorf("%s is not here", playerName(name))
	}
	m.Trusted = true
	if m.Doubt == nil {
		return nil, nil
	}
	m.Doubt, m.LeftOut, m.Heard = nil, false, now
	r.note(now, "the organiser vouches for %s", m.Name)
	if r.Selection == nil {
		return nil, nil
	}
	selected := r.selectFor(append(r.chosenFor(), m))
	if selected.Chosen == nil {
		m.LeftOut = true
		return nil, fmt.Errorf("%s has not measured what is left to choose from: the numbers count from the next round on", m.Name)
	}
	return r.rechoose(selected, now), nil
}
