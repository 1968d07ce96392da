package wire_test

import (
	"slices"
	"testing"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

func TestSearchSentence(t *testing.T) {
	gain, none, extra := 1.2, 0.0, 23.4
	for _, test := range []struct {
		search wire.Search
		by     selection.Rule
		want   string
	}{
		{wire.Search{}, selection.Mean, "looking for a server that suits everyone"},
		{wire.Search{Found: true, MeanMS: 96.4, MaxMS: 257}, selection.Mean, "best so far, 96 ms on average"},
		{wire.Search{Found: true, MeanMS: 96.4, MaxMS: 257, GainMS: &gain}, selection.Threshold,
			"best so far, 96 ms on average; at most 2 ms better may still turn up"},
		{wire.Search{Found: true, MeanMS: 96.4, MaxMS: 257, GainMS: &gain, ReachMS: 150}, selection.Threshold,
			"best so far, 96 ms on average; at most 2 ms better may still turn up, or a server within 150 ms for everyone"},
		{wire.Search{Found: true, MeanMS: 96.4, MaxMS: 257, FigureMS: 257, GainMS: &none}, selection.Minimax,
			"best so far, 257 ms for the worst off; at most 0 ms better may still turn up"},
		{wire.Search{
			Found:    true,
			MeanMS:   96.4,
			FigureMS: extra,
			ExtraMS:  &extra,
			GainMS:   &gain,
		}, selection.LeastSacrifice, "best so far, nobody gives up more than 23 ms of their own best; at most 2 ms better may still turn up"},
		{wire.Search{
			Found:    true,
			MeanMS:   96.4,
			FigureMS: extra,
			ExtraMS:  &extra,
			OwnMS:    4.2,
			GainMS:   &gain,
		}, selection.LeastSacrifice, "best so far, nobody gives up more than 23 ms of their own best, or 28 if " +
			"someone has a nearer one yet; at most 2 ms better may still turn up"},
		{wire.Search{Found: true, MeanMS: 96.4, StdevMS: 7.2, FigureMS: 7.2, GainMS: &gain}, selection.Fairness,
			"best so far, 96 ms on average, ± 7 between players; at most 2 ms better may still turn up"},
		{wire.Search{Found: true, MeanMS: 96.4, FigureMS: 3.6, GainMS: &gain}, selection.EvenSides,
			"best so far, 96 ms on average; at most 2 ms better may still turn up"},
	} {
		if got := catalogue.InEnglish().Say(test.search.Sentence(test.by)); got != test.want {
			t.Errorf("%+v by %s: %q, want %q", test.search, test.by, got, test.want)
		}
	}
}

// TestMark checks that a server's card names the players with another version, and those who cannot
// join.
func TestMark(t *testing.T) {
	players := []selection.Edition{
		{Player: "ann", Edition: discovery.Edition{Version: "5.6", Protocol: 41}},
		{Player: "bob", Edition: discovery.Edition{Version: "5.2"}},
	}
	for _, tt := range []struct {
		info        *discovery.Info
		other, shut []string
	}{
		{nil, nil, nil},
		{&discovery.Info{Version: "5.6.1", Protocol: 41, OldestProtocol: 37}, []string{"bob"}, nil},
		{&discovery.Info{Version: "5.14.0", Protocol: 49, OldestProtocol: 44}, []string{"ann", "bob"}, []string{"ann"}},
		{&discovery.Info{Version: "5.2"}, []string{"ann"}, nil},
	} {
		var card wire.ServerCard
		if card.Mark(tt.info, players); !slices.Equal(card.Other, tt.other) || !slices.Equal(card.Shut, tt.shut) {
			t.Errorf("%+v: the card is %+v", tt.info, card)
		}
	}
}
