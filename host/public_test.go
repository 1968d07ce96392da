package host_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/access"
	"muster/host/public"
	"muster/host/wire"
	"muster/internal/await"
	"muster/selection"
)

// everybody returns the configuration of a public host that believes the tests' headers as a
// proxy's.
func everybody(p public.Limits) host.Config {
	p.Games = []public.Game{
		{Game: wire.Game{ID: "openarena", Name: "OpenArena"}, By: selection.Mean, Listed: true},
		{Game: wire.Game{ID: "cs2", Name: "Counter-Strike 2"}, By: selection.Mean},
	}
	p.Own = func(game string, lines []string, _ netip.Addr) (servers []netip.AddrPort, err error) {
		for _, line := range lines {
			addr, err := netip.ParseAddrPort(line)
			if err != nil {
				return nil, &wire.Refusal{Reason: wire.ReasonMalformed, Message: "no address"}
			}
			servers = append(servers, addr)
		}
		return servers, nil
	}
	p.Version, p.Commit, p.Date = "1.2.3", "0123abc", time.Date(2026, 11, 22, 7, 30, 0, 0, time.UTC)
	p.Rooms = cmp.Or(p.Rooms, 100)
	p.PerAddress = cmp.Or(p.PerAddress, 100)
	p.Players = cmp.Or(p.Players, 16)
	p.Servers = cmp.Or(p.Servers, 50)
	home := &url.URL{Scheme: "https", Host: "muster.example"}
	join := func(game string, way wire.Way) wire.Way {
		if game != "openarena" {
			way.Link = "steam://connect/" + way.Connect
		}
		return way
	}
	return host.Config{
		List:      listOf(3),
		Public:    &p,
		PublicURL: home,
		Proxies:   []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Join:      join,
	}
}

// opened is the answer to the opener of a room.
type opened struct {
	Code, Go      string
	Link          string `json:"link"` // refusals have one, too
	OrganiserLink string `json:"organiser_link"`
	wire.Refusal
}

// opens requests a room from an address.
func opens(t *testing.T, server *httptest.Server, from, body string) (status int, o opened, header http.Header) {
	t.Helper()
	response, text := answer(t, server, "POST", "/api/rooms", body, map[string]string{"X-Forwarded-For": from})
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v in %s", body, err, text)
	}
	return response.StatusCode, o, response.Header
}

// TestOpening checks that a stranger can open a room with the documented settings and enter it by
// its links, and steer it with the organiser's.
func TestOpening(t *testing.T) {
	h, server := serve(t, everybody(public.Limits{}))
	status, room, _ := opens(t, server, "203.0.113.7",
		`{"game":"openarena","by":"threshold","limits_ms":[150],"players":4,"servers":["192.0.2.4:27960"],"name":"Friday\u001b","map":"oa_dm1","agree":true,"password":"club"}`)
	if status != http.StatusCreated {
		t.Fatalf("answered %d, %+v", status, room)
	}
	settings, _ := h.Settings(room.Code)
	keys := h.Keys(room.Code)
	want := wire.Settings{
		Name:     "Friday",
		Game:     "openarena",
		By:       selection.Threshold,
		Limits:   wire.Limits{150 * time.Millisecond},
		Players:  4,
		Max:      16,
		Wishes:   selection.Wishes{Map: "oa_dm1"},
		Agree:    wire.Yes,
		Password: "club",
		Strategy: wire.Coordinated,
		Servers:  []netip.AddrPort{netip.MustParseAddrPort("192.0.2.4:27960")},
	}
	if got, want := fmt.Sprintf("%+v", settings), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("the room is for\n%s, want\n%s", got, want)
	}
	link := "https://muster.example/#" + room.Code + "_" + keys.Link
	if room.Link != link || room.OrganiserLink != link+"."+keys.Secret || room.Go != "https://muster.example/go/"+access.PublicID(keys.Link) {
		t.Errorf("the links are %+v, want those of %s", room, link)
	}
	snapshot, _ := h.Room(room.Code)
	if snapshot.Room.Own != 1 || len(snapshot.Room.Servers) > 0 {
		t.Errorf("people are told of %d servers of an own list, and which: %v", snapshot.Room.Own, snapshot.Room.Servers)
	}

	var service struct {
		Format, Version, Commit, Date string
		Games                         []public.Game
		MaxPlayers                    int `json:"max_players"`
	}
	if err := json.Unmarshal([]byte(get(t, server, "/api/service")), &service); err != nil || service.Format != "muster.service/1" ||
		service.Version != "1.2.3" || service.Commit != "0123abc" || service.Date != "2026-11-22T07:30:00Z" ||
		len(service.Games) != 2 || service.MaxPlayers != 16 {
		t.Errorf("the service says of itself %+v, %v", service, err)
	}
}

// TestOpenForAPlace checks that a stranger opens a room that looks for a place, without a game or with one
// that nobody lists, that the room has the host's places unless the stranger gives some, and that a server
// which runs there later says what is played.
func TestOpenForAPlace(t *testing.T) {
	config := everybody(public.Limits{Places: 2})
	config.Places = wire.Venues{{Name: "Frankfurt", Addr: hostport.At(netip.MustParseAddrPort("198.51.100.1:443")), Protocol: "tcp"}}
	config.GameName = func(game string) string { return map[string]string{"cs2": "Counter-Strike 2"}[game] }
	h, server := serve(t, config)
	for body, want := range map[string]wire.Settings{
		`{"seeks":"place"}`:              {Places: config.Places},
		`{"game":"cs2","seeks":"place"}`: {Game: "cs2", Places: config.Places},
		`{"seeks":"place","places":"Paris, 198.51.100.2"}`: {Places: wire.Venues{
			{Name: "Paris", Addr: hostport.At(netip.MustParseAddrPort("198.51.100.2:7787")), Protocol: "beacon"},
		}},
		`{"game":"openarena","seeks":"either"}`: {Game: "openarena", Places: config.Places},
	} {
		status, room, _ := opens(t, server, "203.0.113.7", body)
		settings, _ := h.Settings(room.Code)
		if status != http.StatusCreated || settings.Game != want.Game || !settings.Places.Equal(want.Places) {
			t.Errorf("%s is answered %d %+v: a room for %q with %v", body, status, room.Refusal, settings.Game, settings.Places)
		}
	}
	for body, want := range map[string]string{
		`{"seeks":"either"}`:                              `no game ""`,
		`{"seeks":"place","servers":["192.0.2.4:27960"]}`: `no game ""`,
		`{"game":"cs2","seeks":"either"}`:                 "no public list",
		`{"seeks":"place","places":"A, 198.51.100.1\nB, 198.51.100.2\nC, 198.51.100.3"}`: "at most 2 places",
		`{"seeks":"place","places":"A, 10.0.0.1"}`:                                       "private network",
	} {
		status, refusal, _ := opens(t, server, "203.0.113.7", body)
		if status != http.StatusBadRequest || refusal.Reason != wire.ReasonMalformed || !strings.Contains(refusal.Message, want) {
			t.Errorf("%s is answered %d %+v, want %q", body, status, refusal.Refusal, want)
		}
	}
	_, room, _ := opens(t, server, "203.0.113.8", `{"seeks":"place"}`)
	secret := map[string]string{"Authorization": "Bearer " + h.Keys(room.Code).Secret}
	document := func() (d wire.Document) {
		if _, text := asks(t, server, "GET", "/api/rooms/"+room.Code, "", secret); json.Unmarshal([]byte(text), &d) != nil {
			t.Fatal(text)
		}
		return d
	}
	if d := document(); d.Seeks != wire.SeekPlace || d.Places == nil || len(d.Places.Candidates) != 1 || len(d.Log) == 0 {
		t.Errorf("programs read %+v", d)
	}
	order := func(action, body string) (int, string) {
		return asks(t, server, "POST", "/api/rooms/"+room.Code+"/"+action, body, secret)
	}
	ann := join(t, server, room.Code, "ann")
	survey := expect[wire.Survey](ann)
	ann.Conn.Send(wire.Surveyed{Attempt: survey.Attempt, Places: []wire.Finalist{
		{Server: 0, State: discovery.Answered, RTTs: []float64{20}, Sent: 1},
	}})
	await.Until(t, func() bool { return document().Places.People["ann"].Answered == 1 }, "ann has not measured")
	if status, text := order("go", `{}`); status != http.StatusNoContent {
		t.Fatalf("go is answered %d %s", status, text)
	}
	if d := document(); d.Place == nil || d.Place.Name != "Frankfurt" || d.Message != "Host it in Frankfurt: 20 ms on average, 20 at worst." {
		t.Errorf("the place is %+v: %s", d.Place, d.Message)
	}
	if _, page := asks(t, server, "GET", room.Go[strings.Index(room.Go, "/go/"):], "", nil); !strings.Contains(page, "server will be in Frankfurt") {
		t.Errorf("a link to the game shows %s", page)
	}
	for body, want := range map[string]string{
		`{"game":"","addr":"198.51.100.7:27015"}`:     "no servers of",
		`{"game":"pong","addr":"198.51.100.7:27015"}`: "no servers of",
	} {
		if status, text := order("started", body); status != http.StatusConflict || !strings.Contains(text, want) {
			t.Errorf("a server of %s is answered %d %s", body, status, text)
		}
	}
	if status, text := order("started", `{"game":"cs2","addr":"198.51.100.7:27015"}`); status != http.StatusNoContent || document().Game != "cs2" {
		t.Errorf("a server is answered %d %s, and the room plays %q", status, text, document().Game)
	}
}

// TestSeekLater checks that a room which looks for a place only after a while gets the host's places, too.
func TestSeekLater(t *testing.T) {
	config := everybody(public.Limits{})
	config.Places = wire.Venues{{Name: "Frankfurt", Addr: hostport.At(netip.MustParseAddrPort("198.51.100.1:443")), Protocol: "tcp"}}
	h, server := serve(t, config)
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena"}`)
	secret := map[string]string{"Authorization": "Bearer " + h.Keys(room.Code).Secret}
	for seeks, want := range map[string]wire.Venues{"place": config.Places, "": nil} {
		status, text := asks(t, server, "POST", "/api/rooms/"+room.Code+"/settings", `{"settings":{"seeks":"`+seeks+`"}}`, secret)
		if settings, _ := h.Settings(room.Code); status != http.StatusNoContent || settings.Seeks != seeks || !settings.Places.Equal(want) {
			t.Errorf("%q is answered %d %s: the places are %v", seeks, status, text, settings.Places)
		}
	}
}

// TestNoPlaces checks that a host without places says what to do about it.
func TestNoPlaces(t *testing.T) {
	_, server := serve(t, everybody(public.Limits{}))
	status, refusal, _ := opens(t, server, "203.0.113.7", `{"seeks":"place"}`)
	if status != http.StatusBadRequest || !strings.Contains(refusal.Message+refusal.Hint, "--places builtin") {
		t.Errorf("answered %d %+v", status, refusal.Refusal)
	}
}

// TestOwnList checks that a room with its own list measures that list, with places where they are
// known, and that no master is asked.
func TestOwnList(t *testing.T) {
	config := everybody(public.Limits{Annotate: func(servers []discovery.Server) error { servers[0].Country = "DE"; return nil }})
	config.List = nil // it must not be called
	h, server := serve(t, config)
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":1,"servers":["192.0.2.4:27960","192.0.2.5:27960"]}`)
	ann := join(t, server, room.Code, "ann")
	if list := expect[wire.List](ann); len(list.Servers) != 2 ||
		!slices.Contains(list.Servers, discovery.Server{Addr: netip.MustParseAddrPort("192.0.2.4:27960"), Country: "DE"}) {
		t.Errorf("the list is %+v", list)
	}
	if _, there := h.Room(room.Code); !there {
		t.Error("the room is gone")
	}
}

// TestBroughtIsListed checks that a server that a player brings is on the next list, once and with
// its place, up to the limit of an own list.
func TestBroughtIsListed(t *testing.T) {
	config := everybody(public.Limits{Servers: 3, Annotate: func(servers []discovery.Server) error {
		for i := range servers {
			servers[i].Country = "DE"
		}
		return nil
	}})
	_, server := serve(t, config)
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":2,"servers":["192.0.2.4:27960"]}`)
	ann := join(t, server, room.Code, "ann")
	bring := wire.Bring{Game: "openarena"}
	for _, at := range []string{"192.0.2.4:27960", "192.0.2.6:27960", "192.0.2.7:27960", "192.0.2.8:27960", "192.0.2.9:27960"} {
		bring.Favourites = append(bring.Favourites, wire.Brought{Addr: hostport.At(netip.MustParseAddrPort(at))})
	}
	ann.Conn.Send(bring)
	for !strings.Contains(string(expect[wire.Room](ann)["lists"]), "192.0.2.9") { // so the room has it
	}
	join(t, server, room.Code, "bob")
	list := expect[wire.List](ann)
	if len(list.Servers) != 4 ||
		!slices.Contains(list.Servers, discovery.Server{Addr: netip.MustParseAddrPort("192.0.2.6:27960"), Country: "DE"}) {
		t.Errorf("the list is %+v", list)
	}
}

// TestOpeningRefused checks that the host refuses nonsense and requests over a limit, in words that
// say what to do.
func TestOpeningRefused(t *testing.T) {
	t.Parallel()
	h, server := serve(t, everybody(public.Limits{Servers: 2}))
	for body, want := range map[string]string{
		`{"game":"openarena"`:                   "isn’t a JSON object",
		`[]`:                                    "isn’t a JSON object",
		`{}`:                                    `no game ""`,
		`{"game":"pong"}`:                       `no game "pong"`,
		`{"game":"cs2"}`:                        "there’s no public list of Counter-Strike 2 servers",
		`{"game":"openarena","by":"luck"}`:      "rule",
		`{"game":"openarena","by":"threshold"}`: "needs a ping limit",
		`{"game":"openarena","limits_ms":150}`:  "limits",
		`{"game":"openarena","max_rtt_ms":[150]}`:                         "limits_ms",
		`{"game":"openarena","players":17}`:                               "takes 16 at most",
		`{"game":"openarena","players":-1}`:                               "below 0",
		`{"game":"openarena","strategy":"; rm -rf"}`:                      "isn’t one of",
		`{"game":"openarena","servers":"192.0.2.4:27960"}`:                "a list of addresses",
		`{"game":"openarena","servers":["games.example"]}`:                "no address",
		`{"game":"openarena","open":true}`:                                `no key “open”`,
		`{"game":"openarena","league":"cup"}`:                             `no key “league”`,
		`{"game":"openarena","most":1000}`:                                `no key “most”`,
		`{"game":"openarena","launch_command":"calc.exe"}`:                `no key “launch_command”`,
		`{"game":"openarena","master":"http://169.254.169.254/"}`:         `no key “master”`,
		`{"game":"openarena","name":"` + strings.Repeat("x", 9000) + `"}`: "longer than",
	} {
		status, refusal, _ := opens(t, server, "203.0.113.7", body)
		if status != http.StatusBadRequest || refusal.Reason != wire.ReasonMalformed || !strings.Contains(refusal.Message+refusal.Hint, want) {
			t.Errorf("%s is answered %d %+v, want %q", body[:min(len(body), 80)], status, refusal.Refusal, want)
		}
	}
	// Another site's page could send this.
	form := map[string]string{"Content-Type": "text/plain"}
	if status, _ := asks(t, server, "POST", "/api/rooms", `{"game":"openarena"}`, form); status != http.StatusBadRequest {
		t.Errorf("a room is opened by a form: %d", status)
	}
	if rooms := h.Rooms(); len(rooms) != 0 {
		t.Errorf("there are rooms: %v", rooms)
	}
}

// TestOpeningLimits checks that an address may have only some rooms open, that the host has only so
// many, and that nobody opens them too fast.
func TestOpeningLimits(t *testing.T) {
	const body = `{"game":"openarena"}`
	t.Run("of an address", func(t *testing.T) {
		h, server := serve(t, everybody(public.Limits{PerAddress: 2}))
		_, first, _ := opens(t, server, "203.0.113.7", body)
		opens(t, server, "203.0.113.7", body)
		if status, refusal, header := opens(t, server, "203.0.113.7", body); status != http.StatusTooManyRequests ||
			refusal.Reason != wire.ReasonBusy || header.Get("Retry-After") == "" || refusal.Hint == "" {
			t.Errorf("the third is answered %d %+v", status, refusal.Refusal)
		}
		for _, from := range []string{"2001:db8::1", "2001:db8::2"} {
			if status, _, _ := opens(t, server, from, body); status != http.StatusCreated {
				t.Errorf("%s has to answer for its neighbour: %d", from, status)
			}
		}
		if status, _, _ := opens(t, server, "2001:db8::3", body); status != http.StatusTooManyRequests {
			t.Errorf("a household has as many as it has addresses: %d", status)
		}
		h.CloseRoom(first.Code)
	})
	t.Run("of the host", func(t *testing.T) {
		_, server := serve(t, everybody(public.Limits{Rooms: 2}))
		opens(t, server, "203.0.113.7", body)
		opens(t, server, "203.0.113.8", body)
		if status, refusal, _ := opens(t, server, "203.0.113.9", body); status != http.StatusServiceUnavailable ||
			refusal.Reason != wire.ReasonFull || !strings.Contains(refusal.Hint, "muster host") {
			t.Errorf("the third is answered %d %+v", status, refusal.Refusal)
		}
	})
	t.Run("of a room", func(t *testing.T) {
		h, server := serve(t, everybody(public.Limits{Players: 2}))
		_, room, _ := opens(t, server, "203.0.113.7", body)
		join(t, server, room.Code, "ann")
		join(t, server, room.Code, "bob")
		cat := says(t, server, "", wire.Hello{Code: room.Code, Key: h.Keys(room.Code).Link, Name: "cat"})
		if refusal := expect[wire.Refusal](cat); refusal.Reason != wire.ReasonFull {
			t.Errorf("the third is told %+v", refusal)
		}
		eve := says(t, server, "", wire.Hello{Code: room.Code, Name: "eve"})
		if refusal := expect[wire.Refusal](eve); refusal.Reason != wire.ReasonCode {
			t.Errorf("whoever guesses the code is told %+v", refusal)
		}
	})
}

// TestLeagueOpens checks that a league opens as many rooms as it may, from whatever address, that its
// rooms count for nobody else, and that a wrong key opens none.
func TestLeagueOpens(t *testing.T) {
	open := opensForLeague(t, "cup 9f2c8e61b7d04a35a1e0 16")
	for i := range 16 {
		if status, o := open("9f2c8e61b7d04a35a1e0", ""); status != http.StatusCreated {
			t.Fatalf("room %d of the league: %d, %s", i, status, o.Message)
		}
	}
	for _, tt := range []struct {
		key    string
		status int
		reason string
	}{
		{"9f2c8e61b7d04a35a1e0", http.StatusTooManyRequests, wire.ReasonFull},
		{"9f2c8e61b7d04a35a1e1", http.StatusUnauthorized, wire.ReasonSecret},
		{"", http.StatusCreated, ""},
		{"", http.StatusTooManyRequests, wire.ReasonBusy},
	} {
		if status, o := open(tt.key, ""); status != tt.status || o.Reason != tt.reason {
			t.Errorf("with the key %q: %d %s, want %d %s", tt.key, status, o.Reason, tt.status, tt.reason)
		}
	}
}

// TestLeagueOpensForPeople checks that each person for whom a league opens rooms has the limits of an
// address, that all of them together have the league's, and that nobody names a person without a key.
func TestLeagueOpensForPeople(t *testing.T) {
	const key = "9f2c8e61b7d04a35a1e0"
	open := opensForLeague(t, "bot "+key+" 3")
	for i, tt := range []struct {
		key, person string
		status      int
		reason      string
	}{
		{key, "ann", http.StatusCreated, ""},
		{key, "ann", http.StatusTooManyRequests, wire.ReasonBusy},
		{key, "bob", http.StatusCreated, ""},
		{"", "", http.StatusCreated, ""},
		{"", "eve", http.StatusTooManyRequests, wire.ReasonBusy},
		{key, "", http.StatusCreated, ""},
		{key, "zoe", http.StatusTooManyRequests, wire.ReasonFull},
	} {
		if status, o := open(tt.key, tt.person); status != tt.status || o.Reason != tt.reason {
			t.Errorf("room %d, for %q: %d %s, want %d %s", i, tt.person, status, o.Reason, tt.status, tt.reason)
		}
	}
}

// opensForLeague returns what opens a room on a host with a league, where an address may have one.
func opensForLeague(t *testing.T, line string) func(key, person string) (status int, o opened) {
	t.Helper()
	leagues, err := public.ReadLeagues(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	_, server := serve(t, everybody(public.Limits{PerAddress: 1, Leagues: leagues}))
	return func(key, person string) (status int, o opened) {
		header := map[string]string{"Content-Type": "application/json", "X-Forwarded-For": "203.0.113.7", "Muster-For": person}
		if key != "" {
			header["Authorization"] = "Bearer " + key
		}
		status, body := asks(t, server, "POST", "/api/rooms", `{"game":"openarena"}`, header)
		if err := json.Unmarshal([]byte(body), &o); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		return status, o
	}
}

// TestSearchOfGames checks that a host finds games by what people call them.
func TestSearchOfGames(t *testing.T) {
	config := everybody(public.Limits{})
	config.Public.Search = func(text string) []public.Game {
		if text != "arena 2" {
			return nil
		}
		found := config.Public.Games[0]
		found.OtherNumber = true
		return []public.Game{found}
	}
	_, server := serve(t, config)
	for query, want := range map[string]string{
		"":               "openarena false, cs2 false, ",
		"?game=":         "openarena false, cs2 false, ",
		"?game=arena+2":  "openarena true, ",
		"?game=solitair": "",
	} {
		var service wire.Service
		if err := json.Unmarshal([]byte(get(t, server, "/api/service"+query)), &service); err != nil || service.Games == nil {
			t.Errorf("%s: %v", query, err)
		}
		got := ""
		for _, g := range service.Games {
			got += fmt.Sprintf("%s %v, ", g.ID, g.OtherNumber)
		}
		if got != want {
			t.Errorf("%s finds %s; want %s", query, got, want)
		}
	}
}

// TestTexts checks that texts of answers are in the caller's language, and what a room says of itself.
func TestTexts(t *testing.T) {
	config := everybody(public.Limits{})
	config.GameName = func(string) string { return "OpenArena" }
	_, server := serve(t, config)
	_, o, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":2}`)
	_, fragment, _ := strings.Cut(o.Link, "#")
	code, key, _ := strings.Cut(fragment, "_")
	for language, want := range map[string][2]string{
		"":               {"Waiting for 2 more players.", "only the organiser can do this"},
		"de-AT,en;q=0.5": {"Warten auf noch 2 Leute.", "das kann nur die Orga"},
		"tlh":            {"Waiting for 2 more players.", "only the organiser can do this"},
	} {
		header := map[string]string{"Muster-Code": code, "Muster-Key": key, "Accept-Language": language}
		var room wire.Document
		_, body := asks(t, server, "GET", "/api/rooms/-", "", header)
		if err := json.Unmarshal([]byte(body), &room); err != nil || room.Message != want[0] || room.GameName != "OpenArena" || room.Go != o.Go {
			t.Errorf("%s: %v, the room says %q of %s at %s", language, err, room.Message, room.GameName, room.Go)
		}
		var refusal wire.Refusal
		_, body = asks(t, server, "POST", "/api/rooms/-/end", "", header)
		if err := json.Unmarshal([]byte(body), &refusal); err != nil || refusal.Message != want[1] {
			t.Errorf("%s: %v, the refusal says %q", language, err, refusal.Message)
		}
	}
}

// TestGoToARegion checks that the link says which region to set in a game that has regions.
func TestGoToARegion(t *testing.T) {
	config := everybody(public.Limits{})
	config.Join = func(_ string, way wire.Way) wire.Way {
		way.Server, way.Region = "Lima", &wire.Region{Name: "Lima", Set: "South America 2", How: sentence.Plain("Press F8")}
		return way
	}
	h, server := serve(t, config)
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"cs2","players":1,"servers":["192.0.2.4:443"]}`)
	ann := join(t, server, room.Code, "ann")
	ann.measures(10)
	ann.finishes()
	(&night{t, h, nil, room.Code}).await(launches)
	body := get(t, server, strings.TrimPrefix(room.Go, "https://muster.example"))
	for _, want := range []string{"Everyone plays in the region Lima", "Press F8", "South America 2"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "192.0.2.4") {
		t.Error("the page has an address")
	}
}

// TestGo checks the link that people may post anywhere. It takes them to the game once there is
// one, says before how things stand, and admits nobody to the room.
func TestGo(t *testing.T) {
	h, server := serve(t, everybody(public.Limits{}))
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"cs2","players":1,"password":"club","servers":["192.0.2.4:27015"]}`)
	path := strings.TrimPrefix(room.Go, "https://muster.example")
	before := get(t, server, path)
	if !strings.Contains(before, "still gathering") || !strings.Contains(before, `http-equiv="refresh" content="5"`) {
		t.Errorf("while the group gathers it says %s", before)
	}
	ann := join(t, server, room.Code, "ann")
	ann.measures(10)
	ann.finishes()
	(&night{t, h, nil, room.Code}).await(launches)
	body := get(t, server, path)
	for _, want := range []string{`href="steam://connect/192.0.2.4:27015"`, `content="0; url=steam://connect/192.0.2.4:27015"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	preview := func(page string) string {
		return strings.Join(regexp.MustCompile(`<meta property.*>`).FindAllString(page, -1), "\n")
	}
	if !strings.Contains(preview(body), `"https://muster.example/preview.png"`) || preview(body) != preview(before) {
		t.Errorf("what chats keep of the link tells how far the room is:\n%s\n%s", preview(before), preview(body))
	}
	keys := h.Keys(room.Code)
	for _, private := range []string{keys.Code, keys.Link, keys.Secret, "club", "ann"} {
		if strings.Contains(body, private) || strings.Contains(path, private) {
			t.Errorf("the page, or its path, tells %q", private)
		}
	}
	id := strings.TrimPrefix(path, "/go/")
	mallory := says(t, server, "", wire.Hello{Code: room.Code, Key: id, Name: "mallory"})
	if refusal := expect[wire.Refusal](mallory); refusal.Reason == "" {
		t.Error("the id is a key")
	}
	for _, nobody := range []string{"/go/", "/go/AAAAAAAAAAAAAAAA", "/go/" + room.Code} {
		if status, _ := asks(t, server, "GET", nobody, "", nil); status != http.StatusNotFound {
			t.Errorf("%s answers %d", nobody, status)
		}
	}
}

// TestPublicCodes checks that a code does not work at times when only its hearers could want it,
// and that guessers see no difference from a wrong code. The link still admits people.
func TestPublicCodes(t *testing.T) {
	h, server := serve(t, everybody(public.Limits{}))
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":2}`)
	keys := h.Keys(room.Code)
	isRefused := func(what, from string) {
		t.Helper()
		right := expect[wire.Refusal](says(t, server, from, wire.Hello{Code: room.Code, Name: "eve"}))
		wrong := expect[wire.Refusal](says(t, server, from, wire.Hello{Code: "BADOBADOBADO", Name: "eve"}))
		if right.Reason != wire.ReasonCode ||
			strings.ReplaceAll(right.Message, room.Code, "") != strings.ReplaceAll(wrong.Message, "BADOBADOBADO", "") || right.Hint != wrong.Hint {
			t.Errorf("%s: the right code is told %+v, a wrong one %+v", what, right, wrong)
		}
	}
	ann := says(t, server, "203.0.113.8", wire.Hello{Code: room.Code, Name: "ann"})
	ann.token = expect[wire.Welcome](ann).Token
	orders(t, server, room.Code, "lock", keys.Secret, map[string]any{"locked": true})
	isRefused("a locked room", "203.0.113.9")
	orders(t, server, room.Code, "lock", keys.Secret, map[string]any{"locked": false})
	expect[wire.Welcome](says(t, server, "203.0.113.9", wire.Hello{Code: room.Code, Name: "bob"}))
	isRefused("a complete room", "203.0.113.10")
	expect[wire.Welcome](says(t, server, "203.0.113.10", wire.Hello{Code: room.Code, Name: "ann", Token: ann.token}))
	if refusal := expect[wire.Refusal](
		says(t, server, "203.0.113.10", wire.Hello{Code: room.Code, Key: keys.Link, Name: "cat"})); refusal.Reason != wire.ReasonFull {
		t.Errorf("whoever has the link is told %+v", refusal)
	}
}

// TestCodeFallsAsleepAtOnce checks that a code stops working as soon as the room is complete, even
// while the store still saves that. A guesser gets the answer for a wrong code, even one who was
// let through just before.
func TestCodeFallsAsleepAtOnce(t *testing.T) {
	kept := host.NewFakeStore()
	config := everybody(public.Limits{})
	config.Store = kept
	h, server := serve(t, config)
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":2}`)
	keys := h.Keys(room.Code)
	release := kept.Hang()
	t.Cleanup(release) // otherwise the host could not close after a failure
	ann := says(t, server, "203.0.113.8", wire.Hello{Code: room.Code, Name: "ann"})
	waitFor(t, "the store is asked to keep ann's place", kept.IsAskedToKeep("ann"))
	bob := says(t, server, "203.0.113.9", wire.Hello{Code: room.Code, Key: keys.Link, Name: "bob"})
	early := says(t, server, "203.0.113.10", wire.Hello{Code: room.Code, Name: "eve"}) // before bob or after him
	release()
	expect[wire.Welcome](ann)
	for _, p := range []*player{bob, early} {
		if refusal, is := (<-p.Heard).(wire.Refusal); is &&
			refusal.Reason != map[*player]string{bob: wire.ReasonFull, early: wire.ReasonCode}[p] {
			t.Errorf("the third is told %+v", refusal)
		}
	}
	_, other, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":1}`)
	release = kept.Hang()
	t.Cleanup(release)
	cat := says(t, server, "203.0.113.11", wire.Hello{Code: other.Code, Name: "cat"})
	waitFor(t, "the store is asked to keep cat's place", kept.IsAskedToKeep("cat"))
	late := says(t, server, "203.0.113.12", wire.Hello{Code: other.Code, Name: "eve"})
	if refusal := expect[wire.Refusal](late); refusal.Reason != wire.ReasonCode {
		t.Errorf("while the room is not shown yet whoever guesses is told %+v", refusal)
	}
	if shown, _ := h.Room(other.Code); len(shown.Players()) > 0 {
		t.Error("the room was shown as complete already: this shows nothing")
	}
	release()
	expect[wire.Welcome](cat)
}

// TestGuessersHoldUpNobody checks that everyone with a link, a token or the organiser's secret
// enters while guessers from many networks use up the budget for wrong codes.
func TestGuessersHoldUpNobody(t *testing.T) {
	t.Parallel()
	h, server := serve(t, everybody(public.Limits{}))
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":4}`)
	keys := h.Keys(room.Code)
	ann := says(t, server, "203.0.113.8", wire.Hello{Code: room.Code, Name: "ann"})
	ann.token = expect[wire.Welcome](ann).Token
	ask := func(from, code, key, credential string) int {
		t.Helper()
		header := map[string]string{"X-Forwarded-For": from, "Muster-Key": key, "Authorization": "Bearer " + credential}
		status, _ := asks(t, server, "GET", "/api/rooms/"+code, "", header)
		return status
	}
	limited := 0
	for i := range 1500 {
		if ask(fmt.Sprintf("11.%d.%d.1", i%256, i/256), "BADOBADOBADO", "", "") == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 450 || limited > 500 {
		t.Errorf("of 1500 guesses %d were not heard, want nearly 500", limited)
	}
	if status := ask("203.0.113.20", room.Code, "", ""); status != http.StatusTooManyRequests {
		t.Errorf("meanwhile the code alone is answered %d", status)
	}
	for name, status := range map[string]int{
		"the link": ask("203.0.113.20", room.Code, keys.Link, ""), "the organiser": ask("203.0.113.20", room.Code, "", keys.Secret),
		"a guesser with the link": ask("11.0.0.1", room.Code, keys.Link, ""),
	} {
		if status != http.StatusOK {
			t.Errorf("meanwhile %s is answered %d", name, status)
		}
	}
	expect[wire.Welcome](says(t, server, "203.0.113.21", wire.Hello{Code: room.Code, Key: keys.Link, Name: "bob"}))
	expect[wire.Welcome](says(t, server, "11.0.0.1", wire.Hello{Code: room.Code, Name: "ann", Token: ann.token}))
}

// TestMetricsOfASession checks that the metrics show the rooms by phase, the times of saves, steps
// and choices, and the refusals. Strangers cannot add series.
func TestMetricsOfASession(t *testing.T) {
	config := everybody(public.Limits{})
	config.MetricsFrom = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	h, server := serve(t, config)
	before := strings.Count(get(t, server, "/metrics"), "\n")
	_, room, _ := opens(t, server, "203.0.113.7", `{"game":"openarena","players":1}`)
	opens(t, server, "203.0.113.7", `{"game":"openarena"}`)
	for i := range 100 {
		opens(t, server, "203.0.113.7", fmt.Sprintf(`{"game":"g%d","s%d":1}`, i, i))
		says(t, server, fmt.Sprintf("203.0.113.%d", i), wire.Hello{Code: fmt.Sprintf("BADO%dBADO", i), Name: fmt.Sprint("guesser", i)})
	}
	ann := join(t, server, room.Code, "annabella")
	ann.measures(10)
	ann.finishes()
	(&night{t, h, nil, room.Code}).await(launches)
	text := get(t, server, "/metrics")
	for _, want := range []string{
		"muster_rooms 2", `muster_rooms_by_phase{phase="gathering"} 1`, `muster_rooms_by_phase{phase="launching"} 1`,
		`muster_rooms_by_phase{phase="failed"} 0`,
		"muster_rooms_opened_total 2", "muster_choice_seconds_count 1", "muster_pages 0", `muster_refusals_total{reason="malformed"} 100`,
		"muster_searches_running 0", "muster_searches_waiting 0", `muster_limited_total{limit="wrong_codes"} 75`,
		`muster_limited_total{limit="max_rooms"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	for _, want := range []string{`muster_save_seconds_count{result="kept"}`,
		`muster_step_seconds_count{phase="gathering"}`, "muster_planner_seconds_count ",
		`muster_answer_seconds_count{of="join"}`, `muster_answer_seconds_count{of="api"}`, "muster_planner_wait_seconds_count "} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if more := strings.Count(text, "\n") - before; more > 200 {
		t.Errorf("there are %d lines more", more)
	}
	for _, private := range []string{room.Code, "203.0.113", "annabella", "guesser"} {
		if strings.Contains(text, private) {
			t.Errorf("/metrics tells %s", private)
		}
	}
}

// TestGet checks that everything below /get/ goes to the configured handler. A path with a room is
// only for the host's own pages.
func TestGet(t *testing.T) {
	gives := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Method, " ", r.URL.Path) })
	_, server := serve(t, host.Config{List: listOf(1), Get: gives})
	for _, path := range []string{"/get/", "/get/windows-amd64"} {
		if body := get(t, server, path); body != "GET "+path {
			t.Errorf("%s answers %q", path, body)
		}
	}
	for origin, want := range map[string]int{server.URL: 200, "": 200, "https://mallory.example": 403} {
		from := map[string]string{"Origin": origin}
		if status, _ := asks(t, server, "POST", "/get/windows-amd64", "http://192.0.2.1/#TABOMI", from); status != want {
			t.Errorf("from a page of %q: %d, want %d", origin, status, want)
		}
	}
}
