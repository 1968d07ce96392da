package host_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host"
	"muster/host/access"
	"muster/host/public"
	"muster/host/wire"
	"muster/internal/await"
	"muster/internal/clock/clocktest"
	"muster/internal/leak"
)

// TestNobodySeesAddresses plays a session with two players behind one address and one behind
// another. It checks that the addresses are in nothing that the host sends or logs.
func TestNobodySeesAddresses(t *testing.T) {
	t.Parallel()
	const ours, other = "203.0.113.77", "203.0.113.201"
	leak.Check(t)
	said, logged := &record{}, &record{}
	h, err := host.New(host.Config{
		List: listOf(8), Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Logger: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h.Handler())
	server.Listener = wiretap{server.Listener, said}
	server.Start()
	t.Cleanup(func() { server.Close(); h.Close() })

	settings := friday(3)
	settings.Agree = wire.Yes
	code, secret, _ := h.Open(settings)
	players := map[string]*player{}
	for _, name := range []string{"ann", "bob", "cat"} {
		from := ours
		if name == "cat" {
			from = other
		}
		p := dialWith(t, server, http.Header{"X-Forwarded-For": {from}})
		p.Conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
		expect[wire.Welcome](p)
		players[name] = p
	}
	page := openPage(t, server, code, secret)
	for _, name := range []string{"ann", "bob", "cat"} {
		players[name].measures(20)
	}
	for _, name := range []string{"ann", "bob", "cat"} {
		players[name].looks()
	}
	behind := map[string]string{"X-Forwarded-For": ours}
	for _, path := range []string{"/api/rooms/" + code, "/api/rooms/" + code + "/culled/full", "/api/rooms/NOSUCH",
		"/metrics", "/healthz", "/"} {
		asks(t, server, "GET", path, "", behind)
	}
	for range 100 { // until there are too many wrong codes
		asks(t, server, "GET", "/api/rooms/GAGAGA", "", behind)
	}
	page.until("who they are", page.says("people", "cat"))
	page.until("that they share the list", page.says("log", `"key":"room.measured-together","with":{"answered":8,"n":8,"players":2}`))
	players["bob"].Conn.Close(nil)
	page.until("that one is gone", page.says("log", `"key":"room.lost","with":{"player":"bob"}`))
	orders(t, server, code, "remove", secret, map[string]any{"name": "cat"})
	<-players["cat"].Ended

	if !strings.Contains(said.String(), "too many wrong codes") || !strings.Contains(logged.String(), "peer's connection ended") {
		t.Errorf("the evening was not what it should be:\n%s", logged)
	}
	for _, addr := range append(said.callers(), ours, other) {
		raw := ""
		if a, err := netip.ParseAddr(addr); err == nil {
			raw = string(a.AsSlice())
		}
		for what, text := range map[string]string{"sent": said.String(), "logged": logged.String()} {
			if strings.Contains(text, addr) || raw != "" && strings.Contains(text, raw) {
				t.Errorf("%s is in what the host %s", addr, what)
			}
		}
	}
}

// TestDiscreetLog checks that the log names no address when a connection breaks.
func TestDiscreetLog(t *testing.T) {
	said, logged := &record{}, &record{}
	h, err := host.New(host.Config{
		List:   listOf(1),
		Logger: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h.Handler())
	server.Listener = wiretap{server.Listener, said}
	server.Start()
	defer h.Close()
	defer server.Close()
	code, _, _ := h.Open(friday(2))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /peer HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: "+
		"websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n\r\n", conn.RemoteAddr())
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close() // with a reset
	await.Until(t, func() bool {
		return strings.Contains(logged.String(), "connection reset")
	}, "no reset was logged for %s:\n%s", code, logged)
	for _, addr := range said.callers() {
		if strings.Contains(logged.String(), addr) {
			t.Errorf("%s is in the log:\n%s", addr, logged)
		}
	}
}

// record keeps what is written, and the addresses of the connections.
type record struct {
	mu   sync.Mutex // guards following
	text bytes.Buffer
	from []string
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *record) callers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.from)
}

// wiretap keeps everything that a listener's connections receive.
type wiretap struct {
	net.Listener
	said *record
}

func (w wiretap) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w.said.mu.Lock()
	w.said.from = append(w.said.from, conn.RemoteAddr().String())
	w.said.mu.Unlock()
	return tapped{conn, w.said}, nil
}

type tapped struct {
	net.Conn
	said *record
}

func (t tapped) Write(b []byte) (int, error) {
	t.said.Write(b)
	return t.Conn.Write(b)
}

// TestDiscreetTLS checks that the log names no address when a client breaks off a handshake.
func TestDiscreetTLS(t *testing.T) {
	certificate, err := access.OwnCertificate(t.TempDir()+"/certificate.pem", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	logged := &record{}
	h, err := host.New(host.Config{
		List:   listOf(1),
		Logger: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Serve(listener, &tls.Config{Certificates: []tls.Certificate{certificate}}, func(error) {})()
	var from []string
	for _, says := range []string{"GET / HTTP/1.1\r\n", "\x16\x03\x01\x00\x05hello", "\x16\x03\x01\x02\x00"} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		from = append(from, conn.LocalAddr().String())
		io.WriteString(conn, says)
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close() // with a reset
	}
	await.Until(t, func() bool {
		return strings.Count(logged.String(), "TLS handshake error") >= len(from)
	}, "the handshakes were not logged:\n%s", logged)
	for _, addr := range append(from, listener.Addr().String()) {
		if strings.Contains(logged.String(), addr) {
			t.Errorf("%s is in the log:\n%s", addr, logged)
		}
	}
}

// TestNobodyIsNamed plays a session on a public host with people whose names occur nowhere else.
// They send nonsense, are refused, rename themselves, leave and hang up. It checks that the log has
// none of the names at any level, and not the room's code.
func TestNobodyIsNamed(t *testing.T) {
	logged := &record{}
	config := everybody(public.Limits{Rooms: 9, PerAddress: 9, Messages: 1000})
	config.List, config.Store = listOf(4), open(t, filepath.Join(t.TempDir(), "rooms.db"))
	config.Logger = slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h, server := serve(t, config)
	code, secret, err := h.Open(friday(4))
	if err != nil {
		t.Fatal(err)
	}
	key := h.Keys(code).Link
	names := []string{"p1", "Quillmere", "Wobblewick", "x7"}
	players := map[string]*player{}
	joins := func(name, under string) *player {
		p := says(t, server, "", wire.Hello{Code: code, Key: key, Name: name})
		if name != "" && under != "" {
			welcome := expect[wire.Welcome](p)
			p.token, p.page = welcome.Token, welcome.Page
		}
		return p
	}
	enters(t, server, code, "Guestalina", "")
	for _, name := range names {
		players[name] = joins(name, name)
	}
	page := openPage(t, server, code, secret)
	for _, name := range []string{"Quillmere", "Guestalina", "\u202eQuillmere"} { // each is taken or refused
		expect[wire.Refusal](joins(name, ""))
	}
	orders(t, server, code, "rename", players["x7"].page, map[string]any{"name": "Zanzibari"})
	for _, name := range names {
		players[name].measures(20)
	}
	for _, name := range names {
		players[name].looks()
	}
	page.until("who they are", page.says("people", "Quillmere"))
	round := expect[wire.Launch](players["p1"]).Round
	nonsense := []func(name string) (kind int, data []byte){
		func(string) (int, []byte) {
			return frameOf(t, wire.Infos{Round: round, Servers: []wire.ServerInfo{{Server: 99, Info: discovery.Info{Name: "Quillmere's server"}}}})
		},
		func(name string) (int, []byte) { return websocket.TextMessage, []byte("{" + name) },
		func(name string) (int, []byte) {
			return websocket.TextMessage, []byte(`{"type":"launched","round":1,"state":"` + name + `"}`)
		},
		func(name string) (int, []byte) {
			return websocket.CloseMessage, websocket.FormatCloseMessage(4000, name+" hangs up")
		},
	}
	for i, name := range names {
		p := players[name]
		kind, data := nonsense[i](name)
		ws := socket(t, server, "/peer", nil)
		_, hello := frameOf(t, wire.Hello{Version: wire.Version, Code: code, Key: key, Name: name, Token: p.token})
		ws.WriteMessage(websocket.TextMessage, hello)
		<-p.Ended // it was replaced
		if kind == websocket.CloseMessage {
			ws.WriteControl(kind, data, time.Now().Add(time.Minute))
		} else {
			ws.WriteMessage(kind, data)
		}
		ws.SetReadDeadline(time.Now().Add(20 * time.Second))
		for err = nil; err == nil; {
			_, _, err = ws.ReadMessage()
		}
	}
	said := map[string]int{"peer makes no sense": 1, "infos of server 99": 1, "cannot be read": 2,
		"closed by the other end": 1, "refused: name-taken": 2}
	for what, times := range said {
		await.Until(t, func() bool { return strings.Count(logged.String(), what) >= times }, "%q is not in the log:\n%s", what, logged)
	}
	for _, name := range append(names, "Guestalina", "Zanzibari", "Friday", code, secret, key) {
		if regexp.MustCompile(`(?i)(^|[^a-z0-9])` + regexp.QuoteMeta(name) + `($|[^a-z0-9])`).MatchString(logged.String()) {
			t.Errorf("%s is in the log:\n%s", name, logged)
		}
	}
}

func frameOf(t *testing.T, m wire.Message) (kind int, data []byte) {
	t.Helper()
	f, err := wire.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if kind = websocket.TextMessage; f.Binary {
		kind = websocket.BinaryMessage
	}
	return kind, f.Data
}

// TestMatchIsPrivate plays a match up to its bans with real connections. It checks that pages and
// programs see nothing of another player's pings: neither in a state, nor in a trace, nor by
// asking.
func TestMatchIsPrivate(t *testing.T) {
	t.Parallel()
	settings := friday(4)
	settings.Match, settings.By = "bo1", "mean"
	h, server := serve(t, host.Config{List: listOf(6)})
	code, secret, _ := h.Open(settings)
	names := []string{"ann", "ben", "cat", "dan"}
	players, pages := map[string]*player{}, map[string]*page{"": openPage(t, server, code, "")}
	for i, name := range names {
		p := says(t, server, "", wire.Hello{Code: code, Name: name, Side: []wire.Side{wire.SideA, wire.SideB}[i%2]})
		welcome := expect[wire.Welcome](p)
		p.token, p.page = welcome.Token, welcome.Page
		players[name], pages[name] = p, openPage(t, server, code, welcome.Page)
	}
	pages["organiser"] = openPage(t, server, code, secret)
	pages["organiser"].until("the sides", func() bool {
		return strings.Contains(string(pages["organiser"].state["match"]), `"players":["ben","dan"]`)
	})
	ping := func(player, server int) time.Duration { // each occurs once, and is no average in whole ms
		return time.Duration(120+10*player+server)*time.Millisecond + 700*time.Microsecond
	}
	programs, texts := map[string]*wire.Snapshot{}, map[string]string{}
	for i, name := range names {
		p := players[name]
		programs[name] = &wire.Snapshot{}
		list := hears[wire.List](p, programs[name], func(text string) { texts[name] += text })
		hears[wire.Measure](p, programs[name], func(text string) { texts[name] += text })
		report, infos := wire.Report{Round: list.Round, Now: time.Second}, wire.Infos{Round: list.Round}
		for server := range list.Servers {
			report.Results = append(report.Results, discovery.Result{
				Server: server, State: discovery.Answered, RTT: ping(i, server), At: time.Duration(server) * 10 * time.Millisecond,
			})
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}})
		}
		p.Conn.Send(infos)
		p.Conn.Send(report)
		p.Conn.Send(wire.Done{Round: list.Round})
	}
	for i, name := range names {
		p := players[name]
		finalists := hears[wire.Finalists](p, programs[name], func(text string) { texts[name] += text })
		v := wire.Verified{Round: finalists.Round, Attempt: finalists.Attempt}
		for _, server := range finalists.Servers {
			ms := float64(ping(i, server).Microseconds()) / 1000
			v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{ms}, Sent: 3})
		}
		p.Conn.Send(v)
	}
	turn := func(p *page) func() bool {
		return func() bool { return strings.Contains(string(p.state["match"]), `"turn"`) }
	}
	for reader, p := range pages {
		p.until("the first turn", turn(p))
		for section, text := range p.state {
			texts[reader] += section + ":" + string(text) + "\n"
		}
		if _, own := p.points[reader]; len(p.points) > 1 || len(p.points) == 1 && !own {
			t.Errorf("the page of %q has the traces of %v", reader, p.points)
		}
	}
	for _, name := range names { // programs, from their first state on
		program := programs[name]
		for program.Match == nil || program.Match.Turn == nil {
			hears[wire.Room](players[name], program, func(text string) { texts[name] += text })
		}
		if len(program.Own) == 0 {
			t.Errorf("%s's program has no own pings", name)
		}
		var own wire.Own
		if json.Unmarshal(pages[name].state["own"], &own); len(own) == 0 {
			t.Errorf("%s's page has no own pings: %s", name, pages[name].state["own"])
		}
	}
	for _, path := range []string{"/api/rooms/" + code, "/api/rooms/" + code + "/culled/over_threshold", "/api/rooms/" + code + "/matches"} {
		texts["anybody"] += get(t, server, path)
	}
	for reader, text := range texts {
		for i, name := range names {
			seen := 0
			for server := range 6 {
				figure := fmt.Sprintf("%.1f", float64(ping(i, server).Microseconds())/1000)
				seen += strings.Count(text, figure)
				if reader != name && strings.Contains(text, figure) {
					t.Errorf("%q is shown %s's ping to server %d, %s:\n%s", reader, name, server, figure, lineWith(text, figure))
				}
			}
			if reader == name && seen == 0 {
				t.Errorf("%s is shown none of their own", name)
			}
		}
	}
	status, answer := orders(t, server, code, "whatif", players["ann"].page, map[string]any{"by": "minimax"})
	if status != http.StatusConflict || !strings.Contains(fmt.Sprint(answer), "match-whatif") {
		t.Errorf("a what-if: %d %v", status, answer)
	}
	status, answer = orders(t, server, code, "settings", secret, map[string]any{"settings": map[string]any{"match": ""}})
	if status != http.StatusConflict || !strings.Contains(fmt.Sprint(answer), "match-begun") {
		t.Errorf("no match any more: %d %v", status, answer)
	}
}

// hears waits for the next message of a type, and merges the states before it into what the program
// knows.
func hears[M wire.Message](p *player, program *wire.Snapshot, said func(text string)) M {
	p.Helper()
	for {
		m := expect[wire.Message](p)
		if r, is := m.(wire.Room); is {
			if err := program.Merge(r); err != nil {
				p.Fatal(err)
			}
			for section, text := range r {
				said("program's " + section + ":" + string(text) + "\n")
			}
		}
		if wanted, is := m.(M); is {
			return wanted
		}
	}
}

func lineWith(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}

// TestSideFlood checks that a page that changes sides 500 times in a moment fills neither the room's
// log nor its time.
func TestSideFlood(t *testing.T) {
	t.Parallel()
	settings := friday(0)
	settings.Match = "bo3"
	h, server := serve(t, host.Config{List: listOf(2), Clock: clocktest.Hold(noon).Clock()})
	code, secret, _ := h.Open(settings)
	mal, ann := enters(t, server, code, "mal", ""), join(t, server, code, "ann")
	p := openPage(t, server, code, secret)
	for _, bad := range []map[string]any{
		{"side": "c"}, {"side": 1}, {"side": "a", "name": "nobody"}, {"side": "a", "name": strings.Repeat("\u202e", 99)},
	} {
		if status, answer := orders(t, server, code, "side", secret, bad); status < 400 || status >= 500 {
			t.Errorf("%v: %d %v", bad, status, answer)
		}
	}
	refused := 0
	for i := range 500 {
		if status, _ := orders(t, server, code, "side", mal, map[string]any{"side": []string{"a", "b"}[i%2]}); status >= 400 {
			refused++
		}
	}
	if refused < 300 {
		t.Errorf("%d orders of 500 are refused", refused)
	}
	if status, answer := orders(t, server, code, "side", secret, map[string]any{"side": "b", "name": "ann"}); status >= 300 {
		t.Errorf("the organiser waits for mal: %d %v", status, answer)
	}
	p.until("ann's side", p.says("match", `"captain":"ann"`))
	const most = 2 // the first of mal's, who may change once in two seconds, and ann's
	if n := strings.Count(string(p.state["log"]), `"room.side"`); n > most {
		t.Errorf("the log has %d of them, more than %d", n, most)
	}
	ann.Conn.Close(nil)
}
