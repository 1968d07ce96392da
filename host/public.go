package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/host/room"
	"muster/host/schedule"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

// Public is what a host that holds rooms for everybody allows strangers. What they say
// names games of the host's table and addresses of servers: never a program, a file,
// or anything that the host would fetch.
type Public struct {
	// Rooms is how many the host holds, and PerAddress how many of those one address
	// may have opened: in IPv6, one household's /64.
	Rooms, PerAddress int
	// Players is how many one room takes, and Servers how many a list of its own may
	// have.
	Players, Servers int
	// Places is how many candidate places a room has its players measure, none of them in
	// a private network.
	Places int
	// Memory is how much of it, in bytes, a room's measurements may take, Messages how
	// many a player's program may say a second before it is heard more slowly, and Idle
	// after what time without anyone's program a room ends, at most [room.KeepEmpty]; 0
	// leaves each to the host.
	Memory   int
	Messages int
	Idle     time.Duration
	// Standing bounds the rooms that stay when the night ends.
	Standing Standing
	// Games are those that rooms may be for.
	Games []PublicGame
	// Own reads an organiser's own list of servers for a game, a server a line.
	// From is who wants it: people on the internet get only servers there.
	Own func(game string, lines []string, from netip.Addr) ([]netip.AddrPort, error)
	// Annotate adds country and origin AS to the servers of such a list; nil adds
	// nothing.
	Annotate func([]discovery.Server) error
	// Hosts are the names of the hosts that hold the service's rooms, as far as they are
	// known; nil is this one alone.
	Hosts func() []string
	// Version is the program's, for those who look for the right one, Commit and Date what
	// it was made from; empty, or zero, if that is not known.
	Version, Commit string
	Date            time.Time
}

// PublicGame is a game that strangers may open a room for.
type PublicGame struct {
	wire.Game
	// By is its rule, unless the organiser says another. Listed: somebody lists its
	// servers; an organiser must bring a list for those of others.
	By     selection.Rule `json:"by"`
	Listed bool           `json:"listed"`
	// Steam: those who have a key to Steam's Web API, or favourites there, get a list.
	Steam bool `json:"steam,omitempty"`
}

// public returns what strangers may now; nil if the host is not public.
func (h *Host) public() *Public { return cmp.Or(h.limits.Load(), h.config.Public) }

// SetLimits changes what strangers may on a public host that runs. Rooms stay as they are
// where they are beyond a new limit. What one address may open, and the games, are as they
// were when the host began.
func (h *Host) SetLimits(p Public) {
	old := h.public()
	p.PerAddress, p.Standing.PerAddress, p.Games, p.Hosts = old.PerAddress, old.Standing.PerAddress, old.Games, old.Hosts
	h.limits.Store(&p)
}

const (
	// openEvery is how often an address may open a room, after as many as it may have
	// at once: whoever closes rooms to open others costs as much as who keeps them.
	openEvery = time.Minute
	// entryBytes is more than an address of an own list takes in JSON, and
	// openingBytes than all else of an opening.
	entryBytes, openingBytes = 64, 8 << 10
)

// servePublic adds what a host for everybody answers:
//
//	GET  /api/service   what rooms can be opened here
//	POST /api/rooms     opens one
//	GET  /go/ID         takes a browser to the room's game server
func (h *Host) servePublic(mux *http.ServeMux) {
	if h.config.Public == nil {
		return
	}
	mux.HandleFunc("GET /api/service", h.serveService)
	mux.HandleFunc("POST /api/rooms", h.serveOpening)
	mux.HandleFunc("GET /go/{id}", h.serveGo)
}

// serveService says what rooms can be opened, for the page and for programs.
func (h *Host) serveService(w http.ResponseWriter, _ *http.Request) {
	p := h.public()
	answer(w, http.StatusOK, struct {
		Format     string       `json:"format"`
		Version    string       `json:"version"`
		Commit     string       `json:"commit,omitempty"`
		Date       time.Time    `json:"date,omitzero"`
		Games      []PublicGame `json:"games"`
		MaxPlayers int          `json:"max_players"`
		MaxServers int          `json:"max_servers"`
	}{"muster.service/1", p.Version, p.Commit, p.Date, p.Games, p.Players, p.Servers})
}

// opened is what whoever opened a room is told. Go is a link that admits nobody, see
// [Host.serveGo].
type opened struct {
	Code          string `json:"code"`
	Link          string `json:"link"`
	OrganiserLink string `json:"organiser_link"`
	Go            string `json:"go"`
}

// serveOpening opens a room: POST /api/rooms with settings by their names in
// [wire.Table], max_rtt_ms for the limits, password, and servers for an own list.
//
//	{"game":"openarena","by":"mean","max_rtt_ms":[150],"players":4,"servers":["1.2.3.4:27960"]}
func (h *Host) serveOpening(w http.ResponseWriter, r *http.Request) {
	p, from := h.public(), access.Subscriber(h.asker(r))
	if h.isTooMuch(w, h.asks, from) {
		return
	}
	body, err := readOpening(w, r, int64(openingBytes+entryBytes*p.Servers))
	var settings wire.Settings
	if err == nil {
		settings, err = p.settings(body, from)
	}
	var refusal *wire.Refusal
	switch {
	case errors.As(err, &refusal):
		h.refuse(w, http.StatusBadRequest, *refusal)
		return
	case err != nil:
		h.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Message: err.Error()})
		return
	}
	if h.unkept() != "" {
		h.refuseUnkept(w)
		return
	}
	about := opening{From: from, Stays: settings.Every != ""}
	if about.Stays && p.Standing.Rooms == 0 {
		h.refuse(w, http.StatusServiceUnavailable, *errNoneStay)
		return
	}
	if tooMany := h.mayOpen(r.Context(), about); tooMany != nil { // before all rooms are looked at
		if tooMany.Wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait.Seconds())+1))
		}
		h.refuse(w, http.StatusTooManyRequests, tooMany.Refusal)
		return
	}
	if _, asleep := h.standing(); h.held()-asleep >= p.Rooms {
		w.Header().Set("Retry-After", "60")
		h.refuse(w, http.StatusServiceUnavailable, wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("all %d rooms of this service are taken", p.Rooms), Hint: "try again in a while, or open the room on your own computer: muster host --game " + settings.Game})
		return
	}
	if settings.Every != "" {
		done, why := h.mayStay()
		if why != nil {
			h.refuse(w, http.StatusServiceUnavailable, *why)
			return
		}
		defer done()
	}
	if settings.Webhook != "" && h.config.Announce == nil {
		h.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Message: "this host posts for nobody: its operator has not allowed it", Hint: "leave the webhook out, or open the room on your own computer"})
		return
	}
	code, _, err := h.openFor(from, settings)
	if err != nil {
		h.config.Logger.Debug("no room opened", "error", err) // what is wrong with the store stands in the log already
		h.refuseUnkept(w)
		return
	}
	about.Code = code
	h.hasOpened(r.Context(), about)
	h.metrics.Opened.Inc()
	keys, at := h.Keys(code), h.entrance(r)
	w.Header().Set("Location", "/api/rooms/-") // the code is for no proxy's log
	answer(w, http.StatusCreated, opened{
		Code: code, Link: at.link(keys), OrganiserLink: at.personal(keys), Go: at.page("go/" + access.PublicID(keys.Link)),
	})
}

// refuseUnkept tells whoever wants to open a room that none can be kept.
func (h *Host) refuseUnkept(w http.ResponseWriter) {
	w.Header().Set("Retry-After", retryAfter)
	h.refuse(w, http.StatusServiceUnavailable, wire.Refusal{Reason: wire.ReasonBusy, Message: "no room can be kept here now", Hint: "try again in some seconds"})
}

// readOpening reads the body of an opening. It must say that it is JSON: browsers let
// no stranger's page send that.
func readOpening(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, &wire.Refusal{Reason: wire.ReasonMalformed, Message: "a room is opened with application/json", Hint: `say Content-Type: application/json, and such as {"game":"openarena","players":4}`}
	}
	body, err := readBody(w, r, most)
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return nil, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("what is said of the room is longer than %d bytes", most), Hint: "shorten the list of servers"}
	}
	return body, err
}

// settings reads what a stranger wants of a room.
func (p *Public) settings(body []byte, from netip.Addr) (s wire.Settings, err error) {
	var wanted map[string]json.RawMessage
	if err := json.Unmarshal(body, &wanted); err != nil {
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: "that is no JSON object", Hint: `say such as {"game":"openarena","players":4}`}
	}
	var lines []string
	if list, is := wanted["servers"]; is {
		if err := json.Unmarshal(list, &lines); err != nil {
			return s, errors.New(`servers: a list of addresses such as ["192.0.2.1:27960"] is wanted`)
		}
		delete(wanted, "servers")
	}
	for name, key := range map[string]string{"max_rtt_ms": "limits_ms", "password": "-"} {
		if value, is := wanted[name]; is {
			wanted[key] = value
			delete(wanted, name)
		}
	}
	table := slices.DeleteFunc(wire.Table(), func(row wire.Setting) bool { return slices.Contains([]string{"open", "most", "servers"}, row.Key) }) // nothing but its keys leads into a stranger's room
	for key := range wanted {
		if !slices.ContainsFunc(table, func(row wire.Setting) bool { return row.Key == key }) {
			return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("a room here has no setting %q", discovery.CleanText(key)), Hint: "it is one of a later release, or it is misspelt"}
		}
	}
	var id string
	json.Unmarshal(wanted["game"], &id) // what is no text is no game
	var own *wire.OwnGame
	json.Unmarshal(wanted["own_game"], &own) // as is what is no game
	at := slices.IndexFunc(p.Games, func(g PublicGame) bool { return g.ID == id })
	g := PublicGame{Game: wire.Game{ID: id}, By: selection.Mean}
	switch isOwn := own != nil && own.ID == id; {
	case at >= 0:
		g = p.Games[at]
		delete(wanted, "own_game")
	case isOwn && len(lines) == 0:
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("the game %q is not known here", discovery.CleanText(id)), Hint: "give a list of its servers"}
	case isOwn:
	default:
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("no game %q is known here", discovery.CleanText(id)), Hint: "GET /api/service lists the games"}
	}
	patch, err := json.Marshal(wanted)
	if err != nil {
		return s, err
	}
	s = wire.Settings{By: g.By, Strategy: wire.Coordinated, Most: p.Players}
	if s, err = s.Patched(patch, func(wire.Setting) bool { return true }); err != nil {
		return s, err
	}
	switch every, err := schedule.Parse(s.Every, ""); {
	case err == nil && every.IsOver(time.Now()):
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("every: %v", schedule.ErrOver), Hint: "say the next date, or a day of each week"}
	case len(s.Places) > p.Places:
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("a room here has %d places to measure at most", p.Places), Hint: "leave some out, or open the room on your own computer"}
	case s.Places.Private():
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: "a place on a private network is nobody else's: a host on the internet has nobody asked there", Hint: "give its public address, or open the room on your own computer"}
	case rules.Of(s.By).NeedsLimit && len(s.Limits) == 0:
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("the rule %s needs a ping limit", s.By), Hint: `say such as "max_rtt_ms":[150]`}
	case len(lines) == 0 && !g.Listed:
		return s, &wire.Refusal{Reason: wire.ReasonMalformed, Message: "nobody lists the servers of " + g.Name, Hint: "give a list of your own: your favourites, one address a line"}
	case len(lines) == 0:
		return s, nil
	}
	s.Servers, err = p.Own(g.ID, lines, from)
	return s, err
}

// own is an organiser's own list, with what is known of its places.
func (h *Host) own(addrs []netip.AddrPort) []discovery.Server {
	servers := make([]discovery.Server, len(addrs))
	for i, addr := range addrs {
		servers[i].Addr = addr
	}
	if p := h.public(); p != nil && p.Annotate != nil {
		if err := p.Annotate(servers); err != nil { // the search does without
			h.config.Logger.Warn("places not known", "error", err)
		}
	}
	return servers
}

// with is a list with what people have brought besides, as many as a list of one's own may
// have. One that has it all is shared as it is.
func (h *Host) with(list []discovery.Server, also []netip.AddrPort) []discovery.Server {
	if len(also) == 0 {
		return list
	}
	listed := make(map[netip.AddrPort]bool, len(list))
	for i := range list {
		listed[list[i].Addr] = true
	}
	also = slices.DeleteFunc(slices.Clone(also), func(addr netip.AddrPort) bool { return listed[addr] })
	if p := h.public(); p != nil {
		also = also[:min(len(also), p.Servers)]
	}
	if len(also) == 0 {
		return list
	}
	return append(slices.Clip(list), h.own(also)...)
}

// serveReady says whether to send people here: GET /readyz. A host that drains, or cannot
// keep what rooms do, is alive, and not ready.
func (h *Host) serveReady(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	closed := h.closed
	h.mu.Unlock()
	switch why := h.unkept(); {
	case closed:
		http.Error(w, "draining", http.StatusServiceUnavailable)
	case why != "":
		http.Error(w, why, http.StatusServiceUnavailable)
	default:
		w.Write([]byte("ready\n"))
	}
}

// newCode draws a room's code.
func (h *Host) newCode() string {
	rooms, p := h.held(), h.public()
	switch {
	case p == nil:
		return access.NewCode(rooms)
	default:
		rooms *= max(1, len(h.hosts())) // which have about as many each
	}
	return access.NewPublicCode(rooms)
}

// held is how many rooms the host holds.
func (h *Host) held() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.rooms)
}

// unclaimedKeep is how long the host keeps a standing room that nobody has joined, and to
// whose date nobody says yes.
const unclaimedKeep = 24 * time.Hour

// endsAt is when a room that nobody is in ends by the host's limit; the zero time if it
// has none, or somebody is there.
func (h *Host) endsAt(r *room.Room, now time.Time) (at time.Time) {
	p := h.public()
	if p == nil || p.Idle == 0 {
		return at
	}
	use := r.Use(now)
	if use.IsStanding {
		keep := p.Standing.Keep
		if !use.IsClaimed {
			keep = unclaimedKeep
		}
		if keep == 0 || use.Empty == 0 {
			return at
		}
		return now.Add(keep - use.Unused)
	}
	if use.Empty > 0 {
		at = now.Add(p.Idle - use.Empty)
	}
	return at
}

// isOver reports whether a room is over: as it says itself, or by the host's limit.
func (h *Host) isOver(r *room.Room, now time.Time) bool {
	at := h.endsAt(r, now)
	return r.Use(now).IsOver || !at.IsZero() && !now.Before(at)
}

// fitting is a list that fits into the memory that a room may take, and what is to be
// noted of it. What players are asked for one by one is little; where all of them
// measure a whole list, of one that is too long every so manyth server is taken, so that
// each network keeps its share.
func (h *Host) fitting(servers []discovery.Server, s wire.Settings, note string) ([]discovery.Server, string) {
	p := h.public()
	if p == nil || p.Memory == 0 || s.Strategy == wire.Coordinated {
		return servers, note
	}
	most := max(1, p.Memory/(room.CellBytes*cmp.Or(s.Players, s.Most, p.Players)))
	if len(servers) <= most {
		return servers, note
	}
	sorted := slices.SortedFunc(slices.Values(servers), func(a, b discovery.Server) int { return a.Addr.Compare(b.Addr) })
	fewer := make([]discovery.Server, most)
	for i := range fewer {
		fewer[i] = sorted[i*len(sorted)/most]
	}
	return fewer, fmt.Sprintf("%d of %d servers are measured, some of each network: this host takes no more for a whole group without coordination", most, len(servers))
}

// burst is how many seconds' messages a player's program may say at once.
const burst = 4

// slow waits until a player may say something more.
func (h *Host) slow(said *access.Flow) {
	p := h.public()
	if p == nil || p.Messages == 0 {
		return
	}
	if wait := said.Wait(burst*p.Messages, time.Second/time.Duration(p.Messages), time.Now()); wait > 0 {
		select {
		case <-time.After(wait):
		case <-h.ctx.Done():
		}
	}
}
