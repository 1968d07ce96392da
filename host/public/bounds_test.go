package public

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// TestFitting checks that a list fits into a room's memory if all players measure it whole, and
// that each network keeps its share.
func TestFitting(t *testing.T) {
	p := &Limits{Players: 64, Memory: 64 << 20}
	var list []discovery.Server
	for i := range 30_000 { // three networks with 20, 2,000 and 8,000
		network := byte(1)
		if i >= 20_000 {
			network = 2
		}
		if i >= 22_000 {
			network = 3
		}
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{network, 0, byte(i >> 8), byte(i)}), 27960)})
	}
	old := sentence.Plain("an old note")
	for _, c := range []struct {
		settings wire.Settings
		want     int
	}{
		{wire.Settings{Strategy: wire.Coordinated, Players: 64}, 30_000},
		{wire.Settings{Strategy: "conventional", Players: 4}, 30_000},
		{wire.Settings{Strategy: "conventional", Players: 10}, 13_107},
		{wire.Settings{Strategy: "as", Max: 16}, 8192},
		{wire.Settings{Strategy: "as"}, 2048},
	} {
		got, note := p.Fitting(list, c.settings, old)
		if len(got) != c.want || (note == old) != (c.want == 30_000) {
			t.Errorf("%+v: %d servers, want %d; people are told %v", c.settings, len(got), c.want, note)
		}
		of := map[byte]int{}
		for _, s := range got {
			of[s.Addr.Addr().As4()[0]]++
		}
		for network, had := range map[byte]int{1: 20_000, 2: 2000, 3: 8000} {
			if share, want := of[network], had*len(got)/30_000; share < want-1 || share > want+1 {
				t.Errorf("%+v: a network of %d servers keeps %d, want %d", c.settings, had, share, want)
			}
		}
	}
	if _, note := p.Fitting(list, wire.Settings{Strategy: "as"}, old); note != sentence.Of("list.fewer", "n", 2048, "all", 30_000) {
		t.Errorf("people are told %v", note)
	}
}

// TestSlow checks that a program with too many messages waits, and nobody waits for it.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Limits{Messages: 50}
		var said access.Flow
		began := time.Now()
		for range 1200 {
			time.Sleep(p.Pause(&said, time.Now()))
		}
		if took := time.Since(began).Round(100 * time.Millisecond); took != 20*time.Second {
			t.Errorf("1200 messages are heard within %v, want 20 s: 200 at once, then 50 a second", took)
		}
	})
}

// TestIdle checks that an empty room ends when the operator says so, and that a room with a player
// does not.
func TestIdle(t *testing.T) {
	p := &Limits{Idle: time.Hour}
	opened := time.Unix(1_800_000_000, 0)
	r := room.New(room.Keys{Code: "BAKODI", Link: "link", Secret: "secret"}, wire.Settings{Game: "openarena"}, opened)
	if p.IsOver(r, opened.Add(59*time.Minute)) || !p.IsOver(r, opened.Add(61*time.Minute)) || r.Use(opened.Add(61*time.Minute)).IsOver {
		t.Error("an empty room is not kept for an hour")
	}
	if _, err := r.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: access.NewSecret()}, room.Moment{Wall: opened.Add(30 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if p.IsOver(r, opened.Add(20*time.Hour)) {
		t.Error("a room ends with somebody in it")
	}
	if (*Limits)(nil).IsOver(r, opened.Add(20*time.Hour)) {
		t.Error("at home a room ends with somebody in it")
	}
}
