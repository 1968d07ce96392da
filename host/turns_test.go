package host

import (
	"slices"
	"testing"
	"time"

	"muster/host/room"
)

// isGiven reports whether it is somebody's turn.
func (n *turn) isGiven() bool {
	select {
	case <-n.given:
		return true
	default:
		return false
	}
}

// TestTurns: so many rooms search at a time as there are processors, the oldest round
// first, and what goes on behind a choice last.
func TestTurns(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	at := func(second int) room.Plan { return room.Plan{Since: began.Add(time.Duration(second) * time.Second)} }
	behind := func(second int) room.Plan { p := at(second); p.Background = true; return p }
	turns := newTurns(2)
	first, second := turns.wait(at(5)), turns.wait(at(6))
	waiting := []*turn{turns.wait(behind(0)), turns.wait(at(3)), turns.wait(behind(0)), turns.wait(at(1)), turns.wait(at(3)), turns.wait(at(2))}
	if !first.isGiven() || !second.isGiven() || slices.ContainsFunc(waiting, (*turn).isGiven) {
		t.Fatal("not two at a time")
	}
	waiting[5].over() // its room is over
	next, order := first, []int{3, 1, 4, 0, 2}
	for i, want := range order {
		next.over()
		next.over() // says it twice
		for _, later := range order[i:] {
			if is := waiting[later].isGiven(); is != (later == want) {
				t.Fatalf("after %v it is turn %d: %v", order[:i], later, is)
			}
		}
		next = waiting[want]
	}
	next.over()
	second.over()
	if third, fourth := turns.wait(at(9)), turns.wait(at(9)); !third.isGiven() || !fourth.isGiven() || turns.wait(at(0)).isGiven() {
		t.Error("turns that are over are lost, or come twice")
	}
}

// TestTurnOfAWaitingRoom: a room that waits for its store lets others have its turn.
func TestTurnOfAWaitingRoom(t *testing.T) {
	h := &Host{turns: newTurns(1)}
	a, b := &actor{host: h, plan: &room.Plan{}}, &actor{host: h, plan: &room.Plan{Since: time.Unix(1, 0)}}
	is := func(given <-chan struct{}) bool {
		select {
		case <-given:
			return true
		default:
			return false
		}
	}
	if !is(a.queues(false)) || is(b.queues(false)) {
		t.Fatal("not one at a time")
	}
	if is(a.queues(true)) || !is(b.queues(false)) {
		t.Error("a room that waits for its store keeps its turn")
	}
	if is(a.queues(false)) {
		t.Error("it is two rooms' turn")
	}
	if b.turn.over(); !is(a.queues(false)) {
		t.Error("the room's turn never comes again")
	}
}
