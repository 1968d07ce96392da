package finals

import (
	"fmt"
	"slices"

	"muster/host/room/roomtime"
)

// Saved are looks at rest.
type Saved struct {
	Attempt int                      `json:"attempt"`
	Repeats int                      `json:"repeats,omitempty"`
	Servers []int                    `json:"servers"`
	Samples int                      `json:"samples,omitempty"`
	Long    bool                     `json:"long,omitempty"`
	Glance  bool                     `json:"glance,omitempty"`
	Short   bool                     `json:"short,omitempty"`
	Seen    []int                    `json:"seen"`
	Doubted []int                    `json:"doubted,omitempty"`
	Missed  []miss                   `json:"missed,omitempty"`
	Reached []int                    `json:"reached,omitempty"`
	Alone   []string                 `json:"alone,omitempty"`
	Waiting []string                 `json:"waiting"`
	Absent  []string                 `json:"absent,omitempty"`
	Rests   roomtime.Time            `json:"began,omitzero"`
	Asked   map[string]roomtime.Time `json:"asked,omitempty"`
	Strict  bool                     `json:"strict,omitempty"`
	Hasty   bool                     `json:"hasty,omitempty"`
}

// Save returns the looks for [Restore]. It shares memory that they still change: encode it at once.
func (l *Looks) Save() Saved {
	return Saved{
		l.attempt, l.repeats, l.servers, l.most, l.isLong, l.isGlance, l.isShort, l.seen, l.doubted,
		l.missed, l.reached, l.alone, l.waiting, l.absent, l.rests, l.asked, l.isStrict, l.isHasty,
	}
}

// Restore returns the looks that were saved, for a list of so many servers. Any values are safe:
// values that make no looks are an error.
func Restore(s Saved, listed int) (Looks, error) {
	servers := slices.Concat(s.Servers, s.Seen, s.Doubted, s.Reached)
	for _, m := range s.Missed {
		servers = append(servers, m.Server)
	}
	for _, server := range servers {
		if server < 0 || server >= listed {
			return Looks{}, fmt.Errorf("a finalist %d of %d", server, listed)
		}
	}
	return Looks{
		attempt: s.Attempt, repeats: s.Repeats, seen: s.Seen, absent: s.Absent, asked: s.Asked, isStrict: s.Strict,
		look: look{
			servers: s.Servers, most: s.Samples, isLong: s.Long, isGlance: s.Glance, isShort: s.Short, doubted: s.Doubted,
			missed: s.Missed, reached: s.Reached, alone: s.Alone, waiting: s.Waiting, rests: s.Rests, isHasty: s.Hasty,
		},
	}, nil
}
