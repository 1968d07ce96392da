package home

import (
	"strings"
	"testing"
)

// TestRequests checks which command lines requests from pages become. Every text stays the value of a
// flag, or follows --.
func TestRequests(t *testing.T) {
	yes, no := true, false
	line := func(args []string, err error) string {
		if err != nil {
			return "error: " + err.Error()
		}
		return strings.Join(args, " ")
	}
	for _, tt := range []struct{ name, got, want string }{
		{"find", line(findRequest{Game: "xonotic"}.args("")), "discover --game=xonotic --top=1"},
		{"find all of a list", line(findRequest{Game: "xonotic", All: true}.args("/tmp/l")),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l"},
		{"find nothing", line(findRequest{}.args("")), "error: choose a game first"},
		{"find a flag", line(findRequest{Game: "--servers=/etc/passwd"}.args("")), "discover --game=--servers=/etc/passwd --top=1"},
		{"join", line(joinRequest{Name: "ann", Auto: true}.args("http://192.0.2.1:7777/#TABOMI", "", "")),
			"join --name=ann --launch=auto -- http://192.0.2.1:7777/#TABOMI"},
		{"join by a pasted line", line(joinRequest{}.args("muster join http://192.0.2.1:7777/#TABOMI", "", "")),
			"join -- http://192.0.2.1:7777/#TABOMI"},
		{"join, and be asked", line(joinRequest{}.args("http://192.0.2.1:7777/#TABOMI", "", "auto")),
			"join --launch=ask -- http://192.0.2.1:7777/#TABOMI"},
		{"join, as config.toml has it", line(joinRequest{}.args("http://192.0.2.1:7777/#TABOMI", "", "never")),
			"join -- http://192.0.2.1:7777/#TABOMI"},
		{"join a flag", line(joinRequest{}.args("--launch-command=rm", "https://muster.example", "")), "join -- --launch-command=rm"},
		{"join by a code", line(joinRequest{}.args("TABO-MIDO", "https://muster.example", "")), "join -- TABO-MIDO"},
		{"join near by", line(joinRequest{Code: "TABO MI"}.args("http://192.0.2.1:7777/", "", "")),
			"join --code=TABOMI -- http://192.0.2.1:7777/"},
		{"host, waiting for seats", line(hostRequest{Game: "xonotic", Wait: 30, At: "https://muster.example"}.args("", ":7777", "never", false)),
			"host --game=xonotic --new --wait-for-seats=30m --at=https://muster.example"},
		{"host", line(hostRequest{
			Game:    "xonotic",
			By:      "threshold",
			Limits:  []float64{150},
			Players: 4,
			Vote:    new(bool),
		}.args("", ":7777", "never", false)),
			"host --game=xonotic --new --by=threshold --max-rtt=150ms --players=4 --vote=false --here --listen=:7777"},
		{"host a match", line(hostRequest{
			Game: "xonotic", Match: "bo3", Order: "ban ban pick", Maps: "dm6, ztn", SideA: "Nightjars", SideB: "--at=x",
		}.args("", ":7777", "never", false)), "host --game=xonotic --new --match=bo3 --order=ban ban pick --maps=dm6, ztn " +
			"--side-a=Nightjars --side-b=--at=x --here --listen=:7777"},
		{"host elsewhere", line(hostRequest{
			Game: "xonotic",
			At:   "https://muster.example",
			Open: true,
			Name: "ann",
		}.args("/tmp/l", ":7777", "", true)),
			"host --game=xonotic --new --name=ann --at=https://muster.example --servers=/tmp/l"},
		{"join, and may host", line(joinRequest{CanHost: true}.args("http://192.0.2.1:7777/#TABOMI", "", "")),
			"join --can-host -- http://192.0.2.1:7777/#TABOMI"},
		{"host the game, too", line(hostRequest{Game: "xonotic", CanHost: true, At: "https://muster.example"}.args("", ":7777", "never", false)),
			"host --game=xonotic --new --can-host --at=https://muster.example"},
		{"answer measurements", line(beaconRequest{Name: "--listen=:1"}.args()), "beacon --name=--listen=:1"},
		{"answer at another port", line(beaconRequest{Port: 7788}.args()), "beacon --name= --listen=:7788"},
		{"answer by the router", line(beaconRequest{PortMap: &yes}.args()), "beacon --name= --port-map=true"},
		{"answer and leave the router alone", line(beaconRequest{Port: 7788, PortMap: &no}.args()),
			"beacon --name= --listen=:7788 --port-map=false"},
		{"answer at no port", line(beaconRequest{Port: 70000}.args()), "error: 70000 isn’t a port: use 1 to 65535"},
		{"connect", line(goRequest{Game: "xonotic"}.args("/tmp/l", false), nil),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l --connect=1"},
		{"watch, and say so", line(goRequest{Game: "xonotic"}.args("/tmp/l", true), nil),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l --watch"},
		{"watch, and go", line(goRequest{Game: "xonotic", Goes: true}.args("/tmp/l", true), nil),
			"discover --game=xonotic --top=1 --auto-stop=off --servers=/tmp/l --watch --connect=1"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, tt.got, tt.want)
		}
	}
	if _, err := (joinRequest{}).args("TABOMI", "", ""); err == nil {
		t.Error("a code alone says no host")
	}
	for addr, good := range map[string]bool{"192.0.2.1:27960": true, "[2001:db8::1]:1": true, "192.0.2.1:0": false,
		"anna.example.org:25565": true, "x y:1": false, "192.0.2.1": false, "file:///etc/passwd": false} {
		if err := (goRequest{Game: "g", Addr: addr}).check(); (err == nil) != good {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
