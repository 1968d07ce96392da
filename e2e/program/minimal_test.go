package program_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/freeport"
)

// TestMinimalPlayer checks that the player of examples/player, which is written from PROTOCOL.md in another language,
// plays whole sessions beside Muster's own players, with games that are asked in different ways. It is left out of a
// round, votes in the next one, and loses its connection in the last one, while everyone looks at the finalists.
func TestMinimalPlayer(t *testing.T) {
	t.Parallel()
	home, at := t.TempDir(), freeport.TCP(t)
	host := run(t, home, "serve", "serve", "--listen", at, "--store", filepath.Join(home, "rooms.db"))
	host.awaits(`http://\S+`)
	t.Run("quake3", func(t *testing.T) {
		t.Parallel()
		playsRounds(t, at)
	})
	t.Run("a host that takes a room over", func(t *testing.T) {
		t.Parallel()
		checkSecondWelcome(t)
	})
	t.Run("a2s, without any Muster player", func(t *testing.T) {
		t.Parallel()
		room := openMinimal(t, at, "css", "css")
		nora := room.node("nora", at)
		room.node("olga", at)
		room.awaits("both are there", func(r wire.Document) bool { return len(r.Members) == 2 })
		room.order("go", nil)
		nora.awaits(`"event":"measure"`)
		nora.stop(os.Kill)
		back := room.node("nora", at) // with the token of the file
		if r := room.launched(1); len(r.Members) != 2 || len(r.Selection.Players) != 2 {
			t.Errorf("the room chose for %v of %+v", r.Selection.Players, r.Members)
		}
		back.awaits(`"event":"launch","round":1`)
		room.order("end", nil)
		<-back.done
	})
}

// playsRounds leaves nora out of a round, lets her vote in the next, and cuts her line in the last.
func playsRounds(t *testing.T, at string) {
	room := openMinimal(t, at, "quake3", "openarena")
	line := cuttable(t, at)
	nora := room.node("nora", line.at)
	room.muster("ann", "127.200.4.1")
	room.muster("bob", "127.200.9.1")
	room.awaits("all are there", func(r wire.Document) bool { return len(r.Members) == 3 })

	room.order("without", map[string]any{"name": "nora"})
	room.order("go", nil)
	nora.awaits(`"event":"left_out","is":true`)
	room.launched(1)

	room.order("settings", map[string]any{"settings": map[string]any{"agree": true}})
	room.order("go", nil)
	nora.awaits(`"event":"left_out","is":false`)
	vote := nora.awaits(`"event":"vote","addr":"([^"]+)"`)[1] // the room waits for nobody else to be ready
	if r := room.launched(2); r.Connect != vote {
		t.Errorf("the room went to %s, and nora alone voted, for %s\n%s", r.Connect, vote, logOf(r))
	}

	nora.awaits(`"event":"launch","round":2,.*"heard":true`)

	room.order("settings", map[string]any{"settings": map[string]any{"agree": false, "long_look_ms": 6000}})
	room.order("go", nil)
	nora.awaits(`"event":"look","servers":\d+,"samples":[2-9]`)
	line.cut()
	nora.awaits(`(?s)"samples":[2-9].*"event":"welcome","name":"nora"`)
	r := room.launched(3)
	if ms := r.Selection.Chosen.RTT["nora"]; ms <= 0 || len(r.Selection.Players) != 3 {
		t.Errorf("nora's ping is %v, and the choice was for %v", ms, r.Selection.Players)
	}

	if strings.Contains(logOf(r), "nora describes") {
		t.Errorf("nora's program reads servers in another way than Muster's:\n%s", logOf(r))
	}

	room.order("end", nil)
	<-nora.done
	if code := nora.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(nora.out.String(), `"reason":"ended"`) {
		t.Errorf("nora's program ends with %d", code)
	}
}

// checkSecondWelcome checks what no host of today does any more: a second welcome on one connection comes from another
// host, which hears everything from the beginning. On the way it asks for all else that a host may want.
func checkSecondWelcome(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0") // takes questions and answers none
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	at := netip.MustParseAddrPort(server.LocalAddr().String())
	done := make(chan error, 1)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err == nil {
			defer ws.Close()
			err = takeOver(ws, at)
		}
		select {
		case done <- err:
		default:
		}
	}))
	defer host.Close()
	room := &minimalRoom{T: t, key: "BAKODI", home: t.TempDir()}
	nora := room.node("nora", strings.TrimPrefix(host.URL, "http://"))
	if err := <-done; err != nil {
		t.Error(err)
	}
	nora.awaits(`"event":"launch","round":1,"address":"127.0.0.1:9","heard":false`)
}

// played is a host that the test plays.
type played struct {
	ws *websocket.Conn
	// trouble is what went wrong.
	trouble error
}

func (p *played) says(messages ...wire.Message) {
	for _, m := range messages {
		frame, err := wire.Marshal(m)
		kind := websocket.TextMessage
		if frame.Binary {
			kind = websocket.BinaryMessage
		}
		p.trouble = errors.Join(p.trouble, err, p.ws.WriteMessage(kind, frame.Data))
	}
}

func (p *played) want(is bool, format string, a ...any) {
	if !is {
		p.trouble = errors.Join(p.trouble, fmt.Errorf(format, a...))
	}
}

// hears reads the player's next message, which should be an M.
func hears[M wire.Message](p *played) M {
	p.ws.SetReadDeadline(time.Now().Add(patience))
	kind, data, err := p.ws.ReadMessage()
	var m wire.Message
	if err == nil {
		m, err = wire.Unmarshal(wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data})
	}
	said, is := m.(M)
	p.want(is, "the player says %+v, %v, want a %T", m, err, said)
	return said
}

// takeOver plays both hosts.
func takeOver(ws *websocket.Conn, at netip.AddrPort) error {
	p := &played{ws: ws}
	list := wire.List{Round: 1, Servers: []discovery.Server{{Addr: at}, {Addr: netip.MustParseAddrPort("[2001:db8::1]:27960")}}}
	hears[wire.Hello](p)
	p.says(wire.Welcome{Version: wire.Version, Name: "nora"}, wire.Look{Game: "css"},
		wire.Survey{Attempt: 1, Samples: 1, Places: wire.Venues{{Name: "here", Addr: hostport.At(at), Protocol: "beacon"}}},
		list, wire.Measure{Round: 1, Game: "css", Strategy: "no-such-strategy"})
	hears[wire.Near](p)
	s := hears[wire.Surveyed](p)
	p.want(len(s.Places) == 1 && s.Places[0].State == discovery.Forbidden, "the places are %+v", s.Places)
	results := map[int]discovery.State{}
	for len(results) < 2 && p.trouble == nil {
		for _, one := range hears[wire.Report](p).Results {
			results[one.Server] = one.State
		}
	}
	p.want(results[0] == discovery.Lost && results[1] == discovery.Forbidden, "the player reports %v", results)
	hears[wire.Done](p)
	p.says(wire.Welcome{Version: wire.Version, Name: "nora", Epoch: 2})
	hears[wire.Again](p)
	again := hears[wire.Report](p)
	p.want(again.First == 0 && len(again.Results) == 2, "after again the player reports %+v", again)
	hears[wire.Done](p)
	p.says(wire.Finalists{Round: 1, Game: "css", Attempt: 1, Servers: []int{0, 1}, Samples: 6})
	v := wire.Verified{More: true}
	for v.More && p.trouble == nil {
		v = hears[wire.Verified](p)
	}
	p.want(len(v.Servers) == 2 && v.Servers[0].Sent == 6 && v.Servers[1].State == discovery.Forbidden, "the player has seen %+v", v)
	p.says(wire.Launch{Round: 1, Game: "css", Address: "127.0.0.1:8", Name: "the old host's", Epoch: 1},
		wire.Launch{Round: 1, Game: "css", Address: "127.0.0.1:9", Name: "the new host's", Epoch: 2})
	hears[wire.Launched](p)
	return p.trouble
}

// minimalRoom is a room on a public host, and its organiser.
type minimalRoom struct {
	*testing.T
	at, code, key, secret, home string
}

// openMinimal opens a room whose servers are a fleet's.
func openMinimal(t *testing.T, at, fleet, game string) *minimalRoom {
	t.Helper()
	home := t.TempDir()
	list := filepath.Join(home, "list.csv")
	run(t, home, "fleet", "fleet", "--game", fleet, "--servers", "40", "--world", "css2007", "--master-port", "0", "--write", list)
	eventually(t, "the fleet writes its list", func() bool { return readFile(list) != "" })
	var servers []string
	for _, line := range strings.Split(readFile(list), "\n")[1:] {
		addr, _, _ := strings.Cut(line, ",")
		servers = append(servers, addr)
	}
	body, err := json.Marshal(map[string]any{"game": game, "name": "Minimal", "servers": servers, "look_around": true})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post("http://"+at+"/api/rooms", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var opened struct {
		Code, Link    string
		OrganiserLink string `json:"organiser_link"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&opened); err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("no room: %s, %v", answer.Status, err)
	}
	link, err := url.Parse(opened.Link)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(opened.OrganiserLink[strings.LastIndex(opened.OrganiserLink, "#"):], ".")
	return &minimalRoom{t, at, opened.Code, link.Fragment, secret, home}
}

// node starts the player in JavaScript.
func (r *minimalRoom) node(name, at string) *process {
	r.Helper()
	const node, player = "/opt/muster-e2e/node_modules/node/bin/node", "../../examples/player/player.mjs"
	p := start(r.T, name, exec.Command(node, player, "http://"+at+"/#"+r.key, name, filepath.Join(r.home, name+".token")))
	p.t = r.T
	p.awaits(`"event":"welcome"`)
	return p
}

// muster starts one of Muster's own players.
func (r *minimalRoom) muster(name, from string) {
	r.Helper()
	run(r.T, r.TempDir(), name, "join", "http://"+r.at+"/#"+r.key, "--name", name, "--launch", "auto", "--launch-command", "true {address}",
		"--listen-addr", from, "--no-browser")
}

// order gives the room an order as its organiser.
func (r *minimalRoom) order(what string, body any) {
	r.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		r.Fatal(err)
	}
	request, err := http.NewRequest("POST", "http://"+r.at+"/api/rooms/"+r.code+"/"+what, bytes.NewReader(data))
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.secret)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer answer.Body.Close()
	if why, _ := io.ReadAll(answer.Body); answer.StatusCode >= 300 {
		r.Fatalf("%s: %s %s", what, answer.Status, why)
	}
}

func (r *minimalRoom) awaits(what string, is func(wire.Document) bool) wire.Document {
	r.Helper()
	client := &http.Client{Transport: keyed(r.key)}
	var newest wire.Document
	eventually(r.T, what, func() bool {
		room, ok := roomBy(r.T, client, r.at, r.code)
		newest = room
		return ok && is(room)
	})
	return newest
}

// keyed shows the key of a room's link, which a public host wants once the group is complete.
type keyed string

// RoundTrip sends the request with the key.
func (k keyed) RoundTrip(request *http.Request) (*http.Response, error) {
	_, key, _ := strings.Cut(string(k), "_")
	request.Header.Set("Muster-Key", key)
	return http.DefaultTransport.RoundTrip(request)
}

// launched waits until everybody has launched.
func (r *minimalRoom) launched(round int) wire.Document {
	r.Helper()
	return r.awaits("everyone launches", func(d wire.Document) bool {
		for _, m := range d.Members {
			if m.Launch != wire.LaunchStarted {
				return false
			}
		}
		return d.Round == round && d.Stage == wire.Launching
	})
}

// cuttableLine passes TCP connections on until it is cut.
type cuttableLine struct {
	at string
	mu sync.Mutex
	// open are the connections that a cut ends.
	open []net.Conn
}

// cuttable listens on loopback for connections to a host.
func cuttable(t *testing.T, to string) *cuttableLine {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &cuttableLine{at: listener.Addr().String()}
	var work sync.WaitGroup
	t.Cleanup(func() { listener.Close(); l.cut(); work.Wait() })
	work.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			onwards, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, from, onwards)
			l.mu.Unlock()
			work.Go(func() { io.Copy(onwards, from); onwards.Close() })
			work.Go(func() { io.Copy(from, onwards); from.Close() })
		}
	})
	return l
}

// cut ends all connections. New ones work.
func (l *cuttableLine) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.open {
		one.Close()
	}
	l.open = nil
}
