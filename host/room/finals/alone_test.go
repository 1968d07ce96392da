package finals

import (
	"reflect"
	"testing"

	"muster/host/room/people"
)

func TestJudgeMisses(t *testing.T) {
	for _, c := range []struct {
		name        string
		look        look
		players     int
		lost, again []miss
	}{
		{"nothing missed", look{Reached: []int{1}}, 2, nil, nil},
		{"it answers nobody", look{Missed: []miss{{"ann", 1, 3}, {"bob", 1, 3}}}, 2, []miss{{"ann", 1, 3}, {"bob", 1, 3}}, nil},
		{"it answers the other", look{Missed: []miss{{"bob", 1, 3}}, Reached: []int{1}}, 2, nil, []miss{{"bob", 1, 3}}},
		{"another answers", look{Missed: []miss{{"bob", 1, 3}}, Reached: []int{2}}, 2, []miss{{"bob", 1, 3}}, nil},
		{"a single packet of half of them", look{Missed: []miss{{"bob", 1, 1}}, Reached: []int{1}}, 2, nil, nil},
		{"a single packet of most of them", look{Missed: []miss{{"bob", 1, 1}, {"cat", 1, 1}}, Reached: []int{1}}, 3,
			nil, []miss{{"bob", 1, 1}, {"cat", 1, 1}}},
		{"a single packet, and nobody else looked", look{Missed: []miss{{"ann", 1, 1}}}, 1, []miss{{"ann", 1, 1}}, nil},
		{"again", look{Missed: []miss{{"bob", 1, 2}}, Reached: []int{1}, Alone: []people.ID{"bob"}}, 2, nil, nil},
	} {
		l := Looks{state: State{look: c.look}}
		if lost, again := l.judge(c.players); !reflect.DeepEqual(lost, c.lost) || !reflect.DeepEqual(again, c.again) {
			t.Errorf("%s: lost %v, again %v, want %v and %v", c.name, lost, again, c.lost, c.again)
		}
	}
}
