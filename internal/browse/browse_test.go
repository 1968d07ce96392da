package browse

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/report"
	"muster/internal/term"
)

// TestServerTable checks that the widest text shrinks first, that numbers and addresses stay whole, and that an empty
// column disappears. After that the least important columns go, and at last the address moves to a line of its own.
func TestServerTable(t *testing.T) {
	near := []report.Measurement{
		{Addr: hostport.At(netip.MustParseAddrPort("192.0.2.1:27960")), RTT: discovery.Millis(12345 * time.Microsecond),
			Name: "Aggressor of the north", Map: "oa_dm1", Mode: "0", Players: 3, MaxPlayers: 8, Bots: 2, Country: "DE"},
		{Addr: hostport.At(netip.MustParseAddrPort("[2001:db8::1]:27961")), RTT: discovery.Millis(130 * time.Millisecond),
			Name: "日本のサーバー", Map: "oa_dm2", Mode: "4", MaxPlayers: 16},
	}
	var wide strings.Builder
	other := slices.Clone(near)
	other[0].Version, other[0].Mod, other[1].Version, other[1].Mod = "1.20.4", "0", "1.8", "q3ut4"
	Table(other).Write(term.Terminal{Writer: &wide, Columns: 110})
	if want := `
#      PING  PLAYERS  BOTS  NAME                    MAP     MODE  MOD    VERSION  IN  ADDRESS
1   12.3 ms      3/8     2  Aggressor of the north  oa_dm1  0     0      1.20.4   DE  192.0.2.1:27960
2  130.0 ms     0/16        日本のサーバー          oa_dm2  4     q3ut4  1.8          [2001:db8::1]:27961
`; "\n"+wide.String() != want {
		t.Errorf("with versions:\n%swant:%s", wide.String(), want)
	}
	near[0].Version, near[1].Version = "1.20.4", "1.20.4" // equal everywhere, so it tells nothing
	tests := []struct {
		width int
		want  string
	}{
		{math.MaxInt32, `
#      PING  PLAYERS  BOTS  NAME                    MAP     MODE  IN  ADDRESS
1   12.3 ms      3/8     2  Aggressor of the north  oa_dm1  0     DE  192.0.2.1:27960
2  130.0 ms     0/16        日本のサーバー          oa_dm2  4         [2001:db8::1]:27961
`},
		{76, `
#      PING  PLAYERS  NAME                   MAP     IN  ADDRESS
1   12.3 ms      3/8  Aggressor of the nor…  oa_dm1  DE  192.0.2.1:27960
2  130.0 ms     0/16  日本のサーバー         oa_dm2      [2001:db8::1]:27961
`},
		{61, `
#      PING  PLAYERS  NAME                ADDRESS
1   12.3 ms      3/8  Aggressor of the …  192.0.2.1:27960
2  130.0 ms     0/16  日本のサーバー      [2001:db8::1]:27961
`},
		{49, `
#      PING  PLAYERS  NAME                    IN
  ADDRESS
1   12.3 ms      3/8  Aggressor of the north  DE
  192.0.2.1:27960
2  130.0 ms     0/16  日本のサーバー
  [2001:db8::1]:27961
`},
		{40, `
#      PING  PLAYERS  NAME
  ADDRESS
1   12.3 ms      3/8  Aggressor of the …
  192.0.2.1:27960
2  130.0 ms     0/16  日本のサーバー
  [2001:db8::1]:27961
`},
		{20, `
    PING  PLAYERS  NAME
  ADDRESS
 12.3 ms      3/8  Aggressor of th…
  192.0.2.1:27960
130.0 ms     0/16  日本のサーバー
  [2001:db8::1]:27961
`},
	}
	for _, test := range tests {
		var out strings.Builder
		Table(near).Write(term.Terminal{Writer: &out, Columns: test.width})
		if got := "\n" + out.String(); got != test.want {
			t.Errorf("in %d columns:%swant:%s", test.width, got, test.want)
		}
	}
}

// TestNarrowServerTable checks every usual width: no line is too long, each name keeps 16 columns, and each address
// stays whole. An address wraps only if it is wider than the terminal.
func TestNarrowServerTable(t *testing.T) {
	const name = "The Old Castle | Instagib and Capture the Flag"
	lists := map[string][]string{
		"IPv4": {"192.0.2.1:27960", "198.51.100.200:27961"},
		"IPv6": {"[2001:db8::1]:27960", "[2001:db8:1234:5678:9abc:def0:1234:5678]:27961"},
	}
	for kind, addrs := range lists {
		for _, width := range []int{40, 49, 60, 80, 120} {
			var servers []report.Measurement
			for i, addr := range addrs {
				servers = append(servers, report.Measurement{
					Addr: hostport.At(netip.MustParseAddrPort(addr)), RTT: discovery.Millis(130 * time.Millisecond), Name: name,
					Map: "oasago2_castle", Mode: "instagib", Mod: "baseoa",
					Version: []string{"1.20.4", "1.8"}[i], Players: 12, MaxPlayers: 64, Bots: 2, Password: i == 1, Country: "DE",
				})
			}
			var out strings.Builder
			Table(servers).Write(term.Terminal{Writer: &out, Columns: width})
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			for _, line := range lines {
				if runewidth.StringWidth(line) > max(width, len("  ")+len(addrs[1])) {
					t.Errorf("%s in %d columns: %q is too long", kind, width, line)
				}
			}
			for _, what := range append([]string{"PING", "PLAYERS", "PW", name[:minName-1]}, addrs...) {
				if !strings.Contains(out.String(), what) {
					t.Errorf("%s in %d columns misses %q:\n%s", kind, width, what, out.String())
				}
			}
			if folds := len(lines) > 1+len(addrs); folds != (width <= 60 || width <= 80 && kind == "IPv6") {
				t.Errorf("%s in %d columns: addresses on lines of their own: %t:\n%s", kind, width, folds, out.String())
			}
		}
	}
}

// TestShown checks that a player who says how many servers to show gets that many, whatever the terminal's size.
func TestShown(t *testing.T) {
	for _, tt := range []struct{ top, nearest, of, want int }{
		{WholeScreen, 0, 500, 500}, // no terminal
		{0, 0, 500, 500}, {7, 0, 500, 7}, {7, 0, 3, 3},
		{WholeScreen, 50, 500, 50}, {0, 50, 500, 50}, {WholeScreen, 50, 20, 20}, {7, 50, 500, 7},
	} {
		if got := (Room{Top: tt.top, Nearest: tt.nearest}).For(tt.of); got != tt.want {
			t.Errorf("--top %d --nearest %d shows %d of %d, want %d", tt.top, tt.nearest, got, tt.of, tt.want)
		}
	}
}

// TestAsFirst checks that servers nearby are asked first.
func TestAsFirst(t *testing.T) {
	plan := asFirst([]int{0, 2}, discovery.NewConventional(3))
	var order []int
	for {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			break
		}
		order = append(order, probe.Server)
		plan.Observe(discovery.Result{Server: probe.Server, State: discovery.Answered})
	}
	if want := []int{0, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("asked in the order %v, want %v", order, want)
	}
}
