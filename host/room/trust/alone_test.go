package trust

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/internal/catalogue"
	"muster/selection"
)

// TestTrial checks that no server is chosen for a ping that only one player has, against all
// measurements near that server.
func TestTrial(t *testing.T) {
	// Sixty servers stand along a line, one every 10 ms, and so do the players. Dan is at its
	// beginning.
	players, places := []people.ID{"ann", "bob", "cat", "eve", "dan"}, []int{250, 300, 350, 300, 0}
	const favourite = 39
	line := func(reported int) selection.Basis {
		return world(60, players, func(player, server int) int {
			if player == 4 && server == favourite {
				return reported
			}
			return 5 + max(places[player]-10*server, 10*server-places[player])
		})
	}
	for _, of := range []struct {
		name      string
		by        selection.Rule
		reported  int
		vouched   bool
		first     time.Duration
		players   []people.ID
		elsewhere bool // the choice with the raised ping is another server, which suits the others
		note      string
	}{
		{"next door", "", 1, false, 0, players, true, "dan’s ping for 20.39.0.1:27960 is too low: servers " +
			"right next to it for everyone else are much farther from dan. It counts as 385 ms, not as 1"},
		{"the report said more", "", 1, false, 390 * ms, players, true, "dan’s ping for 20.39.0.1:27960 is too " +
			"low: servers right next to it for everyone else are much farther from dan. It counts as 390 ms, not as 1"},
		{"a better route", "", 345, false, 0, players, true, ""},
		{"a better route for the farthest", selection.Minimax, 250, false, 0, players, true, ""},
		{"no such route for the average", selection.Mean, 250, false, 0, players, true,
			"dan’s ping for 20.39.0.1:27960 is too low: servers right next to it for everyone else are much " +
				"farther from dan. It counts as 385 ms, not as 250"},
		{"the organiser vouches", "", 1, true, 0, players, true, ""},
		{"too few to tell", "", 1, false, 0, []people.ID{"ann", "bob", "dan"}, true, ""},
		{"the same is chosen all the same", "", 1, false, 0, players, false, ""},
	} {
		var d Doubts
		if of.vouched {
			d.Vouch("dan")
		}
		b := line(of.reported).For(people.Texts(of.players))
		if of.by != "" {
			b.Criteria.By = of.by
		}
		chosen := func(server int) *selection.Selection {
			return &selection.Selection{Players: people.Texts(of.players), Chosen: &selection.Ranked{Server: server}}
		}
		trial := d.Try(b, chosen(favourite), map[people.ID]Ping{"dan": {of.first, time.Duration(of.reported) * ms}})
		raised := 0
		for trial.NextFloor() {
			raised++
			if got := d.Raised("dan")[favourite]; got < 385*ms || len(d.state.Players) != 1 {
				t.Errorf("%s: dan's ping counts as %v; %+v", of.name, got, d.state.Players)
			}
			if trial.Chose(chosen(favourite)); of.elsewhere {
				trial.Chose(chosen(30))
			}
		}
		notes := trial.End()
		if strings.Join(texts(notes), "\n") != of.note || raised > 1 {
			t.Errorf("%s: after %d choices: %q", of.name, raised, notes)
		}
		if isRaised := len(d.Raised("dan")) > 0; isRaised != (of.note != "") {
			t.Errorf("%s: dan's pings count as %v", of.name, d.Raised("dan"))
		}
	}
}

// TestTrialOfAS checks that a lie about all servers of an AS is raised at once.
func TestTrialOfAS(t *testing.T) {
	b := world(40, []people.ID{"ann", "bob", "cat", "eve", "dan"}, func(player, server int) int {
		if player == 4 && server < 20 {
			return 60
		}
		return 100
	})
	for server := range b.Servers.List {
		b.Servers.List[server].ASN = uint32(1 + server/20)
	}
	var d Doubts
	trial := d.Try(b, &selection.Selection{Chosen: &selection.Ranked{Server: 0}}, nil)
	if !trial.NextFloor() || len(d.Raised("dan")) != 20 || d.Raised("dan")[19] != 100*ms {
		t.Errorf("raised are %v", d.Raised("dan"))
	}
	if trial.Chose(&selection.Selection{Chosen: &selection.Ranked{Server: 20}}); len(trial.End()) > 0 || len(d.Raised("dan")) > 0 {
		t.Errorf("the others lose nothing; raised are %v", d.Raised("dan"))
	}
}

// TestTrialHarmless checks that a ping counts as it is if the others lose nothing by it, or if
// nothing else would suit.
func TestTrialHarmless(t *testing.T) {
	b := world(3, four, func(player, server int) int { return []int{101, 100, 99, 98}[player] - []int{0, 1, 2}[server] })
	for _, of := range []struct {
		name  string
		after *selection.Selection
		worse bool
	}{
		{"another that is 1 ms better", &selection.Selection{Chosen: &selection.Ranked{Server: 1}}, false},
		{"another that is 2 ms better", &selection.Selection{Chosen: &selection.Ranked{Server: 2}}, true},
		{"none", &selection.Selection{}, false},
	} {
		var d Doubts
		trial := d.Try(b, &selection.Selection{Chosen: &selection.Ranked{}}, nil)
		trial.alone = []lone{{"dan", 49 * ms, map[int]time.Duration{0: 50 * ms}}, {"cat", 39 * ms, map[int]time.Duration{0: 40 * ms}}}
		if !trial.NextFloor() || d.Raised("dan")[0] != 50*ms || len(d.Raised("cat")) > 0 {
			t.Fatalf("raised are %+v", d.state.Players)
		}
		if trial.Chose(of.after); trial.NextFloor() {
			t.Errorf("%s: that is not enough", of.name)
		}
		if notes := trial.End(); len(notes) > 0 != of.worse || len(d.Raised("dan")) > 0 != of.worse {
			t.Errorf("%s: %q, raised are %+v", of.name, notes, d.state.Players)
		}
		if !of.worse && len(d.state.Players) > 0 {
			t.Errorf("%s: something is left of it: %+v", of.name, d.state.Players)
		}
	}
}

// TestTrialOfTwo checks that the player comes first whose results differ most from all others', and
// that no more players are raised than the room can do without.
func TestTrialOfTwo(t *testing.T) {
	players := []people.ID{"ann", "bob", "cat", "eve", "fay", "gil", "dan", "hal"}
	b := world(60, players, func(player, server int) int {
		if player >= 6 && server == 50 {
			return 1
		}
		place := []int{450, 500, 520, 480, 510, 490, 150, 0}[player]
		return 5 + max(place-10*server, 10*server-place)
	})
	var d Doubts
	chosen := &selection.Selection{Chosen: &selection.Ranked{Server: 50}}
	trial := d.Try(b, chosen, nil)
	var order []people.ID
	for trial.NextFloor() {
		for _, player := range players {
			if len(d.Raised(player)) > 0 && !slices.Contains(order, player) {
				order = append(order, player)
			}
		}
		trial.Chose(chosen)
	}
	if !slices.Equal(order, []people.ID{"hal", "dan"}) {
		t.Errorf("raised are %v", order)
	}
	if trial.alone = nil; len(d.Try(b.For(people.Texts(players[2:])), chosen, nil).alone) != 1 {
		t.Error("of six two can be done without")
	}
}

func texts(sentences []sentence.Sentence) []string { return catalogue.InEnglish().SayAll(sentences) }
