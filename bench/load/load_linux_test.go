package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/bench/load"
	"muster/bench/worlds"
	"muster/internal/await"
	"muster/internal/freeport"
)

// The flags are the load; without them it is a taste. All of it:
//
//	go -C bench test ./load -run TestLoad -v -timeout 0 -load-rooms 2000 -load-searches 100 -load-servers 30000
var (
	rooms    = flag.Int("load-rooms", 10, "rooms whose players wait for one more")
	people   = flag.Int("load-people", 5, "players in each of them")
	searches = flag.Int("load-searches", 2, "rooms that search")
	group    = flag.Int("load-group", 4, "players in each of them")
	over     = flag.Duration("load-over", 10*time.Second, "the time in which 100 searches begin; fewer begin as often")
	servers  = flag.Int("load-servers", 500, "servers in the one list of all rooms")
	line     = flag.Float64("load-line", 250, "servers that a player's line asks a second; 0 answers at once")
	joining  = flag.Int("load-joining", 200, "players that join a second")
)

// patience is how long it may take until the next player is back. Those who are missing then count as lost.
const patience = time.Minute

// TestLoad puts players of a simulated world on real hosts, and measures what they notice: on one host
// with a file, which is restarted, and on two that share NATS, which are restarted one after the other.
func TestLoad(t *testing.T) {
	program := filepath.Join(t.TempDir(), "muster")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, hosts := range []int{1, 2} {
		t.Run(fmt.Sprint(hosts, " hosts"), func(t *testing.T) { measure(t, program, hosts) })
	}
}

// measure runs the whole load on some hosts, and prints a row for each of its parts.
func measure(t *testing.T, program string, n int) {
	l := newLab(t, program, n)
	ctx, leave := context.WithCancel(t.Context())
	defer func() { leave(); l.crowd.Wait() }()
	bare := l.memory()
	busy, began := l.processor(), time.Now()
	l.fill(ctx)
	everyone := *rooms * *people
	t.Logf("%d hosts, %d rooms of %d: everybody is in after %.1f s; processor %.1f s", n, *rooms, *people,
		l.crowd.Moved().Sub(began).Seconds(), l.processor()-busy)
	t.Logf("a join: %s; a state for the others: %s", figures(l.crowd.Joins()), figures(l.crowd.States()))
	idle, since := l.processor(), time.Now()
	quiet := time.NewTimer(min(10*time.Second, time.Duration(*rooms)*100*time.Millisecond))
	<-quiet.C
	t.Logf("idle: %.1f kB of resident memory a room (%.1f kB a player); processor %.3f s a second",
		float64(l.memory()-bare)/float64(*rooms), float64(l.memory()-bare)/float64(everyone), (l.processor()-idle)/time.Since(since).Seconds())
	busy, began = l.processor(), time.Now()
	took := l.search(ctx)
	t.Logf("%d searches of %d in %.1f s over %d servers: %s; processor %.2f s each; a join meanwhile: %s; a state: %s", *searches, *group,
		time.Since(began).Seconds(), *servers, figures(took), (l.processor()-busy)/float64(*searches), figures(l.crowd.Joins()),
		figures(l.crowd.States()))
	everyone += *searches * *group
	for i := range l.hosts {
		began := time.Now()
		ended := l.stop(i).Sub(began)
		if n == 1 {
			l.start(i)
		} else {
			l.awaitAll(everyone, "by the others")
			t.Logf("host %d ends: in %.1f s; everybody is back after %.1f s", i, ended.Seconds(), l.crowd.Moved().Sub(began).Seconds())
			l.start(i)
		}
		lost := l.awaitAll(everyone, "after the restart")
		t.Logf("host %d is restarted: everybody but %d is in %.1f s after it was told to end, which took %.1f s", i, lost,
			l.crowd.Moved().Sub(began).Seconds(), ended.Seconds())
		if lost > 0 {
			t.Errorf("%d of %d players are lost", lost, everyone)
		}
	}
	t.Logf("refused on the way, by reason: %v", l.crowd.Refusals())
	if len(took) != *searches {
		t.Errorf("%d of %d searches found a server", len(took), *searches)
	}
}

// figures returns the median and the 95th and 99th percentile.
func figures(took []time.Duration) string {
	if len(took) == 0 {
		return "none"
	}
	took = slices.Sorted(slices.Values(took))
	at := func(share float64) string {
		return strconv.FormatFloat(took[min(len(took)-1, int(share*float64(len(took))))].Seconds()*1000, 'f', 0, 64)
	}
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s ms of %d", at(.5), at(.95), at(.99), len(took))
}

// lab holds the hosts and their players.
type lab struct {
	t       *testing.T
	program string
	args    []string // of all hosts
	dir     string
	hosts   []*exec.Cmd
	crowd   *load.Crowd
	// next numbers rooms and players, for addresses, and opened counts the rooms.
	next, opened int
}

// newLab starts hosts.
func newLab(t *testing.T, program string, n int) *lab {
	l := &lab{t: t, program: program, dir: t.TempDir(), hosts: make([]*exec.Cmd, n), crowd: &load.Crowd{}}
	list := filepath.Join(l.dir, "servers.csv")
	lines := []string{"addr,country,asn"}
	for _, s := range worlds.List(*servers) {
		lines = append(lines, fmt.Sprintf("%v,%s,%d", s.Addr, s.Country, s.ASN))
	}
	if err := os.WriteFile(list, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.args = []string{"serve", "--trusted-proxy", "127.0.0.1", "--max-rooms", "1000000", "--servers", list, "--memory=false"}
	if n > 1 {
		l.args = append(l.args, "--nats", "nats://"+l.startNATS(), "--cluster-listen", "127.0.0.1:0")
	}
	for i := range n {
		l.crowd.Hosts = append(l.crowd.Hosts, freeport.TCP(t))
		l.start(i)
	}
	t.Cleanup(func() {
		for i := range l.hosts {
			l.stop(i)
		}
	})
	return l
}

func (l *lab) startNATS() string {
	path, err := exec.Command("go", "env", "GOPATH").CombinedOutput()
	if err != nil {
		l.t.Fatalf("%v: %s", err, path)
	}
	at := freeport.TCP(l.t)
	name, port, _ := strings.Cut(at, ":")
	file := filepath.Join(strings.TrimSpace(string(path)), "bin", "nats-server")
	nats := exec.Command(file, "-a", name, "-p", port, "-js", "-sd", l.t.TempDir())
	if err := nats.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { nats.Process.Kill(); nats.Wait() })
	await.Within(l.t, patience, func() bool {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, "NATS does not listen")
	return at
}

// start starts a host, and waits until it is ready.
func (l *lab) start(i int) {
	l.t.Helper()
	args := append(slices.Clone(l.args), "--listen", l.crowd.Hosts[i])
	if len(l.hosts) > 1 {
		args = append(args, "--node", fmt.Sprint("host", i))
	} else {
		args = append(args, "--store", filepath.Join(l.dir, "rooms.db"))
	}
	log, err := os.OpenFile(filepath.Join(l.dir, fmt.Sprint("host", i, ".log")), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(l.program, args...)
	home := filepath.Join(l.dir, fmt.Sprint("home", i))
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.hosts[i] = cmd
	await.Within(l.t, patience, func() bool {
		answer, err := http.Get("http://" + l.crowd.Hosts[i] + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, "host %d is not ready", i)
}

// stop ends a host in good order, and returns when its process was gone. Another process looks for that: this one has
// thousands of players who lose their connections just then.
func (l *lab) stop(i int) (gone time.Time) {
	cmd := l.hosts[i]
	if l.crowd.Lose(l.crowd.Hosts[i]); cmd == nil {
		return time.Now()
	}
	look := exec.Command("sh", "-c", `while grep -q "^State:.[^Z]" /proc/$0/status 2>/dev/null; do sleep .1; done; date +%s%N`, fmt.Sprint(cmd.Process.Pid))
	said, err := look.StdoutPipe()
	if err == nil {
		err = look.Start()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	l.hosts[i] = nil
	var at int64
	if _, err := fmt.Fscan(said, &at); err != nil {
		l.t.Fatal(err)
	}
	look.Wait()
	return time.Unix(0, at)
}

// open opens a room for so many players.
func (l *lab) open(players int) *load.Room {
	l.next++
	body := fmt.Sprintf(`{"game":"openarena","by":"mean","players":%d}`, players)
	l.opened++
	host := l.crowd.Hosts[l.opened%len(l.crowd.Hosts)] // evenly, so that no room moves to make it so
	request, err := http.NewRequest(http.MethodPost, "http://"+host+"/api/rooms", bytes.NewBufferString(body))
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", address(l.next))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	defer answer.Body.Close()
	var opened struct{ Code, Link string }
	text, _ := io.ReadAll(answer.Body)
	if err := json.Unmarshal(text, &opened); err != nil || answer.StatusCode != http.StatusCreated {
		l.t.Fatalf("no room is opened: %s", text)
	}
	_, fragment, _ := strings.Cut(opened.Link, "#")
	_, key, _ := strings.Cut(fragment, "_")
	return l.crowd.NewRoom(opened.Code, key)
}

// address returns an address of a network of its own, as strangers have it.
func address(n int) string { return fmt.Sprintf("%d.%d.%d.1", 60+n>>13&63, n>>5&255, n<<3&255) }

// fill opens the rooms, and brings their players in.
func (l *lab) fill(ctx context.Context) {
	ticks := time.NewTicker(time.Second / time.Duration(*joining))
	defer ticks.Stop()
	for range *rooms {
		room := l.open(*people + 1)
		for i := range *people {
			<-ticks.C
			l.next++
			room.Join(ctx, fmt.Sprint("player ", i), address(l.next), 0, func() {})
		}
	}
	if lost := l.awaitAll(*rooms**people, "at first"); lost > 0 {
		l.t.Fatalf("%d players do not get in", lost)
	}
}

// search opens rooms that search, and returns how long each took from its last player to everybody's
// launch.
func (l *lab) search(ctx context.Context) (took []time.Duration) {
	ticks := time.NewTicker(*over / 100)
	defer ticks.Stop()
	var mu sync.Mutex // guards took
	var work sync.WaitGroup
	for range *searches {
		<-ticks.C
		room, began := l.open(*group), time.Now()
		var launched sync.WaitGroup
		for i := range *group {
			l.next++
			launched.Add(1)
			room.Join(ctx, fmt.Sprintf("player %d of %s", i, room.Code), address(l.next), *line, launched.Done)
		}
		done := make(chan struct{})
		go func() { launched.Wait(); close(done) }()
		work.Go(func() {
			select {
			case <-done:
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
			case <-time.After(2 * patience):
			}
		})
	}
	work.Wait()
	return took
}

// settle is how long nobody must have come or gone before everybody counts as in. A player whose room's
// host has ended hears of that from its own host within a second.
const settle = 2 * time.Second

// awaitAll waits until everybody is in, and returns how many are missing when nobody has come for a minute.
func (l *lab) awaitAll(everyone int, when string) (lost int) {
	l.t.Helper()
	for began := time.Now(); time.Since(began) < patience || time.Since(l.crowd.Moved()) < patience; {
		if l.crowd.Here() == everyone && time.Since(l.crowd.Moved()) > settle {
			return 0
		}
		tick := time.NewTimer(10 * time.Millisecond)
		<-tick.C
	}
	lost = everyone - l.crowd.Here()
	l.t.Logf("%d of %d players are not in %s; refused so far: %v", lost, everyone, when, l.crowd.Refusals())
	return lost
}

// processor returns the processor time of the hosts so far, in seconds.
func (l *lab) processor() (seconds float64) {
	for _, cmd := range l.hosts {
		text, err := os.ReadFile(fmt.Sprint("/proc/", cmd.Process.Pid, "/stat"))
		if err != nil {
			l.t.Fatal(err)
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
		for _, ticks := range fields[12:14] {
			n, _ := strconv.ParseFloat(ticks, 64)
			seconds += n / 100
		}
	}
	return seconds
}

// memory returns the resident memory of the hosts, in kB.
func (l *lab) memory() (kB int) {
	for _, cmd := range l.hosts {
		text, err := os.ReadFile(fmt.Sprint("/proc/", cmd.Process.Pid, "/status"))
		if err != nil {
			l.t.Fatal(err)
		}
		found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
		n, _ := strconv.Atoi(string(found[1]))
		kB += n
	}
	return kB
}
