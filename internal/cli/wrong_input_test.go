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

// wrong is a call that cannot work, and how the user learns about it.
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

// closedPort returns an address on this machine where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().String()
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
		{"list of another game", discover("--servers", writeFile(t, "list.txt", "A2S 127.0.0.1:1\n")), 1, []string{"another type", "Q3S"}},
		{"malformed list", discover("--servers", writeFile(t, "list.txt", "hello out there\n\nhello world\n")), 1,
			[]string{"list.txt:1:", `"hello out there"`}},
		{"a malformed line", discover("--servers", writeFile(t, "list.txt", dead+"\n\nhello world out there\n")), 3,
			[]string{"list.txt:3:", `"hello world out there"`, "left out", "none of 1 servers answered"}},
		{"a malformed record", discover("--servers", writeFile(t, "list.csv", "addr,country\n"+dead+",DE\n127.0.0.1:x,DE\n")), 3,
			[]string{"list.csv:3:", "left out", "none of 1 servers answered"}},
		{"a line with two meanings", discover("--servers", writeFile(t, "list.txt", "127.0.0.1 24\n")), 1,
			[]string{"list.txt:1:", "write 127.0.0.1:24 if 24 is its port"}},
		{"a database that is none", discover("--servers", writeFile(t, "list.txt", dead+"\n"), "--country-db",
			writeFile(t, "db.mmdb", "no")), 1, []string{"db.mmdb"}},
		{"nobody answers", discover("--servers", writeFile(t, "list.txt", dead+"\n")), 3,
			[]string{"found nothing suitable", "none of 1 servers answered", "hint: "}},
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
	moved := httptest.NewServer(http.RedirectHandler("https://www.night.example/peer", http.StatusMovedPermanently))
	defer moved.Close()
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
			[]string{"is encrypted, but the link doesn't say so\nhint: ", "https://"}},
		{"a host that nobody vouches for", []string{"join", encrypted.URL + "/#ABCDEF"}, 1,
			[]string{"doesn't know who signed its certificate\nhint: ", "fingerprint"}},
		{"a proxy without its host", []string{"join", alone.URL + "/#ABCDEF"}, 1,
			[]string{"a proxy answers at 127.0.0.1:", "no host behind it\nhint: "}},
		{"another certificate", []string{"join", encrypted.URL + "/#ABCDEF" + pin}, 1,
			[]string{"a different certificate from the one in the link\nhint: "}},
		{"a host that does not encrypt",
			[]string{"join", "https://" + strings.TrimPrefix(real.URL, "http://") + "/#ABCDEF"}, 1, []string{"isn't encrypted\nhint: ", "http://"}},
		{"a host that does no longer encrypt",
			[]string{"join", "https://" + strings.TrimPrefix(real.URL, "http://") + "/#ABCDEF" + pin}, 1,
			[]string{"isn't encrypted, but the link says", "in between"}},
		{"no certificate", []string{"host", "--game", "openarena", "--tls-cert", list, "--tls-key", list}, 1,
			[]string{"no certificate in " + list, "key in " + list + ": failed to find any PEM data"}},
		{"no file of a key", []string{"host", "--game", "openarena", "--tls-cert", list, "--tls-key", "nowhere.pem"}, 1,
			[]string{"cannot read nowhere.pem: no such file"}},
		{"no host", []string{"join", "http://" + closedPort(t) + "/#ABCDEF"}, 1,
			[]string{"no host answers at 127.0.0.1:", "connection refused", "firewall"}},
		{"no such name", []string{"join", "http://host.invalid:1/#ABCDEF"}, 1, []string{"no host answers at host.invalid:1"}},
		{"no muster host", []string{"join", other.URL + "/#ABCDEF"}, 1, []string{"isn't a Muster host"}},
		{"a host that has moved", []string{"join", moved.URL + "/#ABCDEF"}, 1,
			[]string{"redirects to https://www.night.example\nhint: ", "muster join https://www.night.example/#ABCDEF\n"}},
		{"no code where one is needed", []string{"join", strings.TrimPrefix(real.URL, "http://")}, 1, []string{"code is missing", "--code CODE"}},
		{"a room that is over", []string{"join", real.URL + "/#" + over}, 1, []string{"room " + over + " is over", "new room’s link"}},
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

// newerHost answers a peer's hello as a later version might, and returns the link to its room.
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

// TestTuning checks that the thresholds in the help are the ones in use, and that each has an
// effect.
func TestTuning(t *testing.T) {
	simulate := func(more ...string) string {
		return succeeds(t, append([]string{"simulate", "--world", "et2007", "--place", "AU", "--runs", "1", "--json"}, more...)...)
	}
	_, list, _ := strings.Cut(succeeds(t, "simulate", "--help"), "unless --tune says other:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	standard := make(map[string]string)
	for line := range strings.Lines(list) {
		name, value, _ := strings.Cut(strings.Fields(line)[0], "=")
		standard[name] = value
	}
	tests := []struct{ strategy, name, value string }{
		{"as", "percentile", "0.5"},
		{"adaptive", "missing", "0.2"},
		{"country", "refine", "true"},
		{"country-prefix", "members", "2"},
		{"country-prefix", "share", "0.5"},
		{"as", "samples", "0.2"},
		{"as", "spread", "5ms"},
		{"as", "spread", "off"},
		{"country-prefix", "cluster", "4/20"},
		{"as", "split", "24/48"},
		{"as", "silent", "0"},
	}
	for _, tt := range tests {
		value, known := standard[tt.name]
		if !known {
			t.Errorf("the help does not tell of %s", tt.name)
			continue
		}
		plain := simulate("--strategy", tt.strategy)
		if same := simulate("--strategy", tt.strategy, "--tune", tt.name+"="+value); same != plain {
			t.Errorf("%s=%s is not what %s has:\n%s%s", tt.name, value, tt.strategy, plain, same)
		}
		if other := simulate("--strategy", tt.strategy, "--tune", tt.name+"="+tt.value); other == plain {
			t.Errorf("%s=%s changes nothing", tt.name, tt.value)
		}
	}
	if len(standard) != 10 {
		t.Errorf("the help has %d thresholds: %v", len(standard), standard)
	}
	checkAll(t, []wrong{
		{"unknown", []string{"simulate", "--world", "et2007", "--tune", "spread=20ms,hope=1"}, 2, []string{`"hope" is none of percentile`}},
		{"a share of all", []string{"simulate", "--world", "et2007", "--tune", "share=1"}, 2,
			[]string{"share=1 is not a share", "the standard is share=0.1"}},
		{"no number", []string{"discover", "--game", "openarena", "--tune", "samples=many"}, 2, []string{"samples=many is not a number"}},
		{"nothing", []string{"discover", "--game", "openarena", "--tune", "members"}, 2, []string{"members= is not a whole number"}},
		{"no unit", []string{"discover", "--game", "openarena", "--tune", "spread=20"}, 2, []string{"spread=20 is not a duration such as 40ms"}},
		{"one prefix", []string{"discover", "--game", "openarena", "--tune", "cluster=8"}, 2,
			[]string{"cluster=8 is not two lengths of prefixes such as 8/20"}},
		{"too long a prefix", []string{"discover", "--game", "openarena", "--tune", "split=33/48"}, 2, []string{"split=33/48"}},
		{"maybe", []string{"discover", "--game", "openarena", "--tune", "refine=maybe"}, 2, []string{"refine=maybe is not true or false"}},
		{"fewer than none", []string{"discover", "--game", "openarena", "--tune", "silent=-1"}, 2, []string{"silent=-1"}},
	})
}
