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
	const transfer = "/transfer {host} {port} {player}"
	if got := table.Join("minecraft", wire.Way{Connect: "192.0.2.1:25565"}).Transfer; got != transfer {
		t.Errorf("Minecraft's operators type %q", got)
	}
	for command, isOK := range map[string]bool{transfer: true, "/transfer {host} {player}": false, transfer + "{host}": false, transfer + "\nop {host}": false, transfer + "\n": false} {
		if err := (&Transferring{Command: command}).check(); (err == nil) != isOK {
			t.Errorf("%q: %v", command, err)
		}
	}
	for _, g := range table.All() {
		if g.Transfer != nil && len(g.Transfer.References) == 0 {
			t.Errorf("%s: no source says how operators send players on", g.ID)
		}
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

// TestDelayLine checks for which games, and how, Muster's program holds packets.
func TestDelayLine(t *testing.T) {
	table := load(t, "")
	for _, g := range table.All() {
		if g.DelayLine != nil && len(g.DelayLine.References) == 0 {
			t.Errorf("%s: no source says that it bears a delay line", g.ID)
		}
	}
	for _, protocol := range []string{"a2s", "minecraft", "unreal2"} {
		if (&DelayLine{}).check(protocol) == nil {
			t.Errorf("a game of %s may have a delay line", protocol)
		}
	}
	for _, tt := range []struct {
		game, command string
		starts        Starts
		holds         bool
	}{
		{"openarena", "", StartAsk, true},
		{"xonotic", "", StartAuto, true},
		{"quakeworld", "", StartAsk, false}, // ezQuake has a delay of its own
		{"quakeworld", "fteqw +connect {address}", StartAsk, true},
		{"openarena", "oa.sh", StartAsk, false}, // it takes no address
		{"openarena", "", StartNever, false},
		{"cs2", "", StartAsk, false},
		{"no such game", "", StartAsk, false},
	} {
		l := Launcher{Games: table, Command: tt.command, Starts: tt.starts}
		if l.HasDelayLine(t.Context(), tt.game) != tt.holds {
			t.Errorf("%+v: %v", tt, !tt.holds)
		}
	}
	for own, ends := range map[string]string{
		"": "+connect 127.0.0.1:61000 +set cl_lanForcePackets 0",
		"[game.openarena]\nlaunch = [\"tavern://{address}\"]\n": "tavern://127.0.0.1:61000",
	} {
		argv, _, _, err := (&Launcher{Games: load(t, own)}).fill(t.Context(), wire.Launch{Game: "openarena", Address: "127.0.0.1:61000"})
		if got := strings.Join(argv, " "); err != nil || !strings.HasSuffix(got, ends) {
			t.Errorf("with %q a game with a line is started by %q, %v", own, got, err)
		}
	}
}
