package host_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"muster/host"
	"muster/host/public"
	"muster/host/wire"
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
