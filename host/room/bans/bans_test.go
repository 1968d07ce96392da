package bans

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

var began = roomtime.Opening

// clocks returns the clocks of a room that opened at eight.
func clocks(now roomtime.Time) roomtime.Clocks {
	return roomtime.Clocks{Room: now, Wall: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC).Add(now.Sub(roomtime.Opening))}
}

const clock = 30 * time.Second

// captains are the captains of the tests.
var captains = map[wire.Side]people.ID{wire.SideA: "anna", wire.SideB: "emil"}

// upTo returns the numbers from 0 on.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// inWords returns the moves of a series, one a word: "ban:a" is a's ban of a server, and "pick:b!"
// is b's pick of a map.
func inWords(steps []step) string {
	var words []string
	for _, s := range steps {
		word := s.Kind + ":" + string(s.Side)
		if s.Of == wire.OfMap {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestBegin checks that an order becomes the moves that its servers and maps allow.
func TestBegin(t *testing.T) {
	for _, tt := range []struct {
		order         string
		servers, maps int
		bestOf        int
		steps         string
		cut           int
	}{
		{"", 5, 0, 1, "ban:a ban:b ban:a ban:b", 0},
		{"", 2, 0, 3, "ban:a", 0},
		{"", 1, 0, 1, "", 0},
		{"ban ban ban ban pick", 6, 0, 1, "ban:a ban:b ban:a ban:b pick:a", 0},
		{"ban ban ban ban pick", 5, 0, 1, "ban:a ban:b ban:a ban:b", 0},
		{"ban ban ban ban pick", 3, 0, 1, "ban:a ban:b", 2},
		{"ban ban ban ban pick", 1, 0, 1, "", 4},
		{"pick", 5, 0, 1, "pick:a", 0},
		{"ban ban", 5, 0, 1, "ban:a ban:b", 0},
		{"pick ban", 5, 0, 1, "pick:a", 0},
		{"", 1, 7, 1, "ban:b! ban:a! ban:b! ban:a! ban:b! ban:a!", 0},
		{"", 1, 7, 3, "ban:b! ban:a! pick:b! pick:a! ban:b! ban:a!", 0},
		{"", 1, 7, 5, "ban:b! ban:a! pick:b! pick:a! pick:b! pick:a!", 0},
		{"", 1, 9, 5, "ban:b! ban:a! pick:b! pick:a! pick:b! pick:a! ban:b! ban:a!", 0},
		{"", 1, 4, 3, "ban:b! pick:a! pick:b!", 0},
		{"", 1, 3, 3, "pick:b! pick:a!", 0},
		{"", 1, 2, 3, "pick:b!", 0},
		{"", 1, 1, 3, "", 0},
		{"", 3, 3, 1, "ban:a ban:b ban:b! ban:a!", 0},
	} {
		series, cut := Begin(Setup{
			Servers: upTo(tt.servers), Order: strings.Fields(tt.order),
			Maps: strings.Split("dm6 dm17 ztn t9 camp aero cure dm2 e1m2", " ")[:tt.maps], BestOf: tt.bestOf, Clock: clock,
		}, began)
		if got := inWords(series.state.Steps); got != tt.steps || cut != tt.cut {
			t.Errorf("%q over %d servers, best of %d of %d maps: %q, %d dropped", tt.order, tt.servers, tt.bestOf, tt.maps, got, cut)
		}
		if len(tt.steps) == 0 && !series.IsOver() {
			t.Errorf("%q over %d servers is not over", tt.order, tt.servers)
		}
	}
}

// play makes moves of the captains, a second after each other. A number is a server.
func (s *Series) play(t *testing.T, rule []int, whats ...any) {
	t.Helper()
	for _, what := range whats {
		turn, is := s.Turn()
		if !is {
			t.Fatalf("no turn for %v", what)
		}
		a := Attempt{Number: turn.Number, By: captains[turn.Side], Server: -1}
		switch what := what.(type) {
		case int:
			a.Server = what
		case string:
			a.Map = what
		}
		if _, err := s.Move(a, a.By, rule, clocks(s.state.Since.Add(time.Second))); err != nil {
			t.Fatalf("move %d, %v: %v", turn.Number, what, err)
		}
	}
}

// TestMoves checks that a whole match comes to its server and its maps.
func TestMoves(t *testing.T) {
	s, _ := Begin(Setup{Servers: []int{7, 3, 9}, Maps: []string{"dm6", "dm17", "ztn", "t9", "aero"}, BestOf: 3, Clock: clock}, began)
	if s.Server() != -1 || s.IsOver() || s.Maps() != nil {
		t.Errorf("it begins with %d, %v, %q", s.Server(), s.IsOver(), s.Maps())
	}
	s.play(t, nil, 3)
	if turn, _ := s.Turn(); turn != (Turn{2, wire.Ban, wire.OfServer, wire.SideB, 2, 2, began.Add(time.Second + clock)}) {
		t.Errorf("the second turn is %+v", turn)
	}
	s.play(t, nil, 7)
	if s.Server() != 9 || s.IsOver() {
		t.Errorf("the server is %d, and the series over: %v", s.Server(), s.IsOver())
	}
	s.play(t, nil, "DM17", "t9", "aero", "ztn")
	if got := strings.Join(s.Maps(), " "); !s.IsOver() || got != "aero ztn dm6" {
		t.Errorf("the maps are %q", got)
	}
	cards := []wire.MatchServer{{Addr: "seven"}, {Addr: "three"}, {Addr: "nine"}}
	var m wire.Match
	s.View(&m, cards, [2]people.ID{"anna", "emil"}, clocks(began), nil)
	if m.Turn != nil || !m.Decided || m.Server != "nine" || strings.Join(m.Play, " ") != "aero ztn dm6" ||
		m.Servers[0].Gone != 2 || m.Servers[1].Gone != 1 || m.Servers[2].Gone != 0 || cards[0].Gone != 0 {
		t.Errorf("people see %+v", m)
	}
	var told []string
	for _, move := range m.Moves {
		told = append(told, fmt.Sprintf("%d %s %s %s %s", move.Number, move.By, move.Kind, move.Of, move.What))
	}
	if got := strings.Join(told, "; "); got != "1 anna ban server three; 2 emil ban server seven; 3 emil ban map dm17; "+
		"4 anna ban map t9; 5 emil pick map aero; 6 anna pick map ztn" {
		t.Errorf("the moves are %s", got)
	}
	if m.Maps[1] != (wire.MatchMap{Name: "dm17", Gone: 3}) || m.Maps[4] != (wire.MatchMap{Name: "aero", Picked: 5}) {
		t.Errorf("people see the maps %+v", m.Maps)
	}
}

// TestPick checks that a pick takes its server, and that without one the rule's best of those left is
// ours.
func TestPick(t *testing.T) {
	s, _ := Begin(Setup{Servers: upTo(5), Order: []string{wire.Ban, wire.Pick}, Clock: clock}, began)
	s.play(t, nil, 0, 4)
	if s.Server() != 4 || !s.IsOver() {
		t.Errorf("the server is %d", s.Server())
	}
	s, _ = Begin(Setup{Servers: upTo(5), Order: []string{wire.Ban, wire.Ban}, Clock: clock}, began)
	s.play(t, []int{4, 0, 3, 2, 1}, 0, 4)
	if s.Server() != 3 || !s.IsOver() {
		t.Errorf("the server is %d", s.Server())
	}
}

// TestRefused checks that no move counts but the captain's own, for the turn that they see, in time.
func TestRefused(t *testing.T) {
	s, _ := Begin(Setup{Servers: upTo(4), Maps: []string{"dm6", "ztn"}, BestOf: 1, Clock: clock}, began)
	s.play(t, nil, 2)
	before, _ := json.Marshal(s.State())
	for name, tt := range map[string]struct {
		a       Attempt
		captain people.ID
		after   time.Duration
		err     error
	}{
		"a late press":           {Attempt{1, "emil", 1, ""}, "emil", 5 * time.Second, errTurnOver},
		"an early press":         {Attempt{3, "emil", 1, ""}, "emil", 5 * time.Second, errTurnOver},
		"the other captain":      {Attempt{2, "anna", 1, ""}, "emil", 5 * time.Second, notYours("emil")},
		"nobody":                 {Attempt{2, "", 1, ""}, "emil", 5 * time.Second, notYours("emil")},
		"a side without players": {Attempt{2, "", 1, ""}, "", 5 * time.Second, notYours("")},
		"a banned server":        {Attempt{2, "emil", 2, ""}, "emil", 5 * time.Second, errNoFinalist},
		"no finalist":            {Attempt{2, "emil", 4, ""}, "emil", 5 * time.Second, errNoFinalist},
		"a map too early":        {Attempt{2, "emil", -1, "dm6"}, "emil", 5 * time.Second, errNoFinalist},
		"too late":               {Attempt{2, "emil", 1, ""}, "emil", clock, errTurnOver},
	} {
		_, err := s.Move(tt.a, tt.captain, nil, clocks(s.state.Since.Add(tt.after)))
		if err == nil || err.Error() != tt.err.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := json.Marshal(s.State()); string(after) != string(before) {
		t.Errorf("refused moves have changed %s to %s", before, after)
	}
	s.play(t, nil, 1, 0)
	if _, err := s.Move(Attempt{4, "emil", 3, "q3dm1"}, "emil", nil, clocks(s.state.Since)); err != errNoMap {
		t.Errorf("a map outside the pool: %v", err)
	}
	s.play(t, nil, "dm6")
	if _, err := s.Move(Attempt{5, "anna", 3, ""}, "anna", nil, clocks(s.state.Since)); err != errNoTurn {
		t.Errorf("a move after the last: %v", err)
	}
}

// TestTick checks that the series moves by the rule if a captain does not.
func TestTick(t *testing.T) {
	rule := []int{3, 1, 0} // nothing is known of 2
	s, _ := Begin(Setup{
		Servers: upTo(4), Order: []string{wire.Ban, wire.Ban, wire.Pick}, Maps: []string{"dm6", "ztn", "t9"}, BestOf: 3, Clock: clock,
	}, began)
	if _, has := s.Tick(rule, clocks(began.Add(clock-1))); has {
		t.Error("it moves before the time is up")
	}
	var made []string
	now := began
	for !s.IsOver() {
		now = now.Add(time.Minute) // each tick is late
		m, has := s.Tick(rule, clocks(now))
		if _, again := s.Tick(rule, clocks(now)); !has || again {
			t.Fatalf("at %v it moves: %v, and then again: %v", now, has, again)
		}
		made = append(made, fmt.Sprint(m.Kind, m.Server, m.Map, m.By))
	}
	if got := strings.Join(made, " "); got != "ban2 ban0 pick3 pick-1dm6 pick-1ztn" || s.Server() != 3 {
		t.Errorf("it moves %s, to %d", got, s.Server())
	}
}

// TestTime checks that only time that counts passes for a captain.
func TestTime(t *testing.T) {
	until := func(change func(*Series)) time.Duration {
		s, _ := Begin(Setup{Servers: upTo(4), Clock: clock}, began)
		change(&s)
		turn, _ := s.Turn()
		return turn.Until.Sub(began)
	}
	for name, tt := range map[string]struct {
		change func(*Series)
		want   time.Duration
	}{
		"a restart": {func(s *Series) { s.Restart(began.Add(time.Hour)) }, clock + time.Hour},
	} {
		if got := until(tt.change); got != tt.want {
			t.Errorf("%s: the turn ends after %v", name, got)
		}
	}
}

// TestFall checks that another server takes the place of one without seats: the best of those left,
// and then those that were banned, the last first.
func TestFall(t *testing.T) {
	s, _ := Begin(Setup{Servers: upTo(5), Order: []string{wire.Ban, wire.Ban, wire.Pick}, Clock: clock}, began)
	rule := []int{4, 2, 0, 1, 3}
	if s.DropServer(rule) {
		t.Error("a server falls before there is one")
	}
	s.play(t, rule, 0, 1, 2)
	if got := fmt.Sprint(s.Fallbacks(rule)); got != "[2 4 3 1 0]" || s.Server() != 2 {
		t.Errorf("it would go to %s, and goes to %d", got, s.Server())
	}
	var went []int
	for s.DropServer(rule) {
		went = append(went, s.Server())
		if err := s.State().Validate(100); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(went); got != "[4 3 1 0]" || s.Server() != 0 {
		t.Errorf("it goes to %s, and stays at %d", got, s.Server())
	}
}

// TestNamed checks that people see captains by name.
func TestNamed(t *testing.T) {
	s, _ := Begin(Setup{Servers: upTo(3), Clock: clock}, began)
	s.play(t, nil, 0)
	var m wire.Match
	names := people.NewNames(map[people.ID]string{"anna": "Anna", "emil": "Emil"})
	s.View(&m, make([]wire.MatchServer, 3), [2]people.ID{"anna", "emil"}, clocks(began), names)
	if m.Moves[0].By != "Anna" || m.Turn.Captain != "Emil" {
		t.Errorf("people see %+v, then %+v", m.Moves, m.Turn)
	}
}

// golden is a series in its saved form.
const golden = `{"servers":[7,3,9],"maps":["dm6","ztn"],"best_of":1,` +
	`"steps":[{"kind":"ban","of":"server","side":"a"},{"kind":"ban","of":"server","side":"b"},{"kind":"ban","of":"map","side":"b"}],` +
	`"moves":[{"by":"anna","server":3,"at":"2026-11-20T20:00:01Z"},{"server":9,"at":"2026-11-20T20:00:31Z"}],` +
	`"clock":30000000000,"since":31536031000000000,"server":7}`

// TestSaved checks the saved section against a golden text.
func TestSaved(t *testing.T) {
	s, _ := Begin(Setup{Servers: []int{7, 3, 9}, Maps: []string{"dm6", "ztn"}, BestOf: 1, Clock: clock}, began)
	s.play(t, nil, 3)
	s.Tick(nil, clocks(began.Add(time.Second+clock)))
	if data, err := json.Marshal(s.State()); err != nil || string(data) != golden {
		t.Errorf("%s, and not\n%s\n%v", data, golden, err)
	}
	if err := s.State().Validate(10); err != nil {
		t.Error(err)
	}
	var none Series
	if data, _ := json.Marshal(none.State()); string(data) != "{}" {
		t.Errorf("nothing is saved as %s", data)
	}
	for _, change := range [][2]string{
		{`[7,3,9]`, `[7,3,3]`}, {`[7,3,9]`, `[7,3,10]`}, {`[7,3,9]`, `[7,-1,9]`}, {`[7,3,9]`, `[7,3]`},
		{`"ztn"`, `"dm6"`}, {`"ztn"`, `""`}, {`"best_of":1`, `"best_of":3`}, {`"kind":"ban"`, `"kind":"burn"`},
		{`"side":"a"`, `"side":"b"`}, {`"server":3,`, `"server":4,`}, {`"server":9,`, `"server":3,`},
		{`,"server":7}`, `}`}, {`,"server":7}`, `,"server":4}`}, {`"clock":30000000000`, `"clock":0`},
		{`"server":7}`, `"server":7,"fallen":[1]}`},
	} {
		var saved State
		if err := json.Unmarshal([]byte(strings.Replace(golden, change[0], change[1], 1)), &saved); err != nil {
			t.Fatal(err)
		}
		if saved.Validate(10) == nil {
			t.Errorf("%s in place of %s is read", change[1], change[0])
		}
	}
}

// FuzzSeries checks that a series comes to exactly one server and to its maps, whatever people do.
func FuzzSeries(f *testing.F) {
	f.Add(byte(5), byte(7), byte(3), byte(0), []byte("\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Add(byte(3), byte(0), byte(1), byte(0xff), []byte("\xf0\xf1\xf2"))
	f.Fuzz(func(t *testing.T, servers, maps, bestOf, order byte, acts []byte) {
		setup := Setup{Servers: upTo(1 + int(servers)%9), BestOf: []int{1, 3, 5}[bestOf%3], Clock: clock}
		for i := range int(maps) % 10 {
			setup.Maps = append(setup.Maps, fmt.Sprint("map", i))
		}
		for ; order > 0; order >>= 2 {
			setup.Order = append(setup.Order, []string{wire.Ban, wire.Ban, wire.Ban, wire.Pick}[order%4])
		}
		s, _ := Begin(setup, began)
		now, steps, most := began, 0, len(acts)+1000
		for !s.IsOver() {
			act := byte(0xff) // when all have gone, the clock decides
			if len(acts) > 0 {
				act, acts = acts[0], acts[1:]
			}
			before, what := len(s.state.Moves), int(act>>3)
			a := Attempt{Number: before + 1, By: "anna", Server: what % 10, Map: fmt.Sprint("map", what%10)}
			switch act % 8 {
			case 0:
				a.By = "emil"
			case 1:
				a.Number--
			case 2:
				now = now.Add(time.Duration(what) * time.Second)
			case 3:
				if err := s.State().Validate(100); err != nil {
					t.Fatal(err)
				}
			case 7:
				now = now.Add(clock)
			}
			turn, _ := s.Turn()
			_, err := s.Move(a, captains[turn.Side], nil, clocks(now))
			if made := len(s.state.Moves) - before; err == nil && (made != 1 || a.By != captains[turn.Side]) {
				t.Fatalf("%s makes %d moves of %s's", a.By, made, captains[turn.Side])
			}
			if _, has := s.Tick(nil, clocks(now)); len(s.state.Moves)-before > 2 || has && now.Before(turn.Until) {
				t.Fatalf("the clock moves at %v, before %v", now, turn.Until)
			}
			if steps++; steps > most {
				t.Fatal("it does not end")
			}
		}
		if err := s.State().Validate(100); err != nil {
			t.Fatal(err)
		}
		played := min(setup.BestOf, len(setup.Maps))
		if s.Server() < 0 || !slices.Contains(setup.Servers, s.Server()) || len(s.Maps()) != played {
			t.Fatalf("it ends on server %d with %q", s.Server(), s.Maps())
		}
	})
}
