package lobby

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"muster/discovery/lists/lan"
	"muster/internal/catalogue"
	"muster/internal/invite"
	"muster/internal/term"
)

var foundRooms = []lan.Found{
	{
		ID:    "1",
		Room:  lan.Room{Name: "Friday night with the old crowd", Game: "openarena", Organiser: "ann", Players: 2, Seats: 4, Port: 7777},
		Addrs: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:7777")},
	},
	{
		ID: "2",
		Room: lan.Room{
			Name:        "Zoo",
			Game:        "xonotic",
			Organiser:   "bob",
			Players:     1,
			Port:        7778,
			Open:        true,
			Fingerprint: "6GGEBGUZQS72K5ZWN3CQCTQWVA",
		},
		Addrs: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.2:7778")},
	},
}

func TestListRooms(t *testing.T) {
	const want = `
   ROOM                             GAME       PLAYERS  ORGANISER
1  Friday night with the old crowd  openarena   2 of 4  ann
2  Zoo                              xonotic          1  bob        open
`
	var wide strings.Builder
	roomTable(catalogue.InEnglish(), foundRooms).Write(term.Terminal{Writer: &wide})
	if got := "\n" + wide.String(); got != want {
		t.Errorf("%s\nwant:%s", got, want)
	}
	var nameless strings.Builder
	roomTable(catalogue.InEnglish(), []lan.Found{{Room: lan.Room{Players: 3}}}).Write(term.Terminal{Writer: &nameless})
	if !strings.Contains(nameless.String(), "(no name)") {
		t.Errorf("a room without a name:\n%s", &nameless)
	}
	const narrow = 50
	var b strings.Builder
	roomTable(catalogue.InEnglish(), foundRooms).Write(term.Terminal{Writer: &b, Columns: narrow})
	for line := range strings.Lines(b.String()) {
		if n := runewidth.StringWidth(strings.TrimRight(line, "\n")); n > narrow {
			t.Errorf("%q takes %d columns of %d", line, n, narrow)
		}
	}
}

func TestPick(t *testing.T) {
	for _, c := range []struct {
		name, typed, code string
		found             []lan.Found
		want              invite.Link
		fails             bool
	}{
		{
			name:  "the only one, and its code",
			typed: "\nbako di\n",
			found: foundRooms[:1],
			want:  invite.Link{Host: "192.0.2.1:7777", Code: "BAKODI"},
		},
		{
			name:  "the code by flag",
			typed: "y\n",
			code:  "bakodi",
			found: foundRooms[:1],
			want:  invite.Link{Host: "192.0.2.1:7777", Code: "BAKODI"},
		},
		{name: "no", typed: "n\n", found: foundRooms[:1], fails: true},
		{
			name:  "one of two that is open and has a certificate",
			typed: "3\nzoo\n2\n",
			found: foundRooms,
			want:  invite.Link{Host: "192.0.2.2:7778", TLS: true, Pin: "6GGEBGUZQS72K5ZWN3CQCTQWVA"},
		},
		{name: "nobody answers", typed: "", found: foundRooms, fails: true},
		{name: "nobody knows the code", typed: "y\n", found: foundRooms[:1], fails: true},
	} {
		screen, out := testScreen()
		ask := term.NewConsole(strings.NewReader(c.typed), screen, func(string) {}, func() {})
		room, err := pick(t.Context(), ask, c.found)
		var to invite.Link
		if err == nil {
			to, err = toward(t.Context(), ask, room, room.Addrs[0], c.code)
		}
		if c.fails != (err != nil) || !c.fails && to != c.want {
			t.Errorf("%s: %+v, %v; want %+v\n%s", c.name, to, err, c.want, out)
		}
	}
}

// TestOrigin checks that people read who announces a room if it is not its host.
func TestOrigin(t *testing.T) {
	plain, bound, forged := foundRooms[0], foundRooms[1], lan.Found{Relayed: true}
	plain.Relayed, plain.Vias = true, []string{"ann", "zoe"}
	bound.Relayed, bound.Vias = true, []string{"ann"}
	const ask = "is really there. If you’re not sure, ask the organiser for the link."
	for _, c := range []struct {
		room lan.Found
		want string
	}{
		{foundRooms[0], ""},
		{plain, "announced by ann and zoe, whom this computer doesn’t know\nNothing shows that Friday night with the old crowd " + ask + "\n"},
		{bound, "announced by ann\n"},
		{forged, "announced by someone this computer doesn’t know\nNothing shows that (no name) " + ask + "\n"},
	} {
		got := ""
		for _, line := range origin(c.room) {
			got += catalogue.InEnglish().Say(line) + "\n"
		}
		if got != c.want {
			t.Errorf("of %+v people read %q, want %q", c.room, got, c.want)
		}
	}
}

// TestLeadingTo checks that a link with a fingerprint leads to no other host.
func TestLeadingTo(t *testing.T) {
	const pin = "6GGEBGUZQS72K5ZWN3CQCTQWVA"
	if got := leadingTo(foundRooms, ""); len(got) != 2 {
		t.Errorf("a code alone leads to %+v", got)
	}
	if got := leadingTo(foundRooms, pin); len(got) != 1 || got[0].ID != "2" {
		t.Errorf("the fingerprint leads to %+v", got)
	}
	if got := leadingTo(foundRooms, strings.Repeat("A", len(pin))); len(got) != 0 {
		t.Errorf("another fingerprint leads to %+v", got)
	}
	screen, _ := testScreen()
	for _, c := range []struct {
		typed string
		room  int
		fails bool
	}{
		{"BAKODI", 0, false}, {"BAKODI", 1, false}, {"http://192.0.2.2:7778/#BAKODI~" + pin, 1, false},
		{"BAKODI~" + strings.Repeat("A", len(pin)), 1, true}, {"BAKODI~" + pin, 0, true},
	} {
		room := foundRooms[c.room]
		room.Open = false
		for _, code := range []string{"", c.typed} {
			ask := term.NewConsole(strings.NewReader(c.typed+"\n"), screen, func(string) {}, func() {})
			to, err := toward(t.Context(), ask, room, room.Addrs[0], code)
			if c.fails != (err != nil) || !c.fails && to.Code != "BAKODI" {
				t.Errorf("%s for room %d: %+v, %v", c.typed, c.room, to, err)
			}
		}
	}
}
