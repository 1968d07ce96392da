package cli_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"muster/host"
	"muster/host/wire"
)

// wrong is a call that cannot work, and how the user learns of it.
type wrong struct {
	name string
	args []string
	code int
	says []string // parts of standard error
}

func (w wrong) check(t *testing.T) {
	t.Helper()
	o := muster(t, w.args...)
	if o.code != w.code {
		t.Errorf("exit status %d, want %d", o.code, w.code)
	}
	for _, part := range w.says {
		if !strings.Contains(o.err, part) {
			t.Errorf("does not say %q", part)
		}
	}
	if !strings.Contains(o.err, "muster: ") || strings.Contains(o.err, "%!") {
		t.Error("no error, or a garbled one")
	}
	if t.Failed() {
		t.Logf("muster %s printed\n%s%s", strings.Join(w.args, " "), o.out, o.err)
	}
}

func checkAll(t *testing.T, calls []wrong) {
	for _, w := range calls {
		t.Run(w.name, w.check)
	}
}

// closedPort is an address of this machine at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().String()
}

func TestWrongUsage(t *testing.T) {
	list := writeFile(t, "list.txt", "127.0.0.1:1\n")
	places := writeFile(t, "places.txt", "Here, 127.0.0.1\n")
	checkAll(t, []wrong{
		{"a port of letters", []string{"--port", "abc"}, 2, []string{`"abc" is no port`}},
		{"a port too high", []string{"--port", "65536"}, 2, []string{`"65536" is no port`}},
		{"no ping", []string{"host", "--game", "openarena", "--max-rtt", "100,fast"}, 2, []string{`"fast" is no ping such as 150, 150ms`}},
		{"unknown command", []string{"hots"}, 2, []string{`unknown command "hots"`, "did you mean muster host?"}},
		{"no such command", []string{"frobnicate"}, 2, []string{`unknown command "frobnicate"`, "muster --help"}},
		{"help for no command", []string{"help", "dicsover"}, 2, []string{`unknown command "dicsover"`, "did you mean muster discover?"}},
		{"completion for no shell", []string{"completion", "cmd.exe"}, 2, []string{`unknown command "cmd.exe"`}},
		{"unknown flag", []string{"discover", "--fast"}, 2, []string{"unknown flag --fast", "muster discover --help"}},
		{"a flag mistyped", []string{"host", "openarena", "--evry", "fri 20:00"}, 2,
			[]string{"unknown flag --evry", "hint: did you mean --every?"}},
		{"half a flag", []string{"host", "openarena", "--disc", "50"}, 2, []string{"unknown flag --disc", "hint: did you mean --discreet?"}},
		{"unknown short flag", []string{"join", "-x"}, 2, []string{"unknown flag -x"}},
		{"flag without its value", []string{"discover", "--game"}, 2, []string{"--game needs a value"}},
		{"argument where none is", []string{"demo", "tonight"}, 2, []string{`"tonight"`, "muster demo --help"}},
		{"no game", []string{"discover"}, 2, []string{"which game?", "muster games"}},
		{"unknown game", []string{"discover", "--game", "openarea"}, 2, []string{`unknown game "openarea"`, "did you mean openarena?"}},
		{"host an unknown game", []string{"host", "--game", "nosuch"}, 2, []string{`unknown game "nosuch"`, "muster games"}},
		{"a ping of another unit", []string{"discover", "--max-rtt", "200x"}, 2, []string{`--max-rtt: "200x" is no ping`, "150ms"}},
		{"a limit of another unit", []string{"host", "--max-rtt", "100ms,150x"}, 2, []string{`--max-rtt: "150x" is no ping`}},
		{"negative limit", []string{"host", "--game", "openarena", "--max-rtt", "-5ms"}, 2, []string{"-5ms"}},
		{"threshold without a limit", []string{"host", "--game", "openarena", "--by", "threshold"}, 2,
			[]string{"needs a limit", "--max-rtt 150ms"}},
		{"unknown rule", []string{"host", "--by", "luck"}, 2, []string{`--by: "luck" is none of mean, threshold, fairness`}},
		{"unknown strategy", []string{"discover", "--strategy", "hope"}, 2, []string{`"hope" is none of conventional, country`}},
		{"unknown auto-stop", []string{"discover", "--auto-stop", "soon"}, 2, []string{`"soon" is none of percentile`}},
		{"unknown format", []string{"discover", "--format", "yaml"}, 2, []string{`"yaml" is none of table, json, csv, qstat-xml`}},
		{"unknown launch mode", []string{"join", "--launch", "maybe"}, 2, []string{`"maybe" is none of ask, auto, never`}},
		{"unknown placeholder", []string{"join", "127.0.0.1", "--code", "ABC", "--launch-command", "game {adress}"}, 2,
			[]string{"{adress}", "{address}"}},
		{"rate 0", []string{"discover", "--game", "openarena", "--rate", "0"}, 2, []string{"--rate 0"}},
		{"rate in words", []string{"discover", "--rate", "fast"}, 2, []string{`--rate: "fast" is no number`}},
		{"in flight 0", []string{"discover", "--game", "openarena", "--in-flight", "0"}, 2, []string{"--in-flight 0"}},
		{"retries below 0", []string{"discover", "--game", "openarena", "--retries", "-1"}, 2, []string{"--retries -1"}},
		{"nearest below 0", []string{"discover", "--game", "openarena", "--nearest", "-1"}, 2, []string{"--nearest -1"}},
		{"listen-addr is a name", []string{"discover", "--game", "openarena", "--servers", list, "--listen-addr",
			"here"}, 2, []string{`"here" is not an IP address`}},
		{"a blank before a time", []string{"host", "openarena", "--long-look", "15s"}, 2, []string{"hint: say --long-look=15s"}},
		{"a blank before another time", []string{"host", "--game", "openarena", "--wait-for-seats", "1h"}, 2,
			[]string{"hint: say --wait-for-seats=1h"}},
		{"a time that is too long", []string{"host", "openarena", "--long-look=5m"}, 2,
			[]string{"--long-look: 5 min is not between 5 s and 1 min, or 0 for none\n"}},
		{"a date that is over", []string{"host", "openarena", "--every", "2020-01-01 20:00"}, 2, []string{"that was in the past", "fri 20:00"}},
		{"an empty file of a secret", []string{"host", "openarena", "--webhook-file", writeFile(t, "hook.txt", "\n")},
			1, []string{"hook.txt is empty"}},
		{"an empty file of a password",
			[]string{"host", "openarena", "--password-file", writeFile(t, "password.txt", "")}, 1, []string{"password.txt is empty"}},
		{"no link of a voice channel", []string{"host", "openarena", "--voice", "call me"}, 2,
			[]string{"muster: --voice: ", "hint: such as --voice https"}},
		{"a password in the link of a voice channel",
			[]string{"host", "openarena", "--voice", "ts3server://a.example?password=hush"}, 2,
			[]string{"muster: --voice: that link has a password in it", "hint: such as --voice https"}},
		{"no webhook", []string{"host", "openarena", "--webhook", "call me"}, 2,
			[]string{"muster: --webhook: ", "hint: such as --webhook https"}},
		{"places that are not there", []string{"host", "openarena", "--places", "nofile"}, 1, []string{"cannot read the places in nofile: "}},
		{"a server that nothing starts", []string{"host", "openarena", "--start-within", "1m"}, 2, []string{"--start-within", "--start-command"}},
		{"a start of its own accord that nothing does", []string{"host", "openarena", "--start", "auto"}, 2,
			[]string{"--start auto", "hint: say what starts a server with --start-command"}},
		{"a file of places without a place",
			[]string{"host", "openarena", "--places", writeFile(t, "remarks.txt", "# soon\n\n")}, 2,
			[]string{"--places: there are no places in ", "remarks.txt: write one a line, NAME, ADDRESS"}},
		{"a program that is not there",
			[]string{"host", "openarena", "--places", places, "--start-command", "nosuchprog {address}"}, 1,
			[]string{"--start-command: there is no program nosuchprog on this machine"}},
		{"a command without a program", []string{"host", "openarena", "--places", places, "--start-command", " "}, 2,
			[]string{"--start-command: launch names no program"}},
		{"not a link", []string{"join", "ftp://127.0.0.1/#ABC"}, 2, []string{"no link to a room"}},
		{"not a host", []string{"join", "127.0.0.1:lots", "--code", "ABC"}, 2, []string{"no address of a host"}},
		{"no public URL", []string{"host", "--game", "openarena", "--public-url", "night.example"}, 2,
			[]string{`--public-url: "night.example" is no URL such as https://night.example`}},
		{"TLS that the public URL knows nothing of",
			[]string{"host", "--game", "openarena", "--tls", "--public-url", "http://night.example"}, 2,
			[]string{"--public-url http://night.example does not", "https://"}},
		{"a port that is none in the public URL",
			[]string{"host", "--game", "openarena", "--public-url", "https://night.example:70000"}, 2,
			[]string{`"https://night.example:70000" is no URL`}},
		{"a port alone to listen on", []string{"host", "--game", "openarena", "--listen", "7778"}, 2,
			[]string{`--listen: "7778" is no ADDRESS:PORT`, "--listen :7778"}},
		{"a port to listen on that is none", []string{"host", "--game", "openarena", "--listen", ":77777"}, 2, []string{`":77777"`}},
		{"the code as an argument", []string{"join", "192.0.2.1", "TABOMI"}, 2, []string{"one link or address, and got 2", "--code TABOMI"}},
		{"players below 0", []string{"host", "--game", "openarena", "--players", "-1"}, 2, []string{"--players -1"}},
		{"more players than a room takes", []string{"host", "--game", "openarena", "--players", "100000"}, 2,
			[]string{"--players 100000: a room is for at most 64"}},
		{"too many players", []string{"demo", "--players", "9"}, 2, []string{"1 to 8"}},
		{"no servers in the demo", []string{"demo", "--servers", "0"}, 2, []string{"1 to 60000"}},
		{"unknown world", []string{"fleet", "--world", "mars"}, 2, []string{`"mars"`, "css2007"}},
		{"no servers in the fleet", []string{"fleet", "--servers", "-1"}, 2, []string{"1 to 200000"}},
		{"too many servers in the fleet", []string{"fleet", "--servers", "10000000"}, 2, []string{"--servers 10000000", "1 to 200000"}},
		{"no report", []string{"select"}, 2, []string{"which reports?"}},
		{"weight beyond numbers", []string{"select", "--weights", "ann=1e308", "x"}, 2, []string{"ann=1e308", "0.001 to 1000"}},
		{"weight in words", []string{"select", "--weights", "ann=much", "x"}, 2, []string{`"ann=much"`}},
		{"simulate nothing", []string{"simulate"}, 2, []string{"--world et2007"}},
		{"simulate in an unknown place", []string{"simulate", "--world", "et2007", "--place", "Mars"}, 2, []string{`"Mars"`, "AU"}},
		{"simulate an unknown strategy", []string{"simulate", "--world", "et2007", "--strategy", "as,hope"}, 2, []string{`"hope" is none of`}},
	})
}

func TestListsThatCannotBeHad(t *testing.T) {
	dead := closedPort(t)
	discover := func(more ...string) []string {
		return append([]string{"discover", "--game", "openarena"}, more...)
	}
	checkAll(t, []wrong{
		{"unreachable master", discover("--master", dead), 1,
			[]string{"looking for OpenArena servers …\n", "no master answers", dead, "hint: ", "--servers FILE"}},
		{"host with an unreachable master",
			[]string{"host", "--game", "openarena", "--listen", "127.0.0.1:0", "--master", dead}, 1, []string{"no master answers"}},
		{"game without a master", []string{"discover", "--game", "cs2", "--lan", "off"}, 1, []string{"--servers FILE"}},
		{"missing file", discover("--servers", "nowhere.txt"), 1, []string{"nowhere.txt", "no such file"}},
		{"empty list", discover("--servers", writeFile(t, "list.txt", "# nothing\n")), 1, []string{"list.txt", "no server", "one server a line"}},
		{"a folder", discover("--servers", t.TempDir()), 1, []string{"cannot read the servers file ", "is a directory"}},
		{"list of another game", discover("--servers", writeFile(t, "list.txt", "A2S 127.0.0.1:1\n")), 1, []string{"other types", "Q3S"}},
		{"malformed list", discover("--servers", writeFile(t, "list.txt", "127.0.0.1:1\n\nhello world out there\n")), 1,
			[]string{"list.txt:3:", `"hello world out there"`}},
		{"malformed CSV", discover("--servers",
			writeFile(t, "list.csv", "addr,country\n127.0.0.1:1,DE\n127.0.0.1:x,DE\n")), 1, []string{"list.csv:3:"}},
		{"a database that is none", discover("--servers", writeFile(t, "list.txt", dead+"\n"), "--country-db",
			writeFile(t, "db.mmdb", "no")), 1, []string{"db.mmdb"}},
		{"nobody answers", discover("--servers", writeFile(t, "list.txt", dead+"\n")), 3,
			[]string{"nothing suitable found", "none of 1 servers answered", "hint: "}},
	})
}

func TestNoRoom(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	real := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { real.Close(); rooms.Close() })
	over, _, _ := rooms.Open(wire.Settings{Game: "openarena"})
	rooms.CloseRoom(over)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	encrypted := httptest.NewUnstartedServer(rooms.Handler())
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	defer encrypted.Close()
	alone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer alone.Close()
	pin := "~" + strings.Repeat("A", 26)
	list := writeFile(t, "list.txt", "127.0.0.1:1\n")
	checkAll(t, []wrong{
		{"a host that encrypts", []string{"join", "http://" + encrypted.Listener.Addr().String() + "/#ABCDEF"}, 1,
			[]string{"encrypts, and the link does not say so\nhint: ", "https://"}},
		{"a host that nobody vouches for", []string{"join", encrypted.URL + "/#ABCDEF"}, 1,
			[]string{"knows nobody who signed its certificate\nhint: ", "fingerprint"}},
		{"a proxy without its host", []string{"join", alone.URL + "/#ABCDEF"}, 1,
			[]string{"a proxy answers at 127.0.0.1:", "no host behind it\nhint: "}},
		{"another certificate", []string{"join", encrypted.URL + "/#ABCDEF" + pin}, 1,
			[]string{"another certificate than the link says\nhint: "}},
		{"a host that does not encrypt",
			[]string{"join", "https://" + strings.TrimPrefix(real.URL, "http://") + "/#ABCDEF"}, 1, []string{"does not encrypt\nhint: ", "http://"}},
		{"a host that does no longer encrypt",
			[]string{"join", "https://" + strings.TrimPrefix(real.URL, "http://") + "/#ABCDEF" + pin}, 1,
			[]string{"does not encrypt, and the link says", "in between"}},
		{"no certificate", []string{"host", "--game", "openarena", "--tls-cert", list, "--tls-key", list}, 1,
			[]string{"no certificate in " + list, "key in " + list + ": failed to find any PEM data"}},
		{"no file of a key", []string{"host", "--game", "openarena", "--tls-cert", list, "--tls-key", "nowhere.pem"}, 1,
			[]string{"cannot read nowhere.pem: no such file"}},
		{"no host", []string{"join", "http://" + closedPort(t) + "/#ABCDEF"}, 1,
			[]string{"no host answers at 127.0.0.1:", "connection refused", "firewall"}},
		{"no such name", []string{"join", "http://host.invalid:1/#ABCDEF"}, 1, []string{"no host answers at host.invalid:1"}},
		{"no muster host", []string{"join", other.URL + "/#ABCDEF"}, 1, []string{"no muster host"}},
		{"no code where one is needed", []string{"join", strings.TrimPrefix(real.URL, "http://")}, 1, []string{"code is missing", "--code CODE"}},
		{"a room that is over", []string{"join", real.URL + "/#" + over}, 1, []string{"room " + over + " is over", "link of the new one"}},
		{"wrong code", []string{"join", real.URL + "/#ABCDEF"}, 1, []string{"ABCDEF", "hint: "}},
		{"a host of hostile text", []string{"join",
			newerHost(t, `{"type":"refused","reason":"full","message":"full\u001b[2J\u202e","hint":"\u0007go \u001b]0;away\u0007"}`)}, 1, []string{"muster: full[2J\n", "hint: go ]0;away\n"}},
		{"host of a newer version", []string{"join",
			newerHost(t, `{"type":"refused","reason":"version","message":"this host speaks version 99, you speak 1","hint":"update muster"}`)}, 1, []string{"version 99", "update muster"}},
		{"host that does not check",
			[]string{"join", newerHost(t, `{"type":"welcome","version":99,"name":"ann","token":"x"}`)}, 1, []string{"version"}},
		{"port in use", []string{"host", "--game", "openarena", "--servers", list, "--listen", taken.Addr().String()},
			1, []string{"cannot listen on " + taken.Addr().String(), "in use", "--listen :7778"}},
		{"not this machine's address",
			[]string{"host", "--game", "openarena", "--servers", list, "--listen", "192.0.2.1:7777"}, 1,
			[]string{"cannot listen on 192.0.2.1:7777", "an address of this machine?"}},
	})
}

// newerHost answers a peer's hello with what a later version might say, and
// returns the link to its room.
func newerHost(t *testing.T, answer string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		if _, _, err := ws.ReadMessage(); err != nil {
			return
		}
		if err := ws.WriteMessage(websocket.TextMessage, []byte(answer)); err != nil {
			return
		}
		ws.ReadMessage() // until the peer goes
	}))
	t.Cleanup(server.Close)
	return server.URL + "/#ABCDEF"
}
