package operating

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/pressure"
)

// Path begins the paths of requests between hosts.
const Path = "/operate/"

const (
	// mostBody is the longest request, and mostAnswer the longest answer of another host, in bytes:
	// a row is some 200.
	mostBody, mostAnswer = 1 << 10, 1 << 25
	// hostWait is how long another host may take to list its rooms.
	hostWait = 5 * time.Second
	// wrongAtOnce is how many wrong keys the desk answers and logs at once, and wrongEvery how often
	// after that. A right key is never delayed: it cannot be guessed, and other programs on the machine
	// must not keep the operator out.
	wrongAtOnce, wrongEvery = 10, 6 * time.Second
	// idLength bounds a room's id in a request.
	idLength = 64
)

// Audit is the level of the log's lines about operators: always logged, and easy to filter.
const Audit = slog.LevelInfo + 2

// Desk answers an operator who shows a key, for all hosts of a service.
type Desk struct {
	// Own is this host's name, and Rooms are its rooms.
	Own   string
	Rooms Rooms
	// Hosts returns the names of all living hosts; nothing if this one is alone. Others reaches them.
	Hosts  func() []string
	Others http.RoundTripper
	// Keys reads the keys. It is called for each request, so that a removed key stops working at once.
	Keys func() (Keys, error)
	Log  *slog.Logger

	wrong     sync.Once
	wrongPace *access.Pace
}

// Listing is the list of rooms, and Limits that of networks that ran into limits.
type (
	Listing struct {
		Format string `json:"format"`
		Rooms  []Room `json:"rooms"`
		// Silent are the hosts that did not answer, so that their rooms are missing.
		Silent []string `json:"silent,omitempty"`
	}
	Limits struct {
		Format   string         `json:"format"`
		Networks []pressure.Row `json:"networks"`
		Silent   []string       `json:"silent,omitempty"`
	}
	// Explained is the explanation of one room.
	Explained struct {
		Format string `json:"format"`
		Explanation
	}
	// Done says what has been done.
	Done struct {
		Outcome string `json:"outcome"`
	}
)

// Order is what an operator asks of a room.
type Order struct {
	Reason string `json:"reason,omitempty"`
	To     string `json:"to,omitempty"`
}

// failure is an answer without success.
type failure struct {
	Error string `json:"error"`
}

// ServeHTTP answers an operator.
//
//	GET  /rooms              the rooms of all hosts
//	GET  /rooms/{id}         why a room is where it is
//	POST /rooms/{id}/close   {"reason":"maintenance"}
//	POST /rooms/{id}/move    {"to":"host2"}
//	GET  /limits             which networks run into limits
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, ok := d.owner(w, r)
	if !ok {
		return
	}
	mux := http.NewServeMux()
	handle := func(pattern, what string, do func(context.Context, *http.Request) (any, string, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			document, detail, err := do(r.Context(), r)
			outcome := "done"
			if err != nil {
				outcome = err.Error()
			}
			facts := []any{"audit", true, "who", who, "what", what}
			if id := r.PathValue("id"); id != "" {
				facts = append(facts, "room", cleanID(id))
			}
			if detail != "" {
				facts = append(facts, "detail", detail)
			}
			d.Log.Log(r.Context(), Audit, "operator", append(facts, "outcome", outcome)...)
			reply(w, document, err)
		})
	}
	handle("GET /rooms", "list", d.list)
	handle("GET /limits", "limits", d.limits)
	handle("GET /rooms/{id}", "explain", func(ctx context.Context, r *http.Request) (any, string, error) {
		explained := Explained{Format: "muster.room-explained/1"}
		err := d.askOwner(ctx, http.MethodGet, r.PathValue("id"), "", nil, &explained.Explanation)
		return explained, "", err
	})
	handle("POST /rooms/{id}/close", "close", d.order(func(o Order) string { return o.Reason }))
	handle("POST /rooms/{id}/move", "move", d.order(func(o Order) string { return o.To }))
	mux.ServeHTTP(w, r)
}

// owner returns whose key a request shows, or says to the caller that it is none.
func (d *Desk) owner(w http.ResponseWriter, r *http.Request) (who string, ok bool) {
	shown, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	keys, err := d.Keys()
	if err != nil {
		d.Log.Error("operators' keys are not read", "error", err)
		reply(w, nil, errors.New("the file of keys cannot be read: the host's log says why"))
		return "", false
	}
	if who = keys.Owner(shown); who != "" {
		return who, true
	}
	d.wrong.Do(func() { d.wrongPace = access.NewPace(wrongAtOnce, wrongEvery) })
	if d.wrongPace.Wait(netip.Addr{}, time.Now()) > 0 {
		http.Error(w, `{"error":"too many wrong keys"}`, http.StatusTooManyRequests)
		return "", false
	}
	d.Log.Log(r.Context(), Audit, "operator", "audit", true, "who", "", "what", "show a key", "outcome", "wrong key")
	w.WriteHeader(http.StatusUnauthorized)
	json.NewEncoder(w).Encode(failure{"the key is none of this host's: its file of keys has a line NAME KEY for each"})
	return "", false
}

// list lists the rooms of all hosts.
func (d *Desk) list(ctx context.Context, _ *http.Request) (any, string, error) {
	all := Listing{Format: "muster.rooms/1", Rooms: d.Rooms.List()}
	others, silent := gather[[]Room](ctx, d, "rooms")
	for _, rooms := range others {
		all.Rooms = append(all.Rooms, rooms...)
	}
	if all.Silent = silent; all.Rooms == nil {
		all.Rooms = []Room{}
	}
	Sort(all.Rooms)
	return all, "", nil
}

// limits lists the networks that ran into limits of any host.
func (d *Desk) limits(ctx context.Context, _ *http.Request) (any, string, error) {
	all := Limits{Format: "muster.limits/1", Networks: d.Rooms.Limits()}
	others, silent := gather[[]pressure.Row](ctx, d, "limits")
	for _, rows := range others {
		all.Networks = append(all.Networks, rows...)
	}
	all.Silent = silent
	if all.Networks = pressure.Merge(all.Networks); all.Networks == nil {
		all.Networks = []pressure.Row{}
	}
	return all, "", nil
}

// order passes an order on to the host that has the room.
func (d *Desk) order(detail func(Order) string) func(context.Context, *http.Request) (any, string, error) {
	return func(ctx context.Context, r *http.Request) (any, string, error) {
		var o Order
		body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
		if err != nil || json.Unmarshal(body, &o) != nil {
			return nil, "", errors.New("the request is no JSON object")
		}
		what := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):]
		var done Done
		err = d.askOwner(ctx, http.MethodPost, r.PathValue("id"), what, body, &done)
		return done, plainDetail(detail(o)), err
	}
}

// detailSigns matches what is taken out of a detail before it is logged.
var detailSigns = regexp.MustCompile(`[^A-Za-z0-9_-]`)

func plainDetail(text string) string {
	return detailSigns.ReplaceAllString(text[:min(idLength, len(text))], "")
}

func cleanID(id string) string { return plainDetail(id) }

// askOwner asks the host that has a room, which may be this one.
func (d *Desk) askOwner(ctx context.Context, method, id, what string, body []byte, answer any) error {
	if id != cleanID(id) {
		return ErrUnknown
	}
	host, err := d.Rooms.Where(id)
	switch {
	case err != nil:
		return err
	case host == d.Own || host == "":
		data, err := d.act(ctx, method, id, what, body)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, answer)
	}
	return d.ask(ctx, method, host, "rooms/"+id+what, body, answer)
}

// act does what is asked of a room of this host.
func (d *Desk) act(ctx context.Context, method, id, what string, body []byte) ([]byte, error) {
	var o Order
	if len(body) > 0 {
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, errors.New("the request is no JSON object")
		}
	}
	switch {
	case method == http.MethodGet:
		explained, err := d.Rooms.Explain(id)
		if err != nil {
			return nil, err
		}
		return json.Marshal(explained)
	case what == "/close":
		if Closing(o.Reason) == nil {
			return nil, ErrReason
		}
		if err := d.Rooms.Close(ctx, id, o.Reason); err != nil {
			return nil, err
		}
		return json.Marshal(Done{"closed"})
	}
	if err := d.Rooms.Move(ctx, id, o.To); err != nil {
		return nil, err
	}
	return json.Marshal(Done{"moved to " + plainDetail(o.To)})
}

// Inside answers the other hosts, at paths that begin with [Path].
func (d *Desk) Inside(w http.ResponseWriter, r *http.Request) {
	what := strings.TrimPrefix(r.URL.Path, Path)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		reply(w, nil, err)
		return
	}
	switch what {
	case "rooms":
		reply(w, d.Rooms.List(), nil)
		return
	case "limits":
		reply(w, d.Rooms.Limits(), nil)
		return
	}
	id, action, _ := strings.Cut(strings.TrimPrefix(what, "rooms/"), "/")
	if action != "" {
		action = "/" + action
	}
	data, err := d.act(r.Context(), r.Method, id, action, body)
	reply(w, json.RawMessage(data), err)
}

// gather asks all other hosts for the same document. silent are those that do not answer.
func gather[T any](ctx context.Context, d *Desk, what string) (answers []T, silent []string) {
	var mu sync.Mutex // guards answers and silent
	var asking sync.WaitGroup
	for _, host := range d.Hosts() {
		if host == d.Own {
			continue
		}
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, hostWait)
			defer cancel()
			var answer T
			err := d.ask(ctx, http.MethodGet, host, what, nil, &answer)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, host)
				return
			}
			answers = append(answers, answer)
		})
	}
	asking.Wait()
	return answers, silent
}

// ask asks another host.
func (d *Desk) ask(ctx context.Context, method, host, what string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+host+Path+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := d.Others.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s has the room, and does not answer: %w", host, err)
	}
	defer response.Body.Close()
	return ReadAnswer(response, answer)
}

// ReadAnswer reads the answer of a desk, or the reason that it gives instead.
func ReadAnswer(response *http.Response, answer any) error {
	data, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var why failure
		if json.Unmarshal(data, &why) != nil || why.Error == "" {
			return fmt.Errorf("the host answers %s", response.Status)
		}
		return errors.New(why.Error)
	}
	return json.Unmarshal(data, answer)
}

func reply(w http.ResponseWriter, document any, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case errors.Is(err, ErrUnknown):
		w.WriteHeader(http.StatusNotFound)
		document = failure{err.Error()}
	case err != nil:
		w.WriteHeader(http.StatusConflict)
		document = failure{err.Error()}
	}
	json.NewEncoder(w).Encode(document) // fails only if the caller is gone
}
