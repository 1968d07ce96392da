package room_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// The facts of the servers in the tests below. The earlier a server is in the list, the better it
// is.
const disputeServers = 30

func truth(server int) discovery.Info {
	return discovery.Info{Map: "oa_dm1", Mode: "ctf", Players: server % 8, MaxPlayers: 16, MaxPing: 400 * time.Millisecond}
}

// lieAbout are the attacks: each changes a server's facts into a lie.
var lieAbout = map[string]func(*discovery.Info){
	"full":     func(i *discovery.Info) { i.Players = i.MaxPlayers },
	"no seats": func(i *discovery.Info) { i.MaxPlayers, i.Players = 1, 1 },
	"password": func(i *discovery.Info) { i.Password = true },
	"max ping": func(i *discovery.Info) { i.MaxPing = time.Millisecond },
	"min ping": func(i *discovery.Info) { i.MinPing = 900 * time.Millisecond },
	"port":     func(i *discovery.Info) { i.GamePort = 4444 },
	"name":     func(i *discovery.Info) { i.Name = "FREE SKINS AT EVIL.EXAMPLE" },
	"map":      func(i *discovery.Info) { i.Map = "oa_lie" },
	"mode":     func(i *discovery.Info) { i.Mode = "lie" },
}

// dispute is a room of honest players and liars, who all measure everything.
type dispute struct {
	*session
	honest, liars []string
	lie           func(*discovery.Info)
	// spared are the servers about which the liars tell the truth.
	spared func(server int) bool
}

func newDispute(t *testing.T, honest, liars int, agree wire.Decision, lie func(*discovery.Info), spared func(server int) bool) *dispute {
	s := settings(honest + liars)
	s.Map, s.Mode, s.Agree = "oa_dm1", "ctf", agree
	h := &dispute{session: newSession(t, s), lie: lie, spared: spared}
	for i := range honest {
		h.honest = append(h.honest, fmt.Sprint("honest", i))
	}
	for i := range liars {
		h.liars = append(h.liars, fmt.Sprint("liar", i))
	}
	return h
}

// begins lets everybody join, until they measure.
func (h *dispute) begins() {
	h.Join(h.all()...)
	h.Listed(disputeServers)
	h.InStage(wire.Measuring)
}

func (h *dispute) all() []string { return slices.Concat(h.honest, h.liars) }

// tell reports the servers' facts for some players. Liars report their false facts.
func (h *dispute) tell(names ...string) {
	for _, name := range names {
		var infos []wire.ServerInfo
		for server := range disputeServers {
			infos = append(infos, wire.ServerInfo{Server: server, Info: h.told(name, server)})
		}
		h.Says(name, wire.Infos{Round: h.Round(), Servers: infos})
	}
}

func (h *dispute) told(name string, server int) discovery.Info {
	info := truth(server)
	if slices.Contains(h.liars, name) && !h.spared(server) {
		h.lie(&info)
	}
	return info
}

// measure reports the pings, which are the same for all.
func (h *dispute) measure() {
	for _, name := range h.all() {
		var ms []int
		for server := range disputeServers {
			ms = append(ms, 10+5*server)
		}
		h.Measures(name, ms...)
	}
	h.Done(h.all()...)
}

// look answers all second looks that the room asks for, the liars' in their own way.
func (h *dispute) look() {
	for last := 0; h.Looks[h.honest[0]].Attempt > last; {
		last = h.Looks[h.honest[0]].Attempt
		for _, name := range h.all() {
			asked := h.Looks[name]
			v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
			for _, server := range asked.Servers {
				info := truth(server)
				info.Name = fmt.Sprint("server ", server)
				if slices.Contains(h.liars, name) && !h.spared(server) {
					h.lie(&info)
				}
				v.Servers = append(v.Servers, wire.Finalist{
					Server: server,
					State:  discovery.Answered,
					RTTs:   []float64{float64(10 + 5*server)},
					Sent:   3,
					Info:   &info,
				})
			}
			h.Says(name, v)
		}
	}
}

// endsWell requires that all go to the best server, under its own name, and that the room names the
// liars if it should, and nobody honest.
func (h *dispute) endsWell(named bool) {
	h.Helper()
	h.GoesTo(0)
	if got := h.View().Way.Server; got != "server 0 (192.0.2.0:27960)" {
		h.Errorf("all go to %q", got)
	}
	for _, p := range h.View().People {
		if isLiar := slices.Contains(h.liars, p.Name); !p.Doubt.IsZero() != (isLiar && named) {
			h.Errorf("of %s is said %q, want it for liars: %v; the log:\n%s", p.Name, p.Doubt, named, h.Story())
		}
	}
	for _, name := range h.honest {
		for _, m := range h.Sent[name] {
			if launch, is := m.(wire.Launch); is && launch.Address != addrOf(0).String() {
				h.Errorf("%s is sent to %s", name, launch.Address)
			}
		}
	}
	if len(h.honest) == 3 { // large rooms take long to compare
		same(h, h.Room, restored(h, h.Room))
	}
}

// TestLiarsAboutServers checks that a minority that lies about servers, all but one or only the
// best, sends nobody elsewhere. The room names the liars if they contradict the others about many
// servers.
func TestLiarsAboutServers(t *testing.T) {
	t.Parallel()
	const favourite = 20
	about := map[string]func(server int) bool{
		"all but one": func(server int) bool { return server == favourite },
		"the best":    func(server int) bool { return server > 0 },
	}
	whens := map[string]struct {
		agree wire.Decision
		do    func(h *dispute)
	}{
		"first": {wire.Undecided, func(h *dispute) {
			h.begins()
			h.tell(slices.Concat(h.liars, h.honest)...)
			h.measure()
			h.look()
		}},
		"last": {wire.Undecided, func(h *dispute) {
			h.begins()
			h.tell(h.all()...)
			h.measure()
			h.look()
		}},
		"voting": {wire.Yes, func(h *dispute) {
			honestly(h)
			for range 3 {
				h.tell(h.liars...)
				h.Wait(time.Second)
			}
			h.Goes()
			h.Wait(countdownTime + time.Second)
		}},
		"countdown": {wire.Yes, func(h *dispute) {
			honestly(h)
			h.Wait(time.Minute)
			h.Goes()
			h.Wait(time.Second)
			h.look()
			h.tell(h.liars...)
			h.Wait(countdownTime)
		}},
		"after the launch": {wire.Undecided, func(h *dispute) {
			honestly(h)
			h.tell(h.liars...)
			h.Gone("honest0")
			h.Join("honest0")
		}},
	}
	for _, of := range []struct{ honest, liars int }{{3, 1}, {7, 1}, {6, 2}} {
		for what, lie := range lieAbout {
			for which, spared := range about {
				for when, then := range whens {
					t.Run(fmt.Sprintf("%d of %d/%s/%s/%s", of.liars, of.honest+of.liars, what, which, when), func(t *testing.T) {
						h := newDispute(t, of.honest, of.liars, then.agree, lie, spared)
						then.do(h)
						h.endsWell(which == "all but one" && when != "after the launch")
					})
				}
			}
		}
	}
}

// honestly plays until everybody has looked. The liars tell the truth so far.
func honestly(h *dispute) {
	liars := h.liars
	h.liars, h.honest = nil, slices.Concat(h.honest, liars)
	h.begins()
	h.tell(h.honest...)
	h.measure()
	h.look()
	h.honest, h.liars = h.honest[:len(h.honest)-len(liars)], liars
}

// TestTwoContradict checks that one of two players cannot rule a server out for both by a
// contradiction. Nobody can tell who is right, so each goes where they themselves were told.
func TestTwoContradict(t *testing.T) {
	for what, lie := range lieAbout {
		t.Run(what, func(t *testing.T) {
			h := newDispute(t, 1, 1, wire.Undecided, lie, func(server int) bool { return server == 20 })
			h.begins()
			h.tell("liar0", "honest0")
			h.measure()
			h.look()
			h.InStage(wire.Launching)
			sent := map[string]string{}
			for name, messages := range h.Sent {
				for _, m := range messages {
					if launch, is := m.(wire.Launch); is {
						sent[name] = launch.Address
					}
				}
			}
			theirs := addrOf(0)
			if what == "port" {
				theirs = netip.AddrPortFrom(theirs.Addr(), 4444)
			}
			if sent["honest0"] != addrOf(0).String() || sent["liar0"] != theirs.String() {
				t.Errorf("they go to %v; the log:\n%s", sent, h.Story())
			}
		})
	}
}

// TestAloneIsBelieved checks that a player who plays alone is believed.
func TestAloneIsBelieved(t *testing.T) {
	h := newDispute(t, 1, 0, wire.Undecided, nil, nil)
	h.begins()
	info := truth(0)
	info.GamePort = 27015
	h.tell("honest0")
	h.Says("honest0", wire.Infos{
		Round:   1,
		Servers: []wire.ServerInfo{{Server: 0, Info: info}, {Server: 1, Info: discovery.Info{MaxPlayers: 1, Players: 1}}},
	})
	h.measure()
	h.Says("honest0", wire.Verified{Round: 1, Attempt: 1})
	if got := h.View().Way; got == nil || got.Connect != "192.0.2.0:27015" || got.QueryPort != 27960 {
		t.Errorf("goes to %+v", got)
	}
	if culled := h.Choice().Culled; culled.Filtered+culled.Full != 1 {
		t.Errorf("culled are %+v, want 1 server for what it says", culled)
	}
}

// TestLiarsInASearch checks that liars hardly change the result of a search of a long list, and are
// named. One of four, or two of eight, call all servers full but one, with or without a question.
func TestLiarsInASearch(t *testing.T) {
	const favourite = 950
	for _, of := range []struct{ honest, liars int }{{3, 1}, {6, 2}} {
		for _, unasked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d of %d, also unasked: %v", of.liars, of.honest+of.liars, unasked), func(t *testing.T) {
				var honest, liars []string
				for i := range of.honest {
					honest = append(honest, fmt.Sprint("honest", i))
				}
				for i := range of.liars {
					liars = append(liars, fmt.Sprint("liar", i))
				}
				n := searchingFor(t, room.Tuning{}, settings(of.honest+of.liars), slices.Concat(honest, liars)...)
				for range 300 {
					n.Wait(200 * time.Millisecond)
					for i, name := range honest {
						n.answersAs(i%3, name, farRTT)
					}
					for _, name := range liars {
						n.answersAs(1, name, farRTT)
						full, asked := wire.Infos{Round: 1}, map[int]bool{}
						for _, server := range n.Asked[name] {
							asked[server] = true
						}
						for server := range 1000 {
							if server != favourite && (unasked || asked[server]) {
								full.Servers = append(full.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Players: 16, MaxPlayers: 16}})
							}
						}
						n.Says(name, full)
					}
					if !n.isSearching() {
						break
					}
				}
				n.InStage(wire.Chosen)
				mean := func(server int) (sum float64) {
					for i := range honest {
						sum += float64(farRTT(i%3, server)) / 1e6 / float64(of.honest)
					}
					return sum
				}
				best := mean(0)
				for server := range 1000 {
					best = min(best, mean(server))
				}
				const cost = 2 // ms, including the liars' own RTTs
				if got := mean(n.Chosen().Server); got > best+cost {
					t.Errorf("the honest play at %.1f ms, the best is %.1f ms; the log:\n%s", got, best, n.Story())
				}
				for _, name := range n.Players() {
					why := catalogue.InEnglish().Say(n.Person(name).Doubt)
					if isLiar := slices.Contains(liars, name); strings.Contains(why, "differently from most players") != isLiar {
						t.Errorf("of %s is said %q; the log:\n%s", name, why, n.Story())
					}
				}
			})
		}
	}
}

// TestNobodyIsFramed checks that two of eight cannot discredit somebody honest by contradictions
// about servers that nobody else has asked.
func TestNobodyIsFramed(t *testing.T) {
	names := []string{"liar0", "liar1", "honest0", "honest1", "honest2", "honest3", "honest4", "honest5"}
	n := newSession(t, settings(len(names)))
	n.Join(names...)
	n.Listed(disputeServers)
	for i, name := range names[:3] {
		word := wire.Infos{Round: 1}
		for server := range disputeServers {
			word.Servers = append(word.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16, Password: i < 2}})
		}
		n.Says(name, word)
	}
	for _, name := range names {
		n.denies(name, discovery.Answered, from(0, disputeServers-1)...)
	}
	n.Done(names...)
	if stage := n.Room.Stage(); stage == wire.Measuring {
		t.Fatalf("nothing is chosen; the log:\n%s", n.Story())
	}
	for _, name := range names {
		if why := n.Person(name).Doubt; !why.IsZero() {
			t.Errorf("of %s is said: %v", name, why)
		}
	}
}

// essence returns everything that a room keeps and shows.
func essence(t *testing.T, r *room.Room) string {
	t.Helper()
	saved := roomtest.Saved(t, r)
	shown, err := json.MarshalIndent(r.Snapshot(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(saved) + string(shown)
}

// TestStaleMessages checks that a message of another round, attempt or stage is ignored as late,
// and not refused as wrong.
func TestStaleMessages(t *testing.T) {
	n := choosing(t, 3)
	before := essence(t, n.Room)
	for _, m := range []wire.Message{
		wire.Verified{Round: 1, Attempt: 2, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost}}},
		wire.Verified{Round: 2, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost}}},
		wire.Report{Round: 1, Results: []discovery.Result{{Server: 0, State: discovery.Lost}}},
		wire.Report{Round: 2, Results: []discovery.Result{{Server: 99, State: discovery.Lost}}},
		wire.Infos{Round: 2, Servers: []wire.ServerInfo{{Server: 99}}},
		wire.Done{Round: 1}, wire.Done{Round: 2}, wire.Rests{Round: 1, For: discovery.Millis(20 * time.Second)},
		wire.Launched{Round: 1, State: wire.LaunchStarted},
	} {
		n.Says("ann", m)
		if after := essence(t, n.Room); after != before {
			t.Fatalf("%+v changed the room from\n%s\nto\n%s", m, before, after)
		}
	}
	n = measuring(t, 3, "ann", "bob")
	before = essence(t, n.Room)
	n.Says("ann", wire.Rests{Round: 2, For: discovery.Millis(20 * time.Second)})
	if after := essence(t, n.Room); after != before {
		t.Errorf("a rest in another round changed the room from\n%s\nto\n%s", before, after)
	}
}

// TestNonsense checks that a program that makes no sense is told so, and does no harm.
func TestNonsense(t *testing.T) {
	tests := []struct {
		name    string
		message wire.Message
		stage   wire.Stage
	}{
		{"a server beyond the list", wire.Report{Round: 1, Results: []discovery.Result{{Server: 3, State: discovery.Lost}}}, wire.Measuring},
		{"what a server beyond the list says", wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 3}}}, wire.Measuring},
		{"no finalist", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 7}}}, wire.Chosen},
		{"a negative finalist", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: -1}}}, wire.Chosen},
		{"a host's message", wire.Measure{Round: 1}, wire.Measuring},
		{"a second hello", wire.Hello{Version: wire.Version, Name: "ann"}, wire.Measuring},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 3, "ann", "bob")
			if tt.stage == wire.Chosen {
				n = choosing(t, 3)
			}
			if err := n.Step(room.Hear{Player: "ann", Message: tt.message}); err == nil {
				t.Errorf("%+v is fine", tt.message)
			}
			n.InStage(tt.stage)
		})
	}
	n := measuring(t, 3, "ann", "bob")
	if err := n.Step(room.Hear{Player: "eve", Message: wire.Done{Round: 1}}); err == nil {
		t.Error("a stranger's word counts")
	}
}
