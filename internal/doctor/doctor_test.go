package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery/geo"
	"muster/discovery/lists/lan"
	"muster/discovery/lists/master"
	"muster/discovery/names"
	"muster/internal/game"
	"muster/internal/release"
	"muster/internal/term"
)

func healthy() facts {
	return facts{
		now:    time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		route4: netip.MustParseAddr("203.0.113.5"), route6: netip.MustParseAddr("2001:db8::5"),
		cards:  []lan.Interface{{Name: "lo", Unused: "reaches nobody but this machine"}, {Name: "eth0"}},
		buffer: 4 << 20, wanted: 4 << 20, stamps: true, files: 1024,
		tables:   []geo.Source{{Field: geo.Country, Name: "a table", Built: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}},
		games:    []string{"openarena (openarena)"},
		terminal: surroundings{isTerminal: true, colours: true, columns: 80, rows: 24},
	}
}

func TestDiagnose(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*facts)
		warned string // the checks that warn
	}{
		{"without fault", func(*facts) {}, ""},
		{"a changed program", func(f *facts) { f.verdict.Standing = release.Changed }, "program"},
		{"a program that is not what it says", func(f *facts) { f.verdict.Standing = release.Misnamed }, "program"},
		{"a friend's program", func(f *facts) { f.verdict.Standing = release.Friends }, ""},
		{"a program that cannot be read", func(f *facts) { f.verdictErr = errors.New("permission denied") }, "program"},
		{"no UDP", func(f *facts) { f.udp = errors.New("operation not permitted") }, "udp"},
		{"no UDP, which asks for ways", func(f *facts) {
			f.udp, f.route4, f.route6 = errors.New("operation not permitted"), netip.Addr{}, netip.Addr{}
		}, "udp ipv4 ipv6 nat"},
		{"no IPv4", func(f *facts) { f.route4 = netip.Addr{} }, "ipv4 nat"},
		{"no IPv6", func(f *facts) { f.route6 = netip.Addr{} }, "ipv6"},
		{"private IPv6", func(f *facts) { f.route6 = netip.MustParseAddr("fd00::2") }, "ipv6"},
		{"no names", func(f *facts) {
			f.reached = reached{isTried: true, lost: "a", nameErr: errors.New("no name server answers")}
		}, "names lists"},
		{"behind a router", func(f *facts) { f.route4 = netip.MustParseAddr("192.168.1.7") }, "nat"},
		{"behind the provider's NAT", func(f *facts) { f.route4 = netip.MustParseAddr("100.64.3.4") }, "nat"},
		{"no card", func(f *facts) { f.cards = f.cards[:1] }, "mdns"},
		{"a small buffer", func(f *facts) { f.buffer = 212992 }, "buffer"},
		{"a system that does not tell", func(f *facts) { f.buffer = 0 }, ""},
		{"no kernel times", func(f *facts) { f.stamps = false }, "clock"},
		{"few files", func(f *facts) { f.files = 64 }, "files"},
		{"any number of files", func(f *facts) { f.files = 0 }, ""},
		{"old tables", func(f *facts) { f.tables[0].Built = f.now.AddDate(-1, -1, 0) }, "geo"},
		{"tables of last winter", func(f *facts) { f.tables[0].Built = f.now.AddDate(0, -11, 0) }, ""},
		{"tables that were fetched and are broken", func(f *facts) {
			f.tablesTrouble = &geo.FileError{Path: "asn.gz", Err: errors.New("cut off")}
		}, "geo"},
		{"no game", func(f *facts) { f.games = nil }, "games"},
		{"a narrow terminal", func(f *facts) { f.terminal.columns = 40 }, "terminal"},
		{"no terminal", func(f *facts) { f.terminal = surroundings{} }, ""},
	} {
		f := healthy()
		c.change(&f)
		var warned []string
		for _, check := range diagnose(f) {
			if check.State == Warn {
				warned = append(warned, check.Name)
			}
			if check.Detail == "" || check.State == OK && check.Hint != "" {
				t.Errorf("%s: %+v", c.name, check)
			}
		}
		if got := strings.Join(warned, " "); got != c.warned {
			t.Errorf("%s: warned of %q, want %q", c.name, got, c.warned)
		}
	}
}

// TestLargerBuffer checks that each hint is for its own system.
func TestLargerBuffer(t *testing.T) {
	for system, want := range map[string]string{
		"linux": "sudo sysctl -w net.core.rmem_max=4096", "darwin": "sudo sysctl -w kern.ipc.maxsockbuf=8192", "windows": "say --rate 100",
	} {
		f := healthy()
		f.system, f.buffer, f.wanted = system, 2048, 4096
		for _, c := range diagnose(f) {
			if c.Name == "buffer" && !strings.HasSuffix(c.Hint, ": "+want) {
				t.Errorf("%s: %s, want %s", system, c.Hint, want)
			}
		}
	}
}

func TestPrintChecks(t *testing.T) {
	var b strings.Builder
	Report{Checks: []Check{
		{Name: "udp", State: OK, Detail: "sockets send and receive"},
		{"buffer", Warn, "a socket holds 208 KB of the 4096 KB asked for", "at high rates replies may get lost"},
	}}.Print(term.Terminal{Writer: &b, Columns: 48})
	const want = `ok   udp        sockets send and receive
warn buffer     a socket holds 208 KB of the
                4096 KB asked for
     hint: at high rates replies may get lost
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
}

// TestExamine examines the machine that runs the tests.
func TestExamine(t *testing.T) {
	f := examine(t.Context(), Settings{Tables: t.TempDir(), Stays: true})
	if f.udp != nil || f.cardsErr != nil || f.tablesErr != nil || len(f.tables) != 2 || len(f.cards) == 0 {
		t.Errorf("%+v", f)
	}
}

// TestReach checks that a machine that finds no name, or gets no list, is told so. Its names come from the test,
// and its master sits on this machine.
func TestReach(t *testing.T) {
	quiet, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := quiet.LocalAddr().(*net.UDPAddr).AddrPort()
	quiet.Close() // so that nothing listens there
	games, err := game.Load(strings.NewReader(""), "")
	if err != nil {
		t.Fatal(err)
	}
	arena, err := games.Find("openarena")
	if err != nil {
		t.Fatal(err)
	}
	asks := func(name string) []master.Query {
		queries, err := arena.Queries(fmt.Sprintf("%s:%d", name, at.Port()))
		if err != nil {
			t.Fatal(err)
		}
		return queries
	}
	here := func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{at.Addr()}, nil }
	nowhere := func(_ context.Context, host string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "server misbehaving", Name: host}
	}
	for _, c := range []struct {
		name   string
		lists  []master.Query
		lookup names.Lookup
		want   string
	}{
		{"nothing is tried", nil, nowhere, ""},
		{"no name", asks("master.invalid"), nowhere, "warn names: master.invalid: server misbehaving; warn lists: not known without names"},
		{"no list", asks("master.invalid"), here, "ok names: master.invalid has an address; warn lists: no list of servers comes: no master answers: master.invalid: connection refused"},
		{"no list at an address", asks("127.0.0.1"), nowhere, "warn lists: no list of servers comes: no master answers: 127.0.0.1: connection refused"},
	} {
		var d diagnosis
		d.reach(reach(t.Context(), c.lists, c.lookup))
		var got []string
		for _, check := range d {
			got = append(got, string(check.State)+" "+check.Name+": "+check.Detail)
		}
		if all := strings.ReplaceAll(strings.Join(got, "; "), fmt.Sprintf(":%d", at.Port()), ""); all != c.want {
			t.Errorf("%s: %s, want %s", c.name, all, c.want)
		}
	}
	var d diagnosis
	if d.reach(reached{isTried: true, found: "master.example", servers: 40}); len(d) != 2 || d[1].State != OK || d[1].Detail != "40 servers came" {
		t.Errorf("a list: %+v", d)
	}
}
