package favourites

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/master"
)

var arena = For{
	Game:      "openarena",
	Port:      27960,
	QStatType: "Q3S",
	AppID:     440,
	Takes:     func(kind string) bool { return kind == "" || kind == "Q3S" },
}

func server(addr, name string) Server {
	at, err := hostport.Parse(addr)
	if err != nil {
		panic(err)
	}
	return Server{Game: "openarena", Addr: hostport.At(at), Name: name}
}

func TestImport(t *testing.T) {
	ann, six := server("192.0.2.1:27960", "Ann's"), server("[2001:db8::1]:27961", "")
	tests := []struct {
		name, list string
		want       []Server
		hidden     []Server
		passed     int
	}{
		{name: "lines", list: "# ours\n192.0.2.1:27960 Ann's # the old one\r\n\n[2001:db8::1]:27961\n", want: []Server{ann, six}},
		{name: "without ports", list: "\ufeff192.0.2.1\n", want: []Server{server("192.0.2.1:27960", "")}},
		{name: "links and names",
			list:   "steam://connect/192.0.2.1:27960\ngames.example.org:27960 Ann's\nb.example.org:1\nhello, is this a list?\n",
			want:   []Server{server("192.0.2.1:27960", ""), server("games.example.org:27960", "Ann's"), server("b.example.org:1", "")},
			passed: 1},
		{name: "QStat's list", list: "# my servers\nQ3S 192.0.2.1\nQ3S [2001:db8::1]:27961\nA2S 192.0.2.9:27015\n",
			want:   []Server{server("192.0.2.1:27960", ""), six},
			passed: 1},
		{name: "QStat's XML",
			list: `<?xml version="1.0" encoding="UTF-8"?><qstat><server type="Q3S" address="192.0.2.1:27960" status="UP"><name>Ann's</name><ping>3</ping></server><server type="Q3S" address="[2001:db8::1]:27961" status="TIMEOUT"></server></qstat>`,
			want: []Server{ann, six}},
		{name: "Steam's",
			list:   `"Filters" { "Favorites" { "1" { "name" "Ann's" "address" "192.0.2.1:27960" "appid" "440" } "2" { "name" "CS" "address" "192.0.2.2:27015" "appid" "730" } "3" { "address" "[2001:db8::1]:27961" } "4" { "address" "games.example.org:27015" "appid" "440" } } "History" { "1" { "address" "192.0.2.3:27015" "appid" "440" } } }`,
			want:   []Server{ann, six, server("games.example.org:27015", "")},
			passed: 1},
		{name: "our own",
			list:   `{"format":"muster.servers/1","favourites":[{"game":"openarena","addr":"192.0.2.1:27960","name":"Ann's"},{"game":"tf2","addr":"192.0.2.4:27015"}],"hidden":[{"game":"openarena","addr":"[2001:db8::1]:27961"}]}`,
			want:   []Server{ann},
			hidden: []Server{six},
			passed: 1},
		{name: "a CSV", list: "name;ip;port\nAnn's;192.0.2.1;27960\nBen's;x;y\n;2001:db8::1;27961\n", want: []Server{ann, six}, passed: 1},
		{name: "a game's configuration", list: "\"net_slist_favorites\" \"192.0.2.1:27960 [2001:db8::1]:27961\"\n",
			want: []Server{server("192.0.2.1:27960", ""), six}},
		{name: "behind Steam's relays", list: `"Filters" { "Favorites" { "1" { "address" "169.254.7.7:27015" } "2" { "name" "Ann's" "address" "192.0.2.1:27960" } } }`,
			want: []Server{ann}, passed: 1},
		{name: "nobody's addresses", list: "0.0.0.0:27960\n224.0.0.1:27960\n192.0.2.1:27960 Ann's\n", want: []Server{ann}, passed: 2},
		{name: "a hostile name", list: "192.0.2.1:27960 Ann's\x1b]0;x\x07\x1b[2J\n",
			want: []Server{server("192.0.2.1:27960", discovery.CleanText("Ann's\x1b]0;x\x07\x1b[2J"))}},
	}
	for _, tt := range tests {
		b, err := Import(strings.NewReader(tt.list), arena)
		if err != nil || !slices.Equal(b.Favourites, tt.want) || !slices.Equal(b.Hidden, tt.hidden) || b.Passed != tt.passed {
			t.Errorf("%s: %+v, %v", tt.name, b, err)
		}
	}
	for _, list := range []string{"", "  \n", "# nothing\n"} {
		if _, err := Import(strings.NewReader(list), arena); !errors.Is(err, master.ErrEmpty) {
			t.Errorf("%q: %v", list, err)
		}
	}
	for _, list := range []string{"{", "<qstat>", `"Filters" {`, "A2S 192.0.2.1:27015\n"} {
		if b, err := Import(strings.NewReader(list), arena); err == nil {
			t.Errorf("%q: %+v", list, b)
		}
	}
}

// TestRoundTrip checks that each form reads back what it wrote, with names where the form has them.
func TestRoundTrip(t *testing.T) {
	servers := []Server{server("192.0.2.1:27960", `Ann's "best" \o/ #1`),
		server("[2001:db8::1]:27961", "Q3S 192.0.2.7:1"), server("192.0.2.3:1", "")}
	for _, as := range Forms() {
		var text bytes.Buffer
		if err := Export(&text, as, arena, servers); err != nil {
			t.Fatal(err)
		}
		b, err := Import(&text, arena)
		want := slices.Clone(servers)
		for i := range want {
			switch as {
			case AsQStat:
				want[i].Name = ""
			case AsText:
				want[i].Name = strings.ReplaceAll(want[i].Name, "#", "")
			}
		}
		if err != nil || !slices.Equal(b.Favourites, want) || b.Passed > 0 {
			t.Errorf("%s: %+v, %v", as, b, err)
		}
	}
}

// TestAMillion checks a list of a million servers: the maximum is kept and the rest counted. A file of a million
// servers is refused without being read whole.
func TestAMillion(t *testing.T) {
	var list strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&list, "%d.%d.%d.1:27960\n", 1+i>>16, i>>8&255, i&255)
	}
	b, err := Import(strings.NewReader(list.String()), arena)
	if err != nil || len(b.Favourites) != most || b.Beyond != 1_000_000-most {
		t.Fatalf("%d favourites, %d beyond, %v", len(b.Favourites), b.Beyond, err)
	}
	merged, added, beyond := Servers{
		Favourites: []Server{server("192.0.2.1:27960", "")},
		Hidden:     b.Favourites[:1],
	}.Merge(Favourite, b.Favourites, time.Time{})
	if len(merged.Favourites) != most || added != most-1 || beyond != 1 || len(merged.Hidden) != 0 {
		t.Errorf("%d favourites, %d added, %d beyond, %d hidden", len(merged.Favourites), added, beyond, len(merged.Hidden))
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	huge := Servers{Favourites: slices.Repeat([]Server{server("192.0.2.1:27960", strings.Repeat("x", 100))}, 100_000)}
	if err := huge.Write(file); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), "over 16 MiB") {
		t.Errorf("%v", err)
	}
}

func FuzzImport(f *testing.F) {
	for _, list := range []string{
		"# ours\n192.0.2.1:27960 Ann's\nQ3S 192.0.2.1\n", "addr,country\n192.0.2.1:27960,DE\n",
		`<qstat><server type="Q3S" address="192.0.2.1:27960" status="UP"><name>x</name></server></qstat>`,
		`"Filters" { "Favorites" { "1" { "name" "x" "address" "192.0.2.1:27960" "appid" "440" } } }`,
		`{"format":"muster.servers/1","favourites":[{"game":"openarena","addr":"192.0.2.1:27960"}]}`,
	} {
		f.Add([]byte(list))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Import(bytes.NewReader(data), arena)
		if err != nil {
			return
		}
		for _, as := range Forms() {
			var text bytes.Buffer
			if err := Export(&text, as, arena, b.Favourites); err != nil {
				t.Fatal(err)
			}
			if len(b.Favourites) == 0 {
				continue
			}
			again, err := Import(&text, arena)
			if err != nil || len(again.Favourites) == 0 {
				t.Fatalf("%s: %+v is read again as %+v, %v", as, b, again, err)
			}
			seen := map[netip.AddrPort]bool{}
			for _, s := range again.Favourites {
				seen[s.Addr.AddrPort] = true
			}
			for _, s := range b.Favourites {
				if !seen[s.Addr.AddrPort] || s.Name != discovery.CleanText(s.Name) {
					t.Fatalf("%s: %+v", as, s)
				}
			}
		}
	})
}

func TestSet(t *testing.T) {
	one := Server{Game: "openarena", Addr: hostport.At(netip.MustParseAddrPort("[::ffff:192.0.2.1]:27960")), Name: "Ann's\x1b[31m"}
	file := filepath.Join(t.TempDir(), "muster", "servers.json")
	s, err := Read(file)
	if err != nil || len(s.Favourites)+len(s.Hidden) > 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, step := range []struct {
		kind              Kind
		is                bool
		favourite, hidden int
	}{
		{Favourite, true, 1, 0}, {Favourite, true, 1, 0}, {Hidden, false, 1, 0}, {Hidden, true, 0, 1},
		{Favourite, false, 0, 1}, {Favourite, true, 1, 0},
	} {
		if s, err = s.Set(step.kind, one, step.is); err != nil || len(s.Favourites) != step.favourite || len(s.Hidden) != step.hidden {
			t.Errorf("after %s %v: %+v, %v", step.kind, step.is, s, err)
		}
	}
	if err := s.Write(file); err != nil {
		t.Fatal(err)
	}
	again, err := Read(file)
	if err != nil || len(again.Favourites) != 1 || again.Favourites[0].Addr.String() != "192.0.2.1:27960" ||
		again.Favourites[0].Name != discovery.CleanText(one.Name) {
		t.Errorf("kept as %+v, %v", again, err)
	}
	if _, err := s.Set(Favourite, Server{Game: "x"}, true); err == nil {
		t.Error("a favourite without an address")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":"muster.servers/1","favourites":[{"game":"openarena","addr":"192.0.2.1:27960","name":"Ann's"}],"hidden":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(data)
		if err != nil {
			return
		}
		for _, list := range [][]Server{s.Favourites, s.Hidden} {
			for _, o := range list {
				if !o.Addr.IsValid() || o.Game == "" || o.Name != discovery.CleanText(o.Name) {
					t.Errorf("%+v", o)
				}
			}
		}
	})
}
