package sides

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// began is when the tests begin.
var began = roomtime.Opening

// clans returns ann and bob on side a and cat and dan on side b. Eve is on neither.
func clans() *Sides {
	s := &Sides{}
	for _, person := range []people.ID{"ann", "bob"} {
		s.Join(person, wire.SideA)
	}
	for _, person := range []people.ID{"cat", "dan"} {
		s.Join(person, wire.SideB)
	}
	s.Settle(everybody())
	return s
}

func everybody() []people.ID { return []people.ID{"ann", "bob", "cat", "dan", "eve"} }

// TestSet checks the rights of people, captains and the organiser to change sides, at each time.
func TestSet(t *testing.T) {
	for _, tt := range []struct {
		what   string
		by     people.Person
		person people.ID
		side   wire.Side
		when   When
		want   error
	}{
		{"choose one's own side", people.Person{ID: "eve"}, "eve", wire.SideB, Free, nil},
		{"change sides", people.Person{ID: "bob"}, "bob", wire.SideB, Free, nil},
		{"leave a side", people.Person{ID: "bob"}, "bob", "", Free, nil},
		{"stay", people.Person{ID: "bob"}, "bob", wire.SideA, Closed, nil},
		{"move somebody", people.Person{ID: "bob"}, "eve", wire.SideA, Free, errNotYours},
		{"a stranger's page", people.Person{}, "eve", wire.SideA, Free, errNotYours},
		{"a player of a moves for b", people.Person{ID: "bob"}, "cat", "", Free, errNotYours},
		{"a captain picks", people.Person{ID: "ann"}, "eve", wire.SideA, Free, nil},
		{"a captain picks for the others", people.Person{ID: "ann"}, "eve", wire.SideB, Free, errNotYours},
		{"a captain takes from the others", people.Person{ID: "ann"}, "dan", wire.SideA, Free, errNotYours},
		{"a captain sends a mate away", people.Person{ID: "ann"}, "bob", wire.SideB, Free, errNotYours},
		{"the organiser moves anybody", people.Person{IsOrganiser: true}, "dan", wire.SideA, Free, nil},
		{"the organiser takes somebody off", people.Person{IsOrganiser: true}, "dan", "", Free, nil},
		{"come late", people.Person{ID: "eve"}, "eve", wire.SideA, Joining, nil},
		{"a captain picks somebody late", people.Person{ID: "cat"}, "eve", wire.SideB, Joining, nil},
		{"change sides during the search", people.Person{ID: "bob"}, "bob", wire.SideB, Joining, errLate},
		{"leave a side during the search", people.Person{ID: "bob"}, "bob", "", Joining, errLate},
		{"the organiser changes sides during the search", people.Person{IsOrganiser: true}, "bob", wire.SideB, Joining, errLate},
		{"come in the middle of the moves", people.Person{ID: "eve"}, "eve", wire.SideA, Closed, errLate},
		{"the organiser in the middle of the moves", people.Person{IsOrganiser: true}, "eve", wire.SideA, Closed, errLate},
		{"change sides after the launch", people.Person{ID: "bob"}, "bob", wire.SideB, Afterwards, errLate},
		{"the organiser after the launch", people.Person{IsOrganiser: true}, "bob", wire.SideB, Afterwards, nil},
	} {
		s := clans()
		before := s.Of(tt.person)
		changes, err := s.Set(tt.by, tt.person, tt.side, tt.when, began)
		if err != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, err, tt.want)
		}
		switch now := s.Of(tt.person); {
		case err != nil && (now != before || len(changes) > 0):
			t.Errorf("%s: refused, and %s is on %q: %v", tt.what, tt.person, now, changes)
		case err == nil && now != tt.side:
			t.Errorf("%s: %s is on %q", tt.what, tt.person, now)
		case err == nil && (len(changes) == 1) != (before != tt.side):
			t.Errorf("%s: %v", tt.what, changes)
		}
	}
}

// TestOften checks that people cannot change sides as often as they like, and that nobody else has
// to wait for that.
func TestOften(t *testing.T) {
	s, eve := clans(), people.Person{ID: "eve"}
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
	if _, err := s.Set(people.Person{IsOrganiser: true}, "eve", wire.SideB, Free, began.Add(time.Second)); err != nil || s.Of("eve") != wire.SideB {
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
	organiser := people.Person{IsOrganiser: true}
	s.Set(organiser, "bob", "", Free, began)
	s.Set(organiser, "dan", wire.SideA, Free, began)
	for _, player := range []people.ID{"bob", "dan"} {
		if changes := s.Join(player, wire.SideB); len(changes) > 0 {
			t.Errorf("%s's program takes %s to another side: %v", player, player, changes)
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
	players := []people.ID{"bob", "dan", "ann"}
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
		a, b people.ID
	}{
		{"the captain goes", func() { s.Forget("ann") }, "bob", "dan"},
		{"one comes back", func() { s.Join("ann", wire.SideA) }, "bob", "dan"},
		{"handed on", func() { s.HandOn(people.Person{ID: "bob"}, "ann", players) }, "ann", "dan"},
		{"to the other side", func() { s.Set(people.Person{ID: "ann"}, "ann", wire.SideB, Free, began) }, "bob", "dan"},
		{"a program ends for good", func() { players = []people.ID{"bob", "ann"} }, "bob", "ann"},
		{"away at the turn", func() { s.Replace(wire.SideB, []people.ID{"bob"}) }, "bob", "ann"},
		{"somebody else is here", func() { players = append(players, "dan"); s.Replace(wire.SideB, []people.ID{"bob", "dan"}) }, "bob", "dan"},
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
		by     people.Person
		player people.ID
		want   error
	}{
		{people.Person{ID: "ann"}, "bob", nil},
		{people.Person{IsOrganiser: true}, "dan", nil},
		{people.Person{ID: "bob"}, "bob", errCaptain},
		{people.Person{ID: "ann"}, "dan", errCaptain},
		{people.Person{ID: "ann"}, "eve", errMate},
		{people.Person{IsOrganiser: true}, "nobody", errMate},
		{people.Person{IsOrganiser: true}, "", errMate},
		{people.Person{}, "ann", errCaptain},
	} {
		s := clans()
		_, err := s.HandOn(tt.by, tt.player, everybody())
		if err != tt.want {
			t.Errorf("%+v names %q: %v, want %v", tt.by, tt.player, err, tt.want)
		}
		if err == nil && s.Captain(s.Of(tt.player)) != tt.player {
			t.Errorf("%s is no captain", tt.player)
		}
	}
	s := clans()
	s.Join("guest", wire.SideA)
	if _, err := s.HandOn(people.Person{ID: "ann"}, "guest", everybody()); err != errMate {
		t.Errorf("somebody without a program: %v", err)
	}
}

// TestAsk checks that each captain may ask for a long look once a match.
func TestAsk(t *testing.T) {
	s := clans()
	for _, person := range []people.ID{"bob", "eve", ""} {
		if _, err := s.Ask(person); err != errCaptain {
			t.Errorf("%q: %v", person, err)
		}
	}
	if side, err := s.Ask("cat"); side != wire.SideB || err != nil || !s.HasAsked() {
		t.Errorf("cat: %q, %v", side, err)
	}
	if _, err := s.Ask("cat"); err != errAsked {
		t.Errorf("again: %v", err)
	}
	s.HandOn(people.Person{ID: "cat"}, "dan", everybody())
	if _, err := s.Ask("dan"); err != errAsked {
		t.Errorf("the next captain: %v", err)
	}
	if camps := s.Camps([2]string{"Reds", ""}, nil); camps[0].Asks || !camps[1].Asks || camps[0].Name != "Reds" {
		t.Errorf("%+v", camps)
	}
	if s.Rematch(); s.HasAsked() {
		t.Error("a side has asked for the rematch")
	}
}

// TestNamed checks that everyone sees the sides' people by name.
func TestNamed(t *testing.T) {
	s := &Sides{}
	s.Join("1", wire.SideA)
	s.Join("2", wire.SideA)
	s.Settle([]people.ID{"2"})
	camps := s.Camps([2]string{}, people.NewNames(map[people.ID]string{"1": "ann", "2": "bob"}))
	if a, b := camps[0], camps[1]; a.Captain != "bob" || !slices.Equal(a.Players, []string{"ann", "bob"}) || b.Captain != "" {
		t.Errorf("%+v", camps)
	}
}

// TestRestored checks that a restart keeps the sides after any acts. Each side then has one captain,
// and a side without people has none.
func TestRestored(t *testing.T) {
	everyone := everybody()
	whole := func(acts []uint16) bool {
		s, now := &Sides{}, began
		for _, act := range acts {
			by, person := everyone[act%5], everyone[act/5%5]
			side := []wire.Side{wire.SideA, wire.SideB, ""}[act/25%3]
			switch act / 75 % 7 {
			case 0:
				s.Join(person, side)
			case 1, 2:
				s.Set(people.Person{ID: by, IsOrganiser: act%7 == 0}, person, side, When(act%4), now)
			case 3:
				s.HandOn(people.Person{ID: by, IsOrganiser: act%7 == 0}, person, everyone)
			case 4:
				s.Forget(person)
			case 5:
				s.Ask(by)
			case 6:
				s.Replace(side, everyone[:act%5])
			}
			s.Settle(everyone)
			now = now.Add(time.Second)
		}
		if err := s.State().Validate(everyone); err != nil {
			t.Errorf("%v: %v", s.State(), err)
			return false
		}
		for _, camp := range s.Camps([2]string{}, nil) {
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
	s.Set(people.Person{ID: "eve"}, "eve", wire.SideB, Free, began)
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
