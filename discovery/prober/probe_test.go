package prober

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

const ms = time.Millisecond

func at(d time.Duration) arrival { return arrival{kernel: d, read: d + ms} }

func TestMatchNonce(t *testing.T) {
	tests := []struct {
		name  string
		nonce discovery.Nonce
		at    arrival
		rtt   time.Duration
		kind  pair
		first bool
	}{
		{"the first query", 1, at(30 * ms), 30 * ms, clean, true},
		{"late, after the repeat", 1, at(1200 * ms), 1200 * ms, clean, true},
		{"the repeat", 2, at(1200 * ms), 200 * ms, clean, false},
		{"nobody's nonce", 9, at(30 * ms), 0, stray, false},
		{"a broken stamp: the reader's time", 2, arrival{kernel: 900 * ms, read: 1250 * ms}, 250 * ms, clean, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var p probe
			p.begin(discovery.Result{}, 0)
			p.record(1, 0)
			p.record(2, 1000*ms)
			reply := discovery.Reply{Nonce: test.nonce, Echoed: true}
			if rtt, kind, first := p.match(reply, test.at); rtt != test.rtt || kind != test.kind || first != test.first {
				t.Errorf("got %v %v %v", rtt, kind, first)
			}
			if _, kind, _ := p.match(reply, test.at); test.kind == clean && kind != duplicate {
				t.Errorf("the same again is %v, want a duplicate", kind)
			}
		})
	}
}

func TestMatchNonceForgetsOldest(t *testing.T) {
	var p probe
	p.begin(discovery.Result{}, 0)
	for i := range keptQueries + 1 {
		p.record(discovery.Nonce(i), time.Duration(i)*time.Second)
	}
	for nonce, want := range map[discovery.Nonce]pair{0: stray, 1: clean, keptQueries: clean} {
		if _, kind, _ := p.match(discovery.Reply{Nonce: nonce, Echoed: true}, at(time.Minute)); kind != want {
			t.Errorf("query %d: %v, want %v", nonce, kind, want)
		}
	}
}

// A script of packets sent and received, for protocols that echo nothing:
//
//	q  a query without challenge    Q  a query with the last challenge
//	a, b, …  a challenge arrives    i  the server's info arrives
func TestMatchTime(t *testing.T) {
	type event struct {
		at   time.Duration
		what byte
	}
	tests := []struct {
		name   string
		events []event
		want   []string // the pairs of the replies
		rtt    time.Duration
	}{
		{"one query, one reply", []event{{0, 'q'}, {40 * ms, 'i'}}, []string{"clean 40ms"}, 40 * ms},
		{"repeated: nobody knows which; it took no more than since the first",
			[]event{{0, 'q'}, {1000 * ms, 'q'}, {1050 * ms, 'i'}}, []string{"rough 1.05s"}, 1050 * ms},
		{"the reply had arrived before the repeat left", []event{{0, 'q'}, {1000 * ms, 'q'}, {990 * ms, 'i'}}, []string{"clean 990ms"}, 990 * ms},
		{"challenge round: two clean pairs, the lowest counts",
			[]event{{0, 'q'}, {60 * ms, 'a'}, {61 * ms, 'Q'}, {101 * ms, 'i'}}, []string{"clean 60ms", "clean 40ms"}, 40 * ms},
		{"repeated before the challenge: the second pair is clean",
			[]event{{0, 'q'}, {1000 * ms, 'q'}, {1010 * ms, 'a'}, {1011 * ms, 'Q'}, {1091 * ms, 'i'}},
			[]string{"rough 1.01s", "clean 80ms"}, 80 * ms},
		{"repeated after the challenge: the first pair is clean",
			[]event{{0, 'q'}, {70 * ms, 'a'}, {71 * ms, 'Q'}, {1071 * ms, 'Q'}, {1081 * ms, 'i'}}, []string{"clean 70ms", "rough 1.01s"}, 70 * ms},
		{"a far server: replies to both queries come after the repeat",
			[]event{{0, 'q'}, {1000 * ms, 'q'}, {1200 * ms, 'a'}, {2200 * ms, 'b'}, {2300 * ms, 'Q'}, {3500 * ms, 'i'}},
			[]string{"rough 1.2s", "duplicate 0s", "clean 1.2s"}, 1200 * ms},
		{"info right behind the challenge is no pair",
			[]event{{0, 'q'}, {150 * ms, 'a'}, {151 * ms, 'Q'}, {152 * ms, 'i'}}, []string{"clean 150ms", "rough 1ms"}, 150 * ms},
		{"on a LAN it may be", []event{{0, 'q'}, {2 * ms, 'a'}, {2 * ms, 'Q'}, {2*ms + 300*time.Microsecond, 'i'}},
			[]string{"clean 2ms", "clean 300µs"}, 300 * time.Microsecond},
		{"a challenge that replaces the first",
			[]event{{0, 'q'}, {50 * ms, 'a'}, {50 * ms, 'Q'}, {100 * ms, 'b'}, {100 * ms, 'Q'}, {145 * ms, 'i'}},
			[]string{"clean 50ms", "clean 50ms", "clean 45ms"}, 45 * ms},
		{"before the first query: for an earlier run", []event{{10 * ms, 'q'}, {5 * ms, 'i'}}, []string{"stray 0s"}, 0},
		{"all queries are answered", []event{{0, 'q'}, {10 * ms, 'a'}, {11 * ms, 'b'}}, []string{"clean 10ms", "duplicate 0s"}, 10 * ms},
		{"info to an unchallenged query after a challenge is no pair",
			[]event{{0, 'q'}, {10 * ms, 'a'}, {11 * ms, 'i'}}, []string{"clean 10ms", "duplicate 0s"}, 10 * ms},
	}
	names := []string{"stray", "duplicate", "rough", "clean"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var p probe
			p.begin(discovery.Result{}, 0)
			var got []string
			for _, e := range test.events {
				if e.what == 'q' || e.what == 'Q' {
					p.record(0, e.at)
					continue
				}
				reply := discovery.Reply{Info: &discovery.Info{}}
				if e.what != 'i' {
					reply = discovery.Reply{Challenge: []byte{e.what}}
				}
				rtt, kind, _ := p.match(reply, at(e.at))
				got = append(got, fmt.Sprint(names[kind], " ", rtt))
				if kind >= rough {
					p.learn(rtt, kind)
				}
				p.accept(reply.Challenge)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) || p.rtt() != test.rtt {
				t.Errorf("got %v and RTT %v, want %v and %v", got, p.rtt(), test.want, test.rtt)
			}
		})
	}
}

func TestAcceptChallenges(t *testing.T) {
	var p probe
	p.begin(discovery.Result{}, 0)
	for i, test := range []struct {
		challenge string
		want      bool
	}{{"a", true}, {"a", false}, {"b", true}, {"a", true}, {"c", false}} {
		if got := p.accept([]byte(test.challenge)); got != test.want {
			t.Errorf("challenge %d, %q: accepted is %v", i, test.challenge, got)
		}
	}
	if string(p.demanded()) != "a" {
		t.Errorf("queries carry %q", p.demanded())
	}
}

func TestAge(t *testing.T) {
	const now = int64(1_700_000_000_000_000_000)
	tests := []struct {
		name  string
		stamp int64
		want  time.Duration
	}{
		{"usual", now - 30_000, 30 * time.Microsecond},
		{"a busy machine", now - int64(2*time.Second), 2 * time.Second},
		{"no stamp", 0, 0},
		{"clock set back since", now + int64(time.Hour), 0},
		{"clock set forward since", now - int64(time.Hour), 0},
	}
	for _, test := range tests {
		if got := age(now, test.stamp); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestPartsAreBounded(t *testing.T) {
	kept := func(budget *partsBudget, p *probe, size int) (n int) {
		for budget.keep(p, make([]byte, size), arrival{}) {
			n++
		}
		return n
	}
	for _, test := range []struct{ size, want int }{{1, maxParts}, {1400, 46}, {64 << 10, 1}, {64<<10 + 1, 0}} {
		var budget partsBudget
		var p probe
		if got := kept(&budget, &p, test.size); got != test.want {
			t.Errorf("%d datagrams of %d bytes are kept, want %d", got, test.size, test.want)
		}
		budget.drop(&p)
		if budget.bytes != 0 {
			t.Errorf("%d bytes are held by nobody", budget.bytes)
		}
	}
	var budget partsBudget
	servers := 0
	for p := new(probe); kept(&budget, p, 32<<10) == 2; p = new(probe) {
		servers++
	}
	if servers != maxAllParts/maxPartsBytes {
		t.Errorf("%d servers fill the memory for incomplete replies", servers)
	}
}

// challenging answers as servers of A2S do, each reply after a delay that may depend on its
// query. Queries of which nothing comes back have no delay.
func challenging(isNew bool, delay func(nth int) time.Duration) func(q sighting) []packet {
	return func(q sighting) []packet {
		after := delay(q.nth)
		switch {
		case after == 0:
			return nil
		case q.text != "ask|":
			return say(after, "info|far")
		case isNew:
			return say(after, fmt.Sprintf("challenge|%04d", q.nth))
		}
		return say(after, "challenge|same")
	}
}

// TestLateAnswers checks that an answer to an earlier query of a server never passes for the
// answer to a later one, whatever is lost: the RTT is true, or the server is lost.
func TestLateAnswers(t *testing.T) {
	described := func(delay func(nth int) time.Duration) func(q sighting) []packet {
		return func(q sighting) []packet {
			if after := delay(q.nth); after > 0 {
				return say(after, "info|far")
			}
			return nil
		}
	}
	for away := 50 * ms; away < maxLate; away += 150 * ms {
		for lost := range 4 { // the first query, the second, or both
			for _, jitter := range []time.Duration{0, away / 8} {
				delay := func(nth int) time.Duration {
					if nth <= 2 && lost&nth != 0 {
						return 0
					}
					return away + jitter*time.Duration(nth*7%5)/4
				}
				for kind, answer := range map[string]func(sighting) []packet{
					"information": described(delay), "one challenge": challenging(false, delay), "new challenges": challenging(true, delay),
				} {
					synctest.Test(t, func(t *testing.T) {
						r := scan(t, virtual(t, Options{Protocol: plain{}}, newSky(answer)), list(1))[0]
						if r.State != discovery.Lost && (r.RTT < away || r.RTT > away+jitter) {
							t.Errorf("%s from %v away, jitter %v, lost %b: told %v", kind, away, jitter, lost, r.RTT)
						}
						if r.State == discovery.Lost && lost == 0 && away+jitter < 3*time.Second {
							t.Errorf("%s from %v away: lost", kind, away)
						}
						time.Sleep(2 * maxLate) // until the last packet has come
					})
				}
			}
		}
	}
}

// TestAnswersToEarlierRuns checks that neither the answers to a run that is over nor those to
// one that was stopped pass for answers to the next.
func TestAnswersToEarlierRuns(t *testing.T) {
	for away := 50 * ms; away < maxLate; away += 250 * ms {
		for _, pause := range []time.Duration{0, 300 * ms, 1700 * ms} {
			for _, stop := range []time.Duration{10 * ms, 1100 * ms, 10 * time.Second} {
				synctest.Test(t, func(t *testing.T) {
					p := virtual(t, Options{Protocol: plain{}}, newSky(challenging(true, func(int) time.Duration { return away })))
					ctx, cancel := context.WithTimeout(t.Context(), stop)
					defer cancel()
					if err := p.Run(ctx, list(1), discovery.NewConventional(1), nil); err != nil && ctx.Err() == nil {
						t.Fatal(err)
					}
					time.Sleep(pause)
					if r := scan(t, p, list(1))[0]; r.State != discovery.Lost && r.RTT != away {
						t.Errorf("stopped after %v, asked again after %v: %v away, told %v", stop, pause, away, r.RTT)
					}
					time.Sleep(2 * maxLate)
				})
			}
		}
	}
}
