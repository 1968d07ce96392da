package master_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/discovery/lists/master"
)

func TestParsePasted(t *testing.T) {
	for text, want := range map[string]string{
		"1.2.3.4:27015 my clan server":                              "1.2.3.4:27015",
		"My clan: 1.2.3.4:27015":                                    "1.2.3.4:27015",
		"My clan = 1.2.3.4:27015":                                   "1.2.3.4:27015",
		"Clan: games.example:27015":                                 "games.example:27015",
		"games.example.org our home":                                "games.example.org:0",
		"connect 1.2.3.4:27015; password x":                         "1.2.3.4:27015",
		"connect 1.2.3.4":                                           "1.2.3.4:0",
		"steam://connect/1.2.3.4:27015/password":                    "1.2.3.4:27015",
		"steam://connect/games.example":                             "games.example:0",
		"steam://run/730//+connect 1.2.3.4:27015":                   "1.2.3.4:27015",
		"steam://run/730//+connect%201.2.3.4:27015":                 "1.2.3.4:27015",
		"- <ddnet://1.2.3.4:8303/>":                                 "1.2.3.4:8303",
		"* 1.2.3.4:8303, nice":                                      "1.2.3.4:8303",
		"minecraft://?addExternalServer=Mine|mc.example.org:25565":  "mc.example.org:25565",
		"minecraft://connect?serverUrl=mc.example&serverPort=19132": "mc.example:19132",
		"fivem://connect/1.2.3.4:30120":                             "1.2.3.4:30120",
		"mumble://ann@voice.example:64738/Channel":                  "voice.example:64738",
		"ss14://station.example:1212":                               "station.example:1212",
		"ss14s://station.example/server":                            "station.example:443",
		"1.2.3.4 27015":                                             "1.2.3.4:27015",
		"[2001:db8::1]:27015 six":                                   "2001:db8::1:27015",
		"(1.2.3.4:27015)":                                           "1.2.3.4:27015",
		"`1.2.3.4:27015`":                                           "1.2.3.4:27015",
		"Q3S 1.2.3.4:27960":                                         "1.2.3.4:27960",
	} {
		got, _, err := master.ParseList(strings.NewReader("// mine\n"+text+"\n"), "l.txt")
		if err != nil || len(got) != 1 || fmt.Sprintf("%s:%d", got[0].Host, got[0].Port) != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"my clan server", "see https://1.2.3.4/ please", "https://example.org/",
		"steam://install/440", "1.2.3.4:27015:27016 x"} {
		if got, _, err := master.ParseList(strings.NewReader(text), "l.txt"); err == nil && got[0].Type == "" {
			t.Errorf("%q gives %v", text, got)
		}
	}
}
