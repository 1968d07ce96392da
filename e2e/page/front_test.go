package page_test

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"muster/host"
	"muster/host/public"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/handout"
	"muster/internal/listing"
	"muster/selection"
	"muster/web"
)

var (
	pocket  = screenSize{"pocket", 390, 700, 2, false}
	aside   = screenSize{"phone on its side", 844, 390, 2, true}
	upright = screenSize{"tablet", 768, 1024, 1, false}
)

// newService starts a host that opens rooms for everybody, and returns its URL.
func newService(t *testing.T) (rooms *host.Host, url string) {
	t.Helper()
	table, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	limits := &public.Limits{
		Rooms: 10, PerAddress: 10, Players: 64, Servers: 2000, Version: "v1.2.3",
		Own: func(id string, lines []string, from netip.Addr) ([]netip.AddrPort, error) {
			g, err := table.Find(id)
			if err != nil {
				return nil, err
			}
			return listing.Own(g, lines, from, 2000)
		},
	}
	for _, g := range table.All() {
		_, err := g.Queries()
		limits.Games = append(limits.Games, public.Game{
			Game:    wire.Game{ID: g.ID, Name: g.Name},
			By:      selection.Mean,
			Aliases: g.Aliases,
			Listed:  err == nil,
			Steam:   g.OnSteam(),
		})
		if g.ID == "xonotic" {
			limits.Games[len(limits.Games)-1].By = selection.Threshold
		}
	}
	programs, err := handout.New(t.Context(), handout.Config{Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	rooms, err = host.New(host.Config{
		Page:   web.Handler(),
		Get:    programs,
		Public: limits,
		Games:  []wire.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close(); programs.Close() })
	return rooms, server.URL
}

// TestFront checks that anybody can open a room on the front page and becomes its organiser.
// Friends come in by its code, and a form shows what is wrong with it.
func TestFront(t *testing.T) {
	t.Parallel()
	rooms, url := newService(t)
	ann := browse(t, url, desktop)
	ann.sees("#front", "The best server for all of you")
	ann.shoot("front", desktop, laptop, phone, couch, pocket, night4k)
	if !eval[bool](ann, "document.querySelector('#banner').hidden && !document.body.matches('.stale')") {
		t.Errorf("the front page complains: %s", ann.reads("#banner"))
	}

	ann.sets("#game", "xonotic")
	ann.until("the rule's limit is there", func() bool { return eval[string](ann, "document.querySelector('#limits_ms').value") == "150" })
	ann.sets("#players", "3")
	ann.run("document.querySelector('#own').open = true")
	ann.sets("#servers", "192.0.2.1:26000\n<img src=x onerror=alert(1)>.example")
	ann.click("#open button.primary")
	ann.sees("#open-error", "<img src=x onerror=alert(1)>.example")
	ann.shoot("front-refused", desktop, phone)
	if len(rooms.Rooms()) > 0 {
		t.Error("there is a room all the same")
	}
	ann.sets("#servers", "192.0.2.1:26000\n192.0.2.2:26000\n")
	ann.click("#open button.primary")
	ann.sees("#stage", "Waiting for 3 more players")
	ann.sees("#settings", "On 2 servers of the organiser’s own list.")
	if !eval[bool](ann, "!!muster.live.state.you.organiser") {
		t.Error("whoever opened the room cannot steer it")
	}
	code := rooms.Rooms()[0]
	if hash := eval[string](ann, "location.hash"); strings.Contains(hash, ".") || !strings.Contains(hash, code+"_") {
		t.Errorf("the address shows %s", hash)
	}
	settings, _ := rooms.Settings(code)
	if settings.Game != "xonotic" || settings.By != selection.Threshold || settings.Players != 3 || len(settings.Servers) != 2 {
		t.Errorf("the room is for %+v", settings)
	}

	bob := browse(t, url, phone)
	bob.sets("#code", strings.ToLower(code[:4]+"-"+code[4:]))
	bob.click("#enter button")
	bob.sees("#invite", "Play along")
	if eval[bool](bob, "!!muster.live.state.you.organiser") {
		t.Error("the code makes an organiser")
	}
	cat := browse(t, url+"/#BADOBADOBADO", phone)
	cat.sees("#banner", "lets nobody in right now")
	cat.sees("#front", "Open a room")
}

// TestFrontFirstList checks that a visitor who chooses a game without a list learns how to get one,
// and can paste servers in the form in which people find them.
func TestFrontFirstList(t *testing.T) {
	atNight(t)
	t.Parallel()
	rooms, url := newService(t)
	ann := browse(t, url, desktop)
	ann.sees("#front", "Open a room")
	ann.sets("#game", "minecraft")
	ann.sees("#first-list", "There’s no public list of Minecraft")
	ann.sets("#game", "cs2")
	ann.sees("#first-list", "Steam lists Counter-Strike 2 servers only for people with a key")
	ann.sees("#first-list", "muster host --game cs2 --at "+url)
	ann.run("document.querySelector('#first-list').scrollIntoView()")
	ann.shoot("front-first-list", desktop, phone, couch)
	ann.sets("#servers", "steam://connect/192.0.2.2:27015\n\n192.0.2.3:27015 my clan server\nThe other: 192.0.2.4:27016")
	ann.click("#open button.primary")
	ann.sees("#settings", "On 3 servers of the organiser’s own list.")
	settings, _ := rooms.Settings(rooms.Rooms()[0])
	if settings.Game != "cs2" || len(settings.Servers) != 3 {
		t.Errorf("the room is for %+v", settings)
	}
	ann.run("document.querySelector('#settings [data-key=unlisted]').open = true")
	ann.sees("#settings", "muster host --game cs2")
	ann.shoot("room-first-list", desktop, phone)
	cat := browse(t, url, phone)
	cat.sets("#game", "xonotic")
	if eval[string](cat, "document.querySelector('#first-list').innerText") != "" {
		t.Error("a game that the host lists takes steps")
	}
}

// TestFrontByKeyboard checks that a room can be opened without a mouse.
func TestFrontByKeyboard(t *testing.T) {
	t.Parallel()
	rooms, url := newService(t)
	ann := browse(t, url, desktop)
	ann.sees("#front", "Open a room")
	ann.tabsTo("#code")
	ann.tabsTo("#game", "OpenA")
	ann.tabsTo("#more > summary", kb.Enter)
	ann.tabsTo("[name=by]")
	ann.tabsTo("#players", "2\r")
	ann.sees("#stage", "Waiting for 2 more players")
	settings, _ := rooms.Settings(rooms.Rooms()[0])
	if settings.Game != "openarena" || settings.By != selection.Mean || settings.Players != 2 {
		t.Errorf("the room is for %+v", settings)
	}
}

// TestPlainPages checks that the short pages are as readable as the others, whatever a server calls
// itself.
func TestPlainPages(t *testing.T) {
	atNight(t)
	t.Parallel()
	rooms, url := newService(t)
	code, _, err := rooms.Open(wire.Settings{Game: "openarena", By: selection.Mean, Strategy: wire.Coordinated})
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"get": "/get/", "nothing": "/go/AAAA"} {
		b := browse(t, url+path, phone)
		b.run("window.muster = { live: {}, view: {} }")
		b.sees("#stage", "")
		b.shoot(name, phone, couch, laptop)
	}
	if _, there := rooms.Room(code); !there {
		t.Error("the room is gone")
	}
}
