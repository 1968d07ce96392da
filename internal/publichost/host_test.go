package publichost

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery/protocol/beacon"
	"muster/host/public"
	"muster/internal/freeport"
	"muster/internal/game"
	"muster/internal/ingress"
)

// TestSearching checks that a search finds what rooms may be opened for, and says where the number is another.
func TestSearching(t *testing.T) {
	games, err := game.LoadFile("")
	if err != nil {
		t.Fatal(err)
	}
	var choices []public.Game
	for _, g := range games.All() {
		choices = append(choices, public.Game{Game: g.Choice(), Listed: g.ID == "openarena"})
	}
	find := searching(games, choices)
	for text, want := range map[string]public.Game{
		"open ar": {Listed: true}, "openarenna": {Listed: true}, "xonot": {}, "open arena 2": {Listed: true, OtherNumber: true},
	} {
		if found := find(text); len(found) == 0 || found[0].Listed != want.Listed || found[0].OtherNumber != want.OtherNumber {
			t.Errorf("%s finds %+v", text, found)
		}
	}
}

// TestServeInTime checks that a host ends at the latest when it has promised to, whatever it still does.
func TestServeInTime(t *testing.T) {
	failed := errors.New("the store is damaged")
	for _, tt := range []struct {
		name  string
		takes time.Duration // from the moment it is told to end
		err   error
		want  time.Duration
		is    error
	}{
		{"at once", 0, nil, 0, nil},
		{"with an error", time.Second, failed, time.Second, failed},
		{"barely", endsWithin - 1, nil, endsWithin - 1, nil},
		{"too slow", time.Hour, nil, endsWithin, errCut},
		{"too slow, with an error", time.Hour, failed, endsWithin, errCut},
		{"before it is told to", -time.Minute, failed, -time.Minute, failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const told = 2 * time.Minute
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), told)
				defer cancel()
				err := serveInTime(ctx, func() error {
					time.Sleep(told + tt.takes)
					return tt.err
				})
				defer time.Sleep(time.Hour) // what was left behind ends here
				if took := time.Since(began) - told; took != tt.want || !errors.Is(err, tt.is) {
					t.Errorf("it took %v, and returned %v", took, err)
				}
			})
		})
	}
}

// TestBeacon checks that a host answers measurements at its own port where they can come, and is as good without.
func TestBeacon(t *testing.T) {
	at := netip.MustParseAddrPort(freeport.UDP(t))
	host := func(s *Settings) *Host { return &Host{Settings: s, log: slog.New(slog.DiscardHandler)} }
	name := &url.URL{Scheme: "https", Host: "muster.example"}
	answers := &Settings{Beacon: true}
	for name, s := range map[string]*Settings{
		"nobody wants it":   {},
		"a proxy here":      {Beacon: true, Ingress: ingress.Ingress{Public: name}},
		"a proxy elsewhere": {Beacon: true, Ingress: ingress.Ingress{Public: name, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}},
	} {
		port, stop := host(s).shine(t.Context(), at)
		stop()
		if port != 0 {
			t.Errorf("%s: it answers at port %d", name, port)
		}
	}
	port, stop := host(answers).shine(t.Context(), at)
	defer stop()
	if port != at.Port() {
		t.Fatalf("it answers at port %d, not %d", port, at.Port())
	}
	if port, _ := host(answers).shine(t.Context(), at); port != 0 {
		t.Error("two hosts answer at one port")
	}
	conn, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	conn.Write(beacon.Protocol{}.AppendQuery(nil, 7, nil))
	b := make([]byte, 100)
	n, err := conn.Read(b)
	if reply, wrong := (beacon.Protocol{}).Parse([][]byte{b[:n]}); err != nil || wrong != nil || !reply.Answers(7) {
		t.Errorf("%+v, %v, %v", reply, err, wrong)
	}
	stop()
	if port, stop := host(answers).shine(t.Context(), at); port != at.Port() {
		t.Error("the first beacon has kept its port")
	} else {
		stop()
	}
}

// TestSortChanges checks that changes that a host applies at once are separated from those that need a restart.
func TestSortChanges(t *testing.T) {
	old := map[string]string{"max-rooms": "10", "listen": ":7777", "node": "a", "idle": "1h"}
	now := map[string]string{"max-rooms": "20", "listen": ":7778", "node": "a", "max-players": "8"}
	names := changed(old, now)
	if want := []string{"idle", "listen", "max-players", "max-rooms"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("changed are %v, want %v", names, want)
	}
	atOnce, later := sortChanges(names)
	if want := []string{"idle", "max-players", "max-rooms"}; !reflect.DeepEqual(atOnce, want) ||
		!reflect.DeepEqual(later, []string{"listen"}) {
		t.Errorf("at once %v, later %v", atOnce, later)
	}
}

// TestWithoutSecrets checks what a log may contain of the settings.
func TestWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"nats://ann:pass@10.0.0.1:4222,nats://token@10.0.0.2": "nats://…@10.0.0.1:4222,nats://…@10.0.0.2",
		"ann:pass@10.0.0.1:4222":                              "…@10.0.0.1:4222",
		"https://lists.example/get?key=abc#x":                 "https://lists.example/get?…",
		"https://muster.example":                              "https://muster.example",
		"/etc/muster/cert.pem":                                "/etc/muster/cert.pem",
		"10.0.0.0/8,127.0.0.1":                                "10.0.0.0/8,127.0.0.1",
	} {
		if got := withoutSecrets(map[string]string{"x": text})["x"]; got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
