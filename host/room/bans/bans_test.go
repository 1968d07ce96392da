package bans

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection/law"
)

var began = roomtime.Opening

func clocks(now roomtime.Time) roomtime.Clocks {
	return roomtime.Clocks{Room: now, Wall: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC).Add(now.Sub(roomtime.Opening))}
}

const clock = 30 * time.Second

// captains are the captains of the tests.
var captains = map[wire.Side]people.ID{wire.SideA: "anna", wire.SideB: "emil", "": "zoe"}

func led(by map[wire.Side]people.ID) func(wire.Side) people.ID {
	return func(side wire.Side) people.ID { return by[side] }
}

// upTo returns the numbers from 0 on.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// pool is as many maps.
func pool(n int) []string { return strings.Split("dm6 dm17 ztn t9 camp aero cure dm2 e1m2", " ")[:n] }

// inWords returns turns, one a word: "ban:a" is a's ban of a server, and "pick:b!" is b's pick of a
// map.
func inWords(turns []Turn) string {
	var words []string
	for _, t := range turns {
		word := t.Kind + ":" + string(t.Side)
		if t.Of == wire.OfMap {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestBegin checks that an order becomes the turns that its servers and maps allow.
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
			Servers: upTo(tt.servers), Order: strings.Fields(tt.order), Maps: pool(tt.maps), BestOf: tt.bestOf, Clock: clock,
		}, began)
		if got := inWords(series.Turns()); got != tt.steps || cut != tt.cut {
			t.Errorf("%q over %d servers, best of %d of %d maps: %q, %d dropped", tt.order, tt.servers, tt.bestOf, tt.maps, got, cut)
		}
		if series.IsOver() != (tt.steps == "") {
			t.Errorf("%q over %d servers is over: %v", tt.order, tt.servers, series.IsOver())
		}
	}
}

// play makes moves of the captains, a second after each other. A dot is a captain who lets the clock
// run out.
func (s *Series) play(t *testing.T, rule []int, whats string) {
	t.Helper()
	for _, what := range strings.Fields(whats) {
		turn, _ := s.Turn()
		if what == "." {
			late := clocks(turn.Until.Add(time.Minute))
			if s.Tick(rule, clocks(turn.Until-1)) || !s.Tick(rule, late) || s.Tick(rule, late) {
				t.Fatalf("turn %d does not end by its clock, once", turn.Number)
			}
			continue
		}
		a := Attempt{Number: turn.Number, By: captains[turn.Side]}
		a.What, _ = strconv.Atoi(what)
		if err := s.Move(a, led(captains), rule, clocks(s.state.Since.Add(time.Second))); err != nil {
			t.Fatalf("move %d, %v: %v", turn.Number, what, err)
		}
	}
}

// TestMoves checks where moves lead: to a server, to maps, and to other servers if the first have no
// seats. Those are the best of those left, and then those that were banned, the last first.
func TestMoves(t *testing.T) {
	for name, tt := range map[string]struct {
		order         string
		servers, maps int
		bestOf        int
		rule          []int
		moves         string
		made          string
		goes          []int
		play          string
	}{
		"a whole match": {"", 3, 5, 3, nil, "1 0 1 3 4 2", "1 0 1 3 4 2", []int{2, 0, 1}, "camp ztn dm6"},
		"a pick":        {"ban pick", 5, 0, 1, nil, "0 4", "0 4", []int{4, 1, 2, 3, 0}, ""},
		"several left":  {"ban ban", 5, 0, 1, []int{4, 0, 3, 2, 1}, "0 4", "0 4", []int{3, 2, 1, 4, 0}, ""},
		"a ranking":     {"ban ban pick", 5, 0, 1, []int{4, 2, 0, 1, 3}, "0 1 2", "0 1 2", []int{2, 4, 3, 1, 0}, ""},
		"by the clock":  {"ban ban pick", 4, 3, 3, []int{3, 1, 0}, ". . . . .", "2 0 3 0 1", []int{3, 1, 0, 2}, "dm6 dm17 ztn"},
		"maps banned":   {"", 1, 3, 1, nil, ". .", "2 1", []int{0}, "dm6"},
		"nothing":       {"", 1, 1, 1, nil, "", "", []int{0}, "dm6"},
		"not yet":       {"", 3, 3, 1, nil, "1", "1", nil, ""},
	} {
		s, _ := Begin(Setup{
			Servers: upTo(tt.servers), Order: strings.Fields(tt.order), Maps: pool(tt.maps), BestOf: tt.bestOf, Clock: clock,
		}, began)
		s.play(t, tt.rule, tt.moves)
		var made []string
		for _, turn := range s.Made() {
			if made = append(made, fmt.Sprint(turn.Made.What)); (turn.Made.By == "") != strings.Contains(tt.moves, ".") {
				t.Errorf("%s: %q makes move %d", name, turn.Made.By, turn.Number)
			}
		}
		if got := strings.Join(made, " "); got != tt.made || strings.Join(s.Maps(), " ") != tt.play {
			t.Errorf("%s: the moves are %s, and the maps %q", name, got, s.Maps())
		}
		fallbacks := s.Fallbacks(tt.rule)
		var went []int
		for is := s.Server() >= 0; is; is = s.DropServer(tt.rule) {
			went = append(went, s.Server())
			if err := s.State().Validate(100); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(went, tt.goes) || !slices.Equal(fallbacks, tt.goes) || s.IsOver() != (went != nil) || s.DropServer(tt.rule) {
			t.Errorf("%s: it goes to %v, and would go to %v; over: %v", name, went, fallbacks, s.IsOver())
		}
	}
}

// TestTurn checks what is said of the turn that a series waits for, and that it begins again after a
// restart.
func TestTurn(t *testing.T) {
	s, _ := Begin(Setup{Servers: upTo(3), Clock: clock}, began)
	s.play(t, nil, "1")
	want := Turn{Number: 2, Kind: wire.Ban, Of: wire.OfServer, Side: wire.SideB, Sides: []wire.Side{wire.SideB}, Nth: 2, Total: 2, Until: began.Add(time.Second + clock)}
	if turn, _ := s.Turn(); !reflect.DeepEqual(turn, want) {
		t.Errorf("the second turn is %+v", turn)
	}
	s.Restart(began.Add(time.Hour))
	if turn, _ := s.Turn(); turn.Until != began.Add(time.Hour+clock) {
		t.Errorf("after a restart it ends at %v", turn.Until)
	}
}

// TestRefused checks that no move counts but the captain's own, for the turn that they see, in time.
func TestRefused(t *testing.T) {
	s, _ := Begin(Setup{Servers: upTo(4), Maps: pool(2), BestOf: 1, Clock: clock}, began)
	s.play(t, nil, "2")
	before, _ := json.Marshal(s.State())
	for name, tt := range map[string]struct {
		a       Attempt
		captain people.ID
		after   time.Duration
		err     error
	}{
		"a late press":           {Attempt{Number: 1, By: "emil", What: 1}, "emil", 5 * time.Second, errTurnOver},
		"an early press":         {Attempt{Number: 3, By: "emil", What: 1}, "emil", 5 * time.Second, errTurnOver},
		"the other captain":      {Attempt{Number: 2, By: "anna", What: 1}, "emil", 5 * time.Second, notYours("emil")},
		"nobody":                 {Attempt{Number: 2, By: "", What: 1}, "emil", 5 * time.Second, notYours("emil")},
		"a side without players": {Attempt{Number: 2, By: "", What: 1}, "", 5 * time.Second, notYours("")},
		"a banned server":        {Attempt{Number: 2, By: "emil", What: 2}, "emil", 5 * time.Second, errNoFinalist},
		"no finalist":            {Attempt{Number: 2, By: "emil", What: 4}, "emil", 5 * time.Second, errNoFinalist},
		"no server":              {Attempt{Number: 2, By: "emil", What: -1}, "emil", 5 * time.Second, errNoFinalist},
		"too late":               {Attempt{Number: 2, By: "emil", What: 1}, "emil", clock, errTurnOver},
	} {
		err := s.Move(tt.a, led(map[wire.Side]people.ID{wire.SideB: tt.captain}), nil, clocks(s.state.Since.Add(tt.after)))
		if err == nil || err.Error() != tt.err.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := json.Marshal(s.State()); string(after) != string(before) {
		t.Errorf("refused moves have changed %s to %s", before, after)
	}
	s.play(t, nil, "1 0")
	if err := s.Move(Attempt{Number: 4, By: "emil", What: -1}, led(captains), nil, clocks(s.state.Since)); err != errNoMap {
		t.Errorf("a map outside the pool: %v", err)
	}
	s.play(t, nil, "0")
	if err := s.Move(Attempt{Number: 5, By: "anna", What: 3}, led(captains), nil, clocks(s.state.Since)); err != errNoTurn {
		t.Errorf("a move after the last: %v", err)
	}
}

// golden is a series in its saved form.
const golden = `{"servers":[7,3,9],"maps":["dm6","ztn"],"best_of":1,"clock":30000000000,` +
	`"moves":[{"by":"anna","what":3,"at":"2026-11-20T20:00:01Z"},{"what":9,"at":"2026-11-20T20:01:31Z"}],` +
	`"since":31536091000000000,"went":[7]}`

// TestSaved checks the saved section against a golden text.
func TestSaved(t *testing.T) {
	s, _ := Begin(Setup{Servers: []int{7, 3, 9}, Maps: []string{"dm6", "ztn"}, BestOf: 1, Clock: clock}, began)
	s.play(t, nil, "3 .")
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
		{`[7,3,9]`, `[7,3,3]`}, {`[7,3,9]`, `[7,3,10]`}, {`[7,3,9]`, `[7,-1,9]`}, {`[7,3,9]`, `[7,3]`}, {`[7,3,9]`, `[]`},
		{`"ztn"`, `"dm6"`}, {`"ztn"`, `""`}, {`"maps"`, `"order":["burn"],"maps"`}, {`"maps"`, `"order":["pick","ban"],"maps"`},
		{`"maps"`, `"order":["ban"],"maps":["dm6"],"more"`}, {`"what":3,`, `"what":4,`}, {`"what":9,`, `"what":3,`},
		{`[7]}`, `[]}`}, {`[7]}`, `[4]}`}, {`[7]}`, `[7,7]}`}, {`,{"what":9,"at":"2026-11-20T20:01:31Z"}`, ``},
		{`"clock":30000000000`, `"clock":0`},
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
	f.Add(byte(70), byte(32), byte(1), byte(0), []byte("\x01\x28\x08\x30\x05"))
	f.Add(byte(70), byte(112), byte(200), byte(0), []byte("\x04\x28\x0d\x28\x15"))
	f.Add(byte(3), byte(0), byte(1), byte(0xff), []byte("\xf0\xf1\xf2"))
	f.Fuzz(func(t *testing.T, servers, maps, bestOf, order byte, acts []byte) {
		setup := Setup{Servers: upTo(1 + int(servers)%9), Maps: pool(int(maps) % 10), BestOf: []int{1, 3, 5}[bestOf%3], Clock: clock}
		for n := order; n > 1; n >>= 1 {
			setup.Order = append(setup.Order, wire.Ban)
		}
		if order%2 == 1 {
			setup.Order = append(setup.Order, wire.Pick)
		}
		ways, objects := []law.Way{law.Home, law.Alternate, law.Veto, law.ByAdmin, law.InPlaces}, []string{"higher", "either", "both", "admin"}
		if servers >= 16 { // a law decides
			setup.Law = Law{Decides: servers >= 64, Way: ways[maps/16%5], Objects: objects[maps/80%4], Delays: bestOf > 100}
			for i := range setup.Servers {
				setup.Higher = append(setup.Higher, []wire.Side{wire.SideA, wire.SideB, ""}[i%3])
			}
		}
		s, _ := Begin(setup, began)
		now, steps, most := began, 0, len(acts)+1000
		for !s.IsOver() {
			act := byte(0xff) // when all have gone, the clock decides
			if len(acts) > 0 {
				act, acts = acts[0], acts[1:]
			}
			before, what := len(s.state.Moves), int(act>>3)
			a := Attempt{Number: before + 1, By: "anna", What: what % 10, Said: []string{wire.Object, wire.AskDelay, wire.Accept}[what%3]}
			switch act % 8 {
			case 4:
				a.By = captains[""]
			case 5:
				a.What = max(0, s.Server())
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
			err := s.Move(a, led(captains), nil, clocks(now))
			isTheirs := slices.ContainsFunc(turn.Sides, func(side wire.Side) bool { return captains[side] == a.By })
			if made := len(s.state.Moves) - before; err == nil && (made != 1 && !turn.Blind || !isTheirs) {
				t.Fatalf("%s makes %d moves of %v's", a.By, made, turn.Sides)
			}
			if has := s.Tick(nil, clocks(now)); len(s.state.Moves)-before > 3 || has && now.Before(turn.Until) {
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
		venues := s.Venues()
		for s.DropServer(nil) && s.IsOver() {
		}
		if !s.IsOver() || venues != nil && len(venues) != setup.BestOf || s.Server() < 0 || !slices.Contains(setup.Servers, s.Server()) || len(s.Maps()) != played {
			t.Fatalf("it ends on server %d with %q", s.Server(), s.Maps())
		}
	})
}
