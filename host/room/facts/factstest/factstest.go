// Package factstest makes the parts of a room without the room, for tests of packages that read the
// facts and decide by them.
package factstest

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/roster"
	"muster/host/room/saved"
	"muster/host/wire"
	"muster/selection"
)

// Eight is the time at which the groups of tests meet.
var Eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// Unprobed and Lost replace an RTT.
const (
	Unprobed = 0
	Lost     = -1
)

// Group is a group that a test drives. People's names are their IDs, too.
type Group struct {
	testing.TB
	facts.Parts
	// F are the facts about it.
	F   facts.Facts
	Now roomtime.Time
}

// Clocks returns the clocks of the room, which opened at eight.
func (g *Group) Clocks() roomtime.Clocks { return ClocksAt(g.Now) }

// ClocksAt returns the clocks at a time of a room that opened at eight.
func ClocksAt(now roomtime.Time) roomtime.Clocks {
	return roomtime.Clocks{Room: now, Wall: Eight.Add(now.Sub(roomtime.Opening))}
}

// Settings returns the settings of a group that goes to the lowest average without a vote.
func Settings() wire.Settings {
	return wire.Settings{
		Name: "evening", Game: "openarena", By: selection.Mean, Strategy: string(discovery.Conventional), Agree: wire.No,
	}
}

// New returns a group of players who are here, each from an address of their own, and who measure a
// list of so many servers. The host has heard that each server has 16 seats.
func New(t testing.TB, s wire.Settings, servers int, names ...string) *Group {
	t.Helper()
	g := &Group{TB: t, Now: roomtime.Opening, Parts: facts.Parts{
		Roster: roster.New(roster.Keys{Code: "BAKODI", Link: "link", Secret: "secret"}), Settings: s, Round: facts.NewRound(1),
	}}
	g.F = g.Facts()
	g.Join(names...)
	g.Gets(List(servers))
	for server := range servers {
		g.Hears("", server, Info())
	}
	return g
}

// Info returns the facts of a server with 16 free seats.
func Info() discovery.Info { return discovery.Info{MaxPlayers: 16} }

// List returns so many servers in ten countries, each country in a network of its own.
func List(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		addr := netip.AddrFrom4([4]byte{byte(20 + i*10/servers), byte(i / 200), byte(i % 200), 1})
		list[i] = discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: string(rune('A'+i*10/servers)) + "X"}
	}
	return list
}

// Gets begins to measure a list, and local servers.
func (g *Group) Gets(list []discovery.Server, local ...nearby.Server) (found []sentence.Sentence) {
	g.Helper()
	found, note, err := g.Begin(facts.List{Tree: topology.New(list), Local: local}, g.Clocks())
	if err != nil || !note.IsZero() {
		g.Fatalf("the list begins with %q, %v", note, err)
	}
	return found
}

// Addr returns a person's address, another one for each first letter.
func Addr(name string) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, 100, name[0]}) }

// Join lets players in, each from an address of their own.
func (g *Group) Join(names ...string) {
	g.Helper()
	for _, name := range names {
		g.JoinFrom(name, origin.Origin{Addr: Addr(name)})
	}
}

// JoinFrom lets a player in.
func (g *Group) JoinFrom(name string, from origin.Origin) {
	g.Helper()
	comer := g.Roster.Recognise(wire.Hello{Name: name})
	if refusal := g.Roster.Refusal(comer, g.F.MaxPlayers(), false); refusal != nil {
		g.Fatalf("%s is refused: %v", name, refusal)
	}
	_, events := g.Roster.Admit(comer, "token of "+name, g.Now)
	g.follow(name, events)
	g.Attendance.Come(people.ID(name), "", g.Now)
	g.Evidence[people.ID(name)] = &evidence.PlayerResults{}
	g.Locate(people.ID(name), from, false)
}

// follow gives the person of a name the name as ID, and applies the events of their coming.
func (g *Group) follow(name string, events []roster.Event) {
	s := g.Roster.State()
	for _, p := range slices.Concat(s.Players, s.Guests) {
		if p.Name == name {
			p.ID = people.ID(name)
		}
	}
	for _, e := range events {
		if came, is := e.(roster.Came); is {
			came.ID = people.ID(name)
			e = came
		}
		g.ApplyEvent(e)
	}
}

// Enter lets somebody in with only the page, which stays open.
func (g *Group) Enter(name string, from origin.Origin) {
	g.Helper()
	entry, events, err := g.Roster.Enter(roster.Visit{Name: name, Token: "page of " + name, From: from.Addr}, people.Person{}, g.Now)
	if err != nil || entry.Name != name {
		g.Fatalf("%s enters as %+v, %v", name, entry, err)
	}
	g.follow(name, events)
	g.Origins.Enter(people.ID(name), from)
	g.Roster.OpenPage("page of "+name, g.Now)
}

// Measures reports a player's results for the first servers, in ms, as if asked for them.
func (g *Group) Measures(player people.ID, ms ...int) {
	g.Helper()
	w := g.Evidence[player]
	for server, ms := range ms {
		result := discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(ms) * time.Millisecond}
		switch ms {
		case Unprobed:
			continue
		case Lost:
			result.State, result.RTT = discovery.Lost, 0
		}
		w.Admit(server)
		w.Report(result, g.Now.Sub(g.Measuring), g.Now)
	}
	g.Attendance.Finish(g.Now, player)
}

// Hears notes a server's word that a player heard, or the host if nobody did.
func (g *Group) Hears(by people.ID, server int, info discovery.Info) {
	g.HearInfo(by, server, info, g.Now)
}

// Chooses makes a choice for everyone as of now the newest.
func (g *Group) Chooses() *selection.Selection {
	g.Helper()
	g.Choice.Take(g.F.Select(g.Attendance.Active()))
	return g.Choice.Newest()
}

// Saved returns the group in its saved form.
func (g *Group) Saved() saved.Room {
	g.Helper()
	s, err := g.Save()
	if err != nil {
		g.Fatal(err)
	}
	return s
}

// Text returns the group as text.
func (g *Group) Text() string {
	g.Helper()
	data, err := json.Marshal(g.Saved())
	if err != nil {
		g.Fatal(err)
	}
	return string(data)
}

// Restored returns a group that was saved.
func Restored(s *saved.Room) (facts.Parts, error) {
	servers, err := s.Listing.Servers()
	if err != nil {
		return facts.Parts{}, err
	}
	return facts.Restore(s, topology.New(servers))
}

// Chosen returns the server of a choice, -1 for none.
func Chosen(s *selection.Selection) int {
	if s == nil || s.Chosen == nil {
		return -1
	}
	return s.Chosen.Server
}

// Same requires that got and want are equal.
func Same(t testing.TB, what string, got, want any) {
	t.Helper()
	if got, want := fmt.Sprintf("%v", got), fmt.Sprintf("%v", want); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// Up returns RTTs that rise by ten from server to server.
func Up(first, servers int) []int {
	ms := make([]int, servers)
	for i := range ms {
		ms[i] = first + 10*i
	}
	return ms
}

// Down returns RTTs that fall.
func Down(last, servers int) []int {
	ms := Up(last, servers)
	slices.Reverse(ms)
	return ms
}
