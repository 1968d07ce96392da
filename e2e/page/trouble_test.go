package page_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/sim"
	"muster/peer"
	"muster/selection"
)

// twisted is a player's prober with changed results.
type twisted struct {
	peer.Prober
	twist func(*discovery.Result)
}

func (t twisted) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	return t.Prober.Run(ctx, servers, plan, func(r discovery.Result) {
		t.twist(&r)
		seen(r)
	})
}

// deaf simulates a player whose firewall blocks all answers.
func deaf(r *discovery.Result) { r.State, r.RTT, r.Info = discovery.Lost, 0, nil }

// lying simulates a player who is equally near to everything.
func lying(r *discovery.Result) {
	if r.State == discovery.Answered {
		r.RTT = 5 * time.Millisecond
	}
}

// together returns the settings for a search that the host coordinates.
func together() wire.Settings {
	return wire.Settings{Name: "Friday night", Game: "openarena", By: selection.Mean, Strategy: wire.Coordinated, Agree: wire.Yes}
}

// TestFull checks that the page offers what to do if all servers are full.
func TestFull(t *testing.T) {
	t.Parallel()
	n := newSession(t, 60, together())
	for server := range n.world.Servers {
		n.fleet.Update(server, func(s *sim.Server) { s.Info.Players = s.Info.MaxPlayers })
	}
	b := browse(t, n.organisersLink(), desktop)
	n.plays(0, 200)
	n.plays(1, 200)
	b.sees("#stage", "2 players here")
	b.click("#stage [data-action=go]")
	b.sees("#stage", "No server for everyone this time")
	b.sees("#stage", "Change what you look for, or try again later.")
	b.until("what one looks for can be changed", func() bool { return eval[bool](b, "document.querySelector('#by').checkVisibility()") })
	b.shoot("full", desktop, phone)
}

// TestUnheard checks that the page names likely causes if nobody gets an answer from any server.
func TestUnheard(t *testing.T) {
	t.Parallel()
	n := newSession(t, 60, together())
	b := browse(t, n.organisersLink(), desktop)
	n.joins("anna", 0, 200, deaf)
	n.joins("ben", 1, 200, deaf)
	b.sees("#stage", "2 players here")
	b.click("#stage [data-action=go]")
	b.sees("#stage", "firewall")
	b.sees("#stage code", "muster doctor")
	b.shoot("unheard", desktop, phone)
}

// TestDoubt checks that the page names a player who does not count in the choice, with the reason
// and what to do.
func TestDoubt(t *testing.T) {
	t.Parallel()
	n := newSession(t, 120, together())
	b := browse(t, n.organisersLink(), desktop)
	for place := range 3 {
		n.plays(place, 200)
	}
	n.joins("eve", 3, 200, deaf)
	n.joins("mallory", 3, 200, lying)
	b.sees("#stage", "5 players here")
	b.click("#stage [data-action=go]")
	b.sees("#people", "a firewall there may block UDP")
	b.sees("#people", "mallory reports the same ping")
	b.run(`document.querySelector("#people [data-name=mallory]").closest("details").open = true`)
	b.sees("#people [data-name=mallory][data-action=trust]", "Count anyway")
	b.sees("#stage", "Where shall we play?")
	b.shoot("doubt", desktop, phone)
}

// strange are names that people give themselves.
var strange = []string{
	"<b>bold</b><script>x</script>", "\u202elive\u202c", "e" + strings.Repeat("😀", 60), "zero\u200bwidth\u200b\u200b",
	strings.Repeat("W", 200), "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍Ä̶̢̛́LGO", "مرحبا بالعالم", "日本語のとても長い名前です",
	"a", "b b", "anna", "ben", "chong", "dave", "eve", "player sixteen",
}

// TestSixteen checks a full room of people with strange names, at every stage.
func TestSixteen(t *testing.T) {
	t.Parallel()
	n := newSession(t, 300, together())
	b := browse(t, n.organisersLink(), desktop)
	for i, name := range strange {
		n.joins(name, i%len(players), 100, func(*discovery.Result) {})
	}
	b.sees("#stage", "16 players here")
	b.shoot("sixteen-gathering", desktop, laptop, pocket, phone, wall4)
	tv := browse(t, strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	tv.sees("#stage", "16 players here")
	tv.isFromTheSofa("a full lobby", wall, wall4)
	tv.shoot("sixteen-tv", wall)
	tv.tellsSignsApart(".one .sign")
	b.enters("Ünal\u202e <i>")
	b.click("#stage [data-action=go]")
	b.sees("#stage", "Where shall we play?")
	b.shoot("sixteen-agreeing", desktop, couch, screenSize{"tablet", 768, 1024, 1, false})
	tv.isFromTheSofa("a full vote", wall, wall4)
	b.click("#stage [data-action=go]") // a person who only watches is not asked whether they are ready
	b.sees("#stage", "EVERYONE TO")
	b.shoot("sixteen-launching", desktop, phone)
}

// TestHostless checks a page whose room has no host for the moment. It says at once why everything
// waits, and keeps what it shows. The next state ends that.
func TestHostless(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.run(`muster.live.socket.onmessage = null; muster.live.receive('{"type":"wait","message":"the host keeps nothing just now: everything waits"}')`)
	b.sees("#stage", "The host keeps nothing just now: everything waits.")
	if eval[bool](b, `document.body.classList.contains("stale")`) {
		t.Error("the page calls its connection lost")
	}
	b.until("it is over", func() bool { return !strings.Contains(b.reads("#stage"), "everything waits") })
}
