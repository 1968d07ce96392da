package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host"
	"muster/host/networks"
	"muster/host/public"
	"muster/host/wire"
	"muster/internal/await"
	"muster/internal/catalogue"
)

const hook = "https://discord.com/api/webhooks/1/token"

// TestPosting checks that a room's announcements reach the poster, with the link if it is https and
// wanted. Everyone sees the result, but not the webhook.
func TestPosting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		public string
		noLink bool
		link   bool
	}{{"https://muster.example", false, true}, {"https://muster.example", true, false},
		{"http://muster.example", false, false}, {"", false, false}} {
		posted := make(chan host.Post, 8)
		config := host.Config{List: listOf(1), Announce: func(p host.Post) { posted <- p }, GameName: func(string) string { return "OpenArena" }}
		if c.public != "" {
			config.PublicURL, _ = url.Parse(c.public)
		}
		h, server := serve(t, config)
		settings := friday(0)
		settings.Webhook, settings.NoLink = hook, c.noLink
		code, secret, _ := h.Open(settings)
		p := <-posted
		if p.URL != hook || p.Announcement.Kind != wire.AnnouncedOpen || p.Announcement.Game != "OpenArena" ||
			!strings.Contains(p.Announcement.Text, "OpenArena") {
			t.Errorf("posted %+v", p)
		}
		if link := p.Announcement.Link; (link != "") != c.link ||
			link != "" && (!strings.HasPrefix(link, "https://muster.example/#") || strings.Contains(link, secret)) {
			t.Errorf("the link %q at %+v", link, c)
		}
		p.Told(errors.New("Discord refused the webhook (404): make a new one in the channel's settings"))
		for s := range h.Watch(t.Context(), code) {
			if s.Room.Posts != nil && !s.Room.Posts.Trouble.IsZero() {
				text, _ := json.Marshal(s)
				if strings.Contains(string(text), "webhooks/1") || catalogue.InEnglish().Say(s.Room.Posts.To) != "Discord" {
					t.Errorf("shown %s", text)
				}
				break
			}
		}
		server.Close()
	}
}

// TestStrangersPost checks that a public host posts only if its operator allows it, and knows who
// opened the room.
func TestStrangersPost(t *testing.T) {
	const opening = `{"game":"openarena","webhook":"` + hook + `"}`
	config := everybody(public.Limits{Rooms: 9, PerAddress: 9, Players: 9, Servers: 9})
	_, server := serve(t, config)
	if status, _, _ := opens(t, server, "198.51.100.7", opening); status != http.StatusBadRequest {
		t.Errorf("a host that posts for nobody answers %d", status)
	}
	posted := make(chan host.Post, 1)
	config.Announce = func(p host.Post) { posted <- p }
	_, server = serve(t, config)
	if status, _, _ := opens(t, server, "198.51.100.7", opening); status != http.StatusCreated {
		t.Fatalf("a host that posts answers %d", status)
	}
	if p := <-posted; p.Opener != netip.MustParseAddr("198.51.100.7") {
		t.Errorf("it posts for %v", p.Opener)
	}
	if status, _, _ := opens(t, server, "198.51.100.7", `{"game":"openarena","webhook":"http://10.0.0.1/"}`); status != http.StatusBadRequest {
		t.Errorf("an unencrypted webhook is answered %d", status)
	}
}

// TestMemoryNamesNobody plays rooms on a host that remembers networks, reads every byte that it keeps
// of them, and checks that no player, server or room is in it.
func TestMemoryNamesNobody(t *testing.T) {
	t.Parallel()
	memory := networks.New([32]byte{7})
	var secrets []string
	var addrs []netip.Addr
	var servers []discovery.Server
	for i := range 8 {
		addr := netip.AddrFrom4([4]byte{198, 51, 100, byte(10 + i)})
		addrs = append(addrs, addr)
		servers = append(servers, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: "DE", ASN: 24940})
	}
	h, server := serve(t, host.Config{
		List:     func(context.Context, string) ([]discovery.Server, error) { return servers, nil },
		Locate:   func(netip.Addr) (string, uint32) { return "NL", 1136 },
		Networks: memory, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	for room := range 3 {
		code, secret, err := h.Open(friday(2))
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, code, secret, h.Keys(code).Link)
		var players []*player
		for i, name := range []string{"Quillmere", "Wobblewick"} {
			from := netip.AddrFrom4([4]byte{203, 0, byte(113 + room), byte(50 + 100*i)})
			addrs, secrets = append(addrs, from), append(secrets, name)
			p := dialWith(t, server, http.Header{"X-Forwarded-For": {from.String()}})
			p.Conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
			welcome := expect[wire.Welcome](p)
			secrets = append(secrets, welcome.Token, welcome.Page)
			players = append(players, p)
		}
		for _, p := range players {
			p.measures(20)
		}
		for _, p := range players {
			p.looks()
		}
		for _, p := range players {
			expect[wire.Launch](p)
		}
		await.Until(t, func() bool { return (memory.Summary().Cells > 0) == (room == 2) }, "after %d rooms there are %d cells",
			room+1, memory.Summary().Cells)
	}
	if s := memory.Summary(); s.Cells != 6 || s.Networks != 2 {
		t.Errorf("the memory has %+v", s)
	}
	known := memory.Known([]networks.Network{{Country: "NL", ASN: 1136}}, topology.New(servers), time.Now())[0]
	if len(known) != 3 || known[0].MS != 23.5 || known[0].Count != 3 {
		t.Errorf("it knows %+v", known)
	}
	kept := memory.Append(nil) // all that muster serve writes
	for _, secret := range append(secrets, "Friday", "openarena") {
		if bytes.Contains(bytes.ToLower(kept), []byte(strings.ToLower(secret))) {
			t.Errorf("%s is kept", secret)
		}
	}
	for _, addr := range addrs {
		four := addr.As4()
		text := fmt.Sprintf("%d.%d.%d", four[0], four[1], four[2])
		if bytes.Contains(kept, four[:3]) || bytes.Contains(kept, []byte(text)) {
			t.Errorf("the network of %v is kept", addr)
		}
	}
}
