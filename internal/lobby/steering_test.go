package lobby

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
)

// TestEnter checks that Enter means what the terminal offered last, after a moment on the screen,
// and never begins a round by accident.
func TestEnter(t *testing.T) {
	at := func(stage wire.Stage) wire.Snapshot { return wire.Snapshot{Room: wire.Head{Stage: stage}} }
	voting, countdown := at(wire.Chosen), at(wire.Chosen)
	voting.Voting.Open, countdown.Voting.Open = true, true
	countdown.Voting.LaunchAt = time.Unix(1_800_000_000, 0)
	launched := at(wire.Launching)
	over := voting
	over.Choice = &wire.Choice{
		Over: &wire.Miss{LimitMS: 150, RTT: map[string]float64{"dan": 198, "eve": 155}},
		Advice: []wire.Advice{
			{Action: "allow", Argument: wire.Argument{LimitMS: 170}}, {Action: "without", Argument: wire.Argument{Name: "dan"}},
			{Action: "without", Argument: wire.Argument{Name: "ann"}}, {Action: "more", Argument: wire.Argument{Servers: 200}},
		},
	}
	launched.People = []wire.Person{{Name: "ann", Peer: true}, {Name: "Bob the \x1b[2J", Peer: true}, {Name: "zoe"}}
	all := []wire.Snapshot{at(wire.Gathering), at(wire.Listing), at(wire.Measuring), at(wire.Chosen), voting, countdown, at(wire.Launching)}
	const late, soon = settled, settled - time.Millisecond
	tests := []struct {
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
		{"the next round too early", all[:3], late, []string{"next"}, nil, "isn't over yet"},
		{"after a failure at once", []wire.Snapshot{at(wire.Measuring), at(wire.Failed)}, soon, []string{""}, nil, ""},
		{"after a failure", []wire.Snapshot{at(wire.Measuring), at(wire.Failed)}, late, []string{""}, []string{"go failed"}, ""},
		{"to wait for seats", []wire.Snapshot{at(wire.Measuring), at(wire.Failed)}, 0, []string{"wait"}, []string{"await []"}, ""},
		{"to wait for who is outside", []wire.Snapshot{at(wire.Chosen), launched}, 0,
			[]string{"wait  ann , BOB the \x1b[2J"}, []string{"await [ann Bob the \x1b[2J]"}, ""},
		{"to wait for nobody", []wire.Snapshot{at(wire.Chosen), launched}, 0, []string{"wait"}, nil, "Here are ann and Bob the"},
		{"to wait for who just has the page", []wire.Snapshot{at(wire.Chosen), launched}, 0, []string{"wait ann, zoe"},
			nil, "say who didn't get in"},
		{"to wait too early", all[:3], 0, []string{"wait"}, nil, "nothing to wait for yet"},
		{"to end", all[:3], 0, []string{"END"}, []string{"end"}, ""},
		{"to wait no longer", []wire.Snapshot{at(wire.Failed), at(wire.Waiting)}, late, []string{""}, []string{"go waiting"}, ""},
		{"over the limit", []wire.Snapshot{over, over}, 0, nil, nil, "type along to take dan along with"},
		{"over the limit, but along", []wire.Snapshot{over}, 0, []string{"Along"}, []string{"allow 170"}, ""},
		{"over the limit, without", []wire.Snapshot{over}, 0, []string{"without "}, []string{"without dan"}, ""},
		{"over the limit, as everybody goes", []wire.Snapshot{over, launched}, 0, []string{"along"}, nil, "that does nothing here"},
		{"another word", all[:3], late, []string{"y"}, nil, "that does nothing here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			screen, out := testScreen()
			var got []string
			now := time.Unix(1_800_000_000, 0)
			s := &Steering{Screen: screen, Order: func(name string, action room.Action) {
				switch action := action.(type) {
				case room.Go:
					name += " " + string(action.Stage)
				case room.AwaitSeats:
					name += fmt.Sprint(" ", action.Names)
				case room.Allow:
					name += fmt.Sprint(" ", action.LimitMS)
				case room.Without:
					name += " " + action.Name
				}
				got = append(got, name)
			}}
			for _, shown := range tt.shown {
				s.note(shown, now)
			}
			for _, line := range tt.lines {
				s.Typed(line, now.Add(tt.after))
			}
			if !slices.Equal(got, tt.want) || !strings.Contains(out.String(), tt.says) {
				t.Errorf("the room is told %q, want %q; the terminal says %q", got, tt.want, out.String())
			}
		})
	}
}

// TestCountAtTheTerminal checks that a guest who may be counted in is offered once, and counted in
// and out by name. Other people and other words have no effect.
func TestCountAtTheTerminal(t *testing.T) {
	person := func(name string, e *wire.Estimate) wire.Person {
		return wire.Person{Name: name, Guest: true, Estimate: e}
	}
	state := wire.Snapshot{Room: wire.Head{Stage: wire.Gathering}, People: []wire.Person{
		{Name: "ann", Peer: true}, person("zoe the \x1b[2Jgreat", &wire.Estimate{ErrorMS: 9}),
		person("yan", &wire.Estimate{Why: sentence.Plain("a private one")}),
	}}
	screen, out := testScreen()
	var got []string
	s := &Steering{
		Screen: screen, Counts: true,
		Order: func(_ string, action room.Action) {
			counted := action.(room.Count)
			got = append(got, fmt.Sprint(counted.Name, " ", counted.Counted))
		},
	}
	now := time.Unix(1_800_000_000, 0)
	s.note(state, now)
	s.note(state, now)
	said := out.String()
	if strings.Count(said, "just has the page") != 1 || !strings.Contains(said, "about ± 9 ms") ||
		strings.Contains(said, "\x1b[2J") || strings.Contains(said, "yan") {
		t.Errorf("the terminal says %q", said)
	}
	for _, line := range []string{"count ZOE THE \x1b[2Jgreat", " uncount  zoe the \x1b[2Jgreat ", "count yan", "count", "counting"} {
		s.Typed(line, now.Add(settled))
	}
	if want := []string{"zoe the \x1b[2Jgreat true", "zoe the \x1b[2Jgreat false"}; !slices.Equal(got, want) {
		t.Errorf("the room is told %q, want %q", got, want)
	}
	if strings.Count(out.String(), "nobody by that name") != 2 || !strings.Contains(out.String(), "that does nothing here") {
		t.Errorf("the terminal says %q", out.String())
	}
}
