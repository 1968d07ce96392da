package room

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/wire"
)

// spreadOut is a list of servers each in a network of its own, in the order of
// addresses.
func spreadOut(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 27960)
	}
	return list
}

// apartMeasuring is a room in which all players but dan have measured twenty servers in
// as many networks, of which the first is the best; dan is last.
func apartMeasuring(t *testing.T, limits []time.Duration, honest ...string) *session {
	return measuringOn(t, spreadOut(20), limits, honest...)
}

// measuringOn is the same with a list of so many in networks of its own.
func measuringOn(t *testing.T, list []discovery.Server, limits []time.Duration, honest ...string) *session {
	s := settings(len(honest) + 1)
	s.Limits = limits
	if limits != nil {
		s.By = "threshold"
	}
	n := newSession(t, s)
	n.join(honest...)
	n.join("dan")
	n.gets(list)
	n.inStage(wire.Measuring)
	n.informs(honest[0], slices.Repeat([]int{12}, 20)...)
	for i, name := range honest {
		ms := make([]int, 20)
		for server := range ms {
			ms[server] = 10*server + 10 + i
		}
		n.measures(name, ms...)
		n.done(name)
	}
	return n
}

// truly is what dan would measure if he told the truth.
func truly(server int) int { return 10*server + 15 }

// looks has all answer their second look, dan as he says: nil is as he measured.
func (n *session) looks(dan func(server int) discovery.State) {
	n.Helper()
	for _, p := range n.room.round.active() {
		v := wire.Verified{Round: n.room.round.number, Attempt: n.room.round.looks.Save().Attempt}
		for _, server := range n.room.round.looks.Servers() {
			rtt, state := p.witness.At(server).RTT, p.witness.At(server).State
			if p.name == "dan" && dan != nil {
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
		n.says(p.name, v)
	}
}

// TestSilentBest: one player for whom all the best servers do not answer, nor
// in the second look, while all others do, does not keep the group from them.
func TestSilentBest(t *testing.T) {
	for _, state := range []discovery.State{discovery.Lost, discovery.Refused, discovery.Forbidden} {
		for _, hidden := range []int{4, 10, 16} {
			for _, honest := range [][]string{{"ann", "bob"}, {"ann", "bob", "cat"}, {"ann", "bob", "cat", "eve", "fay", "gil", "hal"}} {
				t.Run(fmt.Sprint(state, hidden, len(honest)+1), func(t *testing.T) {
					n := apartMeasuring(t, nil, honest...)
					n.wait(evidence.LeastProbe)
					says := func(server int) discovery.State {
						if server < hidden {
							return state
						}
						return discovery.Answered
					}
					for server := range 20 {
						if says(server) == discovery.Answered {
							n.measures("dan", append(make([]int, server), truly(server))...)
						} else {
							n.denies("dan", state, server)
						}
					}
					n.done("dan")
					for n.room.phase.stage() == wire.Chosen {
						n.wait(5 * time.Second)
						n.looks(says)
					}
					n.inStage(wire.Launching)
					if got := n.room.round.choice.Newest().Chosen.Server; got != 0 {
						t.Errorf("all go to server %d; the log:\n%s", got, n.log())
					}
					if doubt := n.view().People[len(honest)].Doubt; !strings.Contains(doubt, "dan says that") {
						t.Errorf("dan is named by %q", doubt)
					}
					if dan := n.room.round.player("dan"); !n.isOut(dan.name) || len(n.room.round.active()) != len(honest) {
						t.Errorf("left out are others than dan; the log:\n%s", n.log())
					}
				})
			}
		}
	}
}

// TestUnluckyBest: what was lost to one player by accident is looked at again, and
// counts as it is then; nobody is left out for it, nor for what stays silent in a
// network or two.
func TestUnluckyBest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		silent []int // at first
		still  []int // and in the second look
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
			n.wait(evidence.LeastProbe)
			for server := range 20 {
				if slices.Contains(tt.silent, server) {
					n.denies("dan", discovery.Lost, server)
				} else {
					n.measures("dan", append(make([]int, server), truly(server))...)
				}
			}
			n.done("dan")
			for n.room.phase.stage() == wire.Chosen {
				n.wait(5 * time.Second)
				n.looks(func(server int) discovery.State {
					if slices.Contains(tt.still, server) {
						return discovery.Lost
					}
					return discovery.Answered
				})
			}
			n.inStage(wire.Launching)
			if got := n.room.round.choice.Newest().Chosen.Server; got != tt.want {
				t.Errorf("all go to server %d, want %d; the log:\n%s", got, tt.want, n.log())
			}
			if len(n.room.round.active()) != 4 {
				t.Errorf("somebody is left out; the log:\n%s", n.log())
			}
		})
	}
}

// TestCutOff: three networks that do not answer one player at all are three accidents,
// however many servers they have of those that would be best for the others; nine servers
// of nine networks are nine.
func TestCutOff(t *testing.T) {
	for _, tt := range []struct {
		name    string
		each    int // servers of a network
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
			n.wait(evidence.LeastProbe)
			for server := range 20 {
				switch {
				case server < 9:
					n.denies("dan", discovery.Lost, server)
				case server < 12: // they answer dan, who is far from them
					n.measures("dan", append(make([]int, server), 400)...)
				default:
					n.measures("dan", append(make([]int, server), truly(server))...)
				}
			}
			n.done("dan")
			for n.room.phase.stage() == wire.Chosen {
				n.wait(5 * time.Second)
				n.looks(func(server int) discovery.State {
					if server < 9 {
						return discovery.Lost
					}
					return discovery.Answered
				})
			}
			n.inStage(wire.Launching)
			if got := n.isOut("dan"); got != tt.leftOut {
				t.Errorf("left out: %v; the log:\n%s", got, n.log())
			}
		})
	}
}

// TestNobodyEndsTheEvening: one player of three and more, and two of seven, do not
// keep the others from a server that suits them all.
func TestNobodyEndsTheEvening(t *testing.T) {
	fewOf := func(server int) int { return []int{lost, skip}[server%2] }
	for _, tt := range []struct {
		name   string
		limits []time.Duration
		honest []string
		ms     func(server int) int
	}{
		{"one answer and done, of three", nil, []string{"ann", "bob"}, fewOf},
		{"one answer and done, of eight", nil, []string{"ann", "bob", "cat", "eve", "fay", "gil", "hal"}, fewOf},
		{"too far from everything", []time.Duration{100 * time.Millisecond}, []string{"ann", "bob", "cat"}, func(server int) int { return 101 + server }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := apartMeasuring(t, tt.limits, tt.honest...)
			ms := make([]int, 20)
			for server := range ms {
				ms[server] = tt.ms(server)
			}
			n.measures("dan", ms...)
			n.done("dan")
			n.wait(5 * time.Second)
			n.looks(nil)
			n.inStage(wire.Launching)
			if got := n.room.round.choice.Newest().Chosen.Server; got != 0 {
				t.Errorf("all go to server %d", got)
			}
			if len(n.room.round.active()) != len(tt.honest) {
				t.Errorf("left out are others than dan; the log:\n%s", n.log())
			}
		})
	}
	t.Run("two of eight", func(t *testing.T) {
		n := apartMeasuring(t, nil, "ann", "bob", "cat", "eve", "fay", "gil", "hal")
		hal := n.room.round.player("hal")
		for server := range 20 {
			state, ms := discovery.Refused, skip
			if server == 19 {
				state, ms = discovery.Answered, 200
			}
			hal.witness.Report(discovery.Result{Server: server, State: state, RTT: time.Duration(ms) * time.Millisecond}, 0, n.now)
		}
		for server := range 19 {
			n.measures("dan", append(make([]int, server), []int{truly(server), lost}[min(1, server/4)])...)
		}
		n.done("dan")
		n.wait(5 * time.Second)
		n.looks(nil)
		n.inStage(wire.Launching)
	})
	t.Run("nor is one right against one", func(t *testing.T) {
		n := apartMeasuring(t, nil, "ann")
		n.denies("dan", discovery.Refused, from(0, 19)...)
		n.done("dan")
		n.inStage(wire.Failed)
	})
}

// TestSilentBestInASearch: the same where the host says what to ask: what is best for
// the others is lost for dan.
func TestSilentBestInASearch(t *testing.T) {
	n := searching(t)
	hides := func(server int) bool {
		sum := time.Duration(0)
		for player := range 3 {
			sum += farRTT(player, server)
		}
		return discovery.MS(sum)/3 < bestFor(3)+15
	}
	n.honest(func() {
		messages := n.sent["dan"]
		delete(n.sent, "dan")
		for _, m := range messages {
			ask, ok := m.(wire.Ask)
			if !ok {
				continue
			}
			for _, server := range ask.Servers {
				if hides(server) {
					n.denies("dan", discovery.Refused, server)
				} else {
					n.says("dan", wire.Report{Round: 1, Results: []discovery.Result{{Server: server, State: discovery.Answered, RTT: farRTT(3, server)}}})
				}
			}
		}
	})
	for n.room.phase.stage() == wire.Chosen {
		n.wait(5 * time.Second)
		n.looks(func(server int) discovery.State {
			if hides(server) {
				return discovery.Refused
			}
			return discovery.Answered
		})
	}
	n.inStage(wire.Launching)
	if got := n.room.round.choice.Newest().Chosen.MeanMS; got > bestFor(3)+2 || !n.isOut("dan") {
		t.Errorf("chosen with %.1f ms, the best has %.1f; the log:\n%s", got, bestFor(3), n.log())
	}
}
