package wire

import (
	"net/url"
	"strings"
	"testing"
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
