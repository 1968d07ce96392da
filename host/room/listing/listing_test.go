package listing

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

func at(addr string) netip.AddrPort { return netip.MustParseAddrPort(addr) }

func addr(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960)
}

func listOf(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = addr(i)
	}
	return list
}

// said returns a list's facts about the first servers.
func said(at time.Time, names ...string) discovery.Said {
	s := discovery.Said{At: at, Infos: map[netip.AddrPort]*discovery.Info{}}
	for server, name := range names {
		s.Infos[addr(server)] = &discovery.Info{Name: name, MaxPlayers: 16, AsListed: true}
	}
	return s
}

// TestShared checks that people get the right part of a list, in order.
func TestShared(t *testing.T) {
	servers := []discovery.Server{
		{Addr: at("198.51.100.9:2"), Country: "DE", ASN: 64496},
		{Addr: at("192.0.2.7:1"), Country: "de", ASN: 0xff000000},
		{Addr: at("[::ffff:192.0.2.7]:1"), Country: "GERMANY"},
		{Addr: at("192.0.2.8:0")},
		{},
		{Addr: at("[fe80::1%eth0]:1"), Country: "D1"},
		{Addr: at("198.51.100.9:1"), Country: "DE", ASN: 64496},
	}
	got := Shared(servers, []netip.AddrPort{at("10.9.0.5:27960"), at("192.0.2.7:1"), {}})
	want := []discovery.Server{
		{Addr: at("10.9.0.5:27960")}, {Addr: at("192.0.2.7:1")}, {Addr: at("[fe80::1]:1")},
		{Addr: at("198.51.100.9:1"), Country: "DE", ASN: 64496}, {Addr: at("198.51.100.9:2"), Country: "DE", ASN: 64496},
	}
	slices.SortFunc(want, topology.Compare)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("people get %v, want %v", got, want)
	}
	long := make([]discovery.Server, discovery.MaxServers+1)
	for i := range long {
		long[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), 1)
	}
	if got := Shared(long, nil); len(got) != discovery.MaxServers {
		t.Errorf("of %d servers people get %d", len(long), len(got))
	}
	anna, ben := discovery.Server{Addr: hostport.Of("anna.example.org", 25565)}, discovery.Server{Addr: hostport.Of("ben.example.org", 25565)}
	if got := Shared([]discovery.Server{anna, ben, anna}, nil); len(got) != 2 || !slices.Contains(got, anna) || !slices.Contains(got, ben) {
		t.Errorf("of two names people get %v", got)
	}
	names := make([]discovery.Server, discovery.MaxNames+1)
	for i := range names {
		names[i].Addr = hostport.Of("s.example.org", uint16(i+1))
	}
	if got := Shared(append(names, listOf(1)...), nil); len(got) != discovery.MaxNames+1 || !slices.Contains(got, listOf(1)[0]) {
		t.Errorf("of %d names and a server people get %d", len(names), len(got))
	}
}

// TestBegin checks that a round has the right list, or the right reason why it has none.
func TestBegin(t *testing.T) {
	nothing := errors.New("no master answers")
	mine := []netip.AddrPort{at("192.168.1.5:27960")}
	for _, c := range []struct {
		name    string
		servers int
		failure error
		found   []netip.AddrPort
		listed  int
		hash    string
		note    string
		err     string
	}{
		{"a list", 2, nil, nil, 2, "hash", "", ""},
		{"a list, and servers of players", 2, nil, mine, 3, "", "", ""},
		{"no list, and servers of players", 0, nothing, mine, 1, "", "only servers on players’ own networks are listed: no master answers", ""},
		{"an empty list, and servers of players", 0, nil, mine, 1, "", "", ""},
		{"no list", 0, nothing, nil, 0, "", "", "no server list: no master answers"},
		{"an empty list", 0, nil, nil, 0, "", "", "the server list is empty"},
		{"nothing that is an address", 0, nothing, []netip.AddrPort{{}}, 0, "", "", "the server list is empty"},
	} {
		came := List{}
		if c.failure == nil {
			came = New(topology.New(listOf(c.servers)), "hash")
		}
		l, says, err := Begin(came, c.failure, c.found)
		note := catalogue.InEnglish().Say(says)
		text, listed := "", 0
		if err != nil {
			text = err.Error()
		} else {
			listed = len(l.Servers(discovery.Said{}, eight).List)
		}
		if listed != c.listed || l.hash != c.hash || note != c.note || text != c.err {
			t.Errorf("%s: %d servers of %q, %q, %q; want %d of %q, %q, %q", c.name, listed, l.hash, note, text, c.listed, c.hash, c.note, c.err)
		}
		if err == nil && c.found == nil && l.Tree() != came.Tree() {
			t.Errorf("%s: the list is not that of other rooms", c.name)
		}
		if c.failure != nil && c.found == nil && !errors.Is(err, c.failure) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

// TestDated checks that an old list leaves no server out.
func TestDated(t *testing.T) {
	l := New(topology.New(listOf(2)), "")
	for age, want := range map[time.Duration]bool{0: false, 5 * time.Minute: false, 5*time.Minute + 1: true, time.Hour: true} {
		if s := l.Servers(said(eight.Add(-age), "A"), eight); s.Dated != want || len(s.Said.Infos) != 1 || len(s.Infos)+len(s.Lone) != 0 {
			t.Errorf("a list of %v ago: %+v", age, s)
		}
	}
}

// servers returns four servers. The second and third report less than the list, the fourth reports
// everything, and the list has no facts about a fifth.
func servers(l *List) selection.Servers {
	s := l.Servers(said(eight.Add(-time.Minute), "A", "B", "C", "D"), eight)
	s.Infos = map[int]*discovery.Info{1: {}, 3: {Name: "own", Map: "own", Mode: "own", Version: "own", MaxPlayers: 2}}
	return s
}

// TestTrim checks that a room keeps the list's facts only about servers that somebody has asked and
// that report less themselves. Other rooms of the list lose nothing.
func TestTrim(t *testing.T) {
	l := New(topology.New(listOf(5)), "")
	for _, c := range []struct {
		asked []int
		want  []int
	}{
		{[]int{4, 1, 3, 0, 1}, []int{0, 1}},
		{[]int{2}, []int{2}},
		{[]int{3, 4}, nil},
		{nil, nil},
	} {
		whole := servers(&l)
		s := Trim(whole, slices.Values(c.asked))
		var kept []int
		for server := range s.List {
			if info := s.Said.Infos[addr(server)]; info != nil {
				if kept = append(kept, server); *info != *whole.Said.Infos[addr(server)] || info == whole.Said.Infos[addr(server)] {
					t.Errorf("kept of server %d is %+v", server, info)
				}
			}
		}
		if !slices.Equal(kept, c.want) || len(whole.Said.Infos) != 4 {
			t.Errorf("if %v were asked %v are kept, want %v; the others have %d", c.asked, kept, c.want, len(whole.Said.Infos))
		}
		if want := whole.Said.At; len(kept) > 0 && (!s.Said.At.Equal(want) || s.Dated) {
			t.Errorf("it was said at %v, want %v", s.Said.At, want)
		}
		if !reflect.DeepEqual(Trim(s, slices.Values(c.asked)), s) {
			t.Error("what is trimmed loses more")
		}
	}
}

// TestAwaits checks that a round waits for the organiser's program at the right times.
func TestAwaits(t *testing.T) {
	own := wire.Settings{Game: "openarena", Servers: []netip.AddrPort{addr(0)}, Renews: true}
	gone, older := own, own
	gone.Servers, older.Renews = nil, false
	for _, c := range []struct {
		name     string
		source   Source
		settings wire.Settings
		after    time.Duration
		want     bool
	}{
		{"the room was opened just now", Source{}, own, time.Minute, false},
		{"the list is old", Source{}, own, time.Minute + 1, true},
		{"it was given just now", Source{supplied: eight.Add(time.Hour)}, own, time.Hour + time.Minute, false},
		{"it was given a while ago", Source{supplied: eight.Add(time.Hour)}, own, time.Hour + time.Minute + 1, true},
		{"nobody gives it anew", Source{}, older, time.Hour, false},
		{"there is no own list", Source{}, gone, time.Hour, false},
		{"it is lost", Source{state: SourceState{OwnLost: true}}, gone, 0, true},
	} {
		if got := c.source.Awaits(c.settings, eight, eight.Add(c.after)); got != c.want {
			t.Errorf("%s: the program is awaited: %v", c.name, got)
		}
	}
}

// TestWaits checks that people read the reason for a wait for a list, and that the wait ends in
// time.
func TestWaits(t *testing.T) {
	for waited, want := range map[time.Duration]string{
		0: "", 5*time.Second - 1: "", 5 * time.Second: "the server list is slow: waiting for it",
	} {
		if got := catalogue.InEnglish().Say(Slow(waited)); got != want {
			t.Errorf("after %v people read %q", waited, got)
		}
	}
	before := "the organiser’s program gives no new server list: taking the last one"
	for _, c := range []struct {
		source Source
		waited time.Duration
		note   string
		is     bool
	}{
		{Source{}, 12 * time.Second, "", false},
		{Source{}, 12*time.Second + 1, before, true},
		{Source{state: SourceState{OwnLost: true}}, 12*time.Second + 1, "", true}, // without an earlier list
	} {
		if note, is := c.source.IsOverdue(c.waited); catalogue.InEnglish().Say(note) != c.note || is != c.is {
			t.Errorf("%+v after %v: %v, %q", c.source, c.waited, is, note)
		}
	}
}

// TestQuery checks that the room fetches the right list.
func TestQuery(t *testing.T) {
	own, brought := []netip.AddrPort{addr(0), addr(1)}, []netip.AddrPort{addr(7)}
	for _, c := range []struct {
		name   string
		source Source
		own    []netip.AddrPort
		want   Query
		err    string
	}{
		{"the game's", Source{}, nil, Query{nil, brought}, ""},
		{"the organiser's", Source{state: SourceState{OwnHash: "hash"}}, own, Query{own, brought}, ""},
		{"the server that was started", Source{state: SourceState{Started: addr(3)}}, own, Query{[]netip.AddrPort{addr(3)}, nil}, ""},
		{"lost", Source{state: SourceState{OwnLost: true}}, nil, Query{}, "the organiser’s own server list is gone: open a new room with it"},
		{"lost, and a server was started", Source{state: SourceState{OwnLost: true, Started: addr(3)}}, nil, Query{[]netip.AddrPort{addr(3)}, nil}, ""},
	} {
		got, err := c.source.Query(wire.Settings{Servers: c.own}, brought)
		if text := textOf(err); !reflect.DeepEqual(got, c.want) || text != c.err {
			t.Errorf("%s: fetched is %v, %q; want %v, %q", c.name, got, text, c.want, c.err)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestSupply checks that the room takes the right lists from the organiser's program.
func TestSupply(t *testing.T) {
	settings := wire.Settings{Game: "openarena"}
	lost := Source{state: SourceState{OwnLost: true}}
	for want, supply := range map[string]func(s *Source) error{
		"the room plays openarena, and the list is for another game": func(s *Source) error {
			return s.Supply(settings, "xonotic", []netip.AddrPort{addr(0)}, "hash", eight)
		},
		"the list is empty": func(s *Source) error { return s.Supply(settings, "openarena", nil, "hash", eight) },
	} {
		s := lost
		if err := supply(&s); textOf(err) != want || !reflect.DeepEqual(s, lost) {
			t.Errorf("it is refused with %v, and leaves %+v", err, s)
		}
	}
	s := lost
	if err := s.Supply(settings, "openarena", []netip.AddrPort{addr(0)}, "hash", eight); err != nil ||
		!reflect.DeepEqual(s, Source{state: SourceState{OwnHash: "hash"}, supplied: eight}) {
		t.Errorf("it is taken with %v, and leaves %+v", err, s)
	}
	for _, own := range [][]netip.AddrPort{nil, {addr(0)}} {
		var s Source
		s.Keep(wire.Settings{Servers: own}, "hash")
		if (s.state.OwnHash == "hash") != (len(own) > 0) {
			t.Errorf("of %v the store keeps %q", own, s.state.OwnHash)
		}
	}
}

// TestStart checks that the group goes to the right one of the organiser's servers.
func TestStart(t *testing.T) {
	settings := wire.Settings{Game: "openarena"}
	for _, c := range []struct {
		name, game, addr string
		public, between  bool
		err              string
	}{
		{"a server", "openarena", "192.0.2.9:27960", true, true, ""},
		{"one on a private network", "openarena", "10.0.0.1:1", false, true, ""},
		{"an address in six", "openarena", "[::ffff:192.0.2.9]:27960", true, true, ""},
		{"while a round goes on", "openarena", "192.0.2.9:27960", false, false,
			"the round goes on without the server that was started: it came too late, or too early"},
		{"another game", "xonotic", "192.0.2.9:27960", false, true, "the room plays openarena, but the server that was started runs another game"},
		{"no port", "openarena", "192.0.2.9:0", false, true, "192.0.2.9:0 isn’t the address of a single machine"},
		{"everybody", "openarena", "255.255.255.255:1", false, true, "255.255.255.255:1 isn’t the address of a single machine"},
		{"a zone", "openarena", "[fe80::1%eth0]:1", false, true, "[fe80::1%eth0]:1 isn’t the address of a single machine"},
		{"a private one for everybody", "openarena", "10.0.0.1:1", true, true,
			"10.0.0.1:1 is on a private network: a host on the internet doesn’t send anyone there"},
	} {
		var s Source
		says, err := s.Start(settings, c.game, at(c.addr), c.public, c.between)
		note := catalogue.InEnglish().Say(says)
		isTaken := s.state.Started == discovery.Canonical(at(c.addr)) && note == "our own server is running: everyone measures it now"
		if textOf(err) != c.err || isTaken != (c.err == "") {
			t.Errorf("%s: %q, %v, %+v", c.name, note, err, s)
		}
		if s.Stop(); s.state.Started.IsValid() {
			t.Errorf("%s: it runs for ever", c.name)
		}
	}
}

// TestChange checks that a change of settings keeps or forgets the right lists.
func TestChange(t *testing.T) {
	with := func(game string, servers ...int) wire.Settings {
		s := wire.Settings{Game: game}
		for _, server := range servers {
			s.Servers = append(s.Servers, addr(server))
		}
		return s
	}
	all := Source{state: SourceState{OwnHash: "hash", Started: addr(9)}, supplied: eight}
	for _, c := range []struct {
		name     string
		source   Source
		from, to wire.Settings
		want     Source
		note     string
	}{
		{"nothing of lists", all, with("openarena", 1), with("openarena", 1), all, ""},
		{"another list", all, with("openarena", 1), with("openarena", 2), Source{state: SourceState{Started: addr(9)}, supplied: eight}, ""},
		{"another game", all, with("openarena", 1), with("xonotic"), Source{supplied: eight},
			"the organiser’s own list of servers was for openarena"},
		{"another game, the list being lost", Source{state: SourceState{OwnLost: true}}, with("openarena"), with("xonotic"), Source{},
			"the organiser’s own list of servers was for openarena"},
		{"another game without a list", Source{state: SourceState{Started: addr(9)}}, with("openarena"), with("xonotic"), Source{}, ""},
	} {
		if note := catalogue.InEnglish().Say(c.source.Change(c.from, c.to)); note != c.note || !reflect.DeepEqual(c.source, c.want) {
			t.Errorf("%s: %q, %+v; want %q, %+v", c.name, note, c.source, c.note, c.want)
		}
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	source := Source{state: SourceState{OwnHash: "own", Started: addr(9)}, supplied: eight}
	frame, err := pack(wire.List{Round: 7, Servers: listOf(5)})
	if err != nil {
		t.Fatal(err)
	}
	const rest = `"said":"AwcCAEAAEAAAAQABQQJAABABAQABQg==","said_at":"2026-11-20T19:59:00Z",` +
		`"own_hash":"own","started":"192.0.2.9:27960"}`
	for hash, want := range map[string]string{
		"":     `{"list":"` + base64.StdEncoding.EncodeToString(frame) + `",` + rest,
		"hash": `{"list_hash":"hash",` + rest,
	} {
		l := New(topology.New(listOf(5)), hash)
		before := servers(&l)
		list, err := l.Save(7, before, slices.Values([]int{0, 1, 3}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(Saved{list, *source.State()})
		if err != nil || string(got) != want {
			t.Errorf("saved is %s, %v; want %s", got, err, want)
		}
		if again, err := l.Save(7, before, slices.Values([]int{0, 1, 3})); err != nil || !reflect.DeepEqual(again, list) {
			t.Errorf("saved again is %+v, %v", again, err)
		}
		listed, err := list.Servers()
		if hash != "" {
			listed = listOf(5)
		}
		if err != nil || !slices.Equal(listed, listOf(5)) {
			t.Errorf("the list that is saved is %v, %v", listed, err)
		}
		back, after, err := RestoreList(list, l.Tree())
		want := Trim(before, slices.Values([]int{0, 1, 3}))
		want.Infos, want.Lone = after.Infos, after.Lone // others keep these
		if err != nil || back.hash != hash || back.tree != l.tree || !reflect.DeepEqual(after, want) {
			t.Errorf("restored is %+v, %+v, %v", back, after, err)
		}
	}
	l := New(topology.New(listOf(5)), "")
	long, err := l.Save(7, servers(&l), slices.Values([]int{0, 2}))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]SavedList{
		"a word on a server outside the list": {Said: long.Said},
		"a list in place of words":            {Said: long.List},
		"no frame":                            {Said: []byte{0}},
	} {
		if _, _, err := RestoreList(s, topology.New(listOf(2))); err == nil {
			t.Errorf("%s is restored", name)
		}
	}
	for name, s := range map[string]SavedList{"words in place of a list": {List: long.Said}, "no frame": {List: []byte{0}}} {
		if list, err := s.Servers(); err == nil {
			t.Errorf("%s is restored as %v", name, list)
		}
	}
	var none List
	if s, err := none.Save(1, selection.Servers{}, slices.Values([]int(nil))); err != nil || !reflect.DeepEqual(s, SavedList{}) {
		t.Errorf("a round without a list is saved as %+v, %v", s, err)
	}
	if list, err := (SavedList{}).Servers(); err != nil || list != nil {
		t.Errorf("its list is %v, %v", list, err)
	}
}

// TestRestoredSource checks that a room knows which lists its host has lost.
func TestRestoredSource(t *testing.T) {
	own := []netip.AddrPort{addr(0)}
	const gone, ownGone = "the server list is gone: the round gets a new one", "the organiser’s own list of servers is gone"
	for _, c := range []struct {
		name  string
		saved SourceState
		own   []netip.AddrPort
		want  Source
		notes []string
	}{
		{"nothing", SourceState{}, nil, Source{}, nil},
		{"all is there", SourceState{OwnHash: "own", Started: addr(9)}, own, Source{state: SourceState{OwnHash: "own", Started: addr(9)}}, nil},
		{"a list saved with the room", SourceState{}, own, Source{}, nil},
		{"the store has lost the own list", SourceState{OwnHash: "own"}, nil, Source{state: SourceState{OwnLost: true}}, []string{ownGone}},
		{"it was lost before", SourceState{OwnLost: true}, nil, Source{state: SourceState{OwnLost: true}}, []string{ownGone}},
		{"it was lost, and is there", SourceState{OwnLost: true}, own, Source{}, nil},
		{"the round's list is lost, too", SourceState{OwnLost: true, ListLost: true}, nil,
			Source{state: SourceState{OwnLost: true, ListLost: true}}, []string{gone, ownGone}},
	} {
		s := Source{state: c.saved}
		s.State().Find(c.own)
		if !reflect.DeepEqual(s, c.want) {
			t.Errorf("%s: restored is %+v, want %+v", c.name, s, c.want)
		}
		if notes := catalogue.InEnglish().SayAll(s.Resume()); !slices.Equal(notes, c.notes) {
			t.Errorf("%s: people read %q, want %q", c.name, notes, c.notes)
		}
		if slices.Contains(s.Resume(), sentence.Of("room.list-gone")) {
			t.Errorf("%s: people read twice that the list is gone", c.name)
		}
	}
}

// FuzzRestoreList restores any bytes. They are an error, or a list that can be saved again.
func FuzzRestoreList(f *testing.F) {
	whole := New(topology.New(listOf(5)), "")
	s, err := whole.Save(7, servers(&whole), slices.Values([]int{0, 1}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.List, s.Said)
	f.Add(s.List, []byte{})
	f.Add(s.Said, s.List)
	f.Fuzz(func(t *testing.T, list, said []byte) {
		s := SavedList{List: list, Said: said, SaidAt: eight}
		listed, err := s.Servers()
		if err != nil {
			return
		}
		l, servers, err := RestoreList(s, topology.New(listed))
		if err != nil {
			return
		}
		every := make([]int, len(listed))
		for i := range every {
			every[i] = i
		}
		again, err := l.Save(1, servers, slices.Values(every))
		if err != nil {
			t.Fatalf("restored %v cannot be saved: %v", servers, err)
		}
		if _, _, err := RestoreList(again, l.Tree()); err != nil {
			t.Fatalf("saved again it cannot be restored: %v", err)
		}
	})
}

// TestOwn checks for whom the group's own server is, and what forgets it.
func TestOwn(t *testing.T) {
	own := Own{Place: "Frankfurt", Addr: addr(9), For: []string{"ann", "bob"}}
	for text, want := range map[string]bool{"ann bob": true, "bob": true, "ann cat": false, "cat": false} {
		if got := own.IsFor(strings.Fields(text)); got != want || (Own{For: own.For}).IsFor(strings.Fields(text)) {
			t.Errorf("it is for %s: %v", text, got)
		}
	}
	var s Source
	s.Remember(own)
	if s.Again(); s.State().Started != addr(9) {
		t.Errorf("the group goes back to %v", s.State().Started)
	}
	if s.Sleep(); s.State().Started.IsValid() || s.State().Own.Place != "Frankfurt" {
		t.Errorf("in the next session there is %+v", s.State())
	}
	if s.Stop(); s.State().Own.Place != "" {
		t.Errorf("stopped, there is %+v", s.State())
	}
}
