package game

import (
	"strings"
	"testing"

	"muster/host/wire"
)

// TestDelay checks that the way to a server says how its game delays packets.
func TestDelay(t *testing.T) {
	table := load(t, "")
	way := table.Join("quakeworld", wire.Way{Connect: "192.0.2.1:27500"})
	if way.Delay == nil || *way.Delay != (wire.DelayCommand{Command: "cl_delay_packet {ms}", MaxMS: 150, Program: "ezQuake"}) {
		t.Errorf("QuakeWorld's delay is %+v", way.Delay)
	}
	if d := table.Join("openarena", wire.Way{Connect: "192.0.2.1:27960"}).Delay; d != nil {
		t.Errorf("OpenArena's delay is %+v", d)
	}
	for _, g := range table.All() {
		if g.Delay != nil && len(g.Delay.References) == 0 {
			t.Errorf("%s: no source says how players delay their packets", g.ID)
		}
	}
}

// TestDelayCheck checks that the table refuses commands that make no sense.
func TestDelayCheck(t *testing.T) {
	for _, tt := range []struct {
		delay *Delaying
		isOK  bool
	}{
		{nil, true},
		{&Delaying{Command: "lag {ms}", MaxMS: 100}, true},
		{&Delaying{Command: "lag", MaxMS: 100}, false},
		{&Delaying{Command: "lag {ms} {ms}", MaxMS: 100}, false},
		{&Delaying{Command: "lag {ms}\nquit", MaxMS: 100}, false},
		{&Delaying{Command: "lag {ms}" + strings.Repeat(" ", 500), MaxMS: 100}, false},
		{&Delaying{Command: "lag {ms}"}, false},
		{&Delaying{Command: "lag {ms}", MaxMS: 5000}, false},
	} {
		if err := tt.delay.check(); (err == nil) != tt.isOK {
			t.Errorf("%+v: %v", tt.delay, err)
		}
	}
}
