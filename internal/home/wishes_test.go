package home

import (
	"strings"
	"testing"
)

// TestWishes: what pages wish for as command lines. Whatever they say stays the value of
// a flag, or behind --.
func TestWishes(t *testing.T) {
	yes, no := true, false
	line := func(args []string, err error) string {
		if err != nil {
			return "error: " + err.Error()
		}
		return strings.Join(args, " ")
	}
	for _, tt := range []struct{ name, got, want string }{
		{"find", line(findWish{Game: "xonotic"}.args("")), "discover --game=xonotic --top=1"},
		{"find all of a list", line(findWish{Game: "xonotic", All: true}.args("/tmp/l")),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l"},
		{"find nothing", line(findWish{}.args("")), "error: choose a game first"},
		{"find a flag", line(findWish{Game: "--servers=/etc/passwd"}.args("")), "discover --game=--servers=/etc/passwd --top=1"},
		{"join", line(joinWish{Name: "ann", Auto: true}.args("http://192.0.2.1:7777/#TABOMI", "", "")),
			"join --name=ann --launch=auto -- http://192.0.2.1:7777/#TABOMI"},
		{"join by a pasted line", line(joinWish{}.args("muster join http://192.0.2.1:7777/#TABOMI", "", "")),
			"join -- http://192.0.2.1:7777/#TABOMI"},
		{"join, and be asked", line(joinWish{}.args("http://192.0.2.1:7777/#TABOMI", "", "auto")),
			"join --launch=ask -- http://192.0.2.1:7777/#TABOMI"},
		{"join, as config.toml has it", line(joinWish{}.args("http://192.0.2.1:7777/#TABOMI", "", "never")),
			"join -- http://192.0.2.1:7777/#TABOMI"},
		{"join a flag", line(joinWish{}.args("--launch-command=rm", "https://muster.example", "")), "join -- --launch-command=rm"},
		{"join by a code", line(joinWish{}.args("TABO-MIDO", "https://muster.example", "")), "join -- TABO-MIDO"},
		{"join near by", line(joinWish{Code: "TABO MI"}.args("http://192.0.2.1:7777/", "", "")), "join --code=TABOMI -- http://192.0.2.1:7777/"},
		{"host, waiting for seats", line(hostWish{Game: "xonotic", Wait: 30, At: "https://muster.example"}.args("", ":7777", "never", false)),
			"host --game=xonotic --new --wait-for-seats=30m --at=https://muster.example"},
		{"host", line(hostWish{
			Game:    "xonotic",
			By:      "threshold",
			Limits:  []float64{150},
			Players: 4,
			Vote:    new(bool),
		}.args("", ":7777", "never", false)),
			"host --game=xonotic --new --by=threshold --max-rtt=150ms --players=4 --vote=false --here --listen=:7777"},
		{"host elsewhere", line(hostWish{
			Game: "xonotic",
			At:   "https://muster.example",
			Open: true,
			Name: "ann",
		}.args("/tmp/l", ":7777", "", true)),
			"host --game=xonotic --new --name=ann --at=https://muster.example --servers=/tmp/l"},
		{"join, and may host", line(joinWish{CanHost: true}.args("http://192.0.2.1:7777/#TABOMI", "", "")),
			"join --can-host -- http://192.0.2.1:7777/#TABOMI"},
		{"host the game, too", line(hostWish{Game: "xonotic", CanHost: true, At: "https://muster.example"}.args("", ":7777", "never", false)),
			"host --game=xonotic --new --can-host --at=https://muster.example"},
		{"answer measurements", line(beaconWish{Name: "--listen=:1"}.args()), "beacon --name=--listen=:1"},
		{"answer at another port", line(beaconWish{Port: 7788}.args()), "beacon --name= --listen=:7788"},
		{"answer by the router", line(beaconWish{PortMap: &yes}.args()), "beacon --name= --port-map=true"},
		{"answer and leave the router alone", line(beaconWish{Port: 7788, PortMap: &no}.args()),
			"beacon --name= --listen=:7788 --port-map=false"},
		{"answer at no port", line(beaconWish{Port: 70000}.args()), "error: 70000 is no port: they go from 1 to 65535"},
		{"connect", line(goWish{Game: "xonotic"}.args("/tmp/l", false), nil),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l --connect=1"},
		{"watch, and say so", line(goWish{Game: "xonotic"}.args("/tmp/l", true), nil),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l --watch"},
		{"watch, and go", line(goWish{Game: "xonotic", Goes: true}.args("/tmp/l", true), nil),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l --watch --connect=1"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, tt.got, tt.want)
		}
	}
	if _, err := (joinWish{}).args("TABOMI", "", ""); err == nil {
		t.Error("a code alone says no host")
	}
	for addr, good := range map[string]bool{"192.0.2.1:27960": true, "[2001:db8::1]:1": true, "192.0.2.1:0": false,
		"x:1": false, "192.0.2.1": false, "file:///etc/passwd": false} {
		if err := (goWish{Game: "g", Addr: addr}).check(); (err == nil) != good {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
