package turns

import (
	"slices"
	"testing"
	"time"

	"muster/host/room"
)

func (n *Turn) isGiven() bool {
	select {
	case <-n.given:
		return true
	default:
		return false
	}
}

// TestTurns checks that as many rooms search at a time as there are processors, that the oldest
// round comes first, and that searches after a choice come last.
func TestTurns(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	at := func(second int) room.Plan { return room.Plan{Since: began.Add(time.Duration(second) * time.Second)} }
	behind := func(second int) room.Plan { p := at(second); p.Background = true; return p }
	turns := New(2)
	first, second := turns.Wait(at(5)), turns.Wait(at(6))
	waiting := []*Turn{turns.Wait(behind(0)), turns.Wait(at(3)), turns.Wait(behind(0)), turns.Wait(at(1)),
		turns.Wait(at(3)), turns.Wait(at(2))}
	if !first.isGiven() || !second.isGiven() || slices.ContainsFunc(waiting, (*Turn).isGiven) {
		t.Fatal("not two at a time")
	}
	waiting[5].Over() // its room is over
	if searching, n := turns.Load(); searching != 2 || n != len(waiting)-1 {
		t.Errorf("%d rooms search and %d wait", searching, n)
	}
	next, order := first, []int{3, 1, 4, 0, 2}
	for i, want := range order {
		next.Over()
		next.Over() // a second call
		for _, later := range order[i:] {
			if is := waiting[later].isGiven(); is != (later == want) {
				t.Fatalf("after %v it is turn %d: %v", order[:i], later, is)
			}
		}
		next = waiting[want]
	}
	next.Over()
	second.Over()
	if third, fourth := turns.Wait(at(9)), turns.Wait(at(9)); !third.isGiven() || !fourth.isGiven() || turns.Wait(at(0)).isGiven() {
		t.Error("turns that are over are lost, or come twice")
	}
}
