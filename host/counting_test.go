package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"muster/host"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// TestCountedByAddress checks that the host knows from a guest's address how good an estimate of
// the guest's pings would be, and that the organiser can count the guest in. The address and its
// country are shown to nobody.
func TestCountedByAddress(t *testing.T) {
	const player, guest, far = "198.41.0.4", "198.41.77.7", "202.12.27.33"
	h, server := serve(t, host.Config{
		List: listOf(3), Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Locate: func(addr netip.Addr) (string, uint32) {
			if addr.String() == far {
				return "JP", 2500
			}
			return "DE", 64999
		},
	})
	code, secret, err := h.Open(friday(0))
	if err != nil {
		t.Fatal(err)
	}
	enters := func(name, from string) string {
		var answer struct{ Token string }
		_, body := asks(t, server, "POST", "/api/rooms/"+code+"/enter", fmt.Sprintf(`{"name":%q}`, name), map[string]string{"X-Forwarded-For": from})
		json.Unmarshal([]byte(body), &answer)
		return answer.Token
	}
	dialFrom(t, server, player, code, "ann")
	zoe := enters("zoe", guest)
	enters("yan", far)
	enters("xia", "10.0.0.7")
	estimate := func(name string) wire.Estimate {
		room, _ := h.Room(code)
		for _, p := range room.People {
			if p.Name == name && p.Estimate != nil {
				return *p.Estimate
			}
		}
		return wire.Estimate{}
	}
	if e := estimate("zoe"); e.ErrorMS < 1 || e.ErrorMS > 12 {
		t.Errorf("of a guest in a player's network: %+v", e)
	}
	for name, why := range map[string]string{"yan": "nobody nearby is measuring", "xia": "it’s private"} {
		if e := estimate(name); !strings.Contains(catalogue.InEnglish().Say(e.Why), why) {
			t.Errorf("of %s: %+v, want %q", name, e, why)
		}
	}
	if status, _ := orders(t, server, code, "count", zoe, map[string]any{"name": "zoe", "counted": true}); status != http.StatusForbidden {
		t.Errorf("zoe counts herself in: %d", status)
	}
	if status, _ := orders(t, server, code, "count", secret,
		map[string]any{"name": "zoe", "counted": true}); status != http.StatusNoContent || !estimate("zoe").Counted {
		t.Errorf("the organiser counts zoe in: %d, %+v", status, estimate("zoe"))
	}
	room, _ := h.Room(code)
	for _, p := range room.People {
		if want := map[bool]string{true: "DE"}[p.Peer]; p.Country != want { // only players' countries are on the map
			t.Errorf("everybody is told %q of %s, not %q", p.Country, p.Name, want)
		}
	}
	text, _ := json.Marshal(room)
	for _, private := range []string{player, guest, far, "64999", `"JP"`} {
		if strings.Contains(string(text), private) {
			t.Errorf("everybody is told %s", private)
		}
	}
	if status, _ := orders(t, server, code, "count", zoe,
		map[string]any{"name": "zoe", "counted": false}); status != http.StatusNoContent || estimate("zoe").Counted {
		t.Errorf("zoe takes it back: %d, %+v", status, estimate("zoe"))
	}
}

// dialFrom makes a player's program join from an address.
func dialFrom(t *testing.T, server *httptest.Server, from, code, name string) *player {
	t.Helper()
	p := dialWith(t, server, http.Header{"X-Forwarded-For": {from}})
	p.Conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
	expect[wire.Welcome](p)
	return p
}
