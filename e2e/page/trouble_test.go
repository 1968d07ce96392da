package page_test

import (
	"context"
	"strings"
	"testing"

	"muster/discovery"
	"muster/host/wire"
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

// together returns the settings for a search that the host coordinates.
func together() wire.Settings {
	return wire.Settings{Name: "Friday night", Game: "openarena", By: selection.Mean, Strategy: wire.Coordinated, Agree: wire.Yes}
}

// strange are names that people give themselves.
var strange = []string{
	"<b>bold</b><script>x</script>", "\u202elive\u202c", "e" + strings.Repeat("😀", 60), "zero\u200bwidth\u200b\u200b",
	strings.Repeat("W", 200), "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍Ä̶̢̛́LGO", "مرحبا بالعالم", "日本語のとても長い名前です",
	"a", "b b", "anna", "ben", "chong", "dave", "eve", "player sixteen",
}

// TestSixteen checks a full room of people with strange names, at every stage.
func TestSixteen(t *testing.T) {
	atNight(t)
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
