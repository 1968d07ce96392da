package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/home"
)

// TestTakeRoom checks that a page's document sets a room as flags would: over config.toml, counted as
// given, and refused with a sentence. No value is taken for a flag.
func TestTakeRoom(t *testing.T) {
	p := Configured(t, "prefer_ours = \"15ms\"\nlong_look = \"20s\"\n")
	for _, tt := range []struct {
		room, servers, given, wrong string
		want                        func(*wire.Settings)
	}{
		{`{"game":"xonotic"}`, "", "", "", func(*wire.Settings) {}},
		{`{"game":"xonotic","open":true,"announce":false}`, "", "at", "", func(*wire.Settings) {}}, // of the last room, which was here
		{`{"game":"xonotic","limits_ms":[100,150],"by":"threshold","players":4,"agree":false,"name":"--at=x","wait_ms":1800000}`, "",
			"max-rtt by players vote room wait-for-seats", "", func(s *wire.Settings) {
				s.Limits, s.By, s.Players = wire.Limits{100 * time.Millisecond, 150 * time.Millisecond}, "threshold", 4
				s.Agree, s.Name, s.Wait = wire.No, "--at=x", discovery.Millis(30*time.Minute)
			}},
		{`{"game":"xonotic","match":"bo3","order":"ban ban pick","maps":"dm6,ztn,dm17","side_a":"Nightjars","open":true}`, "",
			"match order maps side-a open", "", func(s *wire.Settings) {
				s.Match, s.Order, s.Maps, s.SideA, s.Open = "bo3", "ban ban pick", "dm6, ztn, dm17", "Nightjars", true
			}},
		{`{"game":"xonotic","servers":["192.0.2.1:1","--connect=1"],"places":"Frankfurt, 192.0.2.1\n"}`, "192.0.2.1:1\n--connect=1", "places", "",
			func(s *wire.Settings) { s.Places, _ = wire.ParseVenues("Frankfurt, 192.0.2.1", nil) }},
		{`{"seeks":"place"}`, "", "where", "", func(s *wire.Settings) { s.Game, s.Seeks = "", wire.SeekPlace }},
		{`{"seeks":"either"}`, "", "", "which game", nil},
		{`{"game":"no such game"}`, "", "", "no such game", nil},
		{`{"game":"xonotic","every":"sometime"}`, "", "", "fri 20:00", nil},
		{`{"game":"xonotic","by":"luck"}`, "", "", "luck", nil},
		{`{"game":"xonotic","players":65}`, "", "", "64", nil},
		{`{"game":"xonotic","servers":"192.0.2.1:1"}`, "", "", "192.0.2.1:27960", nil},
		{`{"game":"xonotic","places":"Frankfurt"}`, "", "", "Frankfurt", nil},
		{`{"game":"xonotic","most":3}`, "", "", "most", nil},
		{`{"game":"xonotic","launch_command":"calc.exe"}`, "", "", "launch_command", nil},
	} {
		h := &hostCommand{program: p}
		cmd := newHost(h)
		if err := p.grant(cmd); err != nil {
			t.Fatal(err)
		}
		var room map[string]json.RawMessage
		if err := json.Unmarshal([]byte(tt.room), &room); err != nil {
			t.Fatal(err)
		}
		if tt.given == "at" {
			give(cmd, "at")
		}
		servers, err := h.takeRoom(t.Context(), cmd, room)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(hint.Text(catalogue.InEnglish(), err), tt.wrong) {
				t.Errorf("%s: %v, want %q", tt.room, err, tt.wrong)
			}
			continue
		}
		want := wire.Settings{Game: "xonotic", By: "mean", Strategy: wire.Coordinated, Prefer: discovery.Millis(15 * time.Millisecond), LongLook: discovery.Millis(20 * time.Second)}
		tt.want(&want)
		got, _ := json.Marshal(h.settings)
		wanted, _ := json.Marshal(want)
		if err != nil || servers != tt.servers || !bytes.Equal(got, wanted) || h.game != want.Game {
			t.Errorf("%s: %s and %q, %v\nwant %s", tt.room, got, servers, err, wanted)
		}
		for flag := range strings.FieldsSeq(tt.given) {
			if !h.given(flag) {
				t.Errorf("%s does not count as --%s", tt.room, flag)
			}
		}
		if h.given("prefer-ours") {
			t.Errorf("%s: config.toml counts as given", tt.room)
		}
	}
}

// TestTakeSelf checks that what a page says of its player stands over config.toml, and that only the
// player's own word starts a game unasked.
func TestTakeSelf(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		auto *bool
		kept game.Starts
		want game.Starts
	}{
		{nil, game.StartAuto, game.StartAuto}, {nil, game.StartNever, game.StartNever}, {&yes, game.StartNever, game.StartAuto},
		{&no, game.StartAuto, game.StartAsk}, {&no, game.StartNever, game.StartNever},
	} {
		y := playing{launcher: game.Launcher{Player: "kept", Starts: tt.kept}}
		err := y.take(home.Self{Name: "--name", Auto: tt.auto, CanHost: true, Regions: "fra: 24ms, status 1"})
		if l := &y.launcher; err != nil || l.Starts != tt.want || l.Player != "--name" || !y.player.CanHost || y.probing.Pings["fra"] != 24*time.Millisecond {
			t.Errorf("%+v: %q starts %q, %v, %v, %v", tt, l.Player, l.Starts, y.player.CanHost, y.probing.Pings, err)
		}
		if err := y.take(home.Self{}); err != nil || y.launcher.Player != "--name" || y.player.CanHost {
			t.Errorf("silence becomes %q, %v, %v", y.launcher.Player, y.player.CanHost, err)
		}
	}
	if err := new(playing).take(home.Self{Regions: "hello"}); err == nil {
		t.Error("a text without pings is taken")
	}
}
