package host_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"rsc.io/qr"

	"muster/discovery"
	"muster/host"
	"muster/host/access"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/clock/clocktest"
)

// orders sends a page's request to a room, and returns the answer's status and document.
func orders(t *testing.T, server *httptest.Server, code, action, credential string, order map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	status, said := asks(t, server, "POST", "/api/rooms/"+code+"/"+action, string(body), map[string]string{"Authorization": "Bearer " + credential})
	document := map[string]any{}
	json.Unmarshal([]byte(said), &document) // a 204 has none
	return status, document
}

// page is an open page's end of the stream.
type page struct {
	*testing.T
	ws *websocket.Conn
	// state is what the page knows, merged as a page does; points counts each player's probes.
	state  map[string]json.RawMessage
	points map[string]int
}

func openPage(t *testing.T, server *httptest.Server, code, credential string) *page {
	t.Helper()
	ws := socket(t, server, "/live", nil)
	if err := ws.WriteJSON(map[string]string{"code": code, "token": credential}); err != nil {
		t.Fatal(err)
	}
	return &page{t, ws, map[string]json.RawMessage{}, map[string]int{}}
}

// until reads frames until the page's state is as wanted.
func (p *page) until(what string, is func() bool) {
	p.Helper()
	p.ws.SetReadDeadline(time.Now().Add(20 * time.Second))
	for !is() {
		kind, data, err := p.ws.ReadMessage()
		if err != nil {
			p.Fatalf("waiting for %s: %v\nthe page knows %s", what, err, p.state)
		}
		if kind == websocket.TextMessage {
			if err := json.Unmarshal(data, &p.state); err != nil {
				p.Fatal(err)
			}
			continue
		}
		p.point(data)
	}
}

func (p *page) point(data []byte) {
	p.Helper()
	length, n := binary.Uvarint(data)
	player := string(data[n : n+int(length)])
	m, err := wire.Unmarshal(wire.BinaryFrame(data[n+int(length):]))
	trace, ok := m.(wire.Report)
	if err != nil || !ok || trace.First != p.points[player] {
		p.Fatalf("a frame of %s: %+v, %v; %d points before", player, m, err, p.points[player])
	}
	p.points[player] += len(trace.Results)
}

func (p *page) says(section, text string) func() bool {
	return func() bool { return strings.Contains(string(p.state[section]), text) }
}

// enters gives a page a nickname.
func enters(t *testing.T, server *httptest.Server, code, name, credential string) string {
	t.Helper()
	status, document := orders(t, server, code, "enter", credential, map[string]any{"name": name})
	if status != http.StatusOK {
		t.Fatalf("%s is turned away: %d %v", name, status, document)
	}
	return document["token"].(string)
}

// TestPage checks a whole session as a page sees it: live state, what-if, vote, veto, ready check,
// countdown and launch.
func TestPage(t *testing.T) {
	t.Parallel()
	settings := friday(0)
	settings.Agree, settings.GuestsVote, settings.Password = wire.Yes, true, "s3cret"
	held := clocktest.Hold(noon)
	h, server := serve(t, host.Config{
		List: listOf(8), Clock: held.Clock(),
		Join: func(_ string, way wire.Way) wire.Way {
			way.Link = "steam://connect/" + way.Connect
			return way
		},
	})
	code, secret, _ := h.Open(settings)
	n := &night{t, h, held, code}
	zoe := enters(t, server, code, "zoe", "")
	cat := enters(t, server, code, "cat", secret)
	p := openPage(t, server, code, zoe)
	p.until("the room", p.says("room", `"stage":"gathering"`))
	p.until("who we are", p.says("you", `"name":"zoe"`))
	p.until("the link", p.says("you", server.URL+"/#"+code))
	p.until("the organiser", p.says("people", `"name":"cat","arrival":1,"organiser":true,"peer":false`))

	ann, bob := join(t, server, code, "ann"), join(t, server, code, "bob")
	p.until("players", p.says("people", `"name":"bob","arrival":3,"peer":true,"connected":true`))
	act := func(action, credential string, order map[string]any, want int) {
		t.Helper()
		if status, document := orders(t, server, code, action, credential, order); status != want {
			t.Fatalf("%s answers %d %v, want %d", action, status, document, want)
		}
	}
	act("settings", cat, map[string]any{"settings": map[string]any{"by": "threshold", "limits_ms": []float64{150}}}, 204)
	p.until("the settings", p.says("room", `"by":"threshold","limits_ms":[150]`))
	act("go", zoe, nil, 403)
	act("go", cat, map[string]any{"stage": "launching"}, 204)
	if room, _ := h.Room(code); room.Room.Stage != wire.Gathering {
		t.Errorf("a go that was meant for another stage makes it %s", room.Room.Stage)
	}
	act("go", cat, map[string]any{"stage": "gathering"}, 204)
	n.pass(tick)
	traced(ann, 20)
	traced(bob, 40)
	p.until("points", func() bool { return p.points["ann"] == 8 && p.points["bob"] == 8 })
	n.await(everyoneIsDone)
	n.pass(tick)
	ann.looks()
	bob.looks()
	p.until("the choice", p.says("agreement", `"open":true`))
	p.until("the reasons", p.says("choice", `"key":"rule.mean.best-within"`))

	act("whatif", zoe, map[string]any{"by": "minimax"}, 204)
	p.until("the what-if", p.says("whatif", `"by":"minimax"`))
	p.until("who asked", p.says("whatif", `"player":"zoe"`))
	act("whatif", zoe, map[string]any{"by": "dice"}, 409)
	act("whatif", "", map[string]any{"by": "mean"}, 409)
	act("apply", zoe, nil, 403)
	act("whatif", zoe, nil, 204)
	p.until("no what-if", p.says("whatif", "null"))

	act("vote", zoe, map[string]any{"addr": "10.0.0.1:27960"}, 204)
	p.until("the vote", p.says("choice", `"target":"10.0.0.1:27960"`))
	act("vote", zoe, map[string]any{"addr": "10.0.0.7:27960"}, 409)
	act("veto", cat, map[string]any{"addr": "10.0.0.1:27960"}, 204)
	act("veto", cat, map[string]any{"addr": "10.0.0.2:27960"}, 409)
	p.until("the veto", p.says("agreement", "cat: "))
	p.until("the next best", p.says("choice", `"target":"10.0.0.0:27960"`))
	act("ready", zoe, map[string]any{"ready": true}, 204)
	p.until("the countdown", p.says("agreement", "launch_at"))
	n.passesUntil(launches)
	launch := expect[wire.Launch](ann)
	p.until("the way", p.says("way", `"link":"steam://connect/`+launch.Address))
	p.until("the evening", p.says("evening", launch.Address))
	act("arrived", zoe, nil, 204)
	p.until("zoe is there", p.says("people", `"launch":"by-hand"`))

	late := openPage(t, server, code, "")
	late.until("everything so far", func() bool { return late.points["ann"] == 8 && late.says("evening", launch.Address)() })
	if late.says("you", "name")() {
		t.Errorf("a page without a token is %s", late.state["you"])
	}
	organiser := openPage(t, server, code, cat)
	organiser.until("the password", organiser.says("you", `"password":"s3cret"`))
	for _, guest := range []*page{p, late} {
		for section, data := range guest.state {
			if strings.Contains(string(data), "s3cret") {
				t.Errorf("a guest's page is told the server's password: %s: %s", section, data)
			}
		}
	}
	culled(t, server, code)
}

// TestClaim checks that a guest who opens the organiser's link with the same nickname becomes the
// organiser.
func TestClaim(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(8)})
	code, secret, _ := h.Open(friday(0))
	zoe := enters(t, server, code, "zoe", "")
	for _, try := range []struct {
		secret string
		want   int
	}{{"", 403}, {"guessed", 403}, {secret, 204}} {
		if status, _ := orders(t, server, code, "enter", zoe, map[string]any{"secret": try.secret}); status != http.StatusOK {
			t.Errorf("with the secret %q enter answers %d", try.secret, status)
		}
		if status, _ := orders(t, server, code, "lock", zoe, map[string]any{"locked": true}); status != try.want {
			t.Errorf("with the secret %q lock answers %d, want %d", try.secret, status, try.want)
		}
	}
}

func culled(t *testing.T, server *httptest.Server, code string) {
	t.Helper()
	list := get(t, server, "/api/rooms/"+code+"/culled/vetoed")
	if !strings.Contains(list, `"total":1`) || !strings.Contains(list, `"on":["cat"]`) {
		t.Errorf("the vetoed are %s", list)
	}
}

// traced makes a player measure the list and report its probes.
func traced(p *player, ms int) {
	p.Helper()
	list := expect[wire.List](p)
	expect[wire.Measure](p)
	report := wire.Report{Round: list.Round, Now: time.Second}
	infos := wire.Infos{Round: list.Round}
	for server := range list.Servers {
		report.Results = append(report.Results, discovery.Result{
			Server: server, State: discovery.Answered, RTT: time.Duration(ms+server) * time.Millisecond,
			At: time.Duration(server) * 10 * time.Millisecond,
		})
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: server,
			Info:   discovery.Info{Map: fmt.Sprint("map", server), MaxPlayers: 16},
		})
	}
	p.Conn.Send(infos)
	p.Conn.Send(report)
	p.Conn.Send(wire.Done{Round: list.Round})
}

// TestOrders checks that only the organiser may do an organiser's actions, and that the host
// refuses nonsense.
func TestOrders(t *testing.T) {
	h, server := serve(t, host.Config{
		List:  listOf(3),
		Games: []wire.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}},
	})
	settings := friday(0)
	settings.GuestsVote = true
	code, secret, _ := h.Open(settings)
	zoe := enters(t, server, code, "zoe", "")
	ann := join(t, server, code, "ann")
	set := func(name string, value any) map[string]any {
		return map[string]any{"settings": map[string]any{name: value}}
	}
	tests := []struct {
		action, credential string
		order              map[string]any
		status             int
		says               string // part of the refusal
	}{
		{"enter", "", map[string]any{"name": "ZOE"}, 409, "already has the page open"},
		{"enter", "", map[string]any{"name": "\u202e "}, 409, "a nickname needs a letter or a digit"},
		{"enter", zoe, map[string]any{"name": "another"}, 200, ""},
		{"nonsense", secret, nil, 404, ""},
		{"settings", zoe, set("map", "oa_dm1"), 403, "only the organiser"},
		{"settings", secret, set("map", "oa_dm1"), 204, ""},
		{"settings", secret, set("players", 70), 409, "for 64 at most"},
		{"settings", secret, set("by", "dice"), 409, "unknown rule"},
		{"settings", secret, set("limits_ms", []float64{-1}), 409, "-1 ms can’t be a limit"},
		{"settings", secret, set("limits_ms", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}), 409, "9 limits"},
		{"settings", secret, set("game", "tetris"), 409, "no servers of"},
		{"settings", secret, set("game", "xonotic"), 204, ""},
		{"settings", secret, nil, 409, "no settings"},
		{"settings", secret, set("max_rtt", []float64{100}), 409, "no key “max_rtt”"},
		{"settings", secret, set("league", "cup"), 409, "no key “league”"},
		{"settings", secret, map[string]any{"map": "oa_dm1"}, 400, "no key “map”"},
		{"settings", secret, map[string]any{"setings": map[string]any{}}, 400, "no key “setings”"},
		{"lock", secret, map[string]any{"lock": true}, 400, "no key “lock”"},
		{"lock", secret, map[string]any{"LOCKED": true}, 400, "no key “LOCKED”"},
		{"vote", zoe, map[string]any{"addr": "10.0.0.1:27960"}, 409, "nothing to decide"},
		{"veto", zoe, map[string]any{"map": "oa_dm1"}, 409, "nothing to decide"},
		{"ready", "", map[string]any{"ready": true}, 409, "nickname"},
		{"whatif", zoe, map[string]any{"by": "mean"}, 409, "nothing has been measured"},
		{"lock", zoe, map[string]any{"locked": true}, 403, ""},
		{"lock", secret, map[string]any{"locked": true}, 204, ""},
		{"enter", "", map[string]any{"name": "dora"}, 409, "locked the room"},
		{"handon", secret, map[string]any{"name": "zoe"}, 409, "doesn’t play here"},
		{"rename", zoe, map[string]any{"name": "Ann"}, 409, "already"},
		{"rename", zoe, map[string]any{"name": "zed"}, 204, ""},
		{"renew", zoe, nil, 403, ""},
		{"remove", secret, map[string]any{"name": "nobody"}, 409, "isn’t here"},
		{"handon", secret, map[string]any{"name": "ann"}, 204, ""},
		{"lock", secret, map[string]any{"locked": false}, 403, ""},
		{"lock", ann.token, map[string]any{"locked": false}, 403, ""},
		{"remove", ann.page, map[string]any{"name": "zed"}, 204, ""},
		{"leave", zoe, nil, 409, "nickname"},
		{"remove", ann.page, map[string]any{"name": "ann"}, 204, ""},
		{"leave", ann.page, nil, 409, "make someone else the organiser first"},
		{"remove", ann.page, map[string]any{"name": "ann"}, 409, "make someone else the organiser first"},
	}
	for _, tt := range tests {
		status, document := orders(t, server, code, tt.action, tt.credential, tt.order)
		if message, _ := document["message"].(string); status != tt.status || !strings.Contains(message, tt.says) {
			t.Errorf("%s %v answers %d %v, want %d %q", tt.action, tt.order, status, document, tt.status, tt.says)
		}
	}
	if refusal := expect[wire.Refusal](ann); refusal.Reason != wire.ReasonRemoved {
		t.Errorf("ann is told %+v", refusal)
	}
	// Another site's form could send this from a friend's browser.
	const form = `{"name":"mallory"}`
	if status, said := asks(t, server, "POST", "/api/rooms/"+code+"/enter", form, map[string]string{"Content-Type": "text/plain"}); status != 400 {
		t.Errorf("a form of another site is answered %d %s", status, said)
	}
}

// TestQR checks that the QR code has the link that friends can use.
func TestQR(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(1), Address: "192.0.2.1:7777"})
	code, _, _ := h.Open(friday(0))
	svg := get(t, server, "/api/rooms/"+code+"/qr.svg")
	if !strings.HasPrefix(svg, "<svg ") {
		t.Errorf("the QR code is %.60s", svg)
	}
	p := openPage(t, server, code, "")
	p.until("the link", p.says("you", `"link":"http://192.0.2.1:7777/#`+code))
	var you struct{ Link string }
	if err := json.Unmarshal(p.state["you"], &you); err != nil {
		t.Fatal(err)
	}
	want, err := qr.Encode(you.Link, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[[2]int]bool{}
	for _, run := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-\d+z`).FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(run[1])
		y, _ := strconv.Atoi(run[2])
		n, _ := strconv.Atoi(run[3])
		for i := range n {
			drawn[[2]int{x + i - 4, y - 4}] = true
		}
	}
	for y := range want.Size {
		for x := range want.Size {
			if drawn[[2]int{x, y}] != want.Black(x, y) {
				t.Fatalf("the module at %d, %d is wrong", x, y)
			}
		}
	}
}

// TestOutside checks that the organiser's page gets the link for friends on the internet as soon as
// there is one, even if nothing happens in the room. No other page gets it.
func TestOutside(t *testing.T) {
	t.Parallel()
	var isOpen atomic.Bool
	h, server := serve(t, host.Config{List: listOf(1), Address: "192.168.1.7:7777", Outside: func(key access.Key) string {
		if !isOpen.Load() {
			return ""
		}
		return "http://5.6.7.8:7777/#" + key.String()
	}})
	code, secret, _ := h.Open(friday(0))
	organiser, friend := openPage(t, server, code, secret), openPage(t, server, code, "")
	organiser.until("who it is", organiser.says("you", `"organiser":true`))
	if organiser.says("you", "outside")() {
		t.Errorf("before a port is open: %s", organiser.state["you"])
	}
	isOpen.Store(true)
	organiser.until("the link", organiser.says("you", `"outside":"http://5.6.7.8:7777/#`+code+"_"))
	friend.until("a frame since", func() bool {
		return friend.state["now"] != nil && string(friend.state["now"]) >= string(organiser.state["now"])
	})
	if friend.says("you", "outside")() {
		t.Errorf("a friend's page has it: %s", friend.state["you"])
	}
}

// TestCountedByAddress checks that the host knows from a guest's address how good an estimate of
// the guest's pings would be, and that the organiser can count the guest in. The address and its
// country are shown to nobody.
func TestCountedByAddress(t *testing.T) {
	const player, guest, far = "198.41.0.4", "198.41.77.7", "202.12.27.33"
	h, server := serve(t, host.Config{
		List: listOf(3), Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Locate: func(addr netip.Addr) (string, uint32) {
			if addr.String() == far {
				return "JP", 2500
			}
			return "DE", 64999
		},
	})
	code, secret, err := h.Open(friday(0))
	if err != nil {
		t.Fatal(err)
	}
	enters := func(name, from string) string {
		var answer struct{ Token string }
		_, body := asks(t, server, "POST", "/api/rooms/"+code+"/enter", fmt.Sprintf(`{"name":%q}`, name), map[string]string{"X-Forwarded-For": from})
		json.Unmarshal([]byte(body), &answer)
		return answer.Token
	}
	dialFrom(t, server, player, code, "ann")
	zoe := enters("zoe", guest)
	enters("yan", far)
	enters("xia", "10.0.0.7")
	estimate := func(name string) wire.Estimate {
		room, _ := h.Room(code)
		for _, p := range room.People {
			if p.Name == name && p.Estimate != nil {
				return *p.Estimate
			}
		}
		return wire.Estimate{}
	}
	if e := estimate("zoe"); e.ErrorMS < 1 || e.ErrorMS > 12 {
		t.Errorf("of a guest in a player's network: %+v", e)
	}
	for name, why := range map[string]string{"yan": "nobody nearby is measuring", "xia": "it’s private"} {
		if e := estimate(name); !strings.Contains(catalogue.InEnglish().Say(e.Why), why) {
			t.Errorf("of %s: %+v, want %q", name, e, why)
		}
	}
	if status, _ := orders(t, server, code, "count", zoe, map[string]any{"name": "zoe", "counted": true}); status != http.StatusForbidden {
		t.Errorf("zoe counts herself in: %d", status)
	}
	if status, _ := orders(t, server, code, "count", secret,
		map[string]any{"name": "zoe", "counted": true}); status != http.StatusNoContent || !estimate("zoe").Counted {
		t.Errorf("the organiser counts zoe in: %d, %+v", status, estimate("zoe"))
	}
	room, _ := h.Room(code)
	for _, p := range room.People {
		if want := map[bool]string{true: "DE"}[p.Peer]; p.Country != want { // only players' countries are on the map
			t.Errorf("everybody is told %q of %s, not %q", p.Country, p.Name, want)
		}
	}
	text, _ := json.Marshal(room)
	for _, private := range []string{player, guest, far, "64999", `"JP"`} {
		if strings.Contains(string(text), private) {
			t.Errorf("everybody is told %s", private)
		}
	}
	if status, _ := orders(t, server, code, "count", zoe,
		map[string]any{"name": "zoe", "counted": false}); status != http.StatusNoContent || estimate("zoe").Counted {
		t.Errorf("zoe takes it back: %d, %+v", status, estimate("zoe"))
	}
}

// dialFrom makes a player's program join from an address.
func dialFrom(t *testing.T, server *httptest.Server, from, code, name string) *player {
	t.Helper()
	p := dialWith(t, server, http.Header{"X-Forwarded-For": {from}})
	p.Conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
	expect[wire.Welcome](p)
	return p
}
