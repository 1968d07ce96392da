package address

import (
	"fmt"
	"strings"
	"testing"
)

// TestRead is the table of the forms in which people write addresses.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		// Plain, with a name before or after.
		"192.0.2.1:27015":                      "192.0.2.1:27015",
		"192.0.2.1":                            "192.0.2.1",
		"2001:db8::1":                          "[2001:db8::1]",
		"[2001:db8::2]":                        "[2001:db8::2]",
		"[192.0.2.1]":                          "192.0.2.1",
		"[192.0.2.1]:27015":                    "192.0.2.1:27015",
		"[::ffff:192.0.2.1]:1":                 "192.0.2.1:1",
		"192.0.2.1:27015 my clan server":       "192.0.2.1:27015",
		"My clan: 192.0.2.1:27015":             "192.0.2.1:27015",
		"My clan = 192.0.2.1:27015":            "192.0.2.1:27015",
		"My clan 192.0.2.1:27015":              "192.0.2.1:27015",
		"München 192.0.2.1:27015":              "192.0.2.1:27015",
		"Clan: games.example:27015":            "games.example:27015",
		"games.example.org our home":           "games.example.org",
		"Hypixel: mc.example.org":              "mc.example.org",
		"Hypixel - mc.example.org":             "mc.example.org",
		"mc.example.org | Hypixel":             "mc.example.org",
		"Games.Example.Org.":                   "games.example.org",
		"localhost:27015":                      "localhost:27015",
		"ann-pc":                               "ann-pc",
		"my clan.example 192.0.2.1:27015":      "192.0.2.1:27015",
		"192.0.2.1:27015 see www.example.org":  "192.0.2.1:27015",
		"192.0.2.1 Battlefield 2042":           "192.0.2.1",
		"192.0.2.1 12/24 de_dust2":             "192.0.2.1",
		"192.0.2.1 24 players":                 "192.0.2.1",
		"192.0.2.1:27015 2 fast 2 furious":     "192.0.2.1:27015",
		"192.0.2.1:27015 daily 20:00, 3:1":     "192.0.2.1:27015",
		"192.0.2.1: my clan":                   "192.0.2.1",
		"My server #3 192.0.2.1:27015":         "192.0.2.1:27015",
		"play.example.org Minecraft 1.20.4":    "play.example.org",
		"1.20.4 play.example.org":              "play.example.org",
		"ann@example.org says 192.0.2.1:27015": "192.0.2.1:27015",
		"(192.0.2.1:27015)":                    "192.0.2.1:27015",
		"»192.0.2.1:27015«":                    "192.0.2.1:27015",
		"“192.0.2.1:27015”, nice":              "192.0.2.1:27015",
		"★ Clan ★ 192.0.2.1:27015":             "192.0.2.1:27015",
		"192.0.2.1:27015.":                     "192.0.2.1:27015",
		"Is it 192.0.2.1:27015?":               "192.0.2.1:27015",
		`192.0.2.1:27960 "Q3S 192.0.2.7:1"`:    "192.0.2.1:27960",
		"Q3S 192.0.2.1:27960":                  "Q3S 192.0.2.1:27960",
		"Q3S 192.0.2.1:27960 with a name":      "Q3S 192.0.2.1:27960",
		"a2s\thost":                            "A2S host",
		"Q3-S 192.0.2.1:1":                     "192.0.2.1:1",
		"TF2 192.0.2.1:27015":                  "192.0.2.1:27015",
		"host:27015 (192.0.2.1:27015)":         "192.0.2.1:27015",
		"192.0.2.1:27015 query port 27016":     "192.0.2.1:27015",
		"2001:db8::1:27015":                    "[2001:db8::1]:27015",
		"1.2.3.4:27015 (old) 1.2.3.4:27015":    "1.2.3.4:27015",
		"dedicated 192.0.2.1 27015/udp":        "192.0.2.1:27015",
		"udp://192.0.2.1:27015":                "192.0.2.1:27015",
		"@192.0.2.1:27015":                     "192.0.2.1:27015",
		"münchen.example.org:27015":            "xn--mnchen-3ya.example.org:27015",
		"сервер.example":                       "xn--b1afb6bcb.example",
		"192.0.2.1\u200b:27015":                "192.0.2.1:27015",
		"\u200b192.0.2.1:27015\u200b":          "192.0.2.1:27015",
		"\u2066192.0.2.1:27015\u2069":          "192.0.2.1:27015",
		"192.0.2.1：２７０１５":                      "192.0.2.1:27015",
		"192.0.2.1\u00a027015":                 "192.0.2.1:27015",
		"サーバー：192.0.2.1:27015":                 "192.0.2.1:27015",
		"IP\uff1a192.0.2.1 \u7aef\u53e3：27015": "192.0.2.1:27015",
		// A port that stands apart.
		"127.0.0.7\t27099\tMy server\tde_dust2":                       "127.0.0.7:27099",
		"127.0.0.7 : 27099":                                           "127.0.0.7:27099",
		"127.0.0.7: 27099":                                            "127.0.0.7:27099",
		"127.0.0.7 :27099":                                            "127.0.0.7:27099",
		"127.0.0.7 : 27099 My server":                                 "127.0.0.7:27099",
		"127.0.0.7 27099 My server":                                   "127.0.0.7:27099",
		"127.0.0.7 - 27099":                                           "127.0.0.7:27099",
		"127.0.0.7 (27099)":                                           "127.0.0.7:27099",
		"127.0.0.7,27099,My server,12,24":                             "127.0.0.7:27099",
		"127.0.0.7;27099;My server":                                   "127.0.0.7:27099",
		`"My server","127.0.0.7","27099"`:                             "127.0.0.7:27099",
		"127.0.0.7\t27099.0\t24":                                      "127.0.0.7:27099",
		"| My server | 127.0.0.7 | 27099 |":                           "127.0.0.7:27099",
		"games.example.org port 27099":                                "games.example.org:27099",
		"games.example.org, Port: 27099":                              "games.example.org:27099",
		"games.example.org (port 80)":                                 "games.example.org:80",
		"games.example.org 27099":                                     "games.example.org:27099",
		"::1 27099":                                                   "[::1]:27099",
		"[::1] 27099":                                                 "[::1]:27099",
		"[::1] port 27099":                                            "[::1]:27099",
		"IP: 127.0.0.7 Port: 27099":                                   "127.0.0.7:27099",
		"IP: 127.0.0.7 Map: de_dust2 Port: 27099 Slots: 24":           "127.0.0.7:27099",
		"Port: 27099, IP: 127.0.0.7":                                  "127.0.0.7:27099",
		"IP:127.0.0.7 Port:27099":                                     "127.0.0.7:27099",
		"IP=127.0.0.7&port=27099":                                     "127.0.0.7:27099",
		"адрес 127.0.0.7 порт 27099":                                  "127.0.0.7:27099",
		"127.0.0.7 Puerto 27099":                                      "127.0.0.7:27099",
		"server-ip=127.0.0.7 server-port=27099":                       "127.0.0.7:27099",
		`{"ip":"127.0.0.7","port":27099,"max":24},`:                   "127.0.0.7:27099",
		`{"port":27099,"host":"games.example.org"}`:                   "games.example.org:27099",
		"Server: games.example.org Game port: 7777 Query port: 27015": "games.example.org:7777",
		"IP 192.0.2.1:27015 Port 27015":                               "192.0.2.1:27015",
		// Marks of chats and pages.
		"1. 192.0.2.1:27015":                                   "192.0.2.1:27015",
		"12) 192.0.2.1:27015":                                  "192.0.2.1:27015",
		"[3] 192.0.2.1:27015 clan":                             "192.0.2.1:27015",
		"2: 192.0.2.1:27015":                                   "192.0.2.1:27015",
		"- 192.0.2.1:27015":                                    "192.0.2.1:27015",
		"• 192.0.2.1:27015, nice":                              "192.0.2.1:27015",
		"> 192.0.2.1:27015":                                    "192.0.2.1:27015",
		"**192.0.2.1:27015**":                                  "192.0.2.1:27015",
		"**IP:** `192.0.2.1:27015`":                            "192.0.2.1:27015",
		"||192.0.2.1:27015||":                                  "192.0.2.1:27015",
		"~~192.0.2.9~~":                                        "192.0.2.9",
		"__192.0.2.1:27015__":                                  "192.0.2.1:27015",
		"my\\_server.example.org:27015":                        "my_server.example.org:27015",
		"<192.0.2.1:27015>":                                    "192.0.2.1:27015",
		"192.0.2.1:27015/":                                     "192.0.2.1:27015",
		"games.example.org/":                                   "games.example.org",
		"[Join](steam://connect/192.0.2.1:27015)":              "192.0.2.1:27015",
		"[Join 192.0.2.1](steam://connect/192.0.2.1:27015/pw)": "192.0.2.1:27015",
		"[url=steam://connect/192.0.2.1:27015]Join[/url]":      "192.0.2.1:27015",
		`<a href="steam://connect/192.0.2.1:27015">192.0.2.1:27015</a>`:       "192.0.2.1:27015",
		"[code]connect 192.0.2.1:27015[/code]":                                "192.0.2.1:27015",
		"https://www.example.org/server_info/192.0.2.1:27015/":                "192.0.2.1:27015",
		"https://example.org/linkfilter/?url=steam://connect/192.0.2.1:27015": "192.0.2.1:27015",
		"https://example.org/connect.php?ip=192.0.2.1%3A27015":                "192.0.2.1:27015",
		"https://example.org/rules 192.0.2.1:27015":                           "192.0.2.1:27015",
		// Links.
		"steam://connect/192.0.2.1:27015/password":                  "192.0.2.1:27015",
		"steam://connect/[2001:db8::1]:27015/password":              "[2001:db8::1]:27015",
		"steam://connect/games.example":                             "games.example",
		"steam://run/730//+connect 192.0.2.1:27015":                 "192.0.2.1:27015",
		"steam://run/730//+connect%20192.0.2.1:27015":               "192.0.2.1:27015",
		"steam://rungameid/730//+connect%20192.0.2.1%3A27015":       "192.0.2.1:27015",
		"<ddnet://192.0.2.1:8303/>":                                 "192.0.2.1:8303",
		"minecraft://?addExternalServer=Mine|mc.example.org:25565":  "mc.example.org:25565",
		"minecraft://connect?serverUrl=mc.example&serverPort=19132": "mc.example:19132",
		"fivem://connect/192.0.2.1:30120":                           "192.0.2.1:30120",
		"mumble://ann@voice.example:64738/Channel":                  "voice.example:64738",
		"ts3server://voice.example.org?port=9987&nickname=x":        "voice.example.org:9987",
		"ss14://station.example:1212":                               "station.example:1212",
		"ss14s://station.example/server":                            "station.example:443",
		// These come from consoles and command lines.
		"connect 192.0.2.1:27015; password 1234":                           "192.0.2.1:27015",
		"connect 192.0.2.1; password 12345":                                "192.0.2.1",
		"connect 192.0.2.1":                                                "192.0.2.1",
		"connect myserver":                                                 "myserver",
		"/connect 192.0.2.1:27015":                                         "192.0.2.1:27015",
		"\\connect 192.0.2.1:27015":                                        "192.0.2.1:27015",
		"] connect 192.0.2.1:27015":                                        "192.0.2.1:27015",
		"password 12345; connect games.example.org:27015":                  "games.example.org:27015",
		`connect "192.0.2.1:27015"`:                                        "192.0.2.1:27015",
		"cs.exe -game cstrike +connect 192.0.2.1:27015":                    "192.0.2.1:27015",
		"cs.exe -game cstrike +connect games.example.org +password 12345":  "games.example.org",
		`"C:\Games\hl2.exe" -game tf +connect 192.0.2.1:27015 -port 27005`: "192.0.2.1:27015",
		"hlds_run -game cstrike +ip 192.0.2.1 +port 27015":                 "192.0.2.1:27015",
		"open 192.0.2.1:7777?password=x":                                   "192.0.2.1:7777",
		"./game --server 192.0.2.1 --port 30000":                           "192.0.2.1:30000",
		"bind F3 \"connect 192.0.2.1:27015\"":                              "192.0.2.1:27015",
		"seta server1 \"192.0.2.1:27960\"":                                 "192.0.2.1:27960",
		// These texts name several servers.
		`"net_slist_favorites" "127.0.0.7:26000 [::1]:26000"`:     "127.0.0.7:26000 [::1]:26000",
		"192.0.2.1:27015, 192.0.2.2:27015":                        "192.0.2.1:27015 192.0.2.2:27015",
		"192.0.2.1:27015 and 192.0.2.2:27015":                     "192.0.2.1:27015 192.0.2.2:27015",
		"192.0.2.1 27015 192.0.2.2 27016":                         "192.0.2.1:27015 192.0.2.2:27016",
		"steam://connect/192.0.2.1:1,steam://connect/192.0.2.2:2": "192.0.2.1:1 192.0.2.2:2",
	} {
		line, err := Read(text)
		got := strings.TrimSpace(line.Type + " " + strings.Trim(fmt.Sprint(line.Addresses), "[]"))
		if len(line.Addresses) > 0 {
			got = strings.TrimSpace(line.Type + " " + joined(line.Addresses))
		}
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %s", text, got, err, want)
		}
	}
}

func joined(all []Address) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, " ")
}

// TestReadRefuses has lines without an address, with a broken one, and such that can be
// read in two ways.
func TestReadRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                                 "",
		"my clan server":                   "",
		"hello, is this a list?":           "",
		"see https://192.0.2.1/ please":    "",
		"https://example.org/":             "",
		"http://192.0.2.1/":                "",
		"steam://install/440":              "",
		"cs.exe -game cstrike":             "",
		"ann@example.org":                  "",
		"Minecraft 1.20.4":                 "",
		"20:00":                            "",
		"Port: 27015":                      "",
		"port":                             "",
		"10.0.0.0/24":                      "not one server: 10.0.0.0/24 is a network, so write a line for each server in it",
		"10.0.0.0/24 my LAN":               "10.0.0.0/24 is a network",
		"192.0.2.1/40":                     "write 192.0.2.1:40 if",
		"192.0.2.1:":                       "192.0.2.1:27960",
		"192.0.2.1:0":                      "192.0.2.1:27960",
		"192.0.2.1:65536":                  "192.0.2.1:27960",
		"192.0.2.1:27015:27016 x":          "192.0.2.1:27960",
		"192.0.2.1:27015-27020":            "192.0.2.1:27960",
		"192.0.2.1:1 192.0.2.2:99999":      "192.0.2.1:27960",
		"192.0.2.1.27015":                  "",
		"192.0.2.1 port 99999":             "",
		"[fe80::1%eth0]:1":                 "192.0.2.1:27960",
		"[2001:db8::1:1":                   "192.0.2.1:27960",
		"games.example.org:http":           "192.0.2.1:27960",
		"2001:db8::1:7777":                 "write [2001:db8::1]:7777, or [2001:db8::1:7777]",
		"192.0.2.1 24":                     "write 192.0.2.1:24 if 24 is its port, or else only 192.0.2.1",
		"192.0.2.1\t24\t32\tde_dust2":      "write 192.0.2.1:24 if",
		"192.0.2.1 2024 Summer":            "write 192.0.2.1:2024 if",
		"192.0.2.1 My server 27015":        "write 192.0.2.1:27015 if",
		"192.0.2.1\tMy server\t27015":      "write 192.0.2.1:27015 if",
		"27015 192.0.2.1":                  "write 192.0.2.1:27015 if",
		"192.0.2.1 99999":                  "write only 192.0.2.1",
		"192.0.2.1 query port 27016":       "write 192.0.2.1:27016 if",
		"192.0.2.1:27015 port 27016":       "write only 192.0.2.1:27015 or only 192.0.2.1:27016",
		"A 192.0.2.1:1, B 192.0.2.2:2":     "a line of its own, such as 192.0.2.1:1",
		"192.0.2.1:1 moved to 192.0.2.2:1": "a line of its own",
	} {
		line, err := Read(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v; want %q", text, line, err, says)
		}
	}
}

// TestName checks what is left of a line as the server's name.
func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1:1 Ann's":                     "Ann's",
		`192.0.2.1:1 Ann's "best" \o/`:          `Ann's "best" \o/`,
		"192.0.2.1:1 -=[Clan]=- DM":             "-=[Clan]=- DM",
		"127.0.0.7\t27099\tMy server\tde_dust2": "My server\tde_dust2",
		"127.0.0.7 port 27099 My server":        "My server",
		"192.0.2.1:1 - My server":               "My server",
		"192.0.2.1:1, My server":                "My server",
		`192.0.2.1:1 "Q3S 192.0.2.7:1"`:         "Q3S 192.0.2.7:1",
		"1. 192.0.2.1:1 Ann's":                  "Ann's",
		"Q3S 192.0.2.1:1 Ann's":                 "Ann's",
		"**192.0.2.1:1** Ann's":                 "Ann's",
		"192.0.2.1:1 | Ann's | 12/24":           "Ann's | 12/24",
		"192.0.2.1:1 pw: secret":                "",
		"Ann's: 192.0.2.1:1":                    "",
		"192.0.2.1:1, 192.0.2.2:1":              "",
	} {
		if line, err := Read(text); err != nil || line.Name != want {
			t.Errorf("%q: %q, %v, want %q", text, line.Name, err, want)
		}
	}
}

// FuzzRead checks that any line is read or refused, and that every address that was
// read is read again from its own text.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"1. 192.0.2.1:27015", "IP: a.example Port: 2", "[x](steam://connect/[::1]:1/p)", "connect a; password 1",
		`"x" "192.0.2.1:1 [::1]:2"`, "ü.example:1", "192.0.2.1 : 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, err := Read(text)
		if err != nil {
			return
		}
		if len(line.Addresses) == 0 {
			t.Fatalf("%q: no address and no error", text)
		}
		for _, a := range line.Addresses {
			if again, err := One(a.String()); err != nil || again != a {
				t.Fatalf("%q gives %v, which is read as %v, %v", text, a, again, err)
			}
		}
	})
}
