package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host"
	"muster/host/wire"
	"muster/selection"
)

func friday(players int) host.Settings {
	return host.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func listOf(servers int) host.ListFunc {
	return func(context.Context, string) ([]discovery.Server, error) {
		list := make([]discovery.Server, servers)
		for i := range list {
			addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
			list[i] = discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)}
		}
		return list, nil
	}
}

// serve starts a host behind a real socket. At the test's end no goroutine may
// be left.
func serve(t *testing.T, config host.Config) (*host.Host, *httptest.Server) {
	t.Helper()
	noLeak(t)
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, server
}

func noLeak(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		for range 300 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	})
}

// player is a member's end of a connection, driven by hand.
type player struct {
	*testing.T
	conn  *wire.Conn
	heard chan wire.Message
	ended chan error
	token string
}

func dial(t *testing.T, server *httptest.Server) *player {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/peer", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{T: t, conn: wire.NewConn(ws, wire.AtPeer), heard: make(chan wire.Message, 10_000), ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.ended <- p.conn.Run(context.Background(), func(m wire.Message) error { p.heard <- m; return nil })
		close(p.heard)
	}()
	t.Cleanup(func() { p.conn.Close(nil); <-done })
	return p
}

func join(t *testing.T, server *httptest.Server, code, name string) *player {
	t.Helper()
	p := dial(t, server)
	p.conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
	p.token = expect[wire.Welcome](p).Token
	return p
}

// expect waits for the next message of a type, whatever comes before.
func expect[M wire.Message](p *player) M {
	p.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case m, open := <-p.heard:
			if !open {
				p.Fatalf("the connection ended before a %T came", *new(M))
			}
			if wanted, ok := m.(M); ok {
				return wanted
			}
		case <-deadline:
			p.Fatalf("no %T came", *new(M))
		}
	}
}

// plays does what the host asks for: every server answers in ms.
func (p *player) plays(ms int) wire.Launch {
	p.Helper()
	p.measures(ms)
	return p.finishes()
}

func (p *player) measures(ms int) {
	p.Helper()
	list := expect[wire.List](p)
	expect[wire.Measure](p)
	report, infos := wire.Report{Round: list.Round}, wire.Infos{Round: list.Round}
	for server := range list.Servers {
		rtt := time.Duration(ms+server%100) * time.Millisecond
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}})
	}
	p.conn.Send(report)
	p.conn.Send(infos)
	p.conn.Send(wire.Done{Round: list.Round})
}

func (p *player) finishes() wire.Launch {
	p.Helper()
	p.looks()
	launch := expect[wire.Launch](p)
	p.conn.Send(wire.Launched{Round: launch.Round, State: wire.LaunchStarted})
	return launch
}

// looks finds all finalists as fast as can be.
func (p *player) looks() {
	p.Helper()
	finalists := expect[wire.Finalists](p)
	v := wire.Verified{Round: finalists.Round, Attempt: finalists.Attempt}
	for _, server := range finalists.Servers {
		v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{5}, Sent: 3})
	}
	p.conn.Send(v)
}

// TestManyRooms: rooms know nothing of each other, and each gets one list.
func TestManyRooms(t *testing.T) {
	var lists atomic.Int32
	h, server := serve(t, host.Config{List: func(ctx context.Context, game string) ([]discovery.Server, error) {
		lists.Add(1)
		return listOf(3)(ctx, game)
	}})
	const rooms = 20
	var players []*player
	for i := range rooms {
		code, _ := h.Open(friday(2))
		players = append(players, join(t, server, code, fmt.Sprint("ann", i)), join(t, server, strings.ToLower(code), fmt.Sprint("bob", i)))
	}
	for _, p := range players {
		p.measures(10)
	}
	for _, p := range players {
		p.looks()
	}
	for _, p := range players {
		p.conn.Send(wire.Launched{Round: expect[wire.Launch](p).Round, State: wire.LaunchStarted})
	}
	for i, code := range h.Rooms() {
		for room := range h.Watch(t.Context(), code) {
			if room.Stage == wire.Launching && room.Members[0].Launch == wire.LaunchStarted && room.Members[1].Launch == wire.LaunchStarted {
				if a, b := room.Members[0].Name, room.Members[1].Name; len(room.Members) != 2 || strings.TrimPrefix(a, "ann") != strings.TrimPrefix(b, "bob") {
					t.Errorf("room %d has the members %q and %q", i, a, b)
				}
				break
			}
		}
	}
	if len(h.Rooms()) != rooms || lists.Load() != rooms {
		t.Errorf("%d rooms, %d lists, want %d", len(h.Rooms()), lists.Load(), rooms)
	}
	if _, there := h.Room("NOSUCH"); there || h.Go("NOSUCH") {
		t.Error("there is a room that nobody opened")
	}
	for range h.Watch(t.Context(), "NOSUCH") {
		t.Error("a room that nobody opened has a state")
	}
}

func TestTurnedAway(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(1)})
	code, _ := h.Open(friday(2))
	join(t, server, code, "ann")
	tests := []struct {
		name  string
		hello wire.Message
		want  wire.Refusal
	}{
		{"another version", wire.Hello{Version: 7, Code: code, Name: "bob"}, wire.Refusal{Reason: wire.ReasonVersion,
			Message: "the host speaks version 1, this player's muster version 7", Hint: "use the same release of muster on both sides"}},
		{"no room", wire.Hello{Version: 1, Code: "no-such", Name: "bob"}, wire.Refusal{Reason: wire.ReasonCode,
			Message: `no room has the code "NOSUCH"`, Hint: "ask the organiser for the code; letter case does not matter"}},
		{"the name is taken", wire.Hello{Version: 1, Code: code, Name: "Ann"}, wire.Refusal{Reason: wire.ReasonNameTaken,
			Message: `the room has a player "ann" already`, Hint: "choose another name with --name NAME"}},
		{"no name", wire.Hello{Version: 1, Code: code}, wire.Refusal{Reason: wire.ReasonName, Message: "a player needs a name", Hint: "say --name NAME"}},
		{"no hello", wire.Done{Round: 1}, wire.Refusal{Reason: wire.ReasonMalformed, Message: "the first message must be hello"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, server)
			p.conn.Send(tt.hello)
			if got := expect[wire.Refusal](p); got != tt.want {
				t.Errorf("refused with %+v, want %+v", got, tt.want)
			}
			if err := <-p.ended; !websocket.IsCloseError(errors.Unwrap(err), websocket.CloseNormalClosure) {
				t.Errorf("the connection ended with %v", err)
			}
		})
	}
	t.Run("nonsense from a member", func(t *testing.T) {
		code, _ := h.Open(friday(1))
		p := join(t, server, code, "eve")
		expect[wire.Measure](p)
		p.conn.Send(wire.Report{Round: 1, Results: []discovery.Result{{Server: 1, State: discovery.Lost}}})
		if got := expect[wire.Refusal](p); got.Reason != wire.ReasonMalformed || got.Message != "host: eve reports server 1 of 1" {
			t.Errorf("refused with %+v", got)
		}
		<-p.ended
	})
	metrics := get(t, server, "/metrics")
	for _, line := range []string{
		`muster_refusals_total{reason="version"} 1`, `muster_refusals_total{reason="code"} 1`, `muster_refusals_total{reason="name-taken"} 1`,
		`muster_refusals_total{reason="name"} 1`, `muster_refusals_total{reason="malformed"} 1`, "muster_rooms 2",
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

func get(t *testing.T, server *httptest.Server, path string) string {
	t.Helper()
	response, err := http.Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s, %v", path, response.Status, err)
	}
	return string(body)
}

// TestReplaced: a player who comes back on another connection is told so on the
// first, lest the two take turns for ever.
func TestReplaced(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(2)})
	code, _ := h.Open(friday(2))
	first := join(t, server, code, "ann")
	second := dial(t, server)
	second.conn.Send(wire.Hello{Version: 1, Code: code, Name: "ann", Token: first.token})
	if welcome := expect[wire.Welcome](second); welcome.Token != first.token {
		t.Errorf("the token changed to %q", welcome.Token)
	}
	if got := expect[wire.Refusal](first); got.Reason != wire.ReasonReplaced {
		t.Errorf("the first connection is told %+v", got)
	}
	<-first.ended
	bob := join(t, server, code, "bob")
	second.measures(10)
	bob.measures(10)
	bob.looks()
	second.finishes()
	for room := range h.Watch(t.Context(), code) {
		if room.Stage != wire.Launching {
			continue
		}
		if !room.Members[0].Connected {
			t.Error("the end of the first connection counts for the second")
		}
		break
	}
}

// TestSlowMember: a member who reads nothing holds up nobody.
func TestSlowMember(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(30_000)})
	code, _ := h.Open(friday(3))
	slow, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/peer", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	slow.WriteJSON(map[string]any{"type": "hello", "version": 1, "code": code, "name": "slow"})
	for room := range h.Watch(t.Context(), code) {
		if len(room.Members) == 1 {
			break
		}
	}
	ann, bob := join(t, server, code, "ann"), join(t, server, code, "bob")
	ann.measures(10)
	bob.measures(20)
	for room := range h.Watch(t.Context(), code) {
		if len(room.Members) == 3 && room.Members[1].Done && room.Members[2].Done {
			break
		}
	}
	h.Go(code)
	bob.looks()
	if launch := ann.finishes(); launch.Address != "10.0.0.0:27960" {
		t.Errorf("everyone goes to %s", launch.Address)
	}
	expect[wire.Launch](bob)
}

func TestAPI(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") })
	h, server := serve(t, host.Config{List: listOf(1), Page: page})
	settings := friday(0)
	settings.Password = "club"
	code, secret := h.Open(settings)
	ann := join(t, server, code, "ann")
	for room := range h.Watch(t.Context(), code) {
		if len(room.Members) == 1 {
			break
		}
	}
	do := func(method, path, authorization string) (int, string) {
		t.Helper()
		request, err := http.NewRequest(method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s has the header %s: %q", path, name, got)
			}
		}
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	hyphened := strings.ToLower(code[:2] + "-" + code[2:])
	tests := []struct {
		method, path, authorization string
		status                      int
		body                        string // what it contains
	}{
		{"GET", "/", "", 200, "the page"},
		{"GET", "/healthz", "", 200, "ok\n"},
		{"GET", "/metrics", "", 200, "muster_peers 1\n"},
		{"GET", "/api/rooms/" + code, "", 200, `"members":[{"name":"ann","organiser":true,"connected":true,`},
		{"GET", "/api/rooms/" + hyphened, "", 200, `"stage":"gathering"`},
		{"GET", "/api/rooms/NOSUCH", "", 404, `{"reason":"code","message":"no room has this code"}`},
		{"POST", "/api/rooms/" + code, "", 405, ""},
		{"POST", "/api/rooms/" + code + "/go", "", 403, `{"reason":"secret","message":"only the organiser can do this"}`},
		{"POST", "/api/rooms/" + code + "/go", "Bearer ", 403, "secret"},
		{"POST", "/api/rooms/" + code + "/go", "Bearer " + ann.token, 403, "secret"},
		{"POST", "/api/rooms/" + code + "/go", secret[1:], 403, "secret"},
		{"POST", "/api/rooms/NOSUCH/go", "Bearer " + secret, 404, "code"},
		{"POST", "/api/rooms/" + hyphened + "/go", "Bearer " + secret, 204, ""},
	}
	for _, tt := range tests {
		status, body := do(tt.method, tt.path, tt.authorization)
		if status != tt.status || !strings.Contains(body, tt.body) {
			t.Errorf("%s %s answers %d %s\nwant %d and %s", tt.method, tt.path, status, body, tt.status, tt.body)
		}
		for _, private := range []string{secret, ann.token, "club"} {
			if strings.Contains(body, private) {
				t.Errorf("%s %s tells %q", tt.method, tt.path, private)
			}
		}
	}
	expect[wire.Measure](ann) // the go has had its effect
}

func TestOrigin(t *testing.T) {
	_, server := serve(t, host.Config{List: listOf(1)})
	url := "ws" + strings.TrimPrefix(server.URL, "http") + "/peer"
	for origin, allowed := range map[string]bool{server.URL: true, "https://evil.example": false} {
		ws, response, err := websocket.DefaultDialer.Dial(url, http.Header{"Origin": {origin}})
		if (err == nil) != allowed {
			t.Errorf("a page from %s: %v, %v", origin, response.Status, err)
		}
		if err == nil {
			ws.Close()
		}
	}
}

// TestClose: connections end, lists are given up, nothing starts any more.
func TestClose(t *testing.T) {
	asked := make(chan struct{})
	h, server := serve(t, host.Config{List: func(ctx context.Context, _ string) ([]discovery.Server, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	code, _ := h.Open(friday(1))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for range h.Watch(context.Background(), code) {
		}
	}()
	ann := join(t, server, code, "ann")
	stranger := dial(t, server)
	<-asked
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	<-ann.ended
	<-stranger.ended
	<-watched
	if h.Go(code) {
		t.Error("a closed host takes a go")
	}
	h.Open(friday(1))
	late := dial(t, server)
	late.conn.Send(wire.Hello{Version: 1, Code: code, Name: "bob"})
	<-late.ended
	select {
	case m, open := <-late.heard:
		if open {
			t.Errorf("a closed host says %+v", m)
		}
	default:
	}
}

// TestRestartOnStore: a host that was stopped has its rooms again, but for those
// that are over and those that it cannot read.
func TestRestartOnStore(t *testing.T) {
	noLeak(t)
	file := filepath.Join(t.TempDir(), "rooms.db")
	open := func() host.Store {
		store, err := host.OpenStore(file)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	if _, err := host.OpenStore(file); err == nil || err.Error() != "host: "+file+" is in use by another host" {
		t.Errorf("a second host opens the store: %v", err)
	}
	old, err := host.NewRoom("GAGAGA", "secret", friday(2), time.Now().Add(-25*time.Hour)).Save()
	if err := errors.Join(err, store.Save("GAGAGA", old), store.Save("BROKEN", []byte("{"))); err != nil {
		t.Fatal(err)
	}
	h, server := serve(t, host.Config{List: listOf(2), Store: store})
	code, secret := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	server.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	store = open()
	rooms, err := store.Load()
	if err != nil || len(rooms) != 2 || rooms[code] == nil || string(rooms["BROKEN"]) != "{" {
		t.Errorf("the store has %q, %v", slices.Collect(mapsKeys(rooms)), err)
	}
	h, server = serve(t, host.Config{List: listOf(2), Store: store})
	if got := h.Rooms(); !reflect.DeepEqual(got, []string{code}) {
		t.Fatalf("the host has the rooms %q", got)
	}
	again := dial(t, server)
	again.conn.Send(wire.Hello{Version: 1, Code: code, Name: "ann", Token: ann.token})
	expect[wire.Welcome](again)
	request, _ := http.NewRequest("POST", server.URL+"/api/rooms/"+code+"/go", nil)
	request.Header.Set("Authorization", "Bearer "+secret)
	if response, err := http.DefaultClient.Do(request); err != nil || response.StatusCode != http.StatusNoContent {
		t.Errorf("the organiser's secret is worth %v, %v", response.Status, err)
	} else {
		response.Body.Close()
	}
	again.plays(10)
}

func mapsKeys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestBrokenStore(t *testing.T) {
	noLeak(t)
	broken := errors.New("disk on fire")
	if _, err := host.New(host.Config{List: listOf(1), Store: failingStore{broken}}); !errors.Is(err, broken) {
		t.Errorf("New says %v", err)
	}
}

type failingStore struct{ err error }

func (s failingStore) Load() (map[string][]byte, error) { return nil, s.err }
func (s failingStore) Save(string, []byte) error        { return s.err }
func (s failingStore) Delete(string) error              { return s.err }
func (s failingStore) Close() error                     { return s.err }

// TestCodes: what people say and type finds the room.
func TestCodes(t *testing.T) {
	for _, typed := range []string{"BAKODI", "bakodi", "ba ko di", "#BA-KO-DI", " Bakodi "} {
		if got := host.CanonicalCode(typed); got != "BAKODI" {
			t.Errorf("%q is the code %q", typed, got)
		}
	}
	h, _ := serve(t, host.Config{List: listOf(1)})
	seen := map[string]bool{}
	for range 200 {
		code, secret := h.Open(friday(1))
		if len(code) != 6 || host.CanonicalCode(code) != code || seen[code] || len(secret) < 26 {
			t.Fatalf("a room has the code %q and the secret %q", code, secret)
		}
		seen[code] = true
	}
}

// TestRoomJSON: the API's room is the one that peers are sent.
func TestRoomJSON(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(1)})
	code, _ := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	expect[wire.Room](ann)
	for room := range h.Watch(t.Context(), code) {
		if len(room.Members) == 0 {
			continue
		}
		var fetched wire.Room
		if err := json.Unmarshal([]byte(get(t, server, "/api/rooms/"+code)), &fetched); err != nil {
			t.Fatal(err)
		}
		if fetched.Code != code || !reflect.DeepEqual(fetched.Members, room.Members) || fetched.Stage != room.Stage {
			t.Errorf("the API says %+v, Watch %+v", fetched, room)
		}
		break
	}
}
