package venue_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/venue"
)

// TestTable checks that each machine of the table may be asked by anybody, and how.
func TestTable(t *testing.T) {
	isName := func(host string) bool { return hostport.IsHostName(host) && strings.Contains(host, ".") }
	table := venue.Table()
	if len(table) != 125 {
		t.Errorf("%d machines, want 125", len(table))
	}
	seen := map[string]bool{}
	for _, m := range table {
		if m.Kind != venue.Documented && m.Kind != venue.Offered {
			t.Errorf("%v: kind %q", m, m.Kind)
		}
		if m.URL == "" && m.TCP == "" && m.UDP == "" {
			t.Errorf("%v cannot be asked", m)
		}
		if m.URL != "" {
			u, err := url.Parse(m.URL)
			if err != nil || u.Scheme != "https" || !isName(u.Host) || u.Path == "" || u.User != nil || u.Fragment != "" {
				t.Errorf("%s is asked by %s: %v", m.City, m.URL, err)
			} else if u.RawQuery != "" && u.RawQuery != "cors=true" { // the one query that LibreSpeed documents
				t.Errorf("%s has a query that nobody documents", m.URL)
			}
		}
		for _, at := range []string{m.TCP, m.UDP} {
			if key, err := hostport.Parse(at); at != "" && (err != nil || !hostport.IsName(key.Addr()) || !isName(key.Addr().Zone())) {
				t.Errorf("%s is asked at %s: %v", m.City, at, err)
			} else if at != "" && (strings.HasPrefix(at[strings.LastIndex(at, ":"):], ":52") || seen[at]) {
				t.Errorf("%s is taken, or in the table twice", at)
			}
			seen[at] = at != ""
		}
		if m.UDP != "" && !strings.HasSuffix(m.UDP, ".api.aws:7770") {
			t.Errorf("%s: nobody says that it returns datagrams", m.UDP)
		}
		for _, not := range []string{"DatHost", "servers.com", "i3D", "PlayFab", "Cloudflare", "Fly.io"} {
			if strings.Contains(m.Offer.Provider, not) {
				t.Errorf("%s of %s: may it be timed?", m.City, m.Offer.Provider)
			}
		}
		day, err := time.Parse(time.DateOnly, m.Seen)
		if read, _ := time.Parse(time.DateOnly, venue.ReadAt); err != nil || day.After(read) || m.Source == "" {
			t.Errorf("%v was seen at %q by %q", m, m.Seen, m.Source)
		}
	}
}

// TestBuiltin checks that the built-in places can be a room's, with one machine a city.
func TestBuiltin(t *testing.T) {
	places := venue.Builtin()
	if len(places) != 74 {
		t.Errorf("%d places, want 74", len(places))
	}
	text, err := json.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	var read wire.Venues
	if err := json.Unmarshal(text, &read); err != nil || !read.Equal(places) {
		t.Fatalf("no room takes them: %v", err)
	}
	if places.Private() {
		t.Error("some are private")
	}
	forBrowsers, offers := 0, 0
	for _, v := range places {
		offers += len(v.Offers)
		if v.URL != "" {
			forBrowsers++
		}
		if wantsUDP := v.URL == ""; wantsUDP != (v.Protocol == "beacon") || v.Lat == 0 || v.Country == "" {
			t.Errorf("%+v", v)
		}
	}
	if forBrowsers != 66 || offers != len(venue.Table()) {
		t.Errorf("browsers ask %d places, and %d machines are told", forBrowsers, offers)
	}
	frankfurt := places[at(places, "Frankfurt")]
	if frankfurt.Addr.String() != "fra-de-ping.vultr.com:443" || frankfurt.URL != "https://fra-de-ping.vultr.com/" || len(frankfurt.Offers) != 3 {
		t.Errorf("%+v", frankfurt)
	}
}

func at(places wire.Venues, name string) int {
	for i, v := range places {
		if v.Name == name {
			return i
		}
	}
	return -1
}
