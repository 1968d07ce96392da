package infos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/selection"
)

var eight = roomtime.Opening

// TestTaken checks that the room believes the right facts of its players' words about a server.
func TestTaken(t *testing.T) {
	named := discovery.Info{Name: "one", Map: "dm1", MaxPlayers: 16, Players: 4, GamePort: 27015, MaxPing: 200 * time.Millisecond}
	with := func(change func(*discovery.Info)) discovery.Info {
		info := named
		change(&info)
		return info
	}
	full := with(func(i *discovery.Info) { i.Players = 16 })
	port := with(func(i *discovery.Info) { i.GamePort = 4444 })
	shut := with(func(i *discovery.Info) { i.MaxPing, i.Password = time.Millisecond, true })
	moved := with(func(i *discovery.Info) { i.Map = "dm2" })
	small := with(func(i *discovery.Info) { i.MaxPlayers = 4 })
	manned := with(func(i *discovery.Info) { i.Bots = 3 })
	nameless := with(func(i *discovery.Info) { i.Name = "" })
	bare := with(func(i *discovery.Info) { i.Name, i.GamePort, i.MaxPing = "", 0, 0 })
	const alone, host = true, true
	tests := []struct {
		name  string
		alone bool // the first word's player is the only one
		host  bool // the first word is the host's
		words []discovery.Info
		want  discovery.Info
		lone  bool
	}{
		{"one player alone", alone, !host, []discovery.Info{port}, port, false},
		{"one of two", !alone, !host, []discovery.Info{named}, bare, true},
		{"one of eight", !alone, !host, []discovery.Info{full}, with(func(i *discovery.Info) {
			i.Players, i.Name, i.GamePort, i.MaxPing = 16, "", 0, 0
		}), true},
		{"the host's word", !alone, host, []discovery.Info{named}, named, false},
		{"one goes on alone", alone, !host, []discovery.Info{port, named, full}, port, false},
		{"all agree", !alone, !host, []discovery.Info{named, named}, named, false},
		{"two of three", !alone, !host, []discovery.Info{port, named, named}, named, false},
		{"another two of three", !alone, !host, []discovery.Info{named, named, shut}, named, false},
		{"one is full", !alone, !host, []discovery.Info{full, named, named}, named, false},
		{"two are full", !alone, !host, []discovery.Info{full, named, full}, full, false},
		{"full or not", !alone, !host, []discovery.Info{full, named}, named, false},
		{"two ports", !alone, !host, []discovery.Info{port, named}, with(func(i *discovery.Info) { i.GamePort = 0 }), false},
		{"open or shut", !alone, !host, []discovery.Info{named, shut}, with(func(i *discovery.Info) { i.MaxPing = 0 }), false},
		{"the wanted map", !alone, !host, []discovery.Info{named, moved}, named, false},
		{"bots or none", !alone, !host, []discovery.Info{manned, named}, named, false},
		{"bots in most words", !alone, !host, []discovery.Info{manned, named, manned}, manned, false},
		{"large or small", !alone, !host, []discovery.Info{small, named}, named, false},
		{"few ask for names", !alone, !host, []discovery.Info{nameless, nameless, named, named}, named, false},
		{"one asks for a name", !alone, !host, []discovery.Info{nameless, nameless, nameless, named}, nameless, false},
		{"the host against one", !alone, host, []discovery.Info{named, port}, named, false},
		{"the host against two", !alone, host, []discovery.Info{named, port, port}, port, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var words []word
			for i := range tt.words {
				words = append(words, word{by: people.ID(rune('a' + i)), info: &tt.words[i], at: time.Duration(i) * time.Second})
			}
			if tt.host {
				words[0].by = ""
			}
			var only people.ID
			if tt.alone {
				only = words[0].by
			}
			got, lone := believed(words, only, selection.Wishes{Map: "DM1", MaxBots: new(int)})
			if *got != tt.want || lone != tt.lone {
				t.Errorf("taken for true is %+v, lone: %v; want %+v, %v", *got, lone, tt.want, tt.lone)
			}
		})
	}
	if got, _ := believed(nil, "", selection.Wishes{}); got != nil {
		t.Errorf("of nothing heard comes %+v", *got)
	}
}

// voices returns players who were asked for the whole list, and count.
func voices(players ...people.ID) (voices []Voice) {
	for _, player := range players {
		v := Voice{Player: player, Results: &evidence.PlayerResults{}, Counts: true, Alone: len(players) == 1}
		v.Results.AskAll(eight)
		voices = append(voices, v)
	}
	return voices
}

// TestAttend checks that words are weighed again when other players count, when they are asked for
// other servers, or when the room wants something else. The words of players who are gone are
// forgotten.
func TestAttend(t *testing.T) {
	full, free := discovery.Info{Players: 16, MaxPlayers: 16}, discovery.Info{Players: 1, MaxPlayers: 16}
	var f Infos
	three := voices("ann", "bob", "cat")
	f.Hear("ann", 7, full, time.Second)
	f.Hear("bob", 7, full, time.Second)
	f.Hear("cat", 7, free, time.Second)
	f.Hear("cat", 8, free, time.Second)
	doubted := slices.Clone(three)
	doubted[0].Counts = false
	for _, step := range []struct {
		what   string
		voices []Voice
		wanted selection.Wishes
		anew   []int
		taken  int // the number of players on server 7
		lone   bool
	}{
		{"they come", three, selection.Wishes{}, []int{7, 8}, 16, false},
		{"nothing changes", slices.Clone(three), selection.Wishes{}, nil, 16, false},
		{"ann does not count", doubted, selection.Wishes{}, []int{7, 8}, 1, false},
		{"another map is wanted", doubted, selection.Wishes{Map: "dm1"}, []int{7, 8}, 1, false},
		{"fewer bots are wanted", doubted, selection.Wishes{Map: "dm1", MaxBots: new(int)}, []int{7, 8}, 1, false},
		{"as few bots are wanted", doubted, selection.Wishes{Map: "dm1", MaxBots: new(int)}, nil, 1, false},
		{"bob is gone", []Voice{doubted[0], doubted[2]}, selection.Wishes{}, []int{7, 8}, 1, true},
		{"ann counts", []Voice{three[0], three[2]}, selection.Wishes{}, []int{7, 8}, 1, false},
		{"cat is gone", three[:1], selection.Wishes{}, []int{7, 8}, 16, true},
		{"bob has said nothing any more", three[:2], selection.Wishes{}, []int{7}, 16, true},
		{"ann is alone", voices("ann"), selection.Wishes{}, []int{7}, 16, false},
		{"all are gone", nil, selection.Wishes{}, []int{7}, 0, false},
		{"nobody comes", nil, selection.Wishes{}, nil, 0, false},
	} {
		if anew := f.Attend(step.voices, step.wanted); !slices.Equal(anew, step.anew) {
			t.Errorf("%s: %v are weighed anew, want %v", step.what, anew, step.anew)
		}
		info, lone := f.infos[7], f.lone[7]
		if info == nil {
			info = &discovery.Info{}
		}
		if info.Players != step.taken || lone != step.lone {
			t.Errorf("%s: taken for true are %d players, lone: %v; want %d, %v", step.what, info.Players, lone, step.taken, step.lone)
		}
	}
}

// TestHeardUnasked checks that a word without a question does not count until the question comes.
func TestHeardUnasked(t *testing.T) {
	var f Infos
	two := voices("ann", "bob")
	for i := range two {
		*two[i].Results = evidence.PlayerResults{}
		f.Hear(two[i].Player, 3, discovery.Info{Map: "dm1", MaxPlayers: 16}, 0)
	}
	f.Attend(two, selection.Wishes{})
	if info := f.infos[3]; info != nil || f.SettleFacts(3) {
		t.Errorf("taken for true is %+v", info)
	}
	two[0].Results.Admit(3)
	if f.infos[3] != nil || !f.SettleFacts(3) {
		t.Errorf("before it is weighed is taken %+v", f.infos[3])
	}
	if info, lone := f.infos[3], f.lone[3]; info == nil || !lone {
		t.Errorf("of what ann was asked for is taken %+v, lone: %v", info, lone)
	}
	two[1].Results.AskAll(eight)
	if anew := f.Attend(two, selection.Wishes{}); !slices.Equal(anew, []int{3}) {
		t.Errorf("bob is asked for all, and weighed anew are %v", anew)
	}
	if info, lone := f.infos[3], f.lone[3]; info == nil || lone {
		t.Errorf("of what both were asked for is taken %+v, lone: %v", info, lone)
	}
	if !f.Keep(3, []people.ID{"bob"}) {
		t.Error("of bob alone is nothing new")
	}
	if info, lone := f.infos[3], f.lone[3]; info == nil || !lone {
		t.Errorf("of bob alone is taken %+v, lone: %v", info, lone)
	}
}

// TestConnect checks that everybody goes by their own word as long as most players agree on no
// port.
func TestConnect(t *testing.T) {
	var f Infos
	servers := f.About(selection.Servers{List: []discovery.Server{{Addr: netip.MustParseAddrPort("192.0.2.1:9")}}})
	f.Attend(voices("ann", "bob", "cat"), selection.Wishes{})
	hears := func(by people.ID, port uint16, want string) {
		t.Helper()
		f.Hear(by, 0, discovery.Info{MaxPlayers: 16, GamePort: port}, 0)
		got := ""
		for _, player := range []people.ID{"ann", "bob", "cat"} {
			got += fmt.Sprint(" ", f.Connect(player, 0, &servers).Port())
		}
		if got != want {
			t.Errorf("%s heard of port %d, and they go to%s, want%s", by, port, got, want)
		}
	}
	hears("ann", 1, " 1 9 9")
	hears("bob", 2, " 1 2 9")
	hears("cat", 1, " 1 1 1")
}

// TestContradictions checks that the room names a player who contradicts most others about many
// servers.
func TestContradictions(t *testing.T) {
	const servers = 30
	lasts, changes := func(i *discovery.Info) { i.Password = true }, func(i *discovery.Info) { i.Map = "lie" }
	for _, tt := range []struct {
		name    string
		players []people.ID
		lies    int // dan's, on so many servers
		lie     func(*discovery.Info)
		late    time.Duration
		seen    []int
		named   bool
	}{
		{"of all", []people.ID{"ann", "bob", "cat", "dan"}, servers, lasts, 0, nil, true},
		{"of two", []people.ID{"ann", "bob", "cat", "dan"}, 2, lasts, 0, nil, false},
		{"of three", []people.ID{"ann", "bob", "cat", "dan"}, 3, lasts, 0, nil, true},
		{"of what changes, at the same time", []people.ID{"ann", "bob", "cat", "dan"}, 13, changes, 0, nil, true},
		{"of what changes, on too few", []people.ID{"ann", "bob", "cat", "dan"}, 12, changes, 0, nil, false},
		{"but three of those that were looked at", []people.ID{"ann", "bob", "cat", "dan"}, 12, changes, 0, []int{0, 1, 2, 20, 21}, true},
		{"of what changes, later", []people.ID{"ann", "bob", "cat", "dan"}, servers, changes, time.Minute, nil, false},
		{"of all, one of two", []people.ID{"ann", "dan"}, servers, lasts, 0, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f Infos
			f.Attend(voices(tt.players...), selection.Wishes{})
			for server := range servers {
				for _, player := range tt.players {
					info, at := discovery.Info{Map: "dm1", MaxPlayers: 16}, time.Duration(0)
					if player == "dan" {
						at = tt.late
						if server < tt.lies {
							tt.lie(&info)
						}
					}
					f.Hear(player, server, info, at)
				}
			}
			got := f.Contradictions(tt.seen)
			if named := len(got) > 0; named != tt.named || named && got[0].Player != "dan" {
				t.Errorf("named are %+v, want dan: %v", got, tt.named)
			}
		})
	}
}

// TestOmitted checks that the room does not name a player whose program reads only the most important
// facts of a server's answer, and still names one who says other things.
func TestOmitted(t *testing.T) {
	whole := discovery.Info{
		Name: "Den", Map: "dm1", Mode: "0", Version: "1.36", Protocol: 71, OldestProtocol: 68, Mod: "osp", Players: 6, MaxPlayers: 16,
		Bots: 2, GamePort: 27961, AppID: 440, MinPing: 1e6, MaxPing: 300e6,
	}
	few := discovery.Info{Name: "Den", Map: "dm1", Players: 6, MaxPlayers: 16}
	other := few
	other.Version = "1.35"
	for _, tt := range []struct {
		said  discovery.Info
		named int
	}{{few, 0}, {other, 1}} {
		var f Infos
		f.Attend(voices("ann", "bob", "cat", "dan"), selection.Wishes{})
		for server := range 5 {
			for _, player := range []people.ID{"ann", "bob", "cat"} {
				f.Hear(player, server, whole, 0)
			}
			f.Hear("dan", server, tt.said, 0)
		}
		if got := f.Contradictions(nil); len(got) != tt.named {
			t.Errorf("%+v: named are %+v, want %d", tt.said, got, tt.named)
		}
	}
}

// TestHonestVolatility checks that honest players are not named, however late their words come.
// Servers change their maps, fill up and empty meanwhile, and now and then start again with other
// settings.
func TestHonestVolatility(t *testing.T) {
	t.Parallel()
	const sessions, players, servers = 200, 8, 60
	for seed := range uint64(sessions) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []people.ID
		for i := range players {
			all = append(all, people.Nth(1+i))
		}
		var f Infos
		f.Attend(voices(all...), selection.Wishes{})
		now := eight
		hears := func(by people.ID, server int, info discovery.Info) { f.Hear(by, server, info, now.Sub(eight)) }
		judge := func() {
			if named := f.Contradictions(nil); len(named) > 0 {
				t.Fatalf("session %d: an honest player is named after %v: %v", seed, now.Sub(eight), named)
			}
		}
		type state struct {
			discovery.Info
			next roomtime.Time // when the next map starts
		}
		world := make([]state, servers)
		for i := range world {
			world[i] = state{discovery.Info{Map: "m0", MaxPlayers: 16, Players: rng.IntN(17)}, now.Add(time.Duration(rng.IntN(600)) * time.Second)}
		}
		pass := func(d time.Duration) {
			for range int(d / time.Second) {
				now = now.Add(time.Second)
				for i := range world {
					s := &world[i]
					if now.After(s.next) { // a new map; some players leave when the last one ends
						s.Map, s.next = fmt.Sprint("m", rng.IntN(1000)), now.Add(10*time.Minute)
						s.Players -= rng.IntN(s.Players + 1)
					}
					switch at := rng.Float64(); {
					case at < 1.0/60:
						s.Players = min(s.Players+1, s.MaxPlayers)
					case at < 2.0/60:
						s.Players = max(s.Players-1, 0)
					case at < 2.2/60: // a group
						s.Players = min(s.Players+2+rng.IntN(7), s.MaxPlayers)
					case at < 2.2/60+1.0/86400: // the server starts again
						s.MaxPlayers, s.Password, s.Players = 8+rng.IntN(16), rng.IntN(2) == 0, 0
					}
				}
			}
		}
		next, late := map[people.ID]int{}, map[people.ID]map[int]discovery.Info{}
		for _, player := range all {
			late[player] = map[int]discovery.Info{}
		}
		for left := players; left > 0; {
			pass(time.Second)
			for i, player := range all {
				first := next[player]
				if first >= servers {
					continue
				}
				next[player] = min(first+1+rng.IntN(4), servers)
				for server := first; server < next[player]; server++ {
					late[player][server] = world[server].Info
				}
				if i > 0 || next[player] == servers { // the first player's line is down meanwhile
					for server, info := range late[player] {
						hears(player, server, info)
					}
					clear(late[player])
				}
				left -= toInt(next[player] == servers)
			}
			judge()
		}
		pass(20 * time.Second)
		for _, player := range all { // and everybody looks at five, in turn
			pass(time.Second)
			for server := range 5 {
				hears(player, server, world[server].Info)
			}
		}
		judge()
	}
}

// heardGolden is a [Infos] in its saved form.
const heardGolden = `{"infos":"AwACBAAACAADZG0xAAAAQAAEAgIAA2xpZQ==","words":"AAAAAALoBwEB0A8="}`

// TestSavedAnew checks that what is saved is as new as the words.
func TestSavedAnew(t *testing.T) {
	var f Infos
	players := []people.ID{"ann", "bob"}
	for i, change := range []func(){
		func() { f.Hear("ann", 1, discovery.Info{Map: "dm1"}, 0) },
		func() { f.Hear("ann", 1, discovery.Info{Map: "dm2"}, 0) },
		func() { f.Hear("bob", 1, discovery.Info{Map: "dm2"}, 0) },
		func() { f.Keep(1, []people.ID{"bob"}) },
		func() { f.Attend(voices("ann"), selection.Wishes{}) },
		func() { f.Hear("", 2, discovery.Info{Map: "dm3"}, 0) },
		func() { players = []people.ID{"cat", "ann", "bob"} },
	} {
		change()
		saved, err := f.Save(players)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Restore(saved, players, 3); err != nil || !reflect.DeepEqual(back.words, f.words) && len(f.words) > 0 {
			t.Errorf("%d: %v is saved as %v, %v", i, f.words, back.words, err)
		}
	}
}

// TestSaved checks that the saved form stays the same, and comes back.
func TestSaved(t *testing.T) {
	var f Infos
	players := []people.ID{"ann", "bob"}
	f.Hear("", 2, discovery.Info{Map: "dm1", MaxPlayers: 8}, 0)
	f.Hear("bob", 2, discovery.Info{Map: "dm1", MaxPlayers: 8}, time.Second)
	f.Hear("ann", 2, discovery.Info{Name: "lie", MaxPlayers: 4}, 2*time.Second)
	saved, err := f.Save(players)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := json.Marshal(saved); err != nil || string(data) != heardGolden {
		t.Errorf("saved is %s, %v, want %s", data, err, heardGolden)
	}
	var read Saved
	if err := json.Unmarshal([]byte(heardGolden), &read); err != nil {
		t.Fatal(err)
	}
	back, err := Restore(read, players, 3)
	if err != nil || !reflect.DeepEqual(back.words, f.words) {
		t.Errorf("back comes %v, %v, want %v", back, err, f)
	}
	if anew := back.Attend(nil, selection.Wishes{}); !slices.Equal(anew, []int{2}) {
		t.Errorf("what comes back counts for %v", anew)
	}
	for _, tt := range []struct {
		saved   Saved
		players []people.ID
		listed  int
	}{{read, players, 2}, {read, players[:1], 3}, {Saved{Words: read.Words}, players, 3},
		{Saved{read.Infos, read.Words[:4]}, players, 3}} {
		if back, err := Restore(tt.saved, tt.players, tt.listed); err == nil {
			t.Errorf("%d players and %d servers have %v", len(tt.players), tt.listed, back)
		}
	}
}

// FuzzInfos checks that anything that is restored or heard can be weighed, judged and saved.
func FuzzInfos(f *testing.F) {
	f.Add([]byte(heardGolden), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data, heard []byte) {
		const listed = 8
		var saved Saved
		players := []people.ID{"ann", "bob", "cat"}
		if json.Unmarshal(data, &saved) != nil {
			return
		}
		f, err := Restore(saved, players, listed)
		if err != nil {
			return
		}
		f.Attend(voices(players...), selection.Wishes{Map: "m1"})
		for i, b := range heard {
			info := discovery.Info{Map: fmt.Sprint("m", b%3), MaxPlayers: int(b % 5), GamePort: uint16(b % 2), Password: b%7 == 0}
			f.Hear(append(players, "")[b%4], int(b/4)%listed, info, time.Duration(i)*time.Second)
		}
		for server := range listed {
			info, lone := f.infos[server], f.lone[server]
			if lone && (info == nil || info.GamePort != 0 || info.Name != "" || info.MaxPing != 0) {
				t.Errorf("one player alone sends all to %+v", info)
			}
			for _, player := range players {
				f.own(player, server)
			}
		}
		for _, c := range f.Contradictions([]int{0, 1}) {
			if c.Servers < minContradicted || c.Servers > c.Of {
				t.Errorf("%s contradicts others about %d of %d servers", c.Player, c.Servers, c.Of)
			}
		}
		again, err := f.Save(players)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(again, players, listed); err != nil {
			t.Error(err)
		}
	})
}
