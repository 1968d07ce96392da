package wire

import (
	"strings"
	"testing"
	"time"

	"muster/internal/catalogue"
)

func TestWebhooks(t *testing.T) {
	for _, c := range []struct {
		url, to string // to is where it posts; empty if it is no webhook
	}{
		{"https://discord.com/api/webhooks/1/secret", "Discord"},
		{"https://Canary.Discord.com/api/webhooks/1/secret", "Discord"},
		{"https://discordapp.com/api/webhooks/1/secret", "Discord"},
		{"https://discord.com.evil.example/api/webhooks/1/secret", "a webhook"},
		{"https://notdiscord.com/x", "a webhook"},
		{"json+https://discord.com/x", "a webhook"},
		{"https://clan.example/hook?key=1", "a webhook"},
		{"http://127.0.0.1:8080/hook", "a webhook"},
		{"http://[::1]/hook", "a webhook"},
		{"http://localhost/hook", "a webhook"},
		{"http://clan.example/hook", ""},
		{"http://127.0.0.1.evil.example/", ""},
		{"https://user:password@clan.example/", ""},
		{"https://", ""},
		{"discord.com/api/webhooks/1/secret", ""},
		{"file:///etc/passwd", ""},
		{"javascript:alert(1)", ""},
		{"https://clan.example/" + strings.Repeat("a", maxWebhook), ""},
		{"https://clan.example:port/\x00", ""},
	} {
		err := CheckWebhook(c.url)
		if (err == nil) != (c.to != "") {
			t.Errorf("%s: %v", c.url, err)
		}
		if err != nil && strings.Contains(err.Error(), c.url) {
			t.Errorf("the error tells the webhook: %v", err)
		}
		if got := catalogue.InEnglish().Say(WebhookOf(c.url)); err == nil && got != c.to {
			t.Errorf("%s posts to %s, want %s", c.url, got, c.to)
		}
	}
}

func TestSentence(t *testing.T) {
	friday := time.Date(2026, 11, 27, 19, 30, 0, 0, time.FixedZone("CET", 3600))
	for _, c := range []struct {
		of   Announcement
		want string
	}{
		{Announcement{Kind: AnnouncedOpen, Game: "OpenArena"}, "A room is open: we're looking for a OpenArena server."},
		{Announcement{Kind: AnnouncedOpen, Game: "OpenArena", Room: "Friday"}, "Friday is open: we're looking for a OpenArena server."},
		{Announcement{
			Kind:   AnnouncedChoice,
			Game:   "OpenArena",
			Server: &AnnouncedServer{Name: "Dust", Map: "oa_dm1", MeanMS: 34.6, MaxMS: 51},
		}, "We play OpenArena on Dust, map oa_dm1: 35 ms on average, 51 at worst."},
		{Announcement{Kind: AnnouncedChoice, Game: "OpenArena", Server: &AnnouncedServer{}}, "We play OpenArena on a server."},
		{Announcement{Kind: AnnouncedChoice, Game: "OpenArena"}, "We play OpenArena on a server."},
		{Announcement{Kind: AnnouncedSeats, Seats: 5, Server: &AnnouncedServer{Name: "Dust"}}, "5 seats are free on Dust."},
		{Announcement{Kind: AnnouncedSeats, Seats: 1}, "A seat is free on a server."},
		{Announcement{Kind: AnnouncedReminder, Game: "OpenArena", Next: friday}, "We play OpenArena on Friday, 27 November, at 19:30 CET."},
	} {
		if got := c.of.Sentence(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
}
