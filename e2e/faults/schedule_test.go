package faults

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

var (
	many = Machines{Hosts: []string{"host1", "host2", "host3"}, NATS: []string{"nats1", "nats2", "nats3"}}
	one  = Machines{Hosts: []string{"host1"}}
)

// TestSchedule checks that a seed draws the same faults every time, of all kinds that the machines
// can have, and never two at once on one machine.
func TestSchedule(t *testing.T) {
	for _, m := range []Machines{many, one} {
		faults := Schedule(7, 1000, 2*time.Second, time.Minute, m)
		if !reflect.DeepEqual(faults, Schedule(7, 1000, 2*time.Second, time.Minute, m)) {
			t.Error("the same seed draws others")
		}
		if reflect.DeepEqual(faults, Schedule(8, 1000, 2*time.Second, time.Minute, m)) {
			t.Error("another seed draws the same")
		}
		until := map[string]time.Duration{}
		deeds := map[Deed]int{}
		for _, f := range faults {
			deeds[f.Do]++
			on := f.On
			if slices.Contains(on, Leader) {
				on = m.NATS
			}
			for _, name := range on {
				if f.At < until[name] {
					t.Fatalf("%v strikes %s, which is struck until %v", f, name, until[name])
				}
				until[name] = f.At + f.For
			}
			if slices.ContainsFunc(f.From, func(name string) bool { return slices.Contains(f.On, name) }) {
				t.Fatalf("%v: from itself", f)
			}
		}
		for _, do := range []Deed{Kill, Stop, Term, Cut} {
			if deeds[do] < 20 {
				t.Errorf("%d times %s in 1000 faults on %v", deeds[do], do, m)
			}
		}
	}
}
