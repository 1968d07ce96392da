package prober

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

func say(after time.Duration, text string) []packet {
	return []packet{{after: after, text: text}}
}

var foreign = netip.MustParseAddrPort("10.9.9.9:27960")

// Each case is the outcome of one server, by its answers.
var serverTests = []struct {
	name     string
	protocol discovery.Protocol
	options  Options
	answer   func(q sighting) []packet
	want     string // state, RTT, name or "-"
	ends     time.Duration
	stats    Stats // only tests of unusual packets compare them
	// moment: it ends up to half a second later, at a random time.
	moment bool
}{
	{"answers", marked{}, Options{},
		func(q sighting) []packet { return say(30*ms, markedReply(q.text)) }, "answered 30ms arena", 30 * ms, Stats{}, false},
	{"is silent", marked{}, Options{},
		func(q sighting) []packet { return nil }, "lost 0s -", 3 * time.Second, Stats{Retries: 2}, false},
	{"is silent, no retries", marked{}, Options{Retries: -1},
		func(q sighting) []packet { return nil }, "lost 0s -", time.Second, Stats{}, false},
	{"is silent, short timeout: the repeat still waits a second", marked{}, Options{Retries: 1, Timeout: 200 * ms},
		func(q sighting) []packet { return nil }, "lost 0s -", 1200 * ms, Stats{Retries: 1}, false},
	{"is silent, long timeout", marked{}, Options{Retries: 1, Timeout: 1500 * ms},
		func(q sighting) []packet { return nil }, "lost 0s -", 3 * time.Second, Stats{Retries: 1}, false},
	{"the first query is lost: the time of the second", marked{}, Options{},
		func(q sighting) []packet {
			if q.nth == 1 {
				return nil
			}
			return say(30*ms, markedReply(q.text))
		}, "answered 30ms arena", 1030 * ms, Stats{Retries: 1}, false},
	{"late answer to the first query, after the second: the time of the first", marked{}, Options{},
		func(q sighting) []packet { return say(1300*ms, markedReply(q.text)) }, "answered 1.3s arena", 1300 * ms, Stats{Retries: 1}, false},
	{"a foreign address answers", marked{}, Options{Retries: -1},
		func(q sighting) []packet { return []packet{{30 * ms, markedReply(q.text), foreign, false}} },
		"lost 0s -", time.Second, Stats{Strays: 1}, false},
	{"a foreign port answers", marked{}, Options{Retries: -1},
		func(q sighting) []packet {
			return []packet{{30 * ms, markedReply(q.text), netip.AddrPortFrom(address(0).Addr(), 1), false}}
		}, "lost 0s -", time.Second, Stats{Strays: 1}, false},
	{"a foreign nonce answers", marked{}, Options{Retries: -1},
		func(q sighting) []packet { return say(30*ms, "info 1234 forged") }, "lost 0s -", time.Second, Stats{Strays: 1}, false},
	{"rubbish before the answer", marked{}, Options{},
		func(q sighting) []packet { return append(say(20*ms, "rubbish"), say(30*ms, markedReply(q.text))...) },
		"answered 30ms arena", 30 * ms, Stats{Malformed: 1}, false},
	{"refuses, quoting the query", marked{}, Options{},
		func(q sighting) []packet { return []packet{{after: 10 * ms, text: q.text, refused: true}} },
		"refused 0s -", 10 * ms, Stats{Refused: 1}, false},
	{"refuses, quoting no more than headers", marked{}, Options{},
		func(q sighting) []packet { return []packet{{after: 10 * ms, refused: true}} }, "refused 0s -", 10 * ms, Stats{Refused: 1}, false},
	{"refuses, padded", marked{}, Options{},
		func(q sighting) []packet {
			return []packet{{after: 10 * ms, text: q.text + strings.Repeat("\x00", 100), refused: true}}
		}, "refused 0s -", 10 * ms, Stats{Refused: 1}, false},
	{"a forged refusal quotes another nonce", marked{}, Options{Retries: -1},
		func(q sighting) []packet {
			return []packet{{after: 10 * ms, text: "ask 0000000000000000", refused: true}}
		},
		"lost 0s -", time.Second, Stats{Strays: 1}, false},

	{"no nonce: answers", plain{}, Options{},
		func(q sighting) []packet { return say(30*ms, "info|de_dust") }, "answered 30ms de_dust", 30 * ms, Stats{}, false},
	{"no nonce: the second query is answered", plain{}, Options{},
		func(q sighting) []packet {
			if q.nth == 1 {
				return nil
			}
			return say(30*ms, "info|de_dust")
		}, "answered 30ms de_dust", 2060 * ms, Stats{Retries: 1}, true},
	{"no nonce: its answer waits for our repeat", plain{}, Options{},
		func(q sighting) []packet {
			if q.nth == 1 {
				return say(1000*ms+400*time.Microsecond, "info|liar")
			}
			return say(150*ms, "info|liar")
		}, "answered 150ms liar", 2150*ms + 400*time.Microsecond, Stats{Retries: 1, Duplicates: 1}, true},
	{"no nonce: it waits, and says nothing when it cannot foresee the question", plain{}, Options{Retries: 1},
		func(q sighting) []packet {
			if q.nth == 1 {
				return say(1000*ms+400*time.Microsecond, "info|liar")
			}
			return nil
		}, "answered 1.0004s liar", 3000*ms + 400*time.Microsecond, Stats{Retries: 1}, true},
	{"info 2 ms behind the challenge, unasked", plain{}, Options{},
		func(q sighting) []packet {
			if q.nth == 1 {
				return append(say(150*ms, "challenge|abcd"), say(152*ms, "info|liar")...)
			}
			return nil
		}, "answered 150ms liar", 152 * ms, Stats{Challenges: 1}, false},
	{"challenge, answered at once; the lower RTT counts", plain{}, Options{},
		func(q sighting) []packet {
			if q.text == "ask|" {
				return say(50*ms, "challenge|abcd")
			}
			return say(40*ms, "info|"+q.text[4:])
		}, "answered 40ms abcd", 90 * ms, Stats{Challenges: 1}, false},
	{"challenge after a repeat: the second pair is the clean one", plain{}, Options{},
		func(q sighting) []packet {
			switch {
			case q.nth == 1:
				return nil
			case q.text == "ask|":
				return say(10*ms, "challenge|abcd")
			}
			return say(70*ms, "info|de_dust")
		}, "answered 70ms de_dust", 2080 * ms, Stats{Retries: 1}, true},
	{"challenge, then silence: it is there all the same", plain{}, Options{},
		func(q sighting) []packet {
			if q.text == "ask|" {
				return say(50*ms, "challenge|abcd")
			}
			return nil
		}, "answered 50ms -", 3050 * ms, Stats{Retries: 2, Challenges: 1}, false},
	{"a new challenge each time: three are answered, and three again after each silence", plain{}, Options{Retries: 1},
		func(q sighting) []packet { return say(50*ms, fmt.Sprintf("challenge|%04d", q.nth)) },
		"answered 50ms -", 2300 * ms, Stats{Retries: 1, Challenges: 6}, false},
	{"the same challenge twice is a duplicate and no sample", plain{}, Options{},
		func(q sighting) []packet {
			if q.text == "ask|" {
				return append(say(50*ms, "challenge|abcd"), say(51*ms, "challenge|abcd")...)
			}
			return say(40*ms, "info|de_dust")
		}, "answered 40ms de_dust", 90 * ms, Stats{Challenges: 1, Duplicates: 1}, false},
	{"an endless challenge", plain{}, Options{Retries: -1},
		func(q sighting) []packet { return say(50*ms, "challenge|"+strings.Repeat("x", maxChallenge+1)) },
		"lost 0s -", time.Second, Stats{Malformed: 1}, false},
	{"two parts: the RTT is that of the first", plain{}, Options{},
		func(q sighting) []packet { return append(say(30*ms, "part|1"), say(45*ms, "part|2")...) },
		"answered 30ms whole", 45 * ms, Stats{}, false},
	{"a part is lost: asked again", plain{}, Options{},
		func(q sighting) []packet {
			if q.nth == 1 {
				return say(30*ms, "part|1")
			}
			return append(say(30*ms, "part|2"), say(45*ms, "part|1")...)
		}, "answered 30ms whole", 2090 * ms, Stats{Retries: 1}, true},
	{"rubbish between the parts", plain{}, Options{},
		func(q sighting) []packet {
			return append(append(say(30*ms, "part|1"), say(31*ms, "rubbish")...), say(45*ms, "part|2")...)
		}, "answered 30ms whole", 45 * ms, Stats{Malformed: 1}, false},
}

func TestRunOneServer(t *testing.T) {
	for _, test := range serverTests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.options.Protocol = test.protocol
				p := virtual(t, test.options, newSky(test.answer))
				start := time.Now()
				results := scan(t, p, list(1))
				name := "-"
				if results[0].Info != nil {
					name = results[0].Info.Name
				}
				got := fmt.Sprint(results[0].State, " ", results[0].RTT, " ", name)
				ended, latest := time.Since(start), test.ends
				if test.moment {
					latest += unforeseen
				}
				if len(results) != 1 || got != test.want || ended < test.ends || ended > latest {
					t.Errorf("got %q after %v (%d results), want %q after %v", got, ended, len(results), test.want, test.ends)
				}
				if got := oddities(p.Stats()); got != test.stats {
					t.Errorf("counted %+v, want %+v", got, test.stats)
				}
			})
		})
	}
}

func oddities(s Stats) Stats {
	return Stats{Retries: s.Retries, Challenges: s.Challenges, Duplicates: s.Duplicates, Strays: s.Strays,
		Malformed: s.Malformed, Refused: s.Refused, Unreachable: s.Unreachable, SendErrors: s.SendErrors}
}
