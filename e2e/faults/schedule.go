package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Fault is a failure of machines for a while.
type Fault struct {
	At  time.Duration `json:"at"`
	For time.Duration `json:"for"`
	Do  Deed          `json:"do"`
	// On are the failing machines. A leader is found when it strikes.
	On []string `json:"on"`
	// From are the machines that they cannot reach while it lasts.
	From []string `json:"from,omitempty"`
	// Seed decides which file of a disk is damaged, and where; Live, that its server runs meanwhile.
	Seed uint64 `json:"seed,omitempty"`
	Live bool   `json:"live,omitempty"`
}

func (f Fault) String() string {
	text := fmt.Sprintf("%s %s", f.Do, strings.Join(f.On, " and "))
	if len(f.From) > 0 {
		text += " from " + strings.Join(f.From, " and ")
	}
	if f.Live {
		text += " while it runs"
	}
	return fmt.Sprintf("%s for %v", text, f.For.Round(time.Millisecond))
}

// Deed is a kind of fault.
type Deed string

// These are the deeds.
const (
	Kill Deed = "kill" // −9, and restarted after the while
	Stop Deed = "stop" // and continued
	Term Deed = "term" // ended in good order, and restarted
	Cut  Deed = "cut"  // packets are dropped both ways
	// These strike the disk of a NATS server, which is started again after the while. The fault
	// ends when the server has everything again.
	Flip  Deed = "flip"  // bits of a file
	Tear  Deed = "tear"  // the end off a file
	Empty Deed = "empty" // all files are gone
)

// isOfDisk reports whether a fault strikes a disk.
func (d Deed) isOfDisk() bool { return d == Flip || d == Tear || d == Empty }

// Machines are the machines that may fail: hosts, NATS servers, and Players, which runs the proxy
// and all players.
type Machines struct{ Hosts, NATS []string }

// Players is the name of the machine that runs the players and the proxy. Leader stands for the
// NATS server that leads the stream of the rooms.
const (
	Players = "players"
	Leader  = "leader"
)

// mishap is one kind of failure to draw.
type mishap struct {
	name   string
	weight int
	draw   func(m Machines, rng *rand.Rand) Fault
}

// mishaps are the possible failures. Those that need several hosts or NATS servers are left out
// without them.
var mishaps = []mishap{
	{"a host is killed", 20, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Kill, On: some(1, m.Hosts, rng)} }},
	{"two hosts are killed", 4, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Kill, On: some(2, m.Hosts, rng)} }},
	{"a host is stopped", 14, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Stop, On: some(1, m.Hosts, rng)} }},
	{"a host is ended", 10, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Term, On: some(1, m.Hosts, rng)} }},
	{"a host loses NATS", 12, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Cut, On: some(1, m.Hosts, rng), From: m.NATS} }},
	{"a host loses the players", 6, func(m Machines, rng *rand.Rand) Fault {
		return Fault{Do: Cut, On: some(1, m.Hosts, rng), From: []string{Players}}
	}},
	{"a host loses everybody", 6, func(m Machines, rng *rand.Rand) Fault {
		return Fault{Do: Cut, On: some(1, m.Hosts, rng), From: append([]string{Players}, m.NATS...)}
	}},
	{"a NATS server is killed", 6, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Kill, On: some(1, m.NATS, rng)} }},
	{"a leader is killed", 8, func(m Machines, rng *rand.Rand) Fault {
		if len(m.NATS) == 0 {
			return Fault{}
		}
		return Fault{Do: Kill, On: []string{Leader}}
	}},
	{"a NATS server is stopped", 5, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Stop, On: some(1, m.NATS, rng)} }},
	{"a NATS server loses the others", 5, func(m Machines, rng *rand.Rand) Fault {
		on := some(1, m.NATS, rng)
		others := slices.DeleteFunc(slices.Clone(m.NATS), func(name string) bool { return slices.Contains(on, name) })
		return Fault{Do: Cut, On: on, From: others}
	}},
	{"a NATS server loses everybody", 3, func(m Machines, rng *rand.Rand) Fault {
		on := some(1, m.NATS, rng)
		others := slices.DeleteFunc(slices.Clone(m.NATS), func(name string) bool { return slices.Contains(on, name) })
		return Fault{Do: Cut, On: on, From: append(others, m.Hosts...)}
	}},
	{"two NATS servers are killed", 2, func(m Machines, rng *rand.Rand) Fault { return Fault{Do: Kill, On: some(2, m.NATS, rng)} }},
}

// some draws n different names, or none if there are too few.
func some(n int, of []string, rng *rand.Rand) []string {
	if len(of) < n || n > 1 && len(of) < 3 {
		return nil
	}
	var on []string
	for _, i := range rng.Perm(len(of))[:n] {
		on = append(on, of[i])
	}
	slices.Sort(on)
	return on
}

// lasts draws the length of a fault: most are short, and few as long as a minute.
func lasts(rng *rand.Rand) time.Duration {
	least, most := 200*time.Millisecond, 4*time.Second
	switch chance := rng.IntN(10); {
	case chance == 0:
		least, most = 15*time.Second, time.Minute
	case chance <= 3:
		least, most = 4*time.Second, 15*time.Second
	}
	return (least + time.Duration(rng.Int64N(int64(most-least)))).Round(time.Millisecond)
}

// settles is how long a machine is left in peace after a fault, because a restarted program has to
// come up.
const settles = time.Second

// Schedule draws so many faults, one every while on average, and none longer than longest. A
// machine never has two faults at once. The same seed draws the same faults.
func Schedule(seed uint64, faults int, every, longest time.Duration, m Machines) []Fault {
	rng := rand.New(rand.NewPCG(seed, 13))
	busy := map[string]time.Duration{} // until when
	var all []Fault
	at := time.Duration(0)
	for len(all) < faults {
		at += time.Duration(rng.Int64N(int64(2*every))) + time.Millisecond
		f := draw(m, rng)
		f.At, f.For = at.Round(time.Millisecond), min(lasts(rng), longest)
		touched := slices.Clone(f.On)
		if f.On[0] == Leader { // it may be any of them
			touched = slices.Clone(m.NATS)
		}
		if slices.ContainsFunc(touched, func(name string) bool { return busy[name] > f.At }) {
			continue
		}
		for _, name := range touched {
			busy[name] = f.At + f.For + settles
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return all
}

// draw draws a failure that these machines can have.
func draw(m Machines, rng *rand.Rand) Fault {
	total := 0
	for _, mishap := range mishaps {
		total += mishap.weight
	}
	for {
		n := rng.IntN(total)
		for _, mishap := range mishaps {
			if n -= mishap.weight; n >= 0 {
				continue
			}
			f := mishap.draw(m, rng)
			if len(f.On) > 0 && (f.Do != Cut || len(f.From) > 0) {
				return f
			}
			break
		}
	}
}
