package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/host"
	"muster/host/public"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
	"muster/internal/handout"
)

// caller sends requests to a host, and holds each answer against the document.
type caller struct {
	*testing.T
	*contract
	server *httptest.Server
	client *http.Client
	// from counts addresses, because a host limits the requests of each.
	from int
}

func newCaller(t *testing.T, server *httptest.Server) *caller {
	t.Helper()
	c, err := newContract(http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	c.isStrict = true
	return &caller{t, c, server, &http.Client{Transport: c}, 0}
}

// asks sends a request with headers, a name and a value in turn, and returns the answer.
func (c *caller) asks(method, path, body string, header ...string) (status int, said string) {
	c.Helper()
	request, err := http.NewRequest(method, c.server.URL+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	c.from++
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("%d.%d.113.7", 20+c.from%100, c.from/100))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for pair := range slices.Chunk(header, 2) {
		if request.Header.Set(pair[0], pair[1]); pair[0] == "Host" {
			request.Host = pair[1]
		}
	}
	response, err := c.client.Do(request)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func (c *caller) is(want int, method, path, body string, header ...string) (said string) {
	c.Helper()
	status, said := c.asks(method, path, body, header...)
	if status != want {
		c.Errorf("%s %s %s: %d %s, want %d", method, path, body, status, said, want)
	}
	return said
}

// looksAt asks all that a host tells of a room, with and without a credential.
func (c *caller) looksAt(code string, credentials ...string) {
	c.Helper()
	for _, credential := range append(credentials, "") {
		for _, path := range []string{"", "/culled/full", "/culled/unreachable", "/evenings", "/evenings?format=csv", "/matches",
			"/matches?format=csv", "/matches?format=get5", "/matches?format=faceit", "/qr.svg"} {
			c.asks("GET", "/api/rooms/"+code+path, "", "Authorization", "Bearer "+credential)
		}
	}
}

// ends are the actions that end what the test goes on with.
var ends = []string{"end", "leave", "remove", "handon", "renew", "forget", "go", "lock"}

// elsewhen are the actions for which the rooms of [TestAnswers] never have the occasion. They read the examples, and
// say so.
var elsewhen = []string{"allow", "count", "even", "like", "more", "move", "moveon", "started"}

// actsAs sends every action with the document's example, all but those that end something.
func (c *caller) actsAs(code, credential string) {
	c.Helper()
	paths := c.document["paths"].(schema)
	for _, template := range slices.Sorted(maps.Keys(paths)) {
		name, is := strings.CutPrefix(template, "/api/rooms/{code}/")
		operation, posts := paths[template].(schema)["post"].(schema)
		if !is || !posts || slices.Contains(ends, name) {
			continue
		}
		body := ""
		if of, has := operation["requestBody"].(map[string]any); has {
			example, err := json.Marshal(of["content"].(map[string]any)["application/json"].(map[string]any)["example"])
			if body = string(example); err != nil || body == "null" {
				c.Errorf("%s has no example: %v", name, err)
			}
		}
		status, said := c.asks("POST", "/api/rooms/"+code+"/"+name, body, "Authorization", "Bearer "+credential)
		if status == http.StatusBadRequest || status >= 500 || strings.Contains(said, `"malformed"`) {
			c.Errorf("%s %s: %d %s", name, body, status, said)
		}
	}
}

// TestAnswers checks the document against a host that is asked everything, at every stage of a room,
// by everybody, in the right way and in wrong ones.
func TestAnswers(t *testing.T) {
	t.Parallel()
	programs, err := handout.New(context.Background(), handout.Config{Version: "1.2.3", Own: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer programs.Close()
	leagues, err := public.ReadLeagues(strings.NewReader("cup 9f2c8e61b7d04a35a1e0 1"))
	if err != nil {
		t.Fatal(err)
	}
	config := everybody(public.Limits{
		Rooms: 4, PerAddress: 2, Places: 4, Leagues: leagues, Standing: public.Standing{Rooms: 1, PerAddress: 1},
	})
	held := clocktest.Hold(noon)
	config.Get, config.Clock = programs, held.Clock()
	config.List = func(context.Context, string) ([]discovery.Server, error) {
		return []discovery.Server{{Addr: netip.MustParseAddrPort("192.0.2.7:27960")}, {Addr: netip.MustParseAddrPort("192.0.2.8:27960")}}, nil
	}
	config.Public.Search = func(string) []public.Game { return config.Public.Games[:1] }
	h, server := serve(t, config)
	c := newCaller(t, server)

	// Opening, and being refused.
	c.is(200, "GET", "/api/form", "")
	c.is(200, "GET", "/recipe/minecraft", "")
	c.is(200, "GET", "/recipe/cs", "")
	c.is(404, "GET", "/recipe/pong", "")
	c.is(200, "GET", "/api/service", "")
	c.is(421, "GET", "/api/service", "", "Host", "evil.example")
	c.is(403, "POST", "/api/rooms", `{"game":"openarena"}`, "Origin", "https://evil.example")
	c.is(400, "POST", "/api/rooms", `{"game":"openarena","players":99}`)
	c.is(400, "POST", "/api/rooms", `{"game":"pong"}`)
	c.is(400, "POST", "/api/rooms", `{`)
	c.is(400, "POST", "/api/rooms", `game=openarena`, "Content-Type", "application/x-www-form-urlencoded")
	c.is(401, "POST", "/api/rooms", `{"game":"openarena"}`, "Authorization", "Bearer nobody's")
	var room, stays wire.Opened
	opened := c.is(201, "POST", "/api/rooms", `{"game":"openarena","players":2,"name":"Friday","agree":true,"guests_vote":true,`+
		`"password":"club","strategy":"conventional","limits_ms":[150],"by":"mean","match":"","voice":"https://discord.gg/abc"}`)
	opensStanding := c.is(201, "POST", "/api/rooms", `{"game":"openarena","every":"fri 20:00 Europe/Berlin","match":"bo1",`+
		`"places":"Frankfurt, 192.0.2.1:27960, beacon"}`)
	for said, to := range map[string]*wire.Opened{opened: &room, opensStanding: &stays} {
		if err := json.Unmarshal([]byte(said), to); err != nil {
			t.Fatal(err)
		}
	}
	c.is(503, "POST", "/api/rooms", `{"game":"openarena","every":"whenever"}`)
	c.is(201, "POST", "/api/rooms", `{"game":"openarena"}`, "Authorization", "Bearer 9f2c8e61b7d04a35a1e0")
	c.is(429, "POST", "/api/rooms", `{"game":"openarena"}`, "Authorization", "Bearer 9f2c8e61b7d04a35a1e0")
	c.is(201, "POST", "/api/rooms", `{"game":"openarena"}`)
	c.is(503, "POST", "/api/rooms", `{"game":"openarena"}`)

	// The lobby.
	code, keys := room.Code, h.Keys(room.Code)
	toServer := strings.TrimPrefix(room.Go, "https://muster.example")
	for _, path := range []string{"/healthz", "/readyz", "/get/programs.json", "/api/openapi.yaml", "/api/openapi.json", toServer} {
		c.is(200, "GET", path, "")
	}
	c.is(404, "GET", "/go/nobody", "")
	c.is(404, "GET", "/get/amiga", "")
	c.is(400, "POST", "/get/"+runtime.GOOS+"-"+runtime.GOARCH, "no link", "Content-Type", "text/plain")
	c.is(403, "GET", "/metrics", "")
	c.is(404, "GET", "/api/rooms/NOSUCH", "")
	c.is(404, "GET", "/api/rooms/"+code+"/culled/nonsense", "")
	c.is(200, "GET", "/api/rooms/-", "", "Muster-Code", code, "Muster-Key", keys.Link)
	zoe := c.enters(code, "zoe")
	ann := join(t, server, code, "ann")
	c.is(400, "POST", "/api/rooms/"+code+"/vote", `{"addr":5}`, "Authorization", "Bearer "+zoe)
	c.is(400, "POST", "/api/rooms/"+code+"/vote", strings.Repeat(" ", 5000), "Authorization", "Bearer "+zoe)
	c.is(403, "POST", "/api/rooms/"+code+"/go", "", "Authorization", "Bearer "+zoe)
	c.is(403, "POST", "/api/rooms/"+code+"/go", "", "Authorization", "Bearer "+keys.Secret, "Origin", "https://evil.example")
	c.is(409, "POST", "/api/rooms/"+code+"/enter", `{"name":"ann"}`)
	c.is(404, "POST", "/api/rooms/"+code+"/dance", "")
	all := func() {
		t.Helper()
		c.looksAt(code, zoe, ann.page, keys.Secret)
		for _, credential := range []string{"", zoe, ann.page} {
			c.actsAs(code, credential)
		}
	}
	all()
	joinAs(t, server, stays.Code, "ann", h.Keys(stays.Code).Secret)
	one := join(t, server, stays.Code, "bob")
	c.is(204, "POST", "/api/rooms/"+stays.Code+"/side", `{"side":"a"}`, "Authorization", "Bearer "+one.page)
	c.actsAs(stays.Code, h.Keys(stays.Code).Secret)
	c.actsAs(stays.Code, one.page)
	c.is(204, "POST", "/api/rooms/"+stays.Code+"/forget", `{"name":"bob"}`, "Authorization", "Bearer "+h.Keys(stays.Code).Secret)
	c.looksAt(stays.Code, h.Keys(stays.Code).Secret)
	c.is(204, "POST", "/api/rooms/"+code+"/lock", `{"locked":true}`, "Authorization", "Bearer "+keys.Secret)
	c.is(409, "POST", "/api/rooms/"+code+"/enter", `{"name":"eve"}`, "Muster-Key", keys.Link)
	c.is(204, "POST", "/api/rooms/"+code+"/lock", `{"locked":false}`, "Authorization", "Bearer "+keys.Secret)

	// The search, the vote, the way.
	n := &night{t, h, held, code}
	bob := join(t, server, code, "bob")
	n.pass(tick)
	page := openPage(t, server, code, zoe)
	page.until("the search", func() bool {
		return page.says("room", `"stage":"refining"`)() || page.says("room", `"stage":"measuring"`)()
	})
	all()
	for _, p := range []*player{ann, bob} {
		p.measures(20)
	}
	n.await(everyoneIsDone)
	n.pass(tick)
	for _, p := range []*player{ann, bob} {
		p.looks()
	}
	page.until("the vote", func() bool { return page.says("agreement", `"open":true`)() })
	all()
	c.is(204, "POST", "/api/rooms/"+code+"/go", `{"stage":"chosen"}`, "Authorization", "Bearer "+keys.Secret)
	n.passesUntil(launches)
	page.until("the way", page.says("room", `"stage":"launching"`))
	all()
	c.is(200, "GET", toServer, "")
	c.actsAs(code, keys.Secret)

	// These requests end things.
	c.is(200, "POST", "/api/rooms/"+code+"/renew", "", "Authorization", "Bearer "+keys.Secret)
	keys = h.Keys(code)
	c.is(204, "POST", "/api/rooms/"+code+"/remove", `{"name":"zoë"}`, "Authorization", "Bearer "+keys.Secret)
	c.is(204, "POST", "/api/rooms/"+code+"/leave", "", "Authorization", "Bearer "+bob.page)
	c.is(204, "POST", "/api/rooms/"+code+"/handon", `{"name":"ann"}`, "Authorization", "Bearer "+keys.Secret)
	c.is(204, "POST", "/api/rooms/"+code+"/end", "", "Authorization", "Bearer "+h.Keys(code).Secret)
	waitFor(t, "the room's end", func() bool { // the answer to the order may come before it
		status, _ := c.asks("GET", "/api/rooms/"+code, "", "Muster-Key", keys.Link)
		return status == 410
	})
	const hasty, guessing = "198.51.100.7", "198.51.100.8"
	for _, path := range []string{"", "/culled/full", "/evenings", "/matches", "/qr.svg"} {
		c.is(410, "GET", "/api/rooms/"+code+path, "", "Muster-Key", keys.Link)
		c.isLimited("GET", "/api/rooms/"+stays.Code+path, hasty)
	}
	c.is(410, "POST", "/api/rooms/"+code+"/vote", "", "Muster-Key", keys.Link)
	c.isLimited("POST", "/api/rooms/"+stays.Code+"/vote", hasty)
	c.isLimited("GET", "/go/nobody", hasty)
	c.isLimited("GET", "/api/service?game=arena", hasty)
	c.isLimited("GET", "/api/rooms/NOSUCH", guessing)
	c.is(404, "POST", "/api/rooms/NOSUCH/go", "")
	for _, path := range []string{"", "/culled/full", "/evenings", "/matches", "/qr.svg"} {
		c.is(404, "GET", "/api/rooms/NOSUCH"+path, "")
	}
	for template, item := range c.document["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			path := strings.NewReplacer("{code}", code, "{cause}", "full", "{id}", "x", "{file}", "x").Replace(template)
			c.is(421, strings.ToUpper(method), path, "", "Host", "evil.example")
			if method == "post" {
				c.is(403, "POST", path, "", "Origin", "https://evil.example")
			}
		}
	}
	for _, path := range []string{"/api/openapi.yaml", "/api/openapi.json"} {
		response, err := c.client.Head(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		c.is(304, "GET", path, "", "If-None-Match", response.Header.Get("ETag"))
	}
	for _, path := range []string{"/live", "/peer"} {
		c.is(400, "GET", path, "")
		c.is(403, "GET", path, "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
			"Sec-WebSocket-Key", "c29tZXRoaW5nIHJhbmRvbQ==", "Origin", "https://evil.example")
	}
	h.Close() // before it ends, it drains
	c.is(503, "GET", "/readyz", "")
	// Only hosts of a cluster answer these, and only another system's visitors are given programs. The
	// tests of a cluster ask by the same checking client.
	var undone []string
	for name := range host.Bodies(t) {
		if c.seen[name+" 204"]+c.seen[name+" 200"] == 0 {
			undone = append(undone, name)
		}
	}
	if slices.Sort(undone); !slices.Equal(undone, elsewhen) {
		t.Errorf("the rooms have not done %q, and should not have done %q", undone, elsewhen)
	}
	elsewhere := regexp.MustCompile(` (502|503)$|^getProgram| 101$|^getMetrics 200|^listMatches 4(00|09)|^(getService|openRoom) 404`)
	for _, answer := range c.unseen() {
		if !elsewhere.MatchString(answer) {
			t.Errorf("no host has answered %s", answer)
		}
	}
	for _, problem := range c.problems {
		t.Error(problem)
	}
}

// isLimited checks that an address that asks too much is refused.
func (c *caller) isLimited(method, path, from string) {
	c.Helper()
	for range 2000 {
		if status, _ := c.asks(method, path, "", "X-Forwarded-For", from); status == http.StatusTooManyRequests {
			return
		}
	}
	c.Fatalf("%s %s is never limited", method, path)
}

// enters joins the room under a nickname.
func (c *caller) enters(code, name string) (token string) {
	c.Helper()
	var entry struct{ Token string }
	said := c.is(200, "POST", "/api/rooms/"+code+"/enter", fmt.Sprintf(`{"name":%q}`, name))
	if err := json.Unmarshal([]byte(said), &entry); err != nil {
		c.Fatal(err)
	}
	return entry.Token
}

// TestPrivateAnswers checks a host at home: it opens no rooms, and its figures are for this machine.
func TestPrivateAnswers(t *testing.T) {
	_, server := serve(t, host.Config{List: listOf(1), Page: http.NotFoundHandler()})
	c := newCaller(t, server)
	c.is(404, "GET", "/api/service", "")
	c.is(404, "POST", "/api/rooms", `{"game":"openarena"}`)
	c.is(404, "GET", "/go/nobody", "")
	c.is(200, "GET", "/api/openapi.json", "")
	for _, problem := range c.problems {
		t.Error(problem)
	}
}
