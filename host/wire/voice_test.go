package wire

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/internal/catalogue"
)

func TestVoice(t *testing.T) {
	for link, want := range map[string]string{
		"mumble://voice.example:64738/Friday?version=1.2.0":   "Mumble",
		"mumble://ann@voice.example/":                         "Mumble",
		"ts3server://voice.example?port=9987":                 "TeamSpeak",
		"teamspeak://voice.example":                           "TeamSpeak",
		"https://discord.gg/abc":                              "Discord",
		"https://discord.com/channels/1/2":                    "Discord",
		"https://meet.jit.si/Friday":                          "Jitsi",
		"javascript:alert(1)":                                 "",
		"JavaScript:alert(1)//mumble://":                      "",
		" mumble://voice.example":                             "",
		"mumble://voice.example/a b":                          "",
		"mumble://":                                           "",
		"mumble://:64738":                                     "",
		"mumble://ann:password@voice.example/":                "",
		"data:text/html,x":                                    "",
		"http://discord.gg/abc":                               "",
		"https://discord.gg.evil.example/abc":                 "",
		"https://discord.gg@evil.example/":                    "",
		"https://evil.example/https://discord.gg/":            "",
		"https://discord.com":                                 "",
		"https://discord.gg/\"onclick=alert(1)":               "",
		"https://discord.gg/\u202eabc":                        "",
		"https://discord.gg/" + strings.Repeat("a", maxVoice): "",
		"file:///etc/passwd":                                  "",
		"":                                                    "",
	} {
		if got := Voice(link); got != want {
			t.Errorf("%q is %q, want %q", link, got, want)
		}
	}
}

// TestVoiceSecret checks that a link for the whole room contains no secret that admits people or
// gives them more rights. The error says so.
func TestVoiceSecret(t *testing.T) {
	for link, want := range map[string]error{
		"mumble://ann@voice.example/":                                              nil,
		"mumble://ann:hush@voice.example/":                                         ErrVoiceSecret,
		"mumble://:hush@voice.example/":                                            ErrVoiceSecret,
		"mumble://ann:@voice.example/":                                             ErrVoiceSecret,
		"ts3server://voice.example?port=9987&nickname=ann":                         nil,
		"ts3server://voice.example?channel=password":                               nil,
		"ts3server://voice.example?password=hush":                                  ErrVoiceSecret,
		"ts3server://voice.example?port=9987&PassWord=hush":                        ErrVoiceSecret,
		"ts3server://voice.example?port=9987;password=hush":                        ErrVoiceSecret,
		"ts3server://voice.example?pass%77ord=hush":                                ErrVoiceSecret,
		"ts3server://voice.example?channel=Friday&channelpassword=hush":            ErrVoiceSecret,
		"ts3server://voice.example?token=abc":                                      ErrVoiceSecret,
		"teamspeak://voice.example?password=hush":                                  ErrVoiceSecret,
		"https://meet.jit.si/Friday?jwt=abc":                                       ErrVoiceSecret,
		"https://call.element.io/room/#/Friday?password=abc&roomId=!a:example.org": nil,
		"https://evil.example/?password=hush":                                      ErrVoice,
		"call me":                                                                  ErrVoice,
	} {
		if got := CheckVoice(link); got != want || (Voice(link) == "") != (want != nil) {
			t.Errorf("%q: %v, want %v", link, got, want)
		}
	}
}

// FuzzVoice checks that an accepted link leads to one of the known voice services, and nowhere
// else.
func FuzzVoice(f *testing.F) {
	for _, link := range []string{"mumble://a", "https://discord.gg/a", "https://discord.com/\\evil.example", "javascript:0"} {
		f.Add(link)
	}
	f.Fuzz(func(t *testing.T, link string) {
		if Voice(link) == "" {
			return
		}
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case u.Scheme == "mumble", u.Scheme == "ts3server", u.Scheme == "teamspeak":
		case u.Scheme == "https" && Voice("https://"+u.Host+"/") != "":
		default:
			t.Errorf("%q leads to %s", link, u)
		}
	})
}

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
