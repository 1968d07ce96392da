//go:build e2e

package fleet

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
)

// Programs by other authors must take the fleet's servers for real ones: QStat (Debian calls it
// quakestat) and gamedig. The environment variables QUAKESTAT and GAMEDIG name them if they are not
// in PATH.

// seen is a program's view of a server.
type seen struct {
	name, mapName       string
	players, maxPlayers int
	names               []string // of players, sorted
}

const (
	e2eRTT = 40 * time.Millisecond
	// e2eEarly allows for quakestat, which notes the time of a query after it has sent it. On a
	// busy machine that is some milliseconds late. The fleet's own tests check how exact it is
	// itself.
	e2eEarly = 10 * time.Millisecond
	e2eSlack = 25 * time.Millisecond
)

func e2eFleet(t *testing.T, kind Kind, noChallenge, oneAddress bool) *Fleet {
	w := handWorld([]time.Duration{e2eRTT},
		with(server("203.0.113.1:27960"), func(s *sim.Server) {
			s.Info = discovery.Info{Name: "Friday Night Arena", Map: "q3dm17", Mode: "0", Version: "1.32", Players: 5, Bots: 2, MaxPlayers: 16}
		}),
		with(server("203.0.113.1:27961"), func(s *sim.Server) {
			s.Info = discovery.Info{Name: "Locked and Full", Map: "q3ctf1", Mode: "4", Version: "1.32", Players: 8, MaxPlayers: 8, Password: true}
		}),
		with(server("198.51.100.9:27960"), func(s *sim.Server) {
			s.Info = discovery.Info{Name: "Nobody Home", Map: "q3tourney2", Mode: "1", Version: "1.32", MaxPlayers: 12}
		}),
		with(server("192.0.2.200:27015"), func(s *sim.Server) {
			s.Info = discovery.Info{Name: "Crowd", Map: "q3dm6", Mode: "0", Version: "1.32", Players: 100, MaxPlayers: 128}
		}))
	return startFleet(t, Options{World: w, Kind: kind, NoChallenge: noChallenge, OneAddress: oneAddress})
}

// told returns what a program should read of a server.
func (k e2eKind) told(f *Fleet, server int) seen {
	info := f.world.Servers[server].Info
	seed := f.world.Seed
	if k.kind.small() != nil {
		seed = 0
	}
	var names []string
	for c := range castOf(seed, server, &info) {
		if k.lists == 0 || len(names) < k.lists {
			names = append(names, c.name)
		}
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

// e2eKind is a kind of fleet that programs must read.
type e2eKind struct {
	name                    string
	kind                    Kind
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

var e2eFleets = []e2eKind{
	{name: "Quake 3", kind: Quake3, qstat: "q3s", gamedig: []string{"protocol-quake3", "openarena"}},
	{name: "Quake 3 on one address", kind: Quake3, oneAddress: true, qstat: "q3s", gamedig: []string{"protocol-quake3"}},
	{name: "A2S", kind: A2S, qstat: "a2s", gamedig: []string{"protocol-valve"}},
	{name: "A2S without challenge", kind: A2S, noChallenge: true, oneAddress: true, qstat: "a2s", gamedig: []string{"protocol-valve"}},
	{name: "GameSpy", kind: GameSpy, qstat: "gps", gamedig: []string{"protocol-gamespy1", "netpanzer"}},
	{name: "GameSpy 2", kind: GameSpy2, qstat: "gs2", gamedig: []string{"protocol-gamespy2"}, lists: 64},
	{name: "GameSpy 3", kind: GameSpy3, gamedig: []string{"protocol-gamespy3"}},
	{name: "Unreal 2", kind: Unreal2, gamedig: []string{"protocol-unreal2"}, noPassword: true},
	{name: "The All-Seeing Eye", kind: ASE, qstat: "eye", gamedig: []string{"protocol-ase"}},
	{name: "Doom 3", kind: Doom3, qstat: "dm3s", gamedig: []string{"protocol-doom3"}, lists: 32, counts: true},
	{name: "SA-MP", kind: SAMP, gamedig: []string{"protocol-samp"}, noMap: true, shy: true},
	{name: "Vice City", kind: VCMP, gamedig: []string{"protocol-vcmp"}, noMap: true, shy: true},
}

func TestQuakestatReadsTheFleet(t *testing.T) {
	for _, tt := range e2eFleets {
		if tt.qstat == "" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			f := e2eFleet(t, tt.kind, tt.noChallenge, tt.oneAddress)
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
					t.Errorf("%s: RTT %d ms, want %v", s.Addr, got.Ping, e2eRTT)
				}
				if len(got.Rules) == 0 {
					t.Errorf("%s: no rules", s.Addr)
				}
			}
		})
	}
}

func TestQuakestatReadsTheMaster(t *testing.T) {
	f := e2eFleet(t, Quake3, false, false)
	document := quakestat(t, "-P", "-R", "-q3m,68", f.Master().String())
	if got := document.server(t, f.Master().String()); got.Servers != len(f.Servers()) {
		t.Errorf("the master lists %d servers, want %d", got.Servers, len(f.Servers()))
	}
	for i, s := range f.Servers() {
		if got, want := document.server(t, s.Addr.String()).seen(), e2eFleets[0].told(f, i); !got.equal(want) {
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

// exact reports whether the RTT is the fleet's.
func (q qstatServer) exact() bool {
	rtt := time.Duration(q.Ping) * time.Millisecond
	return rtt >= e2eRTT-e2eEarly && rtt <= e2eRTT+e2eSlack
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
	for _, tt := range e2eFleets {
		f := e2eFleet(t, tt.kind, tt.noChallenge, tt.oneAddress)
		for _, game := range tt.gamedig {
			t.Run(tt.name+"/"+game, func(t *testing.T) {
				t.Parallel() // gamedig mostly waits
				for i, s := range f.Servers() {
					if tt.kind != Quake3 && tt.kind != A2S && i%2 == 0 {
						continue // a start of gamedig takes half a second
					}
					got := gamedig(t, game, s.Addr)
					if want := tt.told(f, i); !got.seen().equal(want) {
						t.Errorf("got %+v, want %+v", got.seen(), want)
					}
					if want := f.world.Servers[i].Info.Password; !tt.noPassword && got.Password.flag() != want {
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
