package room

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/topology"
	"muster/host/room/listing"
	"muster/host/room/outage"
	"muster/host/room/roster"
	"muster/host/room/saved"
	"muster/host/wire"
	"muster/selection"
)

// volatile are the fields that do not outlive the host: who is connected, what a
// Step is about, and what can be made anew.
var volatile = map[string]bool{
	"now": true, "stepped": true, "ticked": true, "due": true, "hasStopped": true, "out": true, "binds": true, "revision": true, "cost": true, "Here": true, "pages": true, "onlookers": true, "podium": true, "briefed": true, "estimators": true, "pageClosed": true, "renamed": true,
	"search": true, "turns": true, "late": true, "tree": true, "packed": true, "groups": true, "places": true,
	"record": true, "relaxed": true, "doors": true, "waitable": true, "lately": true, "returned": true, "isMute": true, "allSince": true,
	"Said": true, "Dated": true, // TestSaidSaved has what of it is kept
	"able": true, "came": true, "isListLost": true, "supplied": true, "upcoming": true, "wasUsed": true, "keyMade": true, "lookSince": true, "lookFor": true,
}

// essence is everything else of a room, a line a value, whatever a saved form
// may know of: what that forgets shows here.
func essence(r *Room) string {
	var b strings.Builder
	var dump func(path string, v reflect.Value)
	dump = func(path string, v reflect.Value) {
		if v.IsZero() {
			return
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			fmt.Fprintf(&b, "%s is %v\n", path, v.Elem().Type())
			dump(path, v.Elem())
		case reflect.Struct:
			if v.Type().String() == "evidence.word" { // there are many
				fmt.Fprintf(&b, "%s %v %v %v\n", path, v.FieldByName("by"), v.FieldByName("info").Elem(), v.FieldByName("at"))
				return
			}
			switch v.Type() {
			case reflect.TypeFor[time.Time](), reflect.TypeFor[netip.AddrPort](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.Prefix]():
				fmt.Fprintf(&b, "%s %v\n", path, v)
				return
			}
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if !volatile[name] {
					dump(path+"."+name, v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				dump(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		case reflect.Map:
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			for _, k := range keys {
				dump(fmt.Sprintf("%s[%v]", path, k), v.MapIndex(k))
			}
		default:
			fmt.Fprintf(&b, "%s %v\n", path, v)
		}
	}
	dump("room", reflect.ValueOf(r).Elem())
	return b.String()
}

func same(t testing.TB, a, b *Room) {
	t.Helper()
	if x, y := essence(a), essence(b); x != y {
		x, y, _ = differ(x, y)
		t.Errorf("the rooms differ: %s\n%s", x, y)
	}
}

// differ returns the first lines that differ.
func differ(x, y string) (string, string, bool) {
	xs, ys := strings.Split(x, "\n"), strings.Split(y, "\n")
	for i := range min(len(xs), len(ys)) {
		if xs[i] != ys[i] {
			return xs[i], ys[i], true
		}
	}
	return fmt.Sprint(len(xs), " lines"), fmt.Sprint(len(ys), " lines"), false
}

func restored(t testing.TB, r *Room) *Room {
	t.Helper()
	data, err := r.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Restore(data, topology.New)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestRestart stops the host in every stage: the room comes back as it was, and
// the night goes on when the peers are back.
func TestRestart(t *testing.T) {
	tests := []struct {
		name  string
		until func(n *session)
		// sent is what ann is sent when she is back.
		stage wire.Stage
		sent  string
		then  func(n *session)
	}{
		{"gathering, one is missing", func(n *session) { n.join("ann") }, wire.Gathering, "welcome", func(n *session) {
			n.join("bob")
			n.inStage(wire.Listing)
		}},
		{"listing", func(n *session) { n.join("ann", "bob") }, wire.Listing, "welcome", func(n *session) {
			if n.fetches != 2 {
				n.Errorf("%d lists were asked for, want another one", n.fetches)
			}
			n.join("bob")
			n.listed(2)
			n.inStage(wire.Measuring)
		}},
		{"measuring", func(n *session) {
			n.join("ann", "bob")
			n.listed(2)
			n.informs("bob", 12, 12)
			n.measures("ann", 10, lost)
			n.measures("bob", 30, 20)
			n.done("bob")
		}, wire.Measuring, "welcome list measure report", func(n *session) {
			n.join("bob")
			n.done("ann", "bob")
			n.inStage(wire.Chosen)
		}},
		{"measuring, and nobody comes back", func(n *session) {
			n.join("ann", "bob")
			n.listed(2)
		}, wire.Measuring, "welcome list measure", func(n *session) {
			n.gone("ann")
			n.wait(outage.LongestAbsence + 31*time.Second)
			n.inStage(wire.Failed)
		}},
		{"chosen", func(n *session) {
			toChosen(n)
			n.verifies("bob")
		}, wire.Chosen, "welcome list finalists", func(n *session) {
			n.verifies("ann")
			n.goesTo(0)
		}},
		{"chosen, and nobody looks", toChosen, wire.Chosen, "welcome list finalists", func(n *session) {
			n.wait(16 * time.Second)
			n.goesTo(0)
		}},
		{"launching", func(n *session) {
			toChosen(n)
			n.verifies("ann")
			n.verifies("bob")
			n.says("bob", wire.Launched{Round: 1, State: wire.LaunchStarted})
		}, wire.Launching, "welcome list launch", func(n *session) {
			n.says("ann", wire.Launched{Round: 1, State: wire.LaunchByHand})
			n.noted("bob is on the way", "the host was restarted", "ann is back", "ann joins by hand")
			n.goes()
			n.inStage(wire.Listing)
		}},
		{"failed", func(n *session) {
			n.join("ann", "bob")
			n.step(Listed{Err: errors.New("no master answers")})
		}, wire.Failed, "welcome", func(n *session) {
			n.goes()
			n.inStage(wire.Listing)
		}},
		{"the second round", func(n *session) {
			toChosen(n)
			n.verifies("ann")
			n.verifies("bob")
			n.goes()
			n.listed(3)
			n.measures("ann", 10, 20, 30)
		}, wire.Measuring, "welcome list measure report", func(n *session) {
			n.join("bob")
			n.informs("bob", 12, 12, 12)
			n.measures("bob", 30, 20, 11)
			n.done("ann", "bob")
			n.verifies("ann")
			n.verifies("bob")
			n.goesTo(0)
		}},
	}
	for _, tt := range tests {
		for name, away := range map[string]time.Duration{"": time.Hour, ", at a host whose clock is slow": -time.Hour} {
			t.Run(tt.name+name, func(t *testing.T) {
				n := newSession(t, settings(2))
				tt.until(n)
				n.inStage(tt.stage)
				before := n.room
				n.room = restored(t, before)
				same(t, before, n.room)
				n.now = n.now.Add(away)
				n.step(Resume{})
				n.inStage(tt.stage)
				n.took("ann")
				n.join("ann")
				if got := n.took("ann"); got != tt.sent {
					t.Errorf("ann is sent %q, want %q", got, tt.sent)
				}
				tt.then(n)
			})
		}
	}
}

func toChosen(n *session) {
	n.join("ann", "bob")
	n.listed(2)
	n.informs("bob", 12, 12)
	n.measures("ann", 10, 20)
	n.measures("bob", 10, 20)
	n.done("ann", "bob")
}

// TestSavedNames: what a second look found is not lost with the host.
func TestSavedNames(t *testing.T) {
	n := newSession(t, settings(2))
	toChosen(n)
	n.verifies("bob")
	n.verifies("ann")
	if got := restored(t, n.room).round.servers.Called(0); got != "server 0 (192.0.2.0:27960)" {
		t.Errorf("the restored room calls it %q", got)
	}
}

func TestRestoreRefuses(t *testing.T) {
	whole, err := choosing(t, 2).room.Save()
	if err != nil {
		t.Fatal(err)
	}
	with := func(field string, value any) string {
		var document map[string]any
		if err := json.Unmarshal(whole, &document); err != nil {
			t.Fatal(err)
		}
		if document[field] = value; value == nil {
			delete(document, field)
		}
		data, _ := json.Marshal(document)
		return string(data)
	}
	for _, data := range []string{
		"", "{}", `{"version":1}`, string(whole[:len(whole)/2]), with("version", saved.Version+1), with("version", saved.Oldest-1), with("listing", nil), with("hearsay", nil), with("choice", nil),
		with("phase", map[string]any{"name": "lunch"}), with("phase", map[string]any{"name": "launching"}),
		with("finals", map[string]any{"seen": []int{9}}), with("players", []map[string]any{{"name": "ann"}}),
		with("nearby", map[string]any{"servers": []map[string]any{{"addr": "10.9.0.5:1", "server": 2}}}),
	} {
		if room, err := Restore([]byte(data), topology.New); err == nil {
			t.Errorf("%.60q restores %+v", data, room)
		}
	}
}

func TestOver(t *testing.T) {
	n := newSession(t, settings(2))
	day := 24 * time.Hour
	if n.room.Use(eight.Add(day)).IsOver || !n.room.Use(eight.Add(day+time.Second)).IsOver {
		t.Error("an empty room is kept for a day")
	}
	n.join("ann")
	if n.room.Use(eight.Add(30 * day)).IsOver {
		t.Error("a room with someone in it is over")
	}
	n.now = eight.Add(day)
	n.gone("ann")
	if n.room.Use(eight.Add(2*day)).IsOver || !n.room.Use(eight.Add(2*day+time.Second)).IsOver {
		t.Error("a room is kept for a day after the last has left")
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// TestSavedForm holds the saved form to a golden file of its version: rooms that
// an older program saved are still read. A change of the form needs another
// version, and a file of its own.
func TestSavedForm(t *testing.T) {
	n := inVoting(t)
	n.room.settings.Limits, n.room.settings.Password = wire.Limits{150 * time.Millisecond}, "club"
	n.votes("zoe", 1)
	n.page("yan", WhatIf(`{"by":"minimax"}`))
	n.goes()
	n.room.round.list = listing.New(n.room.round.list.Tree(), "the hash of the list")
	n.room.round.servers.Said = said(n.now, time.Minute, 3, 4)
	n.room.round.servers.Said.Infos[addr(1)].Mode = "ctf"
	own := []netip.AddrPort{addr(0), addr(1)}
	n.room.settings.Servers = own
	n.step(OwnKept{"the hash of the organiser's list"})
	changeRoster(t, n.room, func(s *roster.Saved) {
		for i := range s.Guests {
			s.Guests[i].From = netip.Addr{} // as when the golden files were made
		}
	})
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("testdata/room-%d.json", saved.Version)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, data, "", " "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for version := saved.Oldest; version <= saved.Version; version++ {
		file := fmt.Sprintf("testdata/room-%d.json", version)
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if version == saved.Version && !bytes.Equal(pretty.Bytes(), golden) {
			t.Errorf("what is saved differs from %s; go test ./host/room -run SavedForm -update shows how", file)
		}
		var compact bytes.Buffer // as it was saved
		if err := json.Compact(&compact, golden); err != nil {
			t.Fatal(err)
		}
		old, err := RestoreKept(compact.Bytes(), topology.New, Kept{
			List: func(hash string) (*topology.Tree, error) {
				if hash != "the hash of the list" {
					t.Errorf("form %d asks for the list %q", version, hash)
				}
				return n.room.round.list.Tree(), nil
			},
			Own: func(hash string) ([]netip.AddrPort, error) {
				if hash != "the hash of the organiser's list" {
					t.Errorf("form %d asks for the organiser's list %q", version, hash)
				}
				return own, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if version == 1 { // which has the list in it
			old.round.list = n.room.round.list
			if looks := old.round.looks.Save(); !looks.Rests.IsZero() || looks.Asked != nil {
				t.Errorf("it knows when a look asked: %v", looks)
			}
			old.round.looks = n.room.round.looks
			if v := old.Snapshot().Voting; slices.Max(v.Numbers) > 0 {
				t.Errorf("it knows the candidates' numbers: %v", v.Numbers)
			}
			old.round.ballot.Open(old.round.options()) // as after [Resume]
			old.settings.Servers, old.source = own, n.room.source
			is, was := n.room.round.choice.Save(), old.round.choice.Save()
			for _, s := range []*selection.Selection{was.Selection, &was.WhatIf.Selection} {
				if s.Decided != nil {
					t.Errorf("it says what decided: %+v", s.Decided)
				}
			}
			was.Selection.Decided, was.WhatIf.Selection.Decided = is.Selection.Decided, is.WhatIf.Selection.Decided
			for i, p := range slices.Collect(old.roster.People()) { // and knows of no order of arrival: players come first
				if p.Arrival != i {
					t.Errorf("%s arrived %d, want %d", p.Name, p.Arrival, i)
				}
			}
			changeRoster(t, old, func(s *roster.Saved) {
				for i := range s.Players {
					s.Players[i].Arrival = n.room.roster.Person(s.Players[i].Name).Arrival
				}
				for i := range s.Guests {
					s.Guests[i].Arrival = n.room.roster.Person(s.Guests[i].Name).Arrival
				}
			})
		}
		same(t, n.room, old)
	}
}

// changeRoster changes who is in a room.
func changeRoster(t *testing.T, r *Room, change func(*roster.Saved)) {
	t.Helper()
	s := r.roster.Save()
	change(&s)
	var err error
	if r.roster, err = roster.Restore(s); err != nil {
		t.Fatal(err)
	}
}

// TestListGone: a room whose list the store has no more has its people still, and gets a
// new list: at once if it was to choose, else when the organiser says go.
func TestListGone(t *testing.T) {
	for _, tt := range []struct {
		at    func(t *testing.T) *session
		after wire.Stage
		asks  bool
	}{
		{inVoting, wire.Listing, true},
		{func(t *testing.T) *session { n := inVoting(t); n.room.launch(0); return n }, wire.Failed, false},
		{func(t *testing.T) *session { n := newSession(t, settings(3)); n.join("ann"); return n }, wire.Gathering, false},
	} {
		n := tt.at(t)
		n.room.round.list = listing.New(n.room.round.list.Tree(), "the hash of the list")
		data, err := n.room.Save()
		if err != nil || strings.Contains(string(data), `"list":`) {
			t.Fatalf("saved is %s, %v", data, err)
		}
		back, err := Restore(data, topology.New)
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := back.Step(Resume{}, n.now)
		asks := slices.ContainsFunc(outputs, func(o Output) bool { _, is := o.(Fetch); return is })
		if err != nil || back.Stage() != tt.after || asks != tt.asks {
			t.Errorf("a room in %s is in %s after, and asks for a list: %v, %v", n.room.Stage(), back.Stage(), asks, err)
		}
		if got, want := names(back.round.players), names(n.room.round.players); !slices.Equal(got, want) || !slices.Equal(back.Tokens(), n.room.Tokens()) {
			t.Errorf("it has the players %v, want %v", got, want)
		}
		same(t, back, restored(t, back))
	}
}

// TestBallotBefore3: what people had said in a room of form 2 is in the ballot box.
// TestEvidenceBefore3: what forms 1 and 2 kept of players' measurements, and of what they heard,
// is read into the sections.
// TestTrustBefore3: what spoke against players and servers in a room of form 2 still does.
// TestAttendanceBefore3: whom a round of form 2 went on without, and who had finished, is in the
// section. A player whose numbers did not count still needs the organiser's word.
// TestListsBefore3: what people had brought into a room of form 2 is still theirs.
// TestEditionsBefore3: what players had said of their versions in a room of form 2 still counts.
// TestCountedBefore3: the guests who were counted in in a room of form 2 still are.
// TestChoiceBefore3: what a room of form 2 had chosen, and what somebody had supposed, is read
// into the section.
// TestLogBefore3: what the people in a room of form 2 were told is in its journal.
// TestCalendarBefore3: what a standing room of form 2 kept, and what its people said of coming,
// is in its calendar.
// TestPauseBefore3: what forms 1 and 2 kept of a pause is read into its section.
// TestListingBefore3: what forms 1 and 2 kept of lists is read into the section.
// TestNearbyBefore3: the servers on local networks that forms 1 and 2 kept are read into their
// section.
// TestPlacesBefore3: what the players in a room of form 2 had measured of places is in the survey.
// TestRosterBefore3: who was in a room of form 2, and what they showed, is on its roster.
// TestLaunchBefore3: how far players had got in a room of form 2 is in its section.
// TestOriginsBefore3: where people in a room of form 2 came from is in its section.
