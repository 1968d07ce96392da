package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adrg/xdg"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/host"
	"muster/host/access"
	"muster/host/wire"
)

// service is a public host on loopback: a real host behind the handler that opens rooms.
type service struct {
	*httptest.Server
	rooms *host.Host

	mu     sync.Mutex // guards what follows
	opened []map[string]json.RawMessage
}

// startService starts a public host that lists the servers of a file.
func startService(t *testing.T, file string) *service {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, _, err := master.ParseList(f, file)
	if err != nil {
		t.Fatal(err)
	}
	var servers []discovery.Server
	for _, e := range entries {
		servers = append(servers, discovery.Server{Addr: netip.AddrPortFrom(netip.MustParseAddr(e.Host), e.Port), Country: e.Country, ASN: e.ASN})
	}
	s := &service{}
	s.rooms, err = host.New(host.Config{List: func(context.Context, string) ([]discovery.Server, error) { return servers, nil }})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", s.rooms.Handler())
	mux.HandleFunc("GET /api/service", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"format":"muster.service/1","version":"v1","games":[{"id":"openarena","name":"OpenArena","listed":true}],"max_players":16,"max_servers":100}`))
	})
	mux.HandleFunc("POST /api/rooms", s.open)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { s.rooms.Close(); s.Close() })
	return s
}

func (s *service) open(w http.ResponseWriter, r *http.Request) {
	var room map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&room); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.opened = append(s.opened, room)
	s.mu.Unlock()
	data, _ := json.Marshal(room)
	settings, err := wire.Settings{Strategy: wire.Coordinated, By: "mean"}.Patched(data, func(wire.Setting) bool { return true })
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	code, secret, err := s.rooms.Open(settings)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	link := s.URL + "/#" + access.Key{Code: code, Link: s.rooms.Keys(code).Link, Secret: secret}.String()
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(map[string]string{"code": code, "link": strings.TrimSuffix(link, "."+secret), "organiser_link": link})
}

// newState gives the test a state folder of its own.
func newState(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	t.Cleanup(xdg.Reload) // after the variable has been restored
	t.Setenv("XDG_STATE_HOME", folder)
	xdg.Reload()
	return folder
}

// TestHostAt plays a whole session on a public host. The organiser's program opens the room there
// and plays in it, as on a host of its own.
func TestHostAt(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 40)
	s := startService(t, l.file)
	common := []string{"--once", "--listen-addr", l.from, "--rate", "1000", "--launch", "never"}
	org := begin(t, append([]string{"host", "--game", "openarena", "--at", s.URL, "--no-browser", "--name", "org",
		"--max-rtt", "150ms,300ms", "--room", "Friday"}, common...)...)
	link := org.says(t, `(?m)^link  (\S+)$`)[1]
	if !strings.HasPrefix(link, s.URL+"/#") || strings.Contains(link, ".1/#.") {
		t.Errorf("the link for friends is %s", link)
	}
	org.says(t, "your own link to steer from the page, for you alone:\nhttp")
	org.says(t, "org is here")
	ann := begin(t, append([]string{"join", link, "--name", "ann"}, common...)...)
	org.says(t, "ann is here")
	org.types(t, "")
	org.says(t, "everyone to ")
	org.says(t, decided)
	org.exits(t, 0)
	ann.exits(t, 0)
	if got, want := string(s.opened[0]["limits_ms"])+string(s.opened[0]["name"])+string(s.opened[0]["strategy"]),
		`[150,300]"Friday""coordinated"`; got != want || s.opened[0]["servers"] != nil {
		t.Errorf("the host was told %s, want %s and no servers", got, want)
	}
	files, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "muster", "rooms-elsewhere", "*"))
	files = slices.DeleteFunc(files, func(file string) bool { // other tests' rooms
		text, _ := os.ReadFile(file)
		return !strings.Contains(string(text), s.URL)
	})
	if len(files) != 1 {
		t.Fatalf("the room is kept in %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the room is kept with %v, %v", info.Mode(), err)
	}
}

// TestHostAtGoesOn checks that the same command continues in the same room, which survives the end
// of the command. A new rule on the command line applies to the room, and --new opens another one.
func TestHostAtGoesOn(t *testing.T) {
	newState(t)
	l := startLoopback(t, 5)
	s := startService(t, l.file)
	hosts := func(more ...string) []string {
		return append([]string{"host", "--game", "openarena", "--at", s.URL, "--no-play", "--no-browser"}, more...)
	}
	code := ""
	t.Run("the first time", func(t *testing.T) {
		p := begin(t, hosts("--players", "3", "--map", "oa_dm1")...)
		code = p.says(t, `(?m)^code +(\w+)$`)[1]
		p.says(t, "room "+code+" is open for openarena")
	})
	t.Run("the same again", func(t *testing.T) {
		p := begin(t, hosts("--players", "3", "--map", "oa_dm1")...)
		p.says(t, "going on with room "+code+" from last time; --new opens another")
		p.types(t, "")
		p.says(t, "nobody is here yet")
	})
	t.Run("with another rule", func(t *testing.T) {
		begin(t, hosts("--players", "3", "--by", "minimax")...).says(t,
			"the organiser wants openarena: kindest to the worst off, on oa_dm1, for 3")
	})
	t.Run("one of another name", func(t *testing.T) {
		p := begin(t, hosts("--room", "Saturday")...)
		if other := p.says(t, `(?m)^code +(\w+)$`)[1]; other == code {
			t.Error("a room of another name is gone on with")
		}
	})
	t.Run("the one of that name", func(t *testing.T) {
		begin(t, hosts("--room", "Saturday")...).says(t, "going on with room ")
	})
	t.Run("another room", func(t *testing.T) {
		p := begin(t, hosts("--new")...)
		if other := p.says(t, `(?m)^code +(\w+)$`)[1]; other == code {
			t.Error("--new goes on with the old one")
		}
	})
	t.Run("one that is over", func(t *testing.T) {
		for _, code := range s.rooms.Rooms() {
			for range s.rooms.Watch(t.Context(), code) { // until it is over
				s.rooms.CloseRoom(code)
			}
		}
		p := begin(t, hosts()...)
		p.says(t, "room "+code+" from last time is over")
		p.says(t, `(?m)^code +(\w+)$`)
	})
}

// TestOwnListAt checks that the organiser's own list goes to the host.
func TestOwnListAt(t *testing.T) {
	newState(t)
	l := startLoopback(t, 5)
	s := startService(t, l.file)
	file := writeFile(t, "servers", "192.0.2.1:27960\n192.0.2.2\n")
	begin(t, "host", "--game", "openarena", "--at", s.URL, "--no-play", "--no-browser", "--servers", file).says(t, `(?m)^code +(\w+)$`)
	if got, want := string(s.opened[0]["servers"]), `["192.0.2.1:27960","192.0.2.2:27960"]`; got != want {
		t.Errorf("the host was told %s, want %s", got, want)
	}
	var long strings.Builder
	for i := range 101 {
		long.WriteString(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}).String() + "\n")
	}
	wrong{args: []string{"host", "--game", "openarena", "--at", s.URL, "--new", "--servers", writeFile(t, "servers", long.String())}, code: 1,
		says: []string{"the list has 101 servers, but http://127.0.0.1", "takes 100", "hint: keep only"}}.check(t)
}

// TestJoinAt checks that a code alone is enough if the public host is in the settings.
func TestJoinAt(t *testing.T) {
	newState(t)
	l := startLoopback(t, 5)
	s := startService(t, l.file)
	code, _, _ := s.rooms.Open(wire.Settings{Game: "openarena"})
	for i, args := range [][]string{
		{"--at", s.URL, code}, {"--at", s.URL, "--code", strings.ToLower(code)}, {s.URL, "--code", code},
	} {
		name := string(rune('a' + i))
		begin(t, append([]string{"join", "--name", name}, args...)...).says(t, name+" is here")
	}
	t.Setenv("MUSTER_AT", s.URL)
	begin(t, "join", "--name", "env", code).says(t, "env is here")
	ask := begin(t, "join", "--name", "zoe", "--at", s.URL)
	ask.says(t, "the room's code: ")
	ask.types(t, code)
	ask.says(t, "zoe is here")
}

// TestNoRoomAt checks that every failure to open a room on a public host says what to do.
func TestNoRoomAt(t *testing.T) {
	newState(t)
	answering := func(status int, header, text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if name, value, is := strings.Cut(header, ": "); is {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			w.Write([]byte(text))
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	refusing := func(status int, reason string) string {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /api/service", func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"format":"muster.service/1","games":[{"id":"openarena","listed":true}]}`))
		})
		mux.HandleFunc("POST /api/rooms", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			w.Write([]byte(`{"reason":"` + reason + `","message":"all 3 rooms are \u001b[31mtaken","hint":"try again"}`))
		})
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server.URL
	}
	own, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	old := httptest.NewServer(own.Handler())
	encrypted := httptest.NewTLSServer(own.Handler())
	t.Cleanup(func() { own.Close(); old.Close(); encrypted.Close() })
	at := func(url string, more ...string) []string {
		return append([]string{"host", "--game", "openarena", "--no-browser", "--at", url}, more...)
	}
	checkAll(t, []wrong{
		{"nobody there", at("http://" + closedPort(t)), 1,
			[]string{"no host answers at http://127.0.0.1", "connection refused", "hint: is the address right", "--here"}},
		{"no such name", at("https://no-such-host.invalid"), 1,
			[]string{"no host answers at https://no-such-host.invalid", "hint: is the address right"}},
		{"no URL", at("ftp://muster.example"), 2, []string{`--at: "ftp://muster.example" is no URL`, "hint: scheme and host"}},
		{"with a path", at("https://muster.example/rooms"), 2, []string{"says more than where"}},
		{"another program", at(answering(200, "", "hello")), 1, []string{"isn't a public Muster host", "hint: is the address right"}},
		{"no such page", at(answering(404, "", "not here")), 1, []string{"isn't a public Muster host"}},
		{"a login", at(answering(401, "", "")), 1, []string{"isn't a public Muster host", "401 Unauthorized"}},
		{"led elsewhere", at(answering(301, "Location: https://muster.example/api/service", "")), 1,
			[]string{"redirects to https://muster.example", "hint: if you trust that host: --at https://muster.example"}},
		{"led nowhere", at(answering(301, "Location: javascript:alert(1)", "")), 1, []string{"isn't a public Muster host"}},
		{"out of order", at(answering(502, "", "")), 1, []string{"isn't working: 502 Bad Gateway", "hint: try again in a while"}},
		{"somebody's own", at(old.URL), 1, []string{"opens no rooms for others", "hint: it's someone's own"}},
		{"a wrong certificate", at(encrypted.URL), 1,
			[]string{"no trusted signature vouches for the host at https://127.0.0.1", "hint: is the address right?"}},
		{"TLS where there is none", at("https://" + strings.TrimPrefix(old.URL, "http://")), 1,
			[]string{"isn't encrypted", "hint: should it be http://"}},
		{"full", at(refusing(503, "full")), 1, []string{"muster: all 3 rooms are [31mtaken", "hint: try again"}},
		{"too many", at(refusing(429, "busy")), 1, []string{"muster: all 3 rooms are", "hint: try again"}},
		{"the port", at("https://muster.example", "--listen", ":7778"), 2,
			[]string{"--listen makes no sense with --at: nobody connects to this machine", "hint: leave out"}},
		{"everybody", at("https://muster.example", "--open"), 2, []string{"--open makes no sense with --at"}},
		{"here and there", at("https://muster.example", "--here"), 2, []string{"--at and --here exclude each other"}},
		{"two places", []string{"join", "--at", "https://muster.example", "http://192.0.2.1/#TABOMIDO"}, 2,
			[]string{"says where the room is, and so does --at"}},
	})
}
