//go:build linux

package program_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/e2e/netfab"
	"muster/host/wire"
)

var (
	sessions       = flag.Int("nights", 0, "play so many nights for each cause, at other moments (0: a taste of a few causes)")
	sessionCauses  = flag.String("night-causes", "", "only the causes that match this regular expression")
	sessionSeed    = flag.Uint64("night-seed", 1, "the first night's seed; the next one's is one more")
	sessionBinary  = flag.String("night-binary", "", "play with this muster instead of the one that is here, to compare with")
	sessionWorkers = flag.Int("night-workers", 8, "so many nights at a time: they mostly wait")
)

// cause is a fault that strikes a session.
type cause struct {
	name string
	// taste includes it in a short run.
	taste bool
	// plays says that the organiser plays, in the host's program.
	plays bool
	setting
	// strikes causes the fault, and returns once the fault is over.
	strikes func(n *session)
	// one says that it strikes a single player, and the others need not wait for that player.
	one bool
	// slow replaces recovery if the players' programs need longer.
	slow time.Duration
}

// session is a session that a fault strikes at a moment.
type session struct {
	*stage
	rng    *rand.Rand
	moment time.Duration
}

// kill ends programs as a crash does, and restarts them after a while.
func kill(whom func(n *session) []*actor) func(n *session) {
	return func(n *session) {
		victims := whom(n)
		for _, a := range victims {
			a.stop(syscall.SIGKILL)
		}
		time.Sleep(time.Duration(n.rng.IntN(3000)) * time.Millisecond)
		for _, a := range victims {
			a.start()
		}
	}
}

// freeze stops programs for a while, as closing a laptop does.
func freeze(d time.Duration, whom func(n *session) []*actor) func(n *session) {
	return func(n *session) {
		victims := whom(n)
		for _, a := range victims {
			a.signal(syscall.SIGSTOP)
		}
		time.Sleep(d)
		for _, a := range victims {
			a.signal(syscall.SIGCONT)
		}
	}
}

// cut interrupts lines for a while.
func cut(d time.Duration, which func(n *session) []int) func(n *session) {
	return func(n *session) {
		n.net.Change(func(f *netfab.Fabric, now time.Duration) {
			for _, site := range which(n) {
				f.Cut(site, now+d)
			}
		})
		time.Sleep(d)
	}
}

func theHost(n *session) []*actor { return []*actor{n.hosting} }
func aPeer(n *session) []*actor {
	joined := allPeers(n)
	i := n.rng.IntN(len(joined))
	return joined[i : i+1]
}
func hostLine(n *session) []int     { return []int{n.hostSite} }
func aLine(n *session) []int        { return []int{n.sites[n.rng.IntN(len(n.sites))]} }
func allLines(n *session) []int     { return n.sites[:] }
func everybody(n *session) []*actor { return n.programs() }

// allPeers returns the programs that joined.
func allPeers(n *session) (joined []*actor) {
	for _, a := range n.programs() {
		if a != n.hosting {
			joined = append(joined, a)
		}
	}
	return joined
}

// A home's line, and a poor one: mobile, or Wi-Fi two walls away.
var (
	goodLine = netfab.Line{Delay: 4 * time.Millisecond, Jitter: time.Millisecond}
	poorLine = netfab.Line{Delay: 8 * time.Millisecond, Jitter: 6 * time.Millisecond, Loss: 0.03, Burst: 2, Duplicate: 0.01, Reorder: 0.02}
	badLine  = netfab.Line{Delay: 8 * time.Millisecond, Jitter: 6 * time.Millisecond, Loss: 0.05, Burst: 3, Duplicate: 0.02, Reorder: 0.05}
	// slowLine is an uplink of 96 kbit/s with a second's worth of queue.
	slowLine = netfab.Line{Delay: 20 * time.Millisecond, Rate: 12_000, Queue: 12_000}
)

// manyServers is more than the table of a small router holds. linuxIdle is when most routers, which
// run Linux, forget which address a machine asked (nf_conntrack_udp_timeout).
const (
	manyServers = 500
	linuxIdle   = 30 * time.Second
)

var causes = []cause{
	{name: "nothing", taste: true},
	{name: "host killed", taste: true, strikes: kill(theHost)},
	{name: "organiser killed, who plays", plays: true, strikes: kill(theHost)},
	{name: "a peer killed", taste: true, strikes: kill(aPeer)},
	{name: "everybody killed", taste: true, strikes: kill(everybody)},
	{name: "all peers stopped for 40 s", taste: true, strikes: freeze(40*time.Second, allPeers)},
	{name: "all programs stopped for 30 s", strikes: freeze(30*time.Second, everybody)},
	{name: "all peers stopped for 30 s", strikes: freeze(30*time.Second, allPeers)},
	{name: "a peer stopped for 20 s", one: true, strikes: freeze(20*time.Second, aPeer)},
	{name: "host stopped for 20 s", strikes: freeze(20*time.Second, theHost)},
	{name: "host stopped for 40 s", strikes: freeze(40*time.Second, theHost)},
	{name: "host stopped for 70 s", strikes: freeze(70*time.Second, theHost)},
	{name: "host's line down for 20 s", taste: true, strikes: cut(20*time.Second, hostLine)},
	{name: "host's line down for 40 s", strikes: cut(40*time.Second, hostLine)},
	{name: "host's line down for 70 s", strikes: cut(70*time.Second, hostLine)},
	{name: "a player's line down for 20 s", one: true, strikes: cut(20*time.Second, aLine)},
	{name: "all players' lines down for 40 s", strikes: cut(40*time.Second, allLines)},
	{name: "lines that lose 3 %", taste: true, setting: setting{line: poorLine, hostLine: poorLine}},
	{name: "lines that lose 5 %", setting: setting{line: badLine, hostLine: badLine}},
	{name: "slow lines", taste: true, setting: setting{line: slowLine, hostLine: slowLine}},
	{name: "IPv6 only", taste: true, setting: setting{only6: true}},
	{name: "routers with room for 300, which evict", setting: setting{servers: manyServers, nat: netfab.NAT{Room: 300, Idle: linuxIdle}}},
	{
		name:    "routers with room for 300, which refuse",
		setting: setting{servers: manyServers, nat: netfab.NAT{Room: 300, Idle: linuxIdle, Full: netfab.Refuse}},
	},
	{
		name:    "one router with room for 300, which refuses",
		setting: setting{servers: manyServers, nat: netfab.NAT{Room: 300, Idle: linuxIdle, Full: netfab.Refuse}, oneNAT: true},
	},
	{name: "routers with room for 100, which evict", setting: setting{servers: manyServers, nat: netfab.NAT{Room: 100, Idle: linuxIdle}}},
	{
		name:    "routers with room for 100, which refuse",
		slow:    5 * time.Minute,
		setting: setting{servers: manyServers, nat: netfab.NAT{Room: 100, Idle: linuxIdle, Full: netfab.Refuse}},
	},
	{name: "host's IPv4 address changes for good", strikes: func(n *session) {
		for _, a := range allPeers(n) { // whoever has never been in knows no other address
			eventually(n.t, "all are in", func() bool { return strings.Contains(a.out.String(), " is here") })
		}
		if err := n.net.Renumber(n.host, netip.MustParsePrefix("198.51.100.99/32"), hostAddrs[1]); err != nil {
			n.t.Error(err)
		}
	}},
}

const (
	// sessionLasts is the length of an undisturbed session; faults strike within it.
	sessionLasts = 4 * time.Second
	// recovery is how long a session may take after its fault is over.
	recovery = 100 * time.Second
	// hopeless is how long a room may stay failed before another try becomes unlikely.
	hopeless = 40 * time.Second
)

// sessionOutcome is the outcome of one session.
type sessionOutcome struct {
	cause       string
	finished    bool
	took        time.Duration
	why         string // why it did not finish well
	unreachable int    // servers that were culled as unreachable, though all of them answer
	leftOut     int    // players without a say in the choice
	again       int    // times that players had to join again themselves
}

// TestNights runs real programs on machines of their own. They play sessions, and a fault strikes
// each at some moment. Each session ends with everyone in the game on the same server.
func TestNights(t *testing.T) {
	t.Parallel()
	wanted := regexp.MustCompile(*sessionCauses)
	type job struct {
		cause
		seed uint64
	}
	var jobs []job
	for i := range max(*sessions, 1) {
		for _, c := range causes {
			if (c.taste || *sessions > 0) && wanted.MatchString(c.name) {
				jobs = append(jobs, job{c, *sessionSeed + uint64(i)})
			}
		}
	}
	var mu sync.Mutex // guards outcomes
	var outcomes []sessionOutcome
	queue := make(chan job)
	var workers sync.WaitGroup
	for range *sessionWorkers {
		workers.Go(func() {
			for j := range queue {
				t.Run(fmt.Sprintf("%s/%d", j.name, j.seed), func(t *testing.T) {
					o := playSession(t, j.cause, j.seed)
					mu.Lock()
					outcomes = append(outcomes, o)
					mu.Unlock()
				})
			}
		})
	}
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	workers.Wait()
	t.Logf("\n%s", sessionTable(outcomes))
}

// playSession plays one session, and fails the test unless it ends well.
func playSession(t *testing.T, c cause, seed uint64) sessionOutcome {
	c.seed = seed
	if c.line == (netfab.Line{}) {
		c.line, c.hostLine = goodLine, goodLine
	}
	h := fnv.New64a()
	h.Write([]byte(c.name))
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	n := &session{stage: newStage(t, c.setting), rng: rng, moment: time.Duration(rng.Int64N(int64(sessionLasts)))}
	n.open(c.plays)
	began := time.Now()
	n.join()
	if c.strikes != nil {
		time.Sleep(n.moment)
		c.strikes(n)
	}
	o := sessionOutcome{cause: c.name}
	client := n.onHost()
	var v verdict
	var failedSince time.Time
	for deadline := time.Now().Add(max(recovery, c.slow)); ; time.Sleep(100 * time.Millisecond) {
		if v = n.look(client); v.over {
			break
		}
		o.again += n.tryAgain()
		if v.stage != wire.Failed {
			failedSince = time.Time{}
		} else if failedSince.IsZero() {
			failedSince = time.Now()
		}
		if time.Now().After(deadline) || !failedSince.IsZero() && time.Since(failedSince) > hopeless {
			o.why = fmt.Sprintf("%s without %d of %d", v.stage, len(v.missing), len(householders))
			if len(v.missing) == 0 {
				o.why = "on different servers"
			}
			break
		}
	}
	o.took, o.unreachable = time.Since(began), v.unreachable
	if o.leftOut = len(v.leftOut); v.over && o.leftOut > 0 && !c.one {
		o.why = fmt.Sprintf("left out %d of %d", o.leftOut, len(householders))
	}
	if o.finished = o.why == ""; !o.finished {
		t.Errorf("struck after %v: %s\nthe room's log:\n%s", n.moment.Round(time.Millisecond), o.why, v.log)
	}
	n.inspect()
	return o
}

// tryAgain restarts the programs that could not reach the host and said so, as their players would.
func (n *session) tryAgain() (times int) {
	for _, a := range allPeers(n) {
		if a.hasEnded() && strings.Count(a.out.String(), "no host answers") > a.again {
			a.again++
			a.start()
			times++
		}
	}
	return times
}

// sessionTable summarises the sessions by cause.
func sessionTable(outcomes []sessionOutcome) string {
	var text strings.Builder
	fmt.Fprintln(&text, "| what happens | moments | finished | median | slowest | falsely lost | left out | "+
		"joined again | else |\n|---|---|---|---|---|---|---|---|---|")
	for _, c := range causes {
		var took []time.Duration
		why := map[string]int{}
		moments, lost, leftOut, again := 0, 0, 0, 0
		for _, o := range outcomes {
			switch {
			case o.cause != c.name:
				continue
			case o.finished:
				took = append(took, o.took)
			default:
				why[o.why]++
			}
			moments++
			lost, leftOut, again = lost+o.unreachable, leftOut+o.leftOut, again+o.again
		}
		if moments == 0 {
			continue
		}
		slices.Sort(took)
		median, slowest := "", ""
		if len(took) > 0 {
			median, slowest = fmt.Sprintf("%.0f s", took[len(took)/2].Seconds()), fmt.Sprintf("%.0f s", took[len(took)-1].Seconds())
		}
		var others []string
		for reason, times := range why {
			others = append(others, fmt.Sprintf("%d × %s", times, reason))
		}
		slices.Sort(others)
		fmt.Fprintf(&text, "| %s | %d | %d | %s | %s | %.1f | %d | %d | %s |\n", c.name, moments, len(took), median,
			slowest, float64(lost)/float64(moments), leftOut, again, strings.Join(others, "; "))
	}
	return text.String()
}
