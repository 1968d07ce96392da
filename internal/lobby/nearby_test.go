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
