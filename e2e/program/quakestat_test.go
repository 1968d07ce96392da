package program_test

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/discovery/report"
)

// discoverOutput runs muster discover and returns its output.
func discoverOutput(t *testing.T, file string, args ...string) string {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program,
		append([]string{"discover", "--game", "openarena", "--servers", file, "--name", "ann", "--strategy", "conventional"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("%v: %v", cmd, err)
	}
	return string(out)
}

func discoverReport(t *testing.T, file string, args ...string) report.Report {
	t.Helper()
	report, err := report.Read(strings.NewReader(discoverOutput(t, file, append(args, "--json")...)))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// told is what both programs say about a server.
type told struct {
	Address string  `xml:"address,attr"`
	Status  string  `xml:"status,attr"`
	Name    string  `xml:"name"`
	Map     string  `xml:"map"`
	Players int     `xml:"numplayers"`
	Max     int     `xml:"maxplayers"`
	Ping    float64 `xml:"ping"`
}

func toldBy(t *testing.T, document string) map[string]told {
	t.Helper()
	var all struct {
		Servers []told `xml:"server"`
	}
	d := xml.NewDecoder(strings.NewReader(document))
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	servers := map[string]told{}
	for _, s := range all.Servers {
		s.Name = quake3.CleanName(s.Name) // quakestat -utf8 leaves the colour codes
		servers[s.Address] = s
	}
	return servers
}

// TestAgreesWithQuakestat checks that both programs see the same real servers alike.
func TestAgreesWithQuakestat(t *testing.T) {
	t.Parallel()
	file := startServers(t, arenas)
	// Servers sometimes answer late in their frame, and so does a busy machine. The lowest of
	// spaced samples is the path's RTT. Quakestat reads the clock after sending, and may be late
	// itself, so one of its samples has to agree.
	ours, theirs := map[string]told{}, map[string]told{}
	pings := map[string][]float64{} // quakestat's
	every(t, serverPause, "both see the same RTTs", func() bool {
		keepLowest(ours, toldBy(t, discoverOutput(t, file, "--format", "qstat-xml", "--listen-addr", source(0).String())))
		theirs = toldBy(t, quakestat(t, file, 1))
		for addr, s := range theirs {
			if s.Status == "UP" {
				pings[addr] = append(pings[addr], s.Ping)
			}
		}
		return pathsAgree(t, ours, pings)
	})
	for i, a := range arenas {
		addr := arenaAddr(i).String()
		our, their := ours[addr], theirs[addr]
		if our.Name != their.Name || our.Map != their.Map || our.Players != their.Players || our.Max != their.Max {
			t.Errorf("%s: %+v, quakestat says %+v", a.name, our, their)
		}
	}
}

// serverPause is the servers' limit by address.
const serverPause = 1100 * time.Millisecond

// quakestat returns what quakestat prints about the servers when a player asks it.
func quakestat(t *testing.T, file string, player int) string {
	t.Helper()
	out, err := exec.Command("/usr/bin/quakestat", "-xml", "-P", "-R", "-utf8", "-srcip", source(player).String(),
		"-default", "q3s", "-f", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// pathsAgree compares our lowest RTT to each server with quakestat's samples. It reports whether at
// least one sample differs by just the difference between the two places. It prints the servers for
// which no sample does.
func pathsAgree(t *testing.T, ours map[string]told, pings map[string][]float64) bool {
	t.Helper()
	agree := true
	for i, a := range arenas {
		addr := arenaAddr(i).String()
		our := ours[addr]
		path := float64(a.delays[0]-a.delays[1]) / 1e6 // the two asked from different places
		if our.Status != "UP" || !slices.ContainsFunc(pings[addr], func(ping float64) bool { return math.Abs(our.Ping-ping-path) <= 2 }) {
			t.Logf("%s: %s, RTT %.1f ms; quakestat says %.0f ms, and the places differ by %.0f", a.name, our.Status, our.Ping, pings[addr], path)
			agree = false
		}
	}
	return agree
}

// keepLowest keeps each server's lowest RTT, over the times that it answered.
func keepLowest(lowest, next map[string]told) {
	for addr, s := range next {
		if old, ok := lowest[addr]; !ok || old.Status != "UP" || s.Status == "UP" && s.Ping < old.Ping {
			lowest[addr] = s
		}
	}
}

// TestSelectFromQuakestat follows MUSST's own workflow with today's tool: two players measure with
// quakestat, and muster select reads their files.
func TestSelectFromQuakestat(t *testing.T) {
	t.Parallel()
	list := startServers(t, arenas)
	folder := t.TempDir()
	var files []string
	for p, name := range players[:2] {
		var report string
		every(t, serverPause, name+"'s quakestat is not held up by a busy machine", func() bool {
			report = quakestat(t, list, p)
			return plausible(toldBy(t, report), p)
		})
		file := filepath.Join(folder, name+".xml")
		if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	out, err := command(t, folder, append([]string{"select", "--map", "oa_dm1", "--json"}, files...)...).Output()
	if err != nil {
		t.Fatalf("muster select: %v", err)
	}
	var s struct {
		Chosen *struct {
			Addr string
			RTT  map[string]float64 `json:"rtt_ms"`
		}
		Culled map[string]int
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if s.Chosen == nil || s.Chosen.Addr != arenaAddr(5).String() {
		t.Fatalf("chose %+v, want %v", s.Chosen, arenaAddr(5))
	}
	for p, name := range players[:2] {
		want := float64(arenas[5].delays[p]) / 1e6
		if got := s.Chosen.RTT[name]; got < want-1 || got > want+frame {
			t.Errorf("%s's RTT there is %.0f ms, want about %.0f", name, got, want)
		}
	}
	if s.Culled["full"] != 1 || s.Culled["filtered"] != 1 {
		t.Errorf("culled %v, want one full and one filtered", s.Culled)
	}
}

// frame is how long a reply may wait for the server's next frame, in ms.
const frame = 60

// plausible reports whether a player's RTTs are close to the paths' RTTs.
func plausible(servers map[string]told, player int) bool {
	for i, a := range arenas {
		s, path := servers[arenaAddr(i).String()], float64(a.delays[player])/1e6
		if s.Status != "UP" || s.Ping < path-1 || s.Ping > path+frame {
			return false
		}
	}
	return true
}

// TestQuakestatReadsTheFleet checks that the loopback fleet passes for real servers, with
// quakestat's own master query.
func TestQuakestatReadsTheFleet(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "servers.csv")
	f := run(t, t.TempDir(), "fleet", "fleet", "--servers", "40", "--game", "openarena", "--master-port", "0", "--write", file)
	master := f.awaits(`master at (\S+)`)[1]
	if _, err := netip.ParseAddrPort(master); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/usr/bin/quakestat", "-xml", "-utf8", "-q3m,71", master).Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := toldBy(t, string(out))
	answered := 0
	for _, s := range discoverReport(t, file).Servers {
		if s.State != discovery.Answered {
			continue
		}
		answered++
		if their := theirs[s.Addr.String()]; their.Name != s.Name || their.Map != s.Map || their.Players != s.Players {
			t.Errorf("%v: %q %q %d players, quakestat says %+v", s.Addr, s.Name, s.Map, s.Players, their)
		}
	}
	if answered < 30 {
		t.Errorf("only %d of 40 servers answered", answered)
	}
}
