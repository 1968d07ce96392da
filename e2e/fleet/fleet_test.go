// Package fleet_test checks that programs by other authors take the fleet's servers for real ones: QStat
// (Debian calls it quakestat) and gamedig. The environment variables QUAKESTAT and GAMEDIG name them
// if they are not in PATH.
package fleet_test

import (
	"encoding/json"
	"encoding/xml"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

// seen is a program's view of a server.
type seen struct {
	name, mapName       string
	players, maxPlayers int
	names               []string // of players, sorted
}

const (
	awayRTT = 40 * time.Millisecond
	// early allows for quakestat, which notes the time of a query after it has sent it. On a busy
	// machine that is some milliseconds late. The fleet's own tests check how exact it is itself.
	early = 10 * time.Millisecond
	slack = 25 * time.Millisecond
	// patience is how long quakestat is asked again until it was exact.
	patience = 20 * time.Second
)

// infos are what the servers say of themselves, by their addresses in the world.
var infos = []struct {
	at   string
	info discovery.Info
}{
	{"203.0.113.1:27960", discovery.Info{Name: "Friday Night Arena", Map: "q3dm17", Mode: "0", Version: "1.32", Players: 5, Bots: 2, MaxPlayers: 16}},
	{"203.0.113.1:27961", discovery.Info{Name: "Locked and Full", Map: "q3ctf1", Mode: "4", Version: "1.32", Players: 8, MaxPlayers: 8, Password: true}},
	{"198.51.100.9:27960", discovery.Info{Name: "Nobody Home", Map: "q3tourney2", Mode: "1", Version: "1.32", MaxPlayers: 12}},
	{"192.0.2.200:27015", discovery.Info{Name: "Crowd", Map: "q3dm6", Mode: "0", Version: "1.32", Players: 100, MaxPlayers: 128}},
}

// start runs a fleet of a kind for the length of a test.
func (k fleetKind) start(t *testing.T) *fleet.Fleet {
	servers := make([]sim.Server, len(infos))
	for i, of := range infos {
		servers[i].Server = discovery.Server{Addr: netip.MustParseAddrPort(of.at), Country: "DE", ASN: 3320}
		servers[i].Info = of.info
	}
	f, err := fleet.Start(t.Context(), fleet.Options{
		World: sim.NewWorld(1, []sim.Place{{Name: "here"}}, servers, func(int, int) time.Duration { return awayRTT }),
		Kind:  k.kind, NoChallenge: k.noChallenge, OneAddress: k.oneAddress,
		Game: fleet.Game{Name: "Quake3Arena", Protocol: 68, AppID: 440, Version: "1.0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// told returns what a program should read of a server.
func (k fleetKind) told(f *fleet.Fleet, server int) seen {
	info, names := infos[server].info, f.Players(server)
	if k.lists > 0 {
		names = names[:min(k.lists, len(names))]
	}
	slices.Sort(names)
	if k.counts {
		info.Players = len(names)
	}
	if k.shy && info.Players >= 100 {
		names = nil
	}
	if k.noMap {
		info.Map = ""
	}
	return seen{info.Name, info.Map, info.Players, info.MaxPlayers, names}
}

func (s seen) equal(other seen) bool {
	return s.name == other.name && s.mapName == other.mapName && s.players == other.players &&
		s.maxPlayers == other.maxPlayers && slices.Equal(s.names, other.names)
}

// fleetKind is a kind of fleet that programs must read.
type fleetKind struct {
	name                    string
	kind                    fleet.Kind
	noChallenge, oneAddress bool
	qstat                   string   // type; it cannot read them all
	gamedig                 []string // types
	// lists is how many players a server lists at most, if not all. It counts only them if counts
	// is set. shy servers list nobody from 100 players on.
	lists       int
	counts, shy bool
	// gamedig reads no map, or no password.
	noMap, noPassword bool
}

var fleets = []fleetKind{
	{name: "Quake 3", kind: fleet.Quake3, qstat: "q3s", gamedig: []string{"protocol-quake3", "openarena"}},
	{name: "Quake 3 on one address", kind: fleet.Quake3, oneAddress: true, qstat: "q3s", gamedig: []string{"protocol-quake3"}},
	{name: "A2S", kind: fleet.A2S, qstat: "a2s", gamedig: []string{"protocol-valve"}},
	{name: "A2S without challenge", kind: fleet.A2S, noChallenge: true, oneAddress: true, qstat: "a2s", gamedig: []string{"protocol-valve"}},
	{name: "GameSpy", kind: fleet.GameSpy, qstat: "gps", gamedig: []string{"protocol-gamespy1", "netpanzer"}},
	{name: "GameSpy 2", kind: fleet.GameSpy2, qstat: "gs2", gamedig: []string{"protocol-gamespy2"}, lists: 64},
	{name: "GameSpy 3", kind: fleet.GameSpy3, gamedig: []string{"protocol-gamespy3"}},
	{name: "Unreal 2", kind: fleet.Unreal2, gamedig: []string{"protocol-unreal2"}, noPassword: true},
	{name: "The All-Seeing Eye", kind: fleet.ASE, qstat: "eye", gamedig: []string{"protocol-ase"}},
	{name: "Doom 3", kind: fleet.Doom3, qstat: "dm3s", gamedig: []string{"protocol-doom3"}, lists: 32, counts: true},
	{name: "SA-MP", kind: fleet.SAMP, gamedig: []string{"protocol-samp"}, noMap: true, shy: true},
	{name: "Vice City", kind: fleet.VCMP, gamedig: []string{"protocol-vcmp"}, noMap: true, shy: true},
}

func TestQuakestatReadsTheFleet(t *testing.T) {
	for _, tt := range fleets {
		if tt.qstat == "" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			f := tt.start(t)
			args := []string{"-P", "-R", "-noportoffset", "-default", tt.qstat}
			for _, s := range f.Servers() {
				args = append(args, s.Addr.String())
			}
			document, exact := quakestat(t, args...), map[string]bool{}
			for begun := time.Now(); document.notes(exact) < len(f.Servers()) && time.Since(begun) < patience; {
				document = quakestat(t, args...) // on a busy machine it is not always exact
			}
			for i, s := range f.Servers() {
				got := document.server(t, s.Addr.String())
				if want := tt.told(f, i); !got.seen().equal(want) {
					t.Errorf("got %+v, want %+v", got.seen(), want)
				}
				if !exact[got.Address] {
					t.Errorf("%s: RTT %d ms, want %v", s.Addr, got.Ping, awayRTT)
				}
				if len(got.Rules) == 0 {
					t.Errorf("%s: no rules", s.Addr)
				}
			}
		})
	}
}

func TestQuakestatReadsTheMaster(t *testing.T) {
	f := fleets[0].start(t)
	document := quakestat(t, "-P", "-R", "-q3m,68", f.Master().String())
	if got := document.server(t, f.Master().String()); got.Servers != len(f.Servers()) {
		t.Errorf("the master lists %d servers, want %d", got.Servers, len(f.Servers()))
	}
	for i, s := range f.Servers() {
		if got, want := document.server(t, s.Addr.String()).seen(), fleets[0].told(f, i); !got.equal(want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// qstatDocument is the output of quakestat -xml.
type qstatDocument struct {
	List []qstatServer `xml:"server"`
}

type qstatServer struct {
	Address string `xml:"address,attr"`
	Status  string `xml:"status,attr"`
	Servers int    `xml:"servers,attr"`
	Name    string `xml:"name"`
	Map     string `xml:"map"`
	Players int    `xml:"numplayers"`
	Max     int    `xml:"maxplayers"`
	Ping    int    `xml:"ping"` // ms
	Rules   []struct {
		Name string `xml:"name,attr"`
	} `xml:"rules>rule"`
	PlayerList []struct {
		Name string `xml:"name"`
	} `xml:"players>player"`
}

func quakestat(t *testing.T, args ...string) qstatDocument {
	t.Helper()
	var document qstatDocument
	out := runProgram(t, "QUAKESTAT", "quakestat", append([]string{"-xml", "-utf8"}, args...)...)
	if err := xml.Unmarshal(out, &document); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return document
}

func (d qstatDocument) server(t *testing.T, addr string) qstatServer {
	t.Helper()
	i := slices.IndexFunc(d.List, func(s qstatServer) bool { return s.Address == addr })
	if i < 0 || d.List[i].Status != "UP" {
		t.Fatalf("%s is not up in %+v", addr, d)
	}
	return d.List[i]
}

// exact reports whether the RTT is the one that the fleet keeps, within a tolerance.
func (q qstatServer) exact() bool {
	rtt := time.Duration(q.Ping) * time.Millisecond
	return rtt >= awayRTT-early && rtt <= awayRTT+slack
}

// notes adds the servers whose RTT is the fleet's, and returns how many there are.
func (d qstatDocument) notes(exact map[string]bool) int {
	for _, s := range d.List {
		if s.exact() {
			exact[s.Address] = true
		}
	}
	return len(exact)
}

func (q qstatServer) seen() seen {
	var names []string
	for _, p := range q.PlayerList {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return seen{q.Name, q.Map, q.Players, q.Max, names}
}

func TestGamedigReadsTheFleet(t *testing.T) {
	for _, tt := range fleets {
		f := tt.start(t)
		for _, game := range tt.gamedig {
			t.Run(tt.name+"/"+game, func(t *testing.T) {
				t.Parallel() // gamedig mostly waits
				for i, s := range f.Servers() {
					if tt.kind != fleet.Quake3 && tt.kind != fleet.A2S && i%2 == 0 {
						continue // a start of gamedig takes half a second
					}
					got := gamedig(t, game, s.Addr)
					if want := tt.told(f, i); !got.seen().equal(want) {
						t.Errorf("got %+v, want %+v", got.seen(), want)
					}
					if want := infos[i].info.Password; !tt.noPassword && got.Password.flag() != want {
						t.Errorf("%s: password %v, want %v", s.Addr, got.Password, want)
					}
				}
			})
		}
	}
}

// gamedigState is the output of gamedig.
type gamedigState struct {
	Error      string                  `json:"error"`
	Name       string                  `json:"name"`
	Map        string                  `json:"map"`
	Password   loose                   `json:"password"`
	NumPlayers loose                   `json:"numplayers"`
	MaxPlayers loose                   `json:"maxplayers"`
	Players    []struct{ Name string } `json:"players"`
	Bots       []struct{ Name string } `json:"bots"`
}

// loose is a number or a flag, which gamedig leaves as text for some games.
type loose string

func (l *loose) UnmarshalJSON(b []byte) error {
	*l = loose(strings.Trim(string(b), `"`))
	return nil
}

func (l loose) number() int {
	n, _ := strconv.Atoi(string(l))
	return n
}

func (l loose) flag() bool { return l == "true" || l == "1" }

func gamedig(t *testing.T, game string, addr netip.AddrPort) gamedigState {
	t.Helper()
	out := runProgram(t, "GAMEDIG", "gamedig", "--type", game, addr.String(), "--givenPortOnly", "--requestRules=true", "--maxRetries=5")
	var state gamedigState
	if err := json.Unmarshal(out, &state); err != nil || state.Error != "" {
		t.Fatalf("%v, %s in %s", err, state.Error, out)
	}
	return state
}

func (g gamedigState) seen() seen {
	var names []string
	for _, p := range slices.Concat(g.Players, g.Bots) {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return seen{g.Name, g.Map, g.NumPlayers.number(), g.MaxPlayers.number(), names}
}

func runProgram(t *testing.T, variable, name string, args ...string) []byte {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		name = path
	}
	command := exec.CommandContext(t.Context(), name, args...)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, complaints.String())
	}
	return out
}
