package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host"
	"muster/host/public"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/leak"
)

// machine is one of several hosts that share rooms.
type machine struct {
	*testing.T
	name   string
	store  *host.FakeStore
	host   *host.Host
	server *httptest.Server
	// between holds how hosts reach each other, by name.
	between *sync.Map
	line    *cuttable
}

// cuttable is a listener that can cut all its connections at once.
type cuttable struct {
	net.Listener
	mu    sync.Mutex // guards following
	conns []net.Conn
	isCut bool
}

func (l *cuttable) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	l.keep(conn)
	return conn, err
}

func (l *cuttable) keep(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if conn != nil {
		l.conns = append(l.conns, conn)
	}
	if l.isCut {
		for _, c := range l.conns {
			c.Close()
		}
		l.conns = nil
	}
}

// hangUp ends all current connections.
func (l *cuttable) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

func (l *cuttable) cut() {
	l.mu.Lock()
	l.isCut = true
	l.mu.Unlock()
	l.keep(nil)
	l.Listener.Close()
}

// Dial connects to another machine as hosts do, over loopback.
func (m *machine) Dial(ctx context.Context, to string) (net.Conn, error) {
	there, is := m.between.Load(to)
	if !is {
		return nil, errors.New("no such host")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", there.(*machine).line.Addr().String())
	m.line.keep(conn)
	return conn, err
}

func (m *machine) Listener() net.Listener { return m.line }

// machines starts hosts that share rooms, by name.
func machines(t *testing.T, config host.Config, names ...string) map[string]*machine {
	t.Helper()
	leak.Check(t)
	all, between, rooms := map[string]*machine{}, new(sync.Map), host.NewFakeStore()
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{T: t, name: name, store: rooms.On(name), between: between, line: &cuttable{Listener: listener}}
		between.Store(name, m)
		config.Store, config.Relay = m.store, m
		if m.host, err = host.New(config); err != nil {
			t.Fatal(err)
		}
		m.server = httptest.NewServer(m.host.Handler())
		t.Cleanup(func() {
			m.server.CloseClientConnections()
			m.host.Close()
			m.server.Close()
			m.line.cut()
		})
		all[name] = m
	}
	return all
}

// dies ends a machine as a power cut does.
func (m *machine) dies() {
	m.line.cut()
	m.server.CloseClientConnections()
	m.server.Listener.Close()
	m.store.Dies()
}

func (m *machine) open(players int) (code, secret string) {
	m.Helper()
	code, secret, err := m.host.Open(friday(players))
	if err != nil {
		m.Fatal(err)
	}
	return code, secret
}

// TestRelayedSession checks that a session with players at three hosts, one of which has the room,
// goes as if there were one host.
func TestRelayedSession(t *testing.T) {
	at := machines(t, host.Config{List: listOf(40)}, "a", "b", "c")
	code, _ := at["a"].open(3)
	ann, bob, cat := join(t, at["a"].server, code, "ann"), join(t, at["b"].server, code, "bob"), join(t, at["c"].server, code, "cat")
	for ms, p := range []*player{ann, bob, cat} {
		p.measures(10 + ms)
	}
	for _, p := range []*player{ann, bob, cat} {
		p.looks()
	}
	for _, p := range []*player{ann, bob, cat} {
		if launch := expect[wire.Launch](p); launch.Address != "10.0.0.0:27960" {
			t.Errorf("sent to %s", launch.Address)
		}
	}
	if metrics := get(t, at["b"].server, "/metrics"); !strings.Contains(metrics, "muster_relayed 1\n") {
		t.Error("b does not count whom it passes on")
	}
}

// TestRelayedRequests checks that every host answers HTTP requests about a room as its owner does.
// Wrong codes count once, at the host where they are tried.
func TestRelayedRequests(t *testing.T) {
	at := machines(t, host.Config{List: listOf(3)}, "a", "b")
	code, secret := at["a"].open(2)
	ask := func(m *machine, method, path string, header map[string]string, body string) (int, string) {
		answer, text := answer(t, m.server, method, path, body, header)
		if csp := answer.Header.Values("Content-Security-Policy"); len(csp) != 1 {
			t.Errorf("%s: %d policies", path, len(csp))
		}
		if why := answer.Header.Get("Muster-Refused"); why != "" {
			t.Errorf("%s: says %q inside", path, why)
		}
		return answer.StatusCode, text
	}
	organiser := map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json"}
	for _, tt := range []struct {
		method, path string
		header       map[string]string
		body         string
		want         int
	}{
		{"GET", "/api/rooms/" + code, nil, "", 200},
		{"GET", "/api/rooms/" + strings.ToLower(code), nil, "", 200},
		{"GET", "/api/rooms/-", map[string]string{"Muster-Code": code}, "", 200},
		{"GET", "/api/rooms/-/culled/full", map[string]string{"Muster-Code": code}, "", 200},
		{"GET", "/api/rooms/" + code + "/qr.svg", nil, "", 200},
		{"POST", "/api/rooms/" + code + "/enter", map[string]string{"Content-Type": "application/json"}, `{"name":"zoe"}`, 200},
		{"POST", "/api/rooms/" + code + "/lock", organiser, `{"locked":true}`, 204},
		{"POST", "/api/rooms/" + code + "/lock", map[string]string{"Content-Type": "application/json"}, `{"locked":true}`, 403},
		{"POST", "/api/rooms/" + code + "/nonsense", organiser, `{}`, 404},
		{"GET", "/api/rooms/NOSUCH", nil, "", 404},
	} {
		status, text := ask(at["b"], tt.method, tt.path, tt.header, tt.body)
		if status != tt.want {
			t.Errorf("%s %s at another host: %d %s, want %d", tt.method, tt.path, status, text, tt.want)
		}
	}
	_, here := ask(at["a"], "GET", "/api/rooms/"+code, nil, "")
	if _, there := ask(at["b"], "GET", "/api/rooms/"+code, nil, ""); there != here ||
		!strings.Contains(here, `"locked"`) && !strings.Contains(here, "zoe") {
		t.Errorf("at one host %s\nat the other %s", here, there)
	}
	// A client cannot claim to be another host that asks for someone.
	forged := map[string]string{"Muster-Relayed": `{"addr":"192.0.2.1","unheard":false}`}
	for range 20 {
		ask(at["b"], "GET", "/api/rooms/NOSUCH", forged, "")
	}
	limited := 0
	for range 20 {
		if status, _ := ask(at["b"], "GET", "/api/rooms/"+code, forged, ""); status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 {
		t.Error("who guesses codes is heard at a host that does not have the room")
	}
	if status, text := ask(at["b"], "GET", "/api/rooms/"+code, map[string]string{"Authorization": "Bearer " + secret}, ""); status != 200 {
		t.Errorf("the organiser is held up by who guesses: %d %s", status, text)
	}
	if status, _ := ask(at["a"], "GET", "/api/rooms/"+code, nil, ""); status != 200 {
		t.Errorf("what was counted at one host counts at the other: %d", status)
	}
}

// hears waits for a frame as wanted, whatever came before.
func (p *page) hears(what string, is func(state map[string]json.RawMessage) bool) {
	p.Helper()
	p.until(what, func() bool {
		defer clear(p.state)
		return is(p.state)
	})
}

func isWhole(state map[string]json.RawMessage) bool {
	return string(state["whole"]) == "true" && state["you"] != nil && state["room"] != nil && state["people"] != nil
}

// comesBack waits until the host sends the player back, and joins again with the token.
func (p *player) comesBack(m *machine, code, name string) *player {
	p.Helper()
	for message := range p.Heard {
		if refusal, is := message.(wire.Refusal); is && refusal.Reason != wire.ReasonMoved {
			p.Errorf("%s is refused: %+v", name, refusal)
		}
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		again := says(p.TB, m.server, "", wire.Hello{Code: code, Name: name, Token: p.token})
		switch m := (<-again.Heard).(type) {
		case wire.Refusal:
			if m.Reason != wire.ReasonBusy { // the host may not know yet that its store is back
				p.Fatalf("%s is refused: %+v", name, m)
			}
		case wire.Welcome:
			if m.Token != p.token || m.Name != name {
				p.Errorf("%s comes back as %q, and has the token %q, at first %q", name, m.Name, m.Token, p.token)
			}
			again.token = p.token
			return again
		}
	}
	p.Fatal("the host stays busy")
	return nil
}

// TestRelayedOwnerDies checks that a player at another host is told to come back when the room's
// owner dies, and that the token gives the place at the next owner.
func TestRelayedOwnerDies(t *testing.T) {
	at := machines(t, host.Config{List: listOf(40)}, "a", "b")
	code, _ := at["a"].open(2)
	ann, bob := join(t, at["b"].server, code, "ann"), join(t, at["b"].server, code, "bob")
	page := openPage(t, at["b"].server, code, "")
	page.hears("the room", isWhole)
	expect[wire.List](ann)
	at["a"].dies()
	page.hears("that the room goes on elsewhere", func(state map[string]json.RawMessage) bool {
		return string(state["type"]) == `"refused"` && string(state["reason"]) == `"moved"`
	})
	openPage(t, at["b"].server, code, "").hears("the room again, whole", isWhole)
	ann, bob = ann.comesBack(at["b"], code, "ann"), bob.comesBack(at["b"], code, "bob")
	ann.measures(10)
	bob.measures(20)
	ann.looks()
	bob.looks()
	if a, b := expect[wire.Launch](ann), expect[wire.Launch](bob); a.Address != b.Address || a.Address != "10.0.0.0:27960" {
		t.Errorf("ann is sent to %s, bob to %s", a.Address, b.Address)
	}
	if rooms := at["b"].host.Rooms(); len(rooms) != 1 || rooms[0] != code {
		t.Errorf("b has the rooms %v", rooms)
	}
}

// TestRelayedTakenOver checks that an owner that does not know of its room's new owner keeps nobody
// who came through a third host.
func TestRelayedTakenOver(t *testing.T) {
	t.Parallel()
	at := machines(t, host.Config{List: listOf(5)}, "a", "b", "c")
	code, _ := at["a"].open(1)
	ann := join(t, at["c"].server, code, "ann")
	at["a"].store.Away(true) // it pauses its people, and answers
	at["a"].store.Dies()     // its lease has ended
	waitFor(t, "another owner", func() bool { return len(at["b"].host.Rooms())+len(at["c"].host.Rooms()) == 1 })
	ann = ann.comesBack(at["c"], code, "ann")
	if launch := ann.plays(10); launch.Address != "10.0.0.0:27960" {
		t.Errorf("sent to %s", launch.Address)
	}
}

// TestRelayedGoodbyes checks that pings and close reasons reach the other end.
func TestRelayedGoodbyes(t *testing.T) {
	t.Parallel()
	at := machines(t, host.Config{List: listOf(5)}, "a", "b")
	code, _ := at["a"].open(2)
	ws := socket(t, at["b"].server, "/peer", nil)
	var pong string
	ws.SetPongHandler(func(data string) error { pong = data; return nil })
	ws.WriteJSON(map[string]any{"type": "hello", "version": wire.Version, "code": code, "name": "ann"})
	if _, said, err := ws.ReadMessage(); err != nil || !strings.Contains(string(said), "welcome") {
		t.Fatalf("%s %v", said, err)
	}
	ws.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(time.Minute))
	ws.WriteMessage(websocket.TextMessage, []byte("nonsense")) // the owner closes the connection for this
	var err error
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if pong != "are you there" || !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("the pong is %q, the end %v", pong, err)
	}
}

// TestRelayedNoLoop checks that a host never passes on another host's request, whatever it knows of
// the room.
func TestRelayedNoLoop(t *testing.T) {
	at := machines(t, host.Config{List: listOf(5)}, "a", "b")
	code, _ := at["a"].open(1)
	conn, err := at["a"].Dial(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request, _ := http.NewRequest("GET", "http://b/api/rooms/"+code, nil)
	request.Header = http.Header{"Muster-Relayed": {`{"addr":"192.0.2.1"}`}, "Muster-Code": {code}}
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("answered %d", answer.StatusCode)
	}
}

// TestRightProgram checks that a public host tells a program with another version where the right one
// is.
func TestRightProgram(t *testing.T) {
	_, server := serve(t, host.Config{
		Public:    &public.Limits{Rooms: 1, PerAddress: 1},
		PublicURL: &url.URL{Scheme: "https", Host: "muster.example"},
	})
	p := dial(t, server)
	p.Conn.Send(wire.Hello{Version: wire.Version + 1, Code: "BAKODI", Name: "ann"})
	if refusal := expect[wire.Refusal](p); refusal.Reason != wire.ReasonVersion || refusal.Link != "https://muster.example/get/" {
		t.Errorf("refused with %+v", refusal)
	}
}

// TestRelayedClientGone checks that a dead connection at a gateway does not keep out a client with
// the same token.
func TestRelayedClientGone(t *testing.T) {
	at := machines(t, host.Config{List: listOf(5)}, "a", "b")
	code, _ := at["a"].open(1)
	ws := socket(t, at["b"].server, "/peer", nil)
	const token = "Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE"
	ws.WriteJSON(map[string]any{"type": "hello", "version": wire.Version, "code": code, "name": "ann", "token": token})
	if _, said, err := ws.ReadMessage(); err != nil || !strings.Contains(string(said), "welcome") {
		t.Fatalf("%s %v", said, err)
	}
	at["a"].dies() // from now on nobody reads, or answers pings
	waitFor(t, "the room at b", func() bool { return len(at["b"].host.Rooms()) == 1 })
	ann := says(t, at["b"].server, "", wire.Hello{Code: code, Name: "ann", Token: token})
	expect[wire.Welcome](ann)
	if launch := ann.plays(10); launch.Address != "10.0.0.0:27960" {
		t.Errorf("sent to %s", launch.Address)
	}
}

// TestRelayedAway checks that a player who comes back through a gateway is told when the owner
// cannot save anything, and is admitted once it can.
func TestRelayedAway(t *testing.T) {
	t.Parallel()
	at := machines(t, host.Config{List: listOf(5)}, "a", "b")
	code, _ := at["a"].open(1)
	ann := join(t, at["b"].server, code, "ann")
	at["a"].store.Away(true)
	at["a"].line.hangUp()
	for range ann.Heard {
	}
	back := says(t, at["b"].server, "", wire.Hello{Code: code, Name: "ann", Token: ann.token})
	const why = "the host can’t save what happens here for the moment"
	if refusal := expect[wire.Refusal](back); refusal.Reason != wire.ReasonBusy || !strings.HasPrefix(refusal.Message, why) {
		t.Errorf("ann is told %+v", refusal)
	}
	at["a"].store.Away(false)
	for range back.Heard {
	}
	ann = ann.comesBack(at["b"], code, "ann")
	if launch := ann.plays(10); launch.Address != "10.0.0.0:27960" {
		t.Errorf("sent to %s", launch.Address)
	}
}

// TestRelayedPause checks hosts that lose their store. A player behind a gateway learns this from
// the owner, in the same words as players at the owner. If the hosts also lose each other, a
// returning player learns it from the gateway. Then all goes on.
func TestRelayedPause(t *testing.T) {
	t.Parallel()
	at := machines(t, host.Config{List: listOf(5)}, "a", "b")
	code, _ := at["a"].open(1)
	ann := join(t, at["b"].server, code, "ann")
	page := openPage(t, at["b"].server, code, "")
	page.hears("the room", isWhole)
	const why = "the host can’t save what happens here for the moment"
	hears := func(told *wire.Snapshot, what string) {
		t.Helper()
		for !strings.Contains(fmt.Sprint(told.Log, catalogue.InEnglish().Say(told.Room.Held)), what) {
			if err := told.Merge(expect[wire.Room](ann)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var told wire.Snapshot
	at["a"].store.Away(true)
	at["b"].store.Away(true)
	hears(&told, why)
	page.hears("why it waits", func(state map[string]json.RawMessage) bool {
		return strings.Contains(string(state["room"]), `"held":{"key":"refused.held"}`)
	})
	at["a"].store.Away(false)
	at["b"].store.Away(false)
	hears(&told, "goes on now")

	at["a"].store.Away(true)
	at["b"].store.Away(true)
	at["b"].between.Delete("a")
	at["a"].line.hangUp()
	for range ann.Heard {
	}
	back := says(t, at["b"].server, "", wire.Hello{Code: code, Name: "ann", Token: ann.token})
	if wait := expect[wire.Wait](back); !strings.HasPrefix(wait.Message, why) {
		t.Errorf("ann is told %q", wait.Message)
	}
	page = openPage(t, at["b"].server, code, "")
	page.hears("why it waits", func(state map[string]json.RawMessage) bool {
		return string(state["type"]) == `"wait"` && strings.Contains(string(state["message"]), "nothing is lost")
	})
	at["a"].store.Away(false)
	at["b"].store.Away(false)
	waitFor(t, "the room goes on", func() bool { room, _ := at["a"].host.Room(code); return room.Room.Held.IsZero() })
	at["b"].between.Store("a", at["a"])
	page.hears("the room again", isWhole)
	expect[wire.Welcome](back)
	if launch := back.plays(10); launch.Address != "10.0.0.0:27960" {
		t.Errorf("sent to %s", launch.Address)
	}
}

// TestNews checks callers with only a code, at a host that does not know the room yet because
// another has just opened it. They wait for news, and it does not count as a guess.
func TestNews(t *testing.T) {
	t.Parallel()
	config := everybody(public.Limits{})
	at := machines(t, config, "a", "b")
	_, room, _ := opens(t, at["a"].server, "203.0.113.7", `{"game":"openarena"}`)
	for i := range 8 { // more than one address may guess wrong
		at["b"].store.Late(room.Code, 3)
		ann := says(t, at["b"].server, "203.0.113.8", wire.Hello{Code: room.Code, Name: fmt.Sprint("ann", i)})
		expect[wire.Welcome](ann)
	}
	at["b"].store.Late(room.Code, 3)
	openPage(t, at["b"].server, room.Code, "").hears("the room", isWhole)
	_, key, _ := strings.Cut(room.Link, "_")
	at["b"].store.Late(room.Code, 3)
	expect[wire.Welcome](says(t, at["b"].server, "203.0.113.9", wire.Hello{Code: room.Code, Key: key, Name: "bob"}))
}

// TestNoNews checks that a host without news from the store calls no code wrong: another host may have
// opened the room since.
func TestNoNews(t *testing.T) {
	t.Parallel()
	at := machines(t, everybody(public.Limits{}), "a", "b")
	_, room, _ := opens(t, at["a"].server, "203.0.113.7", `{"game":"openarena"}`)
	at["b"].store.Away(true)
	at["b"].store.Late(room.Code, 1000)
	refusal := expect[wire.Refusal](says(t, at["b"].server, "203.0.113.8", wire.Hello{Code: room.Code, Name: "ann"}))
	if refusal.Reason != wire.ReasonBusy {
		t.Errorf("ann is told %+v", refusal)
	}
	if status, text := asks(t, at["b"].server, "GET", "/api/rooms/"+room.Code, "", map[string]string{"X-Forwarded-For": "203.0.113.8"}); status != http.StatusServiceUnavailable {
		t.Errorf("a request is told %d %s", status, text)
	}
	at["b"].store.Away(false)
	at["b"].store.Late(room.Code, 3)
	expect[wire.Welcome](says(t, at["b"].server, "203.0.113.8", wire.Hello{Code: room.Code, Name: "ann"}))
}

// TestNewsForGuessers checks that waiting for news helps no guesser. Only as many callers wait as
// may try wrong codes. Meanwhile all others are refused at once, even one with a right code. If the
// machine stalls until the wait is over, that round proves nothing, and the test repeats it with
// other guessers.
func TestNewsForGuessers(t *testing.T) {
	t.Parallel()
	at := machines(t, everybody(public.Limits{}), "a", "b")
	_, room, _ := opens(t, at["a"].server, "203.0.113.7", `{"game":"openarena"}`)
	for attempt := range 20 {
		if guessersWait(t, at["b"].server, fmt.Sprintf("%d.51.100.66", 198-attempt), room.Code) {
			return
		}
	}
	t.Error("on a machine this slow nobody can tell who waits")
}

// guessersWait tries wrong codes from an address, with a right one among them. It reports whether
// all were sent before the first answer was due.
func guessersWait(t *testing.T, server *httptest.Server, from, code string) bool {
	t.Helper()
	const own, more = 5, 3 // how many wrong codes an address may try
	const wait = 3 * time.Second
	told := make(chan wire.Message, own+more)
	began := time.Now()
	for range own + more {
		p := says(t, server, from, wire.Hello{Code: "BADOBADOBADO", Name: "eve"})
		go func() { told <- <-p.Heard }()
	}
	right := expect[wire.Refusal](says(t, server, from, wire.Hello{Code: code, Name: "eve"}))
	took := time.Since(began)
	var reasons []string
	var after []time.Duration
	for range own + more {
		refusal, _ := (<-told).(wire.Refusal)
		reasons, after = append(reasons, refusal.Reason), append(after, time.Since(began))
	}
	if max(took, after[more-1]) >= wait {
		return false
	}
	if right.Reason != wire.ReasonLimited {
		t.Errorf("a right code beside five that wait is told %+v", right)
	}
	if want := append(slices.Repeat([]string{wire.ReasonLimited}, more),
		slices.Repeat([]string{wire.ReasonCode}, own)...); !slices.Equal(reasons, want) || after[more] < wait {
		t.Errorf("the answers, after %v, are %q, want %q", after, reasons, want)
	}
	return true
}

// TestVeil checks that the time of an answer does not tell which codes exist. The caller has tried
// too many wrong codes, and shows something that might open a room. Once the answer came at once if
// there was no room, and took as long as the owner if there was one.
func TestVeil(t *testing.T) {
	t.Parallel()
	at := machines(t, everybody(public.Limits{}), "a", "b")
	_, here, _ := opens(t, at["b"].server, "203.0.113.7", `{"game":"openarena"}`)
	_, afar, _ := opens(t, at["a"].server, "203.0.113.7", `{"game":"openarena"}`)
	_, over, _ := opens(t, at["a"].server, "203.0.113.7", `{"game":"openarena"}`)
	at["a"].host.CloseRoom(over.Code)
	waitFor(t, "its end", func() bool { return at["b"].store.Find(over.Code).State == store.Over })
	const guesser, ann = "203.0.113.66", "203.0.113.8"
	player := says(t, at["a"].server, ann, wire.Hello{Code: afar.Code, Name: "ann"})
	token := expect[wire.Welcome](player).Token
	ask := func(code, key, credential string) int {
		request, err := http.NewRequest("GET", at["b"].server.URL+"/api/rooms/"+code, nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		request.Header = http.Header{"X-Forwarded-For": {guesser}, "Muster-Key": {key}, "Authorization": {"Bearer " + credential}}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Error(err)
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for ask("BADOBADOBADO", "", "") != http.StatusTooManyRequests {
	}
	const madeUp = "Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE"
	var guesses sync.WaitGroup
	for what, code := range map[string]string{"here": here.Code, "elsewhere": afar.Code, "over": over.Code, "nowhere": "BADOBADOBADO"} {
		for _, shown := range [][2]string{{madeUp, ""}, {"", madeUp}, {madeUp, madeUp}} {
			guesses.Go(func() {
				began := time.Now()
				if status := ask(code, shown[0], shown[1]); status != http.StatusTooManyRequests || time.Since(began) < 2*time.Second {
					t.Errorf("a request for a room %s is answered %d after %v", what, status, time.Since(began))
				}
			})
			p := dialWith(t, at["b"].server, http.Header{"X-Forwarded-For": {guesser}})
			page := socket(t, at["b"].server, "/live", http.Header{"X-Forwarded-For": {guesser}})
			guesses.Go(func() {
				began := time.Now()
				p.Conn.Send(wire.Hello{Version: wire.Version, Code: code, Key: shown[0], Token: shown[1], Name: "eve"})
				if refusal, is := (<-p.Heard).(wire.Refusal); !is || refusal.Reason != wire.ReasonLimited || time.Since(began) < 2*time.Second {
					t.Errorf("a hello to a room %s is answered %+v after %v", what, refusal, time.Since(began))
				}
			})
			guesses.Go(func() {
				began := time.Now()
				var refusal wire.Refusal
				if err := page.WriteJSON(map[string]string{"code": code, "key": shown[0], "token": shown[1]}); err != nil {
					t.Error(err)
				}
				if err := page.ReadJSON(&refusal); err != nil || refusal.Reason != wire.ReasonLimited || time.Since(began) < 2*time.Second {
					t.Errorf("a page of a room %s is answered %+v after %v, %v", what, refusal, time.Since(began), err)
				}
			})
		}
	}
	guesses.Wait()
	expect[wire.Welcome](says(t, at["b"].server, guesser, wire.Hello{Code: afar.Code, Name: "ann", Token: token}))
}

// TestRelayedSupply checks that an organiser's long list reaches the room through any host. Once it
// was cut off like a request that is too long.
func TestRelayedSupply(t *testing.T) {
	t.Parallel()
	at := machines(t, everybody(public.Limits{Servers: 2000}), "a", "b")
	_, room, _ := opens(t, at["a"].server, "203.0.113.7", `{"game":"openarena","servers":["192.0.2.4:27960"]}`)
	secret := room.OrganiserLink[strings.LastIndexByte(room.OrganiserLink, '.')+1:]
	var list []string
	for i := range 2000 {
		list = append(list, fmt.Sprintf("198.%d.%d.7:27960", i/256, i%256))
	}
	order := map[string]any{"game": "openarena", "servers": list}
	if status, said := orders(t, at["b"].server, room.Code, "servers", secret, order); status != http.StatusNoContent {
		t.Fatalf("it is answered %d %v", status, said)
	}
	if s, _ := at["a"].host.Settings(room.Code); len(s.Servers) != len(list) {
		t.Errorf("the room has %d servers", len(s.Servers))
	}
	if status, _ := orders(t, at["b"].server, room.Code, "servers", "nobody's", order); status != http.StatusBadRequest {
		t.Errorf("a stranger's list is answered %d", status)
	}
}

// TestOpeningsOfAllHosts checks that an address has one limit of rooms for the whole service,
// whatever the number of hosts, and that neither it nor a dead host delays others.
func TestOpeningsOfAllHosts(t *testing.T) {
	names := []string{"a", "b", "c"}
	at := machines(t, everybody(public.Limits{PerAddress: 2, Hosts: func() []string { return names }}), names...)
	from := func(address string, hosts ...string) (created int) {
		for _, name := range hosts {
			status, o, _ := opens(t, at[name].server, address, `{"game":"openarena"}`)
			switch {
			case status == http.StatusCreated:
				created++
				if len(at[name].host.Rooms()) == 0 {
					t.Error("the room is at another host than was asked")
				}
			case status != http.StatusTooManyRequests || o.Reason != wire.ReasonBusy:
				t.Errorf("answered %d %+v", status, o.Refusal)
			}
		}
		return created
	}
	for _, address := range []string{"203.0.113.7", "192.0.2.8", "198.18.0.9", "2001:db8::1"} { // other hosts count these
		if created := from(address, "a", "b", "c", "a", "b", "c"); created != 2 {
			t.Errorf("%s has %d rooms", address, created)
		}
	}
	at["a"].dies()
	for _, address := range []string{"198.51.100.1", "198.19.0.2", "100.64.0.3", "2001:db9::4"} {
		if created := from(address, "b", "c"); created != 2 {
			t.Errorf("%s opens %d rooms while a host is gone", address, created)
		}
	}
	if status, said := asks(t, at["b"].server, "POST", "/openings", `{"from":"203.0.113.7"}`, nil); status == http.StatusOK {
		t.Errorf("strangers ask as hosts do: %d, %s", status, said)
	}
}
