package sides

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"muster/host/room/roomtime"
	"muster/host/wire"
)

// began is when the tests begin.
var began = roomtime.Opening

// clans returns ann and bob on side a and cat and dan on side b. Eve is on neither.
func clans() *Sides {
	s := &Sides{}
	for _, name := range []string{"ann", "bob"} {
		s.Join(name, wire.SideA)
	}
	for _, name := range []string{"cat", "dan"} {
		s.Join(name, wire.SideB)
	}
	s.Settle(everybody())
	return s
}

func everybody() []string { return []string{"ann", "bob", "cat", "dan", "eve"} }

// TestSet checks the rights of people, captains and the organiser to change sides, at each time.
func TestSet(t *testing.T) {
	for _, tt := range []struct {
		what string
		by   Person
		name string
		side wire.Side
		when When
		want error
	}{
		{"choose one's own side", Person{Name: "eve"}, "eve", wire.SideB, Free, nil},
		{"change sides", Person{Name: "bob"}, "bob", wire.SideB, Free, nil},
		{"leave a side", Person{Name: "bob"}, "bob", "", Free, nil},
		{"stay", Person{Name: "bob"}, "bob", wire.SideA, Closed, nil},
		{"move somebody", Person{Name: "bob"}, "eve", wire.SideA, Free, errNotYours},
		{"a stranger's page", Person{}, "eve", wire.SideA, Free, errNotYours},
		{"a player of a moves for b", Person{Name: "bob"}, "cat", "", Free, errNotYours},
		{"a captain picks", Person{Name: "ann"}, "eve", wire.SideA, Free, nil},
		{"a captain picks for the others", Person{Name: "ann"}, "eve", wire.SideB, Free, errNotYours},
		{"a captain takes from the others", Person{Name: "ann"}, "dan", wire.SideA, Free, errNotYours},
		{"a captain sends a mate away", Person{Name: "ann"}, "bob", wire.SideB, Free, errNotYours},
		{"the organiser moves anybody", Person{IsOrganiser: true}, "dan", wire.SideA, Free, nil},
		{"the organiser takes somebody off", Person{IsOrganiser: true}, "dan", "", Free, nil},
		{"come late", Person{Name: "eve"}, "eve", wire.SideA, Joining, nil},
		{"a captain picks somebody late", Person{Name: "cat"}, "eve", wire.SideB, Joining, nil},
		{"change sides during the search", Person{Name: "bob"}, "bob", wire.SideB, Joining, errLate},
		{"leave a side during the search", Person{Name: "bob"}, "bob", "", Joining, errLate},
		{"the organiser changes sides during the search", Person{IsOrganiser: true}, "bob", wire.SideB, Joining, errLate},
		{"come in the middle of the moves", Person{Name: "eve"}, "eve", wire.SideA, Closed, errLate},
		{"the organiser in the middle of the moves", Person{IsOrganiser: true}, "eve", wire.SideA, Closed, errLate},
		{"change sides after the launch", Person{Name: "bob"}, "bob", wire.SideB, Afterwards, errLate},
		{"the organiser after the launch", Person{IsOrganiser: true}, "bob", wire.SideB, Afterwards, nil},
	} {
		s := clans()
		before := s.Of(tt.name)
		changes, err := s.Set(tt.by, tt.name, tt.side, tt.when, began)
		if err != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, err, tt.want)
		}
		switch now := s.Of(tt.name); {
		case err != nil && (now != before || len(changes) > 0):
			t.Errorf("%s: refused, and %s is on %q: %v", tt.what, tt.name, now, changes)
		case err == nil && now != tt.side:
			t.Errorf("%s: %s is on %q", tt.what, tt.name, now)
		case err == nil && (len(changes) == 1) != (before != tt.side):
			t.Errorf("%s: %v", tt.what, changes)
		}
	}
}

// TestOften checks that people cannot change sides as often as they like, and that nobody else has
// to wait for that.
func TestOften(t *testing.T) {
	s, eve := clans(), Person{Name: "eve"}
	done := 0
	for i := range 500 { // in a second
		side := []wire.Side{wire.SideA, wire.SideB, ""}[i%3]
		changes, err := s.Set(eve, "eve", side, Free, began.Add(time.Duration(i)*2*time.Millisecond))
		if done += len(changes); err != nil && err != errOften {
			t.Fatal(err)
		}
	}
	if done != 1 {
		t.Errorf("%d changes in a second", done)
	}
	if _, err := s.Set(Person{IsOrganiser: true}, "eve", wire.SideB, Free, began.Add(time.Second)); err != nil || s.Of("eve") != wire.SideB {
		t.Errorf("the organiser waits: %v", err)
	}
	if _, err := s.Set(eve, "eve", wire.SideA, Free, began.Add(2*time.Second)); err != nil {
		t.Errorf("then: %v", err)
	}
}

// TestJoin checks that a program's or link's side counts once, and moves nobody who was moved.
func TestJoin(t *testing.T) {
	s := clans()
	s.Join("eve", "")
	if s.Of("eve") != "" {
		t.Errorf("eve is on %q", s.Of("eve"))
	}
	organiser := Person{IsOrganiser: true}
	s.Set(organiser, "bob", "", Free, began)
	s.Set(organiser, "dan", wire.SideA, Free, began)
	for _, name := range []string{"bob", "dan"} {
		if changes := s.Join(name, wire.SideB); len(changes) > 0 {
			t.Errorf("%s's program takes %s to another side: %v", name, name, changes)
		}
	}
	s.Forget("bob")
	s.Join("bob", wire.SideB)
	if s.Of("bob") != wire.SideB {
		t.Error("somebody who comes in again may choose again")
	}
}

// TestCaptains checks that the first player of a side is its captain, and that the next one follows.
func TestCaptains(t *testing.T) {
	s := &Sides{}
	players := []string{"bob", "dan", "ann"}
	s.Join("guest", wire.SideA)
	s.Join("ann", wire.SideA)
	s.Join("bob", wire.SideA)
	if changes := s.Settle(players); !slices.Equal(changes, []Change{{"ann", wire.SideA, true}}) {
		t.Errorf("at first: %v", changes)
	}
	if changes := s.Settle(players); len(changes) > 0 {
		t.Errorf("again: %v", changes)
	}
	s.Join("dan", wire.SideB)
	s.Settle(players)
	for _, tt := range []struct {
		what string
		do   func()
		a, b string
	}{
		{"the captain goes", func() { s.Forget("ann") }, "bob", "dan"},
		{"one comes back", func() { s.Join("ann", wire.SideA) }, "bob", "dan"},
		{"handed on", func() { s.HandOn(Person{Name: "bob"}, "ann", players) }, "ann", "dan"},
		{"renamed", func() { s.Rename("ann", "anna"); players = []string{"bob", "dan", "anna"} }, "anna", "dan"},
		{"to the other side", func() { s.Set(Person{Name: "anna"}, "anna", wire.SideB, Free, began) }, "bob", "dan"},
		{"a program ends for good", func() { players = []string{"bob", "anna"} }, "bob", "anna"},
		{"away at the turn", func() { s.Replace(wire.SideB, []string{"bob"}) }, "bob", "anna"},
		{"somebody else is here", func() { players = append(players, "dan"); s.Replace(wire.SideB, []string{"bob", "dan"}) }, "bob", "dan"},
		{"nobody is left", func() { s.Forget("bob") }, "", "dan"},
	} {
		tt.do()
		s.Settle(players)
		if a, b := s.Captain(wire.SideA), s.Captain(wire.SideB); a != tt.a || b != tt.b {
			t.Errorf("%s: %q and %q, want %q and %q", tt.what, a, b, tt.a, tt.b)
		}
	}
}

// TestHandOn checks who may name a captain, and whom.
func TestHandOn(t *testing.T) {
	for _, tt := range []struct {
		by   Person
		name string
		want error
	}{
		{Person{Name: "ann"}, "bob", nil},
		{Person{IsOrganiser: true}, "dan", nil},
		{Person{Name: "bob"}, "bob", errCaptain},
		{Person{Name: "ann"}, "dan", errCaptain},
		{Person{Name: "ann"}, "eve", errMate},
		{Person{IsOrganiser: true}, "nobody", errMate},
		{Person{IsOrganiser: true}, "", errMate},
		{Person{}, "ann", errCaptain},
	} {
		s := clans()
		_, err := s.HandOn(tt.by, tt.name, everybody())
		if err != tt.want {
			t.Errorf("%+v names %q: %v, want %v", tt.by, tt.name, err, tt.want)
		}
		if err == nil && s.Captain(s.Of(tt.name)) != tt.name {
			t.Errorf("%s is no captain", tt.name)
		}
	}
	s := clans()
	s.Join("guest", wire.SideA)
	if _, err := s.HandOn(Person{Name: "ann"}, "guest", everybody()); err != errMate {
		t.Errorf("somebody without a program: %v", err)
	}
}

// TestAsk checks that each captain may ask for a long look once a match.
func TestAsk(t *testing.T) {
	s := clans()
	for _, name := range []string{"bob", "eve", ""} {
		if _, err := s.Ask(name); err != errCaptain {
			t.Errorf("%q: %v", name, err)
		}
	}
	if side, err := s.Ask("cat"); side != wire.SideB || err != nil || !s.HasAsked() {
		t.Errorf("cat: %q, %v", side, err)
	}
	if _, err := s.Ask("cat"); err != errAsked {
		t.Errorf("again: %v", err)
	}
	s.HandOn(Person{Name: "cat"}, "dan", everybody())
	if _, err := s.Ask("dan"); err != errAsked {
		t.Errorf("the next captain: %v", err)
	}
	if camps := s.Camps([2]string{"Reds", ""}); camps[0].Asks || !camps[1].Asks || camps[0].Name != "Reds" {
		t.Errorf("%+v", camps)
	}
	if s.Rematch(); s.HasAsked() {
		t.Error("a side has asked for the rematch")
	}
}

// TestRestored checks that a restart keeps the sides after any acts. Each side then has one captain,
// and a side without people has none.
func TestRestored(t *testing.T) {
	names := everybody()
	whole := func(acts []uint16) bool {
		s, now := &Sides{}, began
		for _, act := range acts {
			by, name := names[act%5], names[act/5%5]
			side := []wire.Side{wire.SideA, wire.SideB, ""}[act/25%3]
			switch act / 75 % 8 {
			case 0:
				s.Join(name, side)
			case 1, 2:
				s.Set(Person{by, act%7 == 0}, name, side, When(act%4), now)
			case 3:
				s.HandOn(Person{by, act%7 == 0}, name, names)
			case 4:
				s.Forget(name)
			case 5:
				s.Ask(by)
			case 6:
				s.Replace(side, names[:act%5])
			case 7:
				s.Rename(name, by)
			}
			s.Settle(names)
			now = now.Add(time.Second)
		}
		if err := s.State().Validate(names); err != nil {
			t.Errorf("%v: %v", s.State(), err)
			return false
		}
		for _, camp := range s.Camps([2]string{}) {
			if (camp.Captain == "") != (len(camp.Players) == 0) || camp.Captain != "" && !slices.Contains(camp.Players, camp.Captain) {
				t.Errorf("%+v", camp)
				return false
			}
		}
		return true
	}
	if err := quick.Check(whole, nil); err != nil {
		t.Error(err)
	}
}

// TestSavedForm checks the saved form, and that sides that could not have come about are an error.
func TestSavedForm(t *testing.T) {
	s := clans()
	s.Set(Person{Name: "eve"}, "eve", wire.SideB, Free, began)
	s.Ask("cat")
	const golden = `{"members":[{"name":"ann","side":"a"},{"name":"bob","side":"a"},{"name":"cat","side":"b"},` +
		`{"name":"dan","side":"b"},{"name":"eve","side":"b","moved":31536000000000000}],` +
		`"captains":["ann","cat"],"asks":[false,true]}`
	if data, err := json.Marshal(s.State()); err != nil || string(data) != golden {
		t.Errorf("%s, %v", data, err)
	}
	for _, bad := range []string{
		`{"members":[{"name":"ann","side":"c"}]}`,
		`{"members":[{"name":"mal","side":"a"}]}`,
		`{"members":[{"name":"ann","side":"a"},{"name":"ann","side":"b"}]}`,
		`{"members":[{"name":"ann","side":"a"}],"captains":["","ann"]}`,
		`{"captains":["ann",""]}`,
	} {
		var saved State
		if err := json.Unmarshal([]byte(bad), &saved); err != nil {
			t.Fatal(err)
		}
		if saved.Validate(everybody()) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
