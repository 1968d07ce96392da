package prober

import "testing"

func TestFIFO(t *testing.T) {
	var q fifo[int]
	in, out := 0, 0
	for round := range 200 {
		for range round % 7 {
			q.push(in)
			in++
		}
		for range round % 5 {
			if q.len() == 0 {
				break
			}
			if first := q.first(); first != out || q.pop() != out {
				t.Fatalf("got %d, want %d", first, out)
			}
			out++
		}
		if q.len() != in-out {
			t.Fatalf("length is %d, want %d", q.len(), in-out)
		}
	}
}

func TestFIFOStopsAllocating(t *testing.T) {
	var q fifo[int]
	for range 100 {
		q.push(0)
	}
	if n := testing.AllocsPerRun(10000, func() { q.pop(); q.push(0) }); n != 0 {
		t.Errorf("%v allocations per item", n)
	}
	if len(q.items) > 400 {
		t.Errorf("%d items are kept of 100", len(q.items))
	}
}
