package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// apartMeasuring returns a room with twenty servers in as many networks, of which the first is the
// best. All players but dan, the last one, have measured them.
func apartMeasuring(t *testing.T, limits []time.Duration, honest ...string) *session {
	return measuringOn(t, spreadOut(20), limits, honest...)
}

// gatheredFor returns a room whose players have got a list of twenty servers.
func gatheredFor(t *testing.T, list []discovery.Server, limits []time.Duration, names ...string) *session {
	t.Helper()
	s := settings(len(names))
	s.Limits = limits
	if limits != nil {
		s.By = "threshold"
	}
	n := newSession(t, s)
	n.Join(names...)
	n.Gets(list)
	n.InStage(wire.Measuring)
	n.Informs(names[0], slices.Repeat([]int{12}, 20)...)
	return n
}

// measuresApart reports what an honest player measures.
func (n *session) measuresApart(player int, name string) {
	n.Helper()
	ms := make([]int, 20)
	for server := range ms {
		ms[server] = 10*server + 10 + player
	}
	n.Measures(name, ms...)
	n.Done(name)
}

// truly returns what dan would measure if he told the truth.
func truly(server int) int { return 10*server + 15 }

// looksBut answers everybody's second look. Dan's states come from a function; nil means as he
// measured.
func (n *session) looksBut(dan func(server int) discovery.State) {
	n.Helper()
	for _, name := range n.counted() {
		asked := n.Looks[name]
		v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
		for _, server := range asked.Servers {
			saw := n.Saw(name, server)
			rtt, state := saw.RTT, saw.State
			if name == "dan" && dan != nil {
				rtt, state = time.Duration(truly(server))*time.Millisecond, dan(server)
			}
			seen := wire.Finalist{Server: server, State: state, Sent: 3}
			if state == discovery.Answered {
				seen.RTTs = []float64{discovery.MS(rtt)}
			}
			if state == discovery.Forbidden {
				seen.Sent = 0
			}
			v.Servers = append(v.Servers, seen)
		}
		n.Says(name, v)
	}
}

// looksToTheEnd answers second looks until the room asks for no more.
func (n *session) looksToTheEnd(dan func(server int) discovery.State) {
	n.Helper()
	for n.Room.Stage() == wire.Chosen {
		n.Wait(5 * time.Second)
		n.looksBut(dan)
	}
	n.InStage(wire.Launching)
}

// TestSilentBest checks that one player cannot keep the group from the best servers by calling them
// all silent, in the second look too, if they answer all others.
func TestSilentBest(t *testing.T) {
	for _, state := range []discovery.State{discovery.Lost, discovery.Refused, discovery.Forbidden} {
		for _, hidden := range []int{4, 10, 16} {
			for _, honest := range [][]string{{"ann", "bob"}, {"ann", "bob", "cat"}, {"ann", "bob", "cat", "eve", "fay", "gil", "hal"}} {
				t.Run(fmt.Sprint(state, hidden, len(honest)+1), func(t *testing.T) {
					n := apartMeasuring(t, nil, honest...)
					n.Wait(evidence.LeastProbe)
					says := func(server int) discovery.State {
						if server < hidden {
							return state
						}
						return discovery.Answered
					}
					for server := range 20 {
						if says(server) == discovery.Answered {
							n.Measures("dan", append(make([]int, server), truly(server))...)
						} else {
							n.denies("dan", state, server)
						}
					}
					n.Done("dan")
					n.looksToTheEnd(says)
					if got := n.Chosen().Server; got != 0 {
						t.Errorf("all go to server %d; the log:\n%s", got, n.Story())
					}
					if doubt := n.View().People[len(honest)].Doubt; !strings.Contains(catalogue.InEnglish().Say(doubt), "dan says that") {
						t.Errorf("dan is named by %v", doubt)
					}
					if !slices.Equal(n.counted(), honest) {
						t.Errorf("left out are others than dan; the log:\n%s", n.Story())
					}
				})
			}
		}
	}
}

// TestUnluckyBest checks that a server that one player lost by accident is looked at again and
// counts as it is then. Nobody is left out for it, nor for servers of one or two networks that stay
// silent.
func TestUnluckyBest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		silent []int // silent at first
		still  []int // silent in the second look too
		want   int
	}{
		{"an accident", []int{0}, nil, 0},
		{"an accident in three networks", []int{0, 1, 2}, nil, 0},
		{"a server out of reach", []int{0}, []int{0}, 1},
		{"two servers out of reach", []int{0, 1}, []int{0, 1}, 2},
		{"every third", []int{0, 3, 6, 9, 12, 15, 18}, []int{0, 3, 6, 9, 12, 15, 18}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := apartMeasuring(t, nil, "ann", "bob", "cat")
			n.Wait(evidence.LeastProbe)
			for server := range 20 {
				if slices.Contains(tt.silent, server) {
					n.denies("dan", discovery.Lost, server)
				} else {
					n.Measures("dan", append(make([]int, server), truly(server))...)
				}
			}
			n.Done("dan")
			n.looksToTheEnd(func(server int) discovery.State {
				if slices.Contains(tt.still, server) {
					return discovery.Lost
				}
				return discovery.Answered
			})
			if got := n.Chosen().Server; got != tt.want {
				t.Errorf("all go to server %d, want %d; the log:\n%s", got, tt.want, n.Story())
			}
			if len(n.counted()) != 4 {
				t.Errorf("somebody is left out; the log:\n%s", n.Story())
			}
		})
	}
}

// TestCutOff checks that the silence of three networks to one player counts as three accidents,
// however many of the others' best servers they have. Nine servers of nine networks count as nine.
func TestCutOff(t *testing.T) {
	for _, tt := range []struct {
		name    string
		each    int // servers in each network
		leftOut bool
	}{
		{"three networks", 3, false},
		{"nine networks", 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := spreadOut(20)
			for server := range list {
				list[server].ASN = uint32(64500 + server/tt.each)
			}
			n := measuringOn(t, list, nil, "ann", "bob", "cat")
			n.Wait(evidence.LeastProbe)
			for server := range 20 {
				switch {
				case server < 9:
					n.denies("dan", discovery.Lost, server)
				case server < 12: // dan reaches these, and is far from them
					n.Measures("dan", append(make([]int, server), 400)...)
				default:
					n.Measures("dan", append(make([]int, server), truly(server))...)
				}
			}
			n.Done("dan")
			n.looksToTheEnd(func(server int) discovery.State {
				if server < 9 {
					return discovery.Lost
				}
				return discovery.Answered
			})
			if got := n.IsOut("dan"); got != tt.leftOut {
				t.Errorf("left out: %v; the log:\n%s", got, n.Story())
			}
		})
	}
}

// TestNobodyEndsTheSession checks that one player of three and more, and two of seven, cannot keep
// the others from a server that suits them all.
func TestNobodyEndsTheSession(t *testing.T) {
	fewOf := func(server int) int { return []int{lost, skip}[server%2] }
	for _, tt := range []struct {
		name   string
		limits []time.Duration
		honest []string
		ms     func(server int) int
	}{
		{"one answer and done, of three", nil, []string{"ann", "bob"}, fewOf},
		{"one answer and done, of eight", nil, []string{"ann", "bob", "cat", "eve", "fay", "gil", "hal"}, fewOf},
		{"too far from everything", []time.Duration{100 * time.Millisecond}, []string{"ann", "bob", "cat"}, func(server int) int {
			return 101 + server
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := apartMeasuring(t, tt.limits, tt.honest...)
			ms := make([]int, 20)
			for server := range ms {
				ms[server] = tt.ms(server)
			}
			n.Measures("dan", ms...)
			n.Done("dan")
			n.Wait(5 * time.Second)
			n.looksBut(nil)
			n.InStage(wire.Launching)
			if got := n.Chosen().Server; got != 0 {
				t.Errorf("all go to server %d", got)
			}
			if len(n.counted()) != len(tt.honest) {
				t.Errorf("left out are others than dan; the log:\n%s", n.Story())
			}
		})
	}
	t.Run("two of eight", func(t *testing.T) {
		honest := []string{"ann", "bob", "cat", "eve", "fay", "gil"}
		n := gatheredFor(t, spreadOut(20), nil, append(honest, "hal", "dan")...)
		for i, name := range honest {
			n.measuresApart(i, name)
		}
		n.denies("hal", discovery.Refused, from(0, 18)...)
		n.Finds("hal", discovery.Answered, 200*time.Millisecond, 19)
		n.Done("hal")
		for server := range 19 {
			n.Measures("dan", append(make([]int, server), []int{truly(server), lost}[min(1, server/4)])...)
		}
		n.Done("dan")
		n.Wait(5 * time.Second)
		n.looksBut(nil)
		n.InStage(wire.Launching)
	})
	t.Run("nor is one right against one", func(t *testing.T) {
		n := apartMeasuring(t, nil, "ann")
		n.denies("dan", discovery.Refused, from(0, 19)...)
		n.Done("dan")
		n.InStage(wire.Failed)
	})
}

// TestSilentBestInASearch checks that the same holds if the host leads the search: dan calls lost
// what is best for the others.
func TestSilentBestInASearch(t *testing.T) {
	n := searching(t)
	best := bestFor(3)
	hides := func(server int) bool { return meanFor(3, server) < best+15 }
	n.honest(func() {
		for _, ask := range n.takes("dan") {
			for _, server := range ask.Servers {
				if hides(server) {
					n.denies("dan", discovery.Refused, server)
				} else {
					n.Finds("dan", discovery.Answered, farRTT(3, server), server)
				}
			}
		}
	})
	n.looksToTheEnd(func(server int) discovery.State {
		if hides(server) {
			return discovery.Refused
		}
		return discovery.Answered
	})
	if n.isBestFor(3); !n.IsOut("dan") {
		t.Errorf("dan has a say; the log:\n%s", n.Story())
	}
}
