//go:build linux

package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	faultsWanted  = flag.Int("faults", 0, "so many faults (0: a taste)")
	faultsEvery   = flag.Duration("faults-every", 2*time.Second, "the average time from one fault to the next")
	faultsLongest = flag.Duration("faults-longest", time.Minute, "no fault is longer")
	faultsSeed    = flag.Uint64("faults-seed", 1, "decides on the faults, and on what the players do")
	faultsRooms   = flag.Int("faults-rooms", 200, "rooms")
	faultsPlayers = flag.Int("faults-players", 3, "players a room; a third of the rooms has an open page, too")
	faultsHosts   = flag.Int("faults-hosts", 3, "hosts; one keeps its rooms in a file, more of them share NATS")
	faultsOnly    = flag.String("faults-only", "", "only faults whose text begins so, such as 'kill host'")
	faultsBinary  = flag.String("faults-binary", "", "this muster instead of the one that is here")
	damagesWanted = flag.Int("damages", 0, "so many disks of NATS servers are damaged, one after the other")
	damagesSync   = flag.Bool("damages-sync", false, "with sync_interval: always")
	faultsKeep    = flag.String("faults-keep", "", "write the scenario and what happened to files in this folder")
)

// scenario is a run that can be repeated.
type scenario struct {
	// Why is the fault that the schedule once showed.
	Why     string `json:"why,omitempty"`
	Seed    uint64 `json:"seed"`
	Hosts   int    `json:"hosts"`
	NATS    int    `json:"nats"`
	Rooms   int    `json:"rooms"`
	Players int    `json:"players"`
	// Sync makes NATS servers write to their disks before they acknowledge.
	Sync   bool    `json:"sync,omitempty"`
	Faults []Fault `json:"faults"`
}

// TestFaults checks the promises to players while machines fail at moments that a seed decides.
// When it is over all players must get into their game.
//
//	go -C e2e test ./faults -run TestFaults -v -timeout 0 -faults 1000
func TestFaults(t *testing.T) {
	s := scenario{Seed: *faultsSeed, Hosts: *faultsHosts, Rooms: *faultsRooms, Players: *faultsPlayers}
	if s.Hosts > 1 {
		s.NATS = 3
	}
	faults, every, longest := *faultsWanted, *faultsEvery, *faultsLongest
	if faults == 0 {
		faults, every, longest, s.Rooms = 10, 2*time.Second, 8*time.Second, 60
	}
	s.Faults = Schedule(s.Seed, faults, every, longest, s.machines())
	if *faultsOnly != "" {
		s.Faults = slices.DeleteFunc(Schedule(s.Seed, 30*faults, every, longest, s.machines()), func(f Fault) bool {
			return !strings.HasPrefix(f.String(), *faultsOnly)
		})
		s.Faults = s.Faults[:min(faults, len(s.Faults))]
		for i := range s.Faults { // close the gaps
			s.Faults[i].At = time.Duration(i+1) * (every + longest)
		}
	}
	s.play(t)
}

// TestDamage damages the disk of one NATS server after another. What NATS has acknowledged and lost
// is no fault of hosts, as long as a room's owner, if it goes on, writes the room again.
//
//	go -C e2e test ./faults -run TestDamage -v -timeout 0 -damages 300
func TestDamage(t *testing.T) {
	if *damagesWanted == 0 {
		t.Skip("give -damages")
	}
	s := scenario{Seed: *faultsSeed, Hosts: 3, NATS: 3, Rooms: 30, Players: *faultsPlayers, Sync: *damagesSync}
	s.Faults = Damages(s.Seed, *damagesWanted, s.machines())
	s.play(t)
}

// TestScenarios replays runs that once broke a promise.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			var s scenario
			if err == nil {
				err = json.Unmarshal(text, &s)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.play(t)
		})
	}
}

func (s scenario) machines() (m Machines) {
	for i := range s.Hosts {
		m.Hosts = append(m.Hosts, fmt.Sprintf("host%d", i+1))
	}
	for i := range s.NATS {
		m.NATS = append(m.NATS, fmt.Sprintf("nats%d", i+1))
	}
	return m
}

const (
	// settled is how long all rooms run in peace before the first fault.
	settled = 5 * time.Second
	// recovery is how long rooms may take to launch everyone once the faults are over. A player who
	// was cut off finds out after 25 seconds. The room's second look and its retries take time,
	// too.
	recovery = 2 * time.Minute
	// slowRecovery is when the test logs the players who are not there yet.
	slowRecovery = 40 * time.Second
	// shownFindings is how many findings of each promise are printed.
	shownFindings = 6
)

// play runs the rooms and the faults, and fails the test if a promise is broken.
func (s scenario) play(t *testing.T) {
	l := newLab(t, builtMuster(t), s)
	var heard *witness
	if slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Do.isOfDisk() }) {
		heard = l.witness()
	}
	ctx, end := context.WithCancel(context.Background())
	calm := make(chan struct{})
	var work sync.WaitGroup
	t.Cleanup(func() { end(); work.Wait() })
	sessions := make([]*session, s.Rooms)
	var opening sync.WaitGroup
	for i := range sessions {
		opening.Go(func() {
			pause(ctx, time.Duration(i)*20*time.Millisecond)
			e := l.open(ctx, i, s.Players, s.Seed)
			sessions[i] = e
			for _, p := range e.people {
				work.Go(func() { pause(ctx, between(p.rng, 0, 2*time.Second)); p.play(ctx) })
			}
			work.Go(func() { e.steer(ctx, calm) })
			if i%3 == 0 {
				work.Go(func() { e.watch(ctx, "page", 0) })
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		return
	}
	pause(ctx, settled)
	began := time.Now()
	var striking sync.WaitGroup
	for _, f := range s.Faults {
		pause(ctx, f.At-time.Since(began))
		striking.Go(func() { l.strike(f) })
		if f.Do.isOfDisk() { // the others have everything before one more is damaged
			striking.Wait()
			pause(ctx, settles)
		}
	}
	striking.Wait()
	faulted := time.Since(began)
	close(calm)
	pause(ctx, time.Second)
	slow := time.Now().Add(slowRecovery)
	for deadline := time.Now().Add(recovery); time.Now().Before(deadline); pause(ctx, 100*time.Millisecond) {
		late := slices.IndexFunc(sessions, func(e *session) bool { _, is := e.together(); return !is })
		if late < 0 {
			break
		}
		if time.Now().After(slow) {
			slow = slow.Add(time.Hour) // once is enough
			for _, p := range sessions[late].people {
				t.Logf("%s of the room %s is not in the game yet:\n%s", p.name, p.session.code,
					tracesOf(sessions, Event{Room: p.session.code, Who: p.name}))
			}
		}
	}
	recovered := time.Since(began) - faulted
	pause(ctx, 3*time.Second) // the last states are on their way
	l.tell(Event{Kind: Calm})
	end()
	work.Wait()
	history := l.events()
	if *faultsKeep != "" {
		s.keep(t, history)
	}
	found := Check(history)
	if heard != nil {
		found = l.judge(heard, found)
	}
	broken := map[Promise]int{}
	for _, f := range found {
		if broken[f.Promise]++; broken[f.Promise] <= shownFindings {
			t.Error(f)
			if f.Promise == AllLaunched {
				t.Log(tracesOf(sessions, f.Event))
			}
		}
	}
	if len(found) > 0 {
		t.Errorf("promises broken: %v", broken)
	}
	t.Logf("%d faults in %.0f s on %d hosts and %d NATS servers, %d rooms of %d players; all were in the game %.0f s after the last\n%s",
		len(s.Faults), faulted.Seconds(), s.Hosts, s.NATS, s.Rooms, s.Players, recovered.Seconds(), summary(history))
}

// tracesOf returns the last messages between a player and the hosts, and the room's notes.
func tracesOf(sessions []*session, of Event) string {
	for _, e := range sessions {
		for _, p := range e.people {
			if e.code == of.Room && p.name == of.Who {
				p.mu.Lock()
				defer p.mu.Unlock()
				text := strings.Join(p.trace, "\n")
				for _, n := range p.snapshot.Log {
					text += fmt.Sprintf("\n%8.3f room: %s", n.At.Sub(e.lab.began).Seconds(), n.String())
				}
				return text
			}
		}
	}
	return ""
}

// keep writes the scenario and the history.
func (s scenario) keep(t *testing.T, history []Event) {
	text, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(*faultsKeep, "scenario.json"), text, 0o600)
	}
	var file *os.File
	if err == nil {
		file, err = os.Create(filepath.Join(*faultsKeep, "history.jsonl"))
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	defer w.Flush()
	lines := json.NewEncoder(w)
	for _, e := range history {
		lines.Encode(e)
	}
}

// summary describes the contents of a history.
func summary(history []Event) string {
	kinds, faults, rejected := map[Kind]int{}, map[string]int{}, map[string]int{}
	launches := map[string]bool{}
	var goodbyes []time.Duration
	for _, e := range history {
		kinds[e.Kind]++
		switch e.Kind {
		case Struck:
			faults[what(e.Text)]++
		case "damaged", "helped":
			faults[string(e.Kind)+" "+regexp.MustCompile(` \(.*\)|:.*`).ReplaceAllString(e.Text, "")]++
		case Launched:
			launches[fmt.Sprint(e.Room, e.Round)] = true
		case "ended":
			d, _ := time.ParseDuration(e.Text)
			goodbyes = append(goodbyes, d)
		case Rejected, Refused:
			rejected[e.Text]++
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d rounds launched; %d events: %v\nfaults: %v\nnot done: %v\n", len(launches), len(history), kinds, faults, rejected)
	fmt.Fprintf(&text, "SIGTERM to end: %s\n", spread(goodbyes))
	took := map[string][]time.Duration{}
	for _, takeover := range Takeovers(history) {
		took["any"] = append(took["any"], takeover.Took)
		took[what(takeover.Fault)] = append(took[what(takeover.Fault)], takeover.Took)
	}
	var names []string
	for name := range took {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&text, "to another owner after %s: %s\n", name, spread(took[name]))
	}
	return text.String()
}

// what returns a fault's text without its machines' numbers and its time.
func what(fault string) string {
	fault, _, _ = strings.Cut(fault, " for ")
	return strings.Join(slices.Compact(strings.Fields(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, strings.ReplaceAll(fault, " and", "")))), " ")
}

// spread returns the median, the 99th percentile and the worst.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	all = slices.Sorted(slices.Values(all))
	p := func(share float64) float64 { return all[min(len(all)-1, int(share*float64(len(all))))].Seconds() }
	return fmt.Sprintf("%d times, p50 %.2f s, p99 %.2f s, worst %.2f s", len(all), p(.5), p(.99), all[len(all)-1].Seconds())
}

// builtMuster is the program under test.
func builtMuster(t *testing.T) string {
	t.Helper()
	if *faultsBinary != "" {
		return *faultsBinary
	}
	file := filepath.Join(t.TempDir(), "muster")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = "../.." // the program's own module, with the libraries that a release has
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return file
}
