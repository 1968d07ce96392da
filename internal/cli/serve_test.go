package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/cluster/clustertest"
	"muster/host/networks"
	"muster/internal/await"
	"muster/internal/freeport"
	"muster/internal/userfile"
	"muster/selection/memory"
)

// asks sends a public host a request, with a JSON body if there is one, and returns the answer.
func asks(t *testing.T, url, body string) (status int, text string) {
	t.Helper()
	var response *http.Response
	var err error
	if body == "" {
		response, err = http.Get(url)
	} else {
		response, err = http.Post(url, "application/json", bytes.NewBufferString(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

// serves starts a public host on loopback and returns its URL.
func serves(t *testing.T, more ...string) (p *player, url string) {
	t.Helper()
	p = begin(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, more...)...)
	return p, p.says(t, `(?m)^page  (http\S+/)$`)[1]
}

// TestServe checks that a stranger can open a room on a public host, and that the room survives a
// restart.
func TestServe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rooms.db")
	var room struct {
		Code, Link    string
		OrganiserLink string `json:"organiser_link"`
	}
	t.Run("the first time", func(t *testing.T) {
		at := freeport.UDP(t)
		_, url := serves(t, "--store", file, "--listen", at)
		_, port, _ := net.SplitHostPort(at)
		status, text := asks(t, url+"api/rooms", `{"game":"openarena","players":4,"servers":["127.0.0.1:27960"]}`)
		if err := json.Unmarshal([]byte(text), &room); err != nil || status != http.StatusCreated {
			t.Fatalf("answered %d %s, %v", status, text, err)
		}
		if !strings.HasPrefix(room.OrganiserLink, room.Link+".") || !strings.HasPrefix(room.Link, url+"#"+room.Code+"_") {
			t.Errorf("the links are %+v", room)
		}
		for path, want := range map[string]string{"": "<!doctype html>", "healthz": "ok", "readyz": "ready",
			"get/": "Get Muster", "metrics": "muster_rooms 1", "api/service": `"beacon":` + port} {
			if status, text := asks(t, url+path, ""); status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("/%s answers %d %.200s, want %q", path, status, text, want)
			}
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		p, url := serves(t, "--store", file)
		p.says(t, "of which 1 are from before")
		if status, text := asks(t, url+"api/rooms/"+room.Code, ""); status != http.StatusOK || !strings.Contains(text, `"players":4`) {
			t.Errorf("the room answers %d %s", status, text)
		}
		if o := muster(t, "serve", "--listen", "127.0.0.1:0", "--store", file); o.code != 1 || !strings.Contains(o.err, "in use") {
			t.Errorf("a second host takes the same store: %+v", o)
		}
	})
}

// TestServeTakesNothingFromStrangers checks that strangers cannot name a program, a file, or
// anything else for the host to fetch.
func TestServeTakesNothingFromStrangers(t *testing.T) {
	_, url := serves(t, "--store", filepath.Join(t.TempDir(), "rooms.db"), "--rooms-per-address", "1000")
	for _, evil := range []string{"http://169.254.169.254/", "file:///etc/passwd", "/etc/passwd", "../../etc/passwd",
		"-", "localhost:22", "$(reboot)", "`reboot`", "|reboot", "--help", "steam://run/1"} {
		quoted, err := json.Marshal(evil)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"game", "by", "strategy", "master", "masters", "url", "file", "launch",
			"launch_command", "command", "protocol", "country_db"} {
			body := fmt.Sprintf(`{"game":"openarena","servers":["127.0.0.1:27960"],%q:%s}`, field, quoted)
			if status, text := asks(t, url+"api/rooms", body); status != http.StatusBadRequest {
				t.Errorf("%s is answered %d %s", body, status, text)
			}
		}
		for _, body := range []string{
			fmt.Sprintf(`{"game":"openarena","servers":[%s]}`, quoted),
			fmt.Sprintf(`{"game":"openarena","servers":%s}`, quoted),
			fmt.Sprintf(`{"game":"openarena","servers":["127.0.0.1:27960",%s]}`, quoted),
		} {
			if status, text := asks(t, url+"api/rooms", body); status != http.StatusBadRequest {
				t.Errorf("%s is answered %d %s", body, status, text)
			}
		}
	}
	if _, text := asks(t, url+"metrics", ""); !strings.Contains(text, "muster_rooms 0\n") {
		t.Error("there are rooms")
	}
}

func TestServeUsage(t *testing.T) {
	for args, want := range map[string]string{
		"--max-rooms 0":         "--max-rooms 0: say 1 to",
		"--idle 48h":            "--idle 48h0m0s: say 1m0s to 24h",
		"--max-players 65":      "--max-players 65: say 1 to 64",
		"--listen nowhere":      "no ADDRESS:PORT",
		"--acme muster.example": "accept its terms",
		"--acme a.example --tls-cert a --tls-key b":                                   "one of them",
		"--tls-cert a.pem --tls-key b.pem":                                            "cannot read a.pem",
		"--tls-cert a.pem":                                                            "go together",
		"--public-url muster.example":                                                 "no URL such as",
		"--store /nowhere/rooms.db --listen 127.0.0.1:0":                              "cannot keep rooms in /nowhere/rooms.db",
		"--store rooms.db --nats nats://127.0.0.1:1":                                  "say one of them",
		"--nats nats://127.0.0.1:1 --listen 127.0.0.1:0 --cluster-listen 127.0.0.1:0": "no NATS server answers",
		"--nats nats://127.0.0.1:1 --cluster-listen 7779":                             "is no ADDRESS:PORT",
		"--import rooms.db":                                                           "need --nats URL",
		"--nats nats://127.0.0.1:1 --import /nowhere/rooms.db":                        "cannot open /nowhere/rooms.db",
		"room": "takes no argument",
	} {
		if o := muster(t, append([]string{"serve"}, strings.Fields(args)...)...); o.code == 0 || !strings.Contains(o.err, want) {
			t.Errorf("serve %s: %d, %s; want %q", args, o.code, o.err, want)
		}
	}
}

// TestServeCheckConfig checks that settings can be checked without starting a host.
func TestServeCheckConfig(t *testing.T) {
	store := filepath.Join(t.TempDir(), "rooms.db")
	if o := muster(t, "serve", "--check-config", "--store", store, "--max-rooms", "7"); o.code != 0 || o.out != "the settings make sense\n" {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(store); err == nil {
		t.Error("a store was made")
	}
	for want, args := range map[string][]string{"--max-rooms 0: say 1 to": {"--max-rooms", "0"},
		"cannot read a.pem": {"--tls-cert", "a.pem", "--tls-key", "a.pem"}} {
		code := map[bool]int{true: 2, false: 1}[args[0] == "--max-rooms"]
		if o := muster(t, append([]string{"serve", "--check-config"}, args...)...); o.code != code || !strings.Contains(o.err, want) {
			t.Errorf("%v: %+v", args, o)
		}
	}
}

// TestServeCheckAll checks that all faults are said at once, each with the line or the variable that it
// comes from.
func TestServeCheckAll(t *testing.T) {
	file := userfile.Config("config.toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
		os.WriteFile(file, []byte("[serve]\nmax_rooms = 0\nbad_key = 1\nidle = '3 parsecs'\nlisten = 'x'\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file) })
	t.Setenv("MUSTER_SERVE_FOO", "1")
	t.Setenv("MUSTER_SERVE_ROOM_MEMORY", "0")
	t.Setenv("MUSTER_SERVE_MAX_PLAYERS", "x")
	o := muster(t, "serve", "--check-config", "--store", filepath.Join(t.TempDir(), "rooms.db"), "--tls-cert", "a.pem", "--tls-key", "a.pem")
	for _, want := range []string{
		"MUSTER_SERVE_FOO in the environment: there is no such flag", ":3: unknown key", ":4: serve.idle",
		"MUSTER_SERVE_MAX_PLAYERS in the environment",
		"--max-rooms 0", "--max-rooms is set in " + file + ":2", "--room-memory is set in MUSTER_SERVE_ROOM_MEMORY", "cannot read a.pem",
		"--listen is set in " + file + ":5",
	} {
		if !strings.Contains(o.err, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if o.code != 2 || strings.Contains(o.err, "--max-players 0") || strings.Contains(o.err, "--idle 0") {
		t.Errorf("%+v", o)
	}
}

// TestServeMoves checks that rooms move from a file into a cluster, and from there into a backup
// that one host can serve.
func TestServeMoves(t *testing.T) {
	t.Parallel()
	file, backup := filepath.Join(t.TempDir(), "rooms.db"), filepath.Join(t.TempDir(), "backup.db")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nats := clustertest.New(1)
	defer nats.Close()
	defer listener.Close()
	nats.Serve(listener, 0)
	at := "nats://" + listener.Addr().String()
	to := []string{"--nats", at, "--node", "host1", "--cluster-listen", "127.0.0.1:0"}
	var room struct{ Code string }
	serving := func(name string, do func(url string), where ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) { // the host stops with the subtest
			_, url := serves(t, where...)
			do(url)
		})
	}
	serving("in a file", func(url string) {
		status, text := asks(t, url+"api/rooms", `{"game":"openarena","players":4,"servers":["127.0.0.1:27960"]}`)
		if err := json.Unmarshal([]byte(text), &room); err != nil || status != http.StatusCreated {
			t.Fatalf("answered %d %s, %v", status, text, err)
		}
	}, "--store", file)
	for _, want := range []string{"1 room taken over", "0 rooms taken over into NATS, 0 that are over, and 0 lists; 1 were there"} {
		if o := muster(t, append([]string{"serve", "--import", file}, to...)...); o.code != 0 || !strings.Contains(o.err, want) {
			t.Errorf("%+v", o)
		}
	}
	serving("in the cluster", func(url string) {
		await.Until(t, func() bool {
			status, _ := asks(t, url+"api/rooms/"+room.Code, "")
			return status == http.StatusOK
		}, "the room is not adopted")
		if o := muster(t, "serve", "--nats", at, "--node", "other", "--export", backup); o.code != 0 ||
			!strings.Contains(o.err, "1 room written") {
			t.Errorf("%+v", o)
		}
		if o := muster(t, "serve", "memory", "--nats", at, "--delete", "--json"); o.code != 0 ||
			!strings.Contains(o.out, `"where":"NATS","cells":0`) {
			t.Errorf("%+v", o)
		}
	}, to...)
	serving("from the backup", func(url string) {
		if status, text := asks(t, url+"api/rooms/"+room.Code, ""); status != http.StatusOK {
			t.Errorf("the room answers %d %s", status, text)
		}
	}, "--store", backup)
}

// TestServeLogIsJSON checks that with --log-format json each line is a JSON object. The first one
// names the program and its settings, and none contains a secret.
func TestServeLogIsJSON(t *testing.T) {
	read := func(t *testing.T, text string) (lines []map[string]any) {
		t.Helper()
		for line := range strings.Lines(text) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("a line is no JSON: %q", line)
			}
			lines = append(lines, one)
		}
		if len(lines) == 0 {
			t.Fatal("there is no line")
		}
		return lines
	}
	t.Run("a host that serves", func(t *testing.T) {
		p := begin(t, "serve", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "rooms.db"), "--node",
			"host7", "--public-url", "https://muster.example",
			"--max-rooms", "77", "--master", "https://ann:secret1@lists.example/list?key=secret2", "--log-format", "json")
		p.says(t, `"page":"https://muster.example/"`)
		lines := read(t, p.out.String()+p.err.String())
		first, _ := json.Marshal(lines[0])
		for _, want := range []string{`"version":`, `"node":"host7"`, `"max-rooms":"77"`, `"master":"https://…@lists.example/list?…"`} {
			if !strings.Contains(string(first), want) {
				t.Errorf("the first line has no %s: %s", want, first)
			}
		}
		if text := p.err.String(); strings.Contains(text, "secret1") || strings.Contains(text, "secret2") ||
			!strings.Contains(text, "so a proxy encrypts") {
			t.Errorf("the log is %s", text)
		}
		for i, line := range lines {
			if line["node"] != "host7" || line["version"] == nil {
				t.Errorf("line %d is of no node or version: %v", i, line)
			}
		}
	})
	for name, args := range map[string][]string{
		"a mistake":            {"--max-rooms", "0"},
		"no NATS":              {"--nats", "nats://user:secret1@127.0.0.1:1", "--listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0"},
		"no folder for a file": {"--store", "/nowhere/rooms.db", "--listen", "127.0.0.1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			o := muster(t, append([]string{"serve", "--log-format", "json"}, args...)...)
			lines := read(t, o.out+o.err)
			if last := lines[len(lines)-1]; o.code == 0 || strings.Contains(o.err, "secret1") || !strings.Contains(o.err, `"level":"ERROR"`) {
				t.Errorf("it ends with %d and says %v", o.code, last)
			}
		})
	}
}

// learnt returns the document of a memory that knows one network from three rooms.
func learnt(at time.Time) []byte {
	m, part := networks.New([32]byte{}), memory.Part{Country: "DE", ASN: 24940, Prefix: netip.MustParsePrefix("198.18.7.0/24")}
	for i := range byte(3) {
		m.Learn(string('a'+i), netip.AddrFrom4([4]byte{203, 0, i, 1}), networks.Network{Country: "NL"}, []memory.Cell{{Part: part, MS: 20}}, at)
	}
	return m.Append(nil)
}

// TestServeMemory checks that an operator sees what a host has learnt, and deletes it while the host
// runs, by the flags and the environment of muster serve.
func TestServeMemory(t *testing.T) {
	rooms := filepath.Join(t.TempDir(), "rooms.db")
	shows := func(want string, args ...string) {
		t.Helper()
		if o := muster(t, append([]string{"serve", "memory"}, args...)...); o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("%v: %+v, want %q", args, o, want)
		}
	}
	if err := os.WriteFile(rooms+".networks", learnt(time.Now()), 0o600); err != nil {
		t.Fatal(err)
	}
	begin(t, "serve", "--listen", "127.0.0.1:0", "--store", rooms).says(t, `(?m)^page `)
	shows("3 distances for players of 1 network, 0.1 kB in "+rooms+".networks; learnt from "+time.Now().UTC().Format(time.DateOnly), "--store", rooms)
	t.Setenv("MUSTER_SERVE_STORE", rooms)
	shows(`"cells":3,"networks":1`, "--json")
	shows("Deleted: 3 distances", "--delete")
	shows("learnt nothing yet")
	var document struct {
		Format  string
		Deleted bool
		Forgot  time.Time
	}
	o := muster(t, "serve", "memory", "--json", "--delete")
	if err := json.Unmarshal([]byte(o.out), &document); err != nil || document.Format != "muster.memory/1" || !document.Deleted || document.Forgot.IsZero() {
		t.Errorf("%+v, %v", o, err)
	}
	if o := muster(t, "serve", "memory", "--nats", "nats://127.0.0.1:1"); o.code != 2 {
		t.Errorf("a file and NATS: %+v", o)
	}
	if err := os.WriteFile(rooms+".networks", []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := muster(t, "serve", "memory"); o.code != 1 || !strings.Contains(o.err, "--delete") {
		t.Errorf("a damaged file: %+v", o)
	}
}

// TestWrongDownloads checks that a host reports downloads that it cannot give before the room
// opens.
func TestWrongDownloads(t *testing.T) {
	list := writeFile(t, "list.txt", "127.0.0.1:1\n")
	host := func(more ...string) []string {
		return append([]string{"host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0"}, more...)
	}
	checkAll(t, []wrong{
		{"no folder", host("--downloads", "nowhere"), 1,
			[]string{"cannot give programs from nowhere", "a folder with the programs of a release"}},
		{"a file", host("--downloads", list), 1, []string{"cannot give programs from " + list}},
		{"releases in the clear", host("--releases", "http://example.org/releases"), 2,
			[]string{`--releases: "http://example.org/releases" is not encrypted`, "https://"}},
		{"releases that are no address", host("--releases", "\x1b[2Jreleases"), 2, []string{"is no address of releases", "download/v1.2.0/"}},
		{"a public host's", []string{"serve", "--public-url", "http://127.0.0.1", "--listen", "127.0.0.1:0",
			"--releases", "file:///etc"}, 2, []string{"--releases"}},
	})
}

// TestHostileDownloads checks a folder of files with hostile names. The terminal shows one line,
// the page shows nothing, and only builds of Muster are given. A build that belongs to no release
// gets nothing from the release page, and says so to a user who asked for that.
func TestHostileDownloads(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"\x1b[2J\x1b]0;own\a", "x\nmuster: all is well", "\u202eexe.retsum",
		"<script>alert(1)", strings.Repeat("a", 250), "-rf", "muster.exe.minisig"} {
		if err := os.Symlink("/etc/passwd", filepath.Join(folder, name)); err != nil && !errors.Is(err, os.ErrInvalid) {
			t.Skip("this system has no such names:", err)
		}
	}
	list := writeFile(t, "list.txt", "127.0.0.1:1\n")
	p := begin(t, "host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0", "--no-play",
		"--no-browser", "--no-mdns", "--downloads", folder, "--releases", "http://127.0.0.1:9/releases")
	link := p.says(t, `http://127\.0\.0\.1:\d+/`)[0]
	p.says(t, "is no build of Muster")
	p.says(t, "nothing is got from the project's releases: this program is of none")
	said := p.out.String() + p.err.String()
	if strings.ContainsAny(said, "\x1b\a\u202e") || strings.Contains(said, "\nmuster: all is well") {
		t.Errorf("a terminal would obey %q", said)
	}
	reply, err := http.Get(link + "get/programs.json")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var offer struct {
		Programs []struct{ Away bool }
		Refused  []any
	}
	if err := json.NewDecoder(reply.Body).Decode(&offer); err != nil || len(offer.Programs) != 1 ||
		offer.Programs[0].Away || len(offer.Refused) > 0 {
		t.Errorf("the page offers %+v, %v", offer, err)
	}
}
