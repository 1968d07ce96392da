package prober

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

func TestRunSpacesRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(sighting) []packet { return nil })
		scan(t, virtual(t, Options{Protocol: marked{}, Retries: 3}, sky), list(1))
		want := []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}
		if got := sky.asked[address(0)]; !slices.Equal(got, want) {
			t.Errorf("asked at %v, want %v", got, want)
		}
	})
}

// Each query has a nonce of its own.
func TestRunNoncesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		texts := map[string]bool{}
		sky := newSky(func(q sighting) []packet { texts[q.text] = true; return nil })
		scan(t, virtual(t, Options{Protocol: marked{}}, sky), list(50))
		if len(texts) != 150 {
			t.Errorf("%d different queries, want 150", len(texts))
		}
	})
}

// At 100/s, 500 servers take 5 s and the last one's silence, even if 2 in 5 of them are
// dead.
func TestRunDeadServersCostNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet {
			if q.addr.Port() != 27960 || q.server%5 < 2 {
				return nil
			}
			return []packet{{after: 80 * ms, text: markedReply(q.text)}}
		})
		p := virtual(t, Options{Protocol: marked{}, Rate: 100}, sky)
		start := time.Now()
		results := scan(t, p, list(500))
		if took := time.Since(start); took > 8100*ms {
			t.Errorf("took %v, want 5 s and 3 s for the last one's silence", took)
		}
		states := map[discovery.State]int{}
		for _, r := range results {
			states[r.State]++
		}
		if states[discovery.Answered] < 290 || states[discovery.Lost] < 190 {
			t.Errorf("states are %v", states)
		}
		if s := p.Stats(); s.PacketsSent != 500+2*states[discovery.Lost] || s.InFlight != 0 {
			t.Errorf("sent %d packets, %d in flight at the end", s.PacketsSent, s.InFlight)
		}
	})
}

func TestRunHoldsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		underWay, most := 0, 0
		sky := newSky(func(q sighting) []packet {
			underWay++
			most = max(most, underWay)
			return []packet{{after: 100 * ms, text: markedReply(q.text)}}
		})
		p := virtual(t, Options{Protocol: marked{}, Rate: 10000, InFlight: 7}, sky)
		plan := discovery.NewConventional(50)
		if err := p.Run(context.Background(), list(50), plan, func(discovery.Result) { underWay-- }); err != nil {
			t.Fatal(err)
		}
		if most != 7 {
			t.Errorf("%d servers were under way at once, want 7", most)
		}
	})
}

// On a line that carries few servers at once, the cap comes down to that number, and
// the scan still finds every server.
func TestRunBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var onLine atomic.Int32
		sky := newSky(nil)
		sky.answer = func(q sighting) []packet {
			if onLine.Load() >= 150 {
				return nil
			}
			onLine.Add(1)
			time.AfterFunc(200*ms, func() { onLine.Add(-1) })
			return []packet{{after: 200 * ms, text: markedReply(q.text)}}
		}
		p := virtual(t, Options{Protocol: marked{}, Rate: 2000, Retries: 9}, sky)
		lost, lowest := 0, DefaultInFlight
		plan := discovery.NewConventional(20000)
		err := p.Run(context.Background(), list(20000), plan, func(r discovery.Result) {
			lowest = min(lowest, p.Stats().InFlightCap)
			if r.State != discovery.Answered {
				lost++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if lowest > 400 || lost > 200 {
			t.Errorf("the cap came down to %d, and %d servers were lost", lowest, lost)
		}
	})
}

// TestRunSameAddressTwice checks that an address that is twice in the list is asked once and
// reported twice.
func TestRunSameAddressTwice(t *testing.T) {
	for _, after := range []time.Duration{5 * ms, 500 * ms} { // before and after the second is named
		synctest.Test(t, func(t *testing.T) {
			sky := newSky(func(q sighting) []packet { return []packet{{after: after, text: markedReply(q.text)}} })
			p := virtual(t, Options{Protocol: marked{}, Rate: 10}, sky)
			servers := append(list(2), list(2)...)
			servers[3].Addr = netip.MustParseAddrPort("[::ffff:10.0.0.1]:27960")
			orders := map[int]int{}
			for _, r := range scan(t, p, servers) {
				orders[r.Server] = r.Order
				if r.State != discovery.Answered || r.RTT != after || r.Info == nil {
					t.Errorf("server %d is %v %v", r.Server, r.State, r.RTT)
				}
			}
			if fmt.Sprint(orders) != "map[0:1 1:2 2:3 3:4]" || p.Stats().PacketsSent != 2 {
				t.Errorf("orders are %v, %d packets", orders, p.Stats().PacketsSent)
			}
		})
	}
}

func TestRunsFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet {
			if q.nth == 1 { // too late for the first run, whose only wait is 1 s
				return []packet{{after: 1100 * ms, text: "info|stale"}}
			}
			return []packet{{after: 400 * ms, text: "info|fresh"}}
		})
		p := virtual(t, Options{Protocol: plain{}, Retries: -1}, sky)
		if first := scan(t, p, list(1)); first[0].State != discovery.Lost {
			t.Errorf("the first run's server is %v", first[0].State)
		}
		time.Sleep(200 * ms)
		second := scan(t, p, list(1))
		if second[0].Info == nil || second[0].Info.Name != "fresh" || second[0].RTT != 400*ms {
			t.Errorf("the second run got %+v", second[0])
		}
		if s := p.Stats(); s.Strays != 1 || s.PacketsSent != 2 {
			t.Errorf("%d strays, %d packets", s.Strays, s.PacketsSent)
		}
	})
}

// Replies that come again after their server is done are only counted.
func TestRunCountsDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet {
			return slices.Repeat([]packet{{after: 30 * ms, text: markedReply(q.text)}}, 3)
		})
		p := virtual(t, Options{Protocol: marked{}, Rate: 10}, sky)
		results := scan(t, p, list(3))
		if s := p.Stats(); len(results) != 3 || s.Duplicates < 4 || s.Strays+s.Malformed > 0 {
			t.Errorf("%d results, %d duplicates, %d strays", len(results), s.Duplicates, s.Strays)
		}
	})
}

// A request that comes while the run only waits for silent servers is sent at once.
func TestRunIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(sighting) []packet { return nil })
		agenda := discovery.NewAgenda(discovery.NewConventional(1), nil)
		time.AfterFunc(300*ms, func() { agenda.Ask([]int{1}) })
		p := virtual(t, Options{Protocol: marked{}}, sky)
		if err := p.Run(context.Background(), list(2), agenda, nil); err != nil {
			t.Fatal(err)
		}
		if got := sky.asked[address(1)]; len(got) == 0 || got[0] != 300*ms {
			t.Errorf("the requested server was asked at %v, want at 300ms", got)
		}
	})
}

func TestRunEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 250*ms)
		defer cancel()
		p := virtual(t, Options{Protocol: marked{}, Rate: 10}, newSky(func(sighting) []packet { return nil }))
		start := time.Now()
		err := p.Run(ctx, list(9), discovery.NewConventional(9), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 250*ms {
			t.Errorf("ended after %v with %v", time.Since(start), err)
		}
		if p.Stats().InFlight != 0 {
			t.Error("probes are under way after the end")
		}
	})
}

func TestRunIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := virtual(t, Options{Protocol: marked{}}, newSky(func(sighting) []packet { return nil }))
		go p.Run(t.Context(), list(1), discovery.NewConventional(1), nil)
		synctest.Wait()
		if err := p.Run(t.Context(), list(1), discovery.NewConventional(1), nil); !errors.Is(err, errBusy) {
			t.Errorf("a second run at the same time: %v", err)
		}
		time.Sleep(5 * time.Second)
	})
}

func TestNewRefusesOptions(t *testing.T) {
	for _, options := range []Options{{}, {Protocol: plain{}, Rate: -1}, {Protocol: plain{}, InFlight: -1}, {Protocol: plain{}, Timeout: -1}} {
		if p, err := New(options); err == nil {
			p.Close()
			t.Errorf("%+v is accepted", options)
		}
	}
}
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

// few is a protocol that returns only 4 bits of the nonce, is asked at another port,
// and wants a goodbye.
//
//	ask NONCE  ->  info NONCE
type few struct{}

func (few) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return fmt.Appendf(b, "ask %x", uint64(nonce)&15)
}

func (few) QueryPort(port uint16) uint16 { return port + 1 }

func (few) Parse(datagrams [][]byte) (discovery.Reply, error) {
	reply := discovery.Reply{Echoed: true, NonceBits: 4, Farewell: []byte("bye"), Info: &discovery.Info{}}
	if _, err := fmt.Sscanf(string(datagrams[0]), "info %x", &reply.Nonce); err != nil {
		return discovery.Reply{}, fmt.Errorf("few: %w", discovery.ErrMalformed)
	}
	return reply, nil
}

// TestFewBits checks that the returned bits of the nonce must be ours, and that the
// server gets a goodbye at the port where it was asked.
func TestFewBits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		sky := newSky(func(q sighting) []packet {
			heard = append(heard, fmt.Sprint(q.text[:3], " ", q.addr.Port()))
			text, isQuestion := strings.CutPrefix(q.text, "ask ")
			if !isQuestion {
				return nil
			}
			nonce, _ := strconv.ParseUint(text, 16, 64)
			return append(say(20*ms, fmt.Sprintf("info %x", nonce^1)), say(50*ms, "info "+text)...)
		})
		results := scan(t, virtual(t, Options{Protocol: few{}}, sky), list(1))
		if len(results) != 1 || results[0].State != discovery.Answered || results[0].RTT != 50*ms {
			t.Errorf("%+v, want it to have answered after 50 ms", results)
		}
		if want := "[ask 27961 bye 27961]"; fmt.Sprint(heard) != want {
			t.Errorf("the server heard %v, want %v", heard, want)
		}
	})
}

// Identical queries make no certain pair.
func TestAlikeNonces(t *testing.T) {
	for _, c := range []struct {
		nonces []discovery.Nonce
		reply  discovery.Nonce
		want   pair
		rtt    time.Duration
	}{
		{[]discovery.Nonce{0x12, 0x23}, 2, clean, 3 * time.Second},
		{[]discovery.Nonce{0x12, 0x23}, 3, clean, 2 * time.Second},
		{[]discovery.Nonce{0x12, 0x22}, 2, rough, 3 * time.Second},
		{[]discovery.Nonce{0x12, 0x23}, 4, stray, 0},
	} {
		p := &probe{}
		p.begin(discovery.Result{}, 0)
		for i, nonce := range c.nonces {
			p.record(nonce, time.Duration(i)*time.Second)
		}
		at := arrival{3 * time.Second, 3 * time.Second}
		reply := discovery.Reply{Nonce: c.reply, Echoed: true, NonceBits: 4}
		rtt, kind, _ := p.match(reply, at)
		if kind != c.want || rtt != c.rtt {
			t.Errorf("%x answered by %x: %v after %v, want %v after %v", c.nonces, c.reply, kind, rtt, c.want, c.rtt)
		}
		if _, again, _ := p.match(reply, at); c.want != stray && again != duplicate {
			t.Errorf("%x answered by %x again: %v", c.nonces, c.reply, again)
		}
	}
}

// packed is a protocol with replies that cost a lot to read.
type packed struct {
	marked
	unpacked *int
}

func (packed) Unpacks(datagrams [][]byte) bool {
	return strings.HasPrefix(string(datagrams[len(datagrams)-1]), "packed")
}

func (p packed) Parse(datagrams [][]byte) (discovery.Reply, error) {
	if p.Unpacks(datagrams) {
		*p.unpacked++
	}
	return p.marked.Parse(datagrams)
}

// If a server sends one packed reply after the other, the run unpacks a few of them,
// and other servers do not suffer.
func TestRunUnpacksLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unpacked := 0
		sky := newSky(func(q sighting) []packet {
			if q.server == 0 {
				return slices.Repeat(say(10*ms, "packed rubbish"), 200)
			}
			return append(say(10*ms, "packed rubbish"), say(30*ms, markedReply(q.text))...)
		})
		p := virtual(t, Options{Protocol: packed{unpacked: &unpacked}}, sky)
		results := scan(t, p, list(3))
		states := map[int]discovery.State{}
		for _, r := range results {
			states[r.Server] = r.State
		}
		if states[0] != discovery.Lost || states[1] != discovery.Answered || states[2] != discovery.Answered {
			t.Errorf("states are %v", states)
		}
		if unpacked != maxUnpacked+2 {
			t.Errorf("unpacked %d replies, want %d of one server and 1 of each other", unpacked, maxUnpacked)
		}
	})
}
