package wire

import (
	"math"
	"time"

	"muster/discovery/sentence"
	"muster/selection"
	"muster/selection/rules"
)

// Head says what phase the room is in, and what the organiser wants.
type Head struct {
	Code string `json:"code"`
	Settings
	Stage Stage `json:"stage"`
	// Since is when the stage began, and Began when the round's measuring began.
	Since  time.Time `json:"since"`
	Began  time.Time `json:"began,omitzero"`
	Round  int       `json:"round"`
	Locked bool      `json:"locked"`
	// AnnounceAs names the room in the announcements of players' programs on their own networks. It is
	// empty if they must not announce it.
	AnnounceAs string `json:"announce_as,omitempty"`
	// Own is the length of the organiser's own list, 0 if the room uses the game's.
	Own int `json:"own,omitempty"`
	// Candidates are the names of the places where a server could be.
	Candidates []string `json:"candidates,omitempty"`
	Listed     int      `json:"listed"`
	// MaxAsked is the most servers that each player's program may have to ask in the round, 0 for
	// the whole list.
	MaxAsked int `json:"most_asked,omitempty"`
	// Said is when the list last learned about servers that say little themselves.
	Said time.Time `json:"said,omitzero"`
	// Paused says that most players fell silent together, and the room waits for them. Retry is
	// when a failed room tries again by itself, if it does.
	Paused bool      `json:"paused,omitempty"`
	Retry  time.Time `json:"retry,omitzero"`
	// Ended is when the session ended. Then this is the last snapshot, unless the room is a
	// standing one, which sleeps.
	Ended time.Time `json:"ended,omitzero"`
	// Held says what everything waits for while the host cannot save the room.
	Held sentence.Sentence `json:"held,omitzero"`
	// Posts says how the room's announcements fare; nil without a webhook.
	Posts *Posts `json:"posts,omitempty"`
	// Search is the progress of a coordinated search, while it goes on, and Forecast the same in a
	// sentence.
	Search   *Search           `json:"search,omitempty"`
	Forecast sentence.Sentence `json:"outlook,omitzero"`
}

// Search is the progress of a coordinated search.
type Search struct {
	Rounds int `json:"rounds"`
	// Found says that all have measured a server that suits everyone. The best so far has these
	// RTTs in ms.
	Found   bool    `json:"found"`
	MeanMS  float64 `json:"mean_ms"`
	MaxMS   float64 `json:"max_ms"`
	StdevMS float64 `json:"stdev_ms"`
	// FigureMS is the rule's result for them.
	FigureMS float64 `json:"figure_ms,omitempty"`
	// ExtraMS is how far, at most, a player's ping exceeds their own best, if that decides. OwnMS
	// is how much more that may really be, because a nearer server of some player was not found; it
	// is the host's estimate.
	ExtraMS *float64 `json:"extra_ms,omitempty"`
	OwnMS   float64  `json:"own_ms,omitempty"`
	// GainMS is the host's estimate of how much better a server may still be found; nil before it
	// has one.
	GainMS *float64 `json:"gain_ms,omitempty"`
	// ReachMS is a limit stricter than the best server so far keeps. A server may still be found
	// that keeps it for everybody; 0 if none is likely. GainMS is about servers that do not keep
	// it.
	ReachMS float64 `json:"reach_ms,omitempty"`
}

// Sentence describes the search, for a room with this rule. A match tells nothing of its sides before
// captains may ban.
func (s *Search) Sentence(by selection.Rule) sentence.Sentence {
	if !s.Found {
		return sentence.Of("search.nothing-yet")
	}
	rule := rules.Of(by)
	if rule.Sides {
		rule = rules.Of(rule.Alone)
	}
	figures := rule.SoFar(rules.Figures{Mean: s.MeanMS, Worst: s.MaxMS, Figure: s.FigureMS}, s.OwnMS)
	if s.GainMS == nil {
		return sentence.Of("search.so-far", "figures", figures)
	}
	return sentence.Of("search.so-far-better", "figures", figures, "forecast", s.forecast())
}

// GoesOn says what a search that goes on after the choice may still find. It is empty before the
// host can tell.
func (s *Search) GoesOn() sentence.Sentence {
	if s.GainMS == nil {
		return sentence.Sentence{}
	}
	return sentence.Of("search.goes-on", "forecast", s.forecast())
}

// forecast says what may still be found.
func (s *Search) forecast() sentence.Sentence {
	gain := rules.Whole(math.Ceil(*s.GainMS))
	if s.ReachMS > 0 {
		return sentence.Of("search.better-within", "ms", gain, "limit", rules.Whole(s.ReachMS))
	}
	return sentence.Of("search.better", "ms", gain)
}
