package lobby

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// TestTyping checks what typed lines do. Enter means what the terminal offered last, after a moment
// on the screen, and never begins a round by accident. What the terminal does not do leads to the page.
func TestTyping(t *testing.T) {
	voting, countdown := voting(), voting()
	countdown.Voting.LaunchAt = time.Unix(1_800_000_000, 0)
	renumbered, banning, standing := voting, at(wire.Chosen), at(wire.Gathering)
	renumbered.Voting.Ballot, renumbered.Voting.Numbers = []string{voting.Voting.Ballot[2], voting.Voting.Ballot[0]}, []int{4, 1}
	banning.Match = &wire.Match{Turn: &wire.Turn{Number: 2, Kind: wire.Ban, Captain: "ann"}, Servers: make([]wire.MatchServer, 3)}
	standing.Meeting = &wire.Meeting{Next: time.Unix(1_800_000_000, 0)}
	moving, mapless := at(wire.Launching), at(wire.Launching)
	moving.Room.Round, mapless.Room.Round = voting.Room.Round, voting.Room.Round
	moving.Moving = &wire.Moving{Proposal: &wire.MoveProposal{Addr: "192.0.2.9:27960", TellsMap: true}}
	mapless.Moving = &wire.Moving{Proposal: &wire.MoveProposal{Addr: "192.0.2.9:27960"}}
	all := []wire.Snapshot{at(wire.Gathering), at(wire.Listing), at(wire.Measuring), at(wire.Chosen), voting, countdown, at(wire.Launching)}
	failed, vote := []wire.Snapshot{at(wire.Measuring), at(wire.Failed)}, []wire.Snapshot{voting}
	const late, soon = settled, settled - time.Millisecond
	const page, keys = "LINK", "type a number to vote"
	for _, tt := range []struct {
		name  string
		shown []wire.Snapshot
		after time.Duration // since it was shown
		lines []string
		want  []string
		says  string
	}{
		{"before anything is known", nil, 0, []string{""}, []string{"go gathering"}, ""},
		{"as soon as the room is there", all[:1], 0, []string{""}, []string{"go gathering"}, ""},
		// the room accepts one of them
		{"twice in a row, before the room has moved", all[:1], 0, []string{"", ""}, []string{"go gathering", "go gathering"}, ""},
		{"the second of two, as the room lists", all[:2], late, []string{""}, nil, ""},
		{"the second of two, as all measure", all[:3], soon, []string{""}, nil, ""},
		{"while all measure", all[:3], late, []string{""}, []string{"go measuring"}, ""},
		{"as all look again", all[:4], late, []string{""}, nil, ""},
		{"as people begin to vote", all[:5], soon, []string{""}, nil, ""},
		{"as people vote", all[:5], late, []string{""}, []string{"go chosen"}, ""},
		{"while the countdown runs", all[:6], late, []string{"", ""}, nil, ""},
		{"as everybody is sent there", all, soon, []string{""}, nil, ""},
		{"after the choice", all, late, []string{"", "", ""}, nil, "type next for another round"},
		{"the next round", all, 0, []string{" Next "}, []string{"go launching"}, ""},
		{"the next round too early", all[:3], late, []string{"next"}, nil, page},
		{"after a failure at once", failed, soon, []string{""}, nil, ""},
		{"after a failure", failed, late, []string{""}, []string{"go failed"}, ""},
		{"to end", all[:3], 0, []string{"END"}, []string{"end"}, ""},
		{"to end during a vote", vote, 0, []string{"end"}, []string{"end"}, ""},
		{"to wait no longer", []wire.Snapshot{at(wire.Failed), at(wire.Waiting)}, late, []string{""}, []string{"go waiting"}, ""},
		{"settings", all[:1], 0, []string{"set players 4", "Set  Map  dm 6 ", "set map 6", "set map", "set max-rtt 150ms,0.2s", "set limits_ms 150",
			"set limits_ms", "set vote true", "set long-look 30s", "set max_bots null", "set prefer_ms 5", "set players many"},
			[]string{`{"players":4}`, `{"map":"dm 6"}`, `{"map":"6"}`, `{"map":""}`, `{"limits_ms":[150,200]}`, `{"limits_ms":[150]}`,
				`{"limits_ms":[]}`, `{"agree":true}`, `{"long_look_ms":30000}`, `{"max_bots":null}`, `{"prefer_ms":5}`, `{"players":"many"}`}, ""},
		{"a setting that is none", all[:1], 0, []string{"set colour red"}, nil, "players"},
		{"a setting that nobody changes by hand", all[:1], 0, []string{"set look_around true"}, nil, "which setting? game by max-rtt"},
		{"help", all[:1], 0, []string{"help"}, nil, "type set players 4 to change a setting, or end to end the night\nyour page does everything else: LINK\n"},
		{"another word", all[:3], late, []string{"y"}, nil, page},
		{"who comes along", vote, 0, []string{"along", "without", "count zoe"}, nil, page},
		{"who waits for a seat", failed, 0, []string{"wait ann"}, nil, page},
		{"a ban", []wire.Snapshot{banning}, 0, []string{"ban 1", "2"}, nil, page},
		{"a date", []wire.Snapshot{standing}, 0, []string{"come", "liked"}, nil, page},
		{"votes", vote, 0, []string{"3", "0", "v3", "V 3", "veto 3", "r", "Ready", "w"}, []string{"vote 192.0.2.9:27960", "vote ", "veto 192.0.2.9:27960",
			"veto 192.0.2.9:27960", "veto 192.0.2.9:27960", "ready ", "ready ", "wait "}, ""},
		{"votes by number", []wire.Snapshot{renumbered}, 0, []string{"4", "v1"}, []string{"vote 192.0.2.9:27960", "veto 192.0.2.7:27960"}, ""},
		{"votes for nobody", vote, 0, []string{"4", "v0", "-1", "v", "yes", "1 2"}, nil, keys},
		{"more votes than anybody types", vote, 0, slices.Repeat([]string{"r"}, 2*wordsAtOnce), slices.Repeat([]string{"ready "}, wordsAtOnce), ""},
		{"moving on", []wire.Snapshot{moving}, 0, []string{"m", "Now", " stay"}, []string{"moveon 192.0.2.9:27960 after-map", "moveon 192.0.2.9:27960 now",
			"moveon 192.0.2.9:27960 no"}, ""},
		{"moving on after a map that nobody tells", []wire.Snapshot{mapless}, 0, []string{"m"}, nil, "type now to move on now, stay to stay"},
		{"moving on without a proposal", all, 0, []string{"now"}, nil, page},
		{"a vote after the vote", all, 0, []string{"3"}, nil, page},
	} {
		t.Run(tt.name, func(t *testing.T) {
			screen, out := testScreen()
			var got []string
			now := time.Unix(1_800_000_000, 0)
			y := &Typing{screen: screen}
			y.LeadTo(page)
			says, leave := y.play()
			y.Order = func(name string, action room.Action) {
				switch action := action.(type) {
				case room.Go:
					name += " " + string(action.Stage)
				case room.Change:
					name = string(action.Settings)
				}
				got = append(got, name)
			}
			for _, shown := range tt.shown {
				y.note(&shown, now)
			}
			for _, line := range tt.lines {
				y.typed(line, now.Add(tt.after))
			}
			leave()
			for len(says) > 0 {
				said := <-says
				addr := ""
				if said.Addr.IsValid() {
					addr = said.Addr.String()
				}
				if said.Answer != "" {
					addr += " " + string(said.Answer)
				}
				if got = append(got, fmt.Sprint(said.What, " ", addr)); said.Round != voting.Room.Round {
					t.Errorf("a vote of round %d", said.Round)
				}
			}
			if !slices.Equal(got, tt.want) || !strings.Contains(out.String(), tt.says) || tt.says == "" && out.Len() > 0 {
				t.Errorf("the room is told %q, want %q; the terminal says %q", got, tt.want, out.String())
			}
		})
	}
}

// TestTypingOfOthers checks that a player who does not steer the room gives no orders, and that an
// organiser without a player does not vote. Both are sent to the page.
func TestTypingOfOthers(t *testing.T) {
	launched, vote := at(wire.Launching), voting()
	screen, out := testScreen()
	player, hosts := &Typing{screen: screen}, &Typing{screen: screen, Order: func(name string, _ room.Action) { t.Error(name) }}
	says, _ := player.play()
	player.typed("next", time.Now()) // in no room yet
	for _, y := range []*Typing{player, hosts} {
		y.LeadTo("LINK")
	}
	player.note(&launched, time.Now())
	hosts.note(&vote, time.Now())
	player.typed("", time.Now())
	if out.Len() > 0 {
		t.Errorf("the terminal says %q", out)
	}
	for line, y := range map[string]*Typing{"end": player, "set players 2": player, "1": player, "r": hosts} {
		out.Reset()
		if y.typed(line, time.Now()); !strings.Contains(out.String(), "LINK") || strings.Contains(out.String(), "to vote") || len(says) > 0 {
			t.Errorf("%q: the terminal says %q", line, out)
		}
	}
}
