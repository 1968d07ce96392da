package page_test

import (
	"strings"
	"testing"

	"muster/host/wire"
	"muster/selection"
)

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
	n.silent = false // a program that is asked for one takes two seconds to say so, and these answer at once
	b := n.browse(n.organisersLink(), desktop)
	for i, name := range strange {
		n.joins(name, i%len(players))
	}
	b.sees("#stage", "16 players here")
	b.shoot("sixteen-gathering", desktop, laptop, pocket, phone, wall4)
	tv := n.browse(strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	tv.sees("#stage", "16 players here")
	tv.isFromTheSofa("a full lobby", wall, wall4)
	tv.shoot("sixteen-tv", wall)
	tv.tellsSignsApart(".one .sign")
	b.enters("Ünal\u202e <i>")
	b.click("#stage [data-action=go]")
	n.passesUntil("the vote", func(r wire.Snapshot) bool { return r.Voting.Open })
	b.sees("#stage", "Where shall we play?")
	b.shoot("sixteen-agreeing", desktop, couch, screenSize{"tablet", 768, 1024, 1, false})
	tv.isFromTheSofa("a full vote", wall, wall4)
	b.click("#stage [data-action=go]") // a person who only watches is not asked whether they are ready
	n.launches()
	b.sees("#stage", "EVERYONE TO")
	b.shoot("sixteen-launching", desktop, phone)
}
