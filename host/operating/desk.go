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
	"slices"
	"strings"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/pressure"
	"muster/internal/clock"
)

// Path begins the paths of requests between hosts.
const Path = "/operate/"

const (
	// maxBody is the longest request, and maxAnswer the longest answer of another host, in bytes:
	// a row is some 200.
	maxBody, maxAnswer = 1 << 10, 1 << 25
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
	// Clock is the host's.
	Clock clock.Clock

	wrong     sync.Once
	wrongPace *access.Pace
}

// Listing is the list of rooms. Limits is the list of networks that ran into limits.
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
	for pattern, what := range map[string]string{
		"GET /rooms": "list", "GET /limits": "limits", "GET /rooms/{id}": "explain", "POST /rooms/{id}/close": "close",
		"POST /rooms/{id}/move": "move",
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { d.answer(w, r, who, what) })
	}
	mux.ServeHTTP(w, r)
}

// answer does what an operator asks, and logs it.
func (d *Desk) answer(w http.ResponseWriter, r *http.Request, who, what string) {
	id := r.PathValue("id")
	o, err := orderIn(r)
	var document any
	if err == nil {
		document, err = d.do(r.Context(), what, id, o)
	}
	facts := []any{"audit", true, "who", who, "what", what}
	if id != "" {
		facts = append(facts, "room", plainID(id))
	}
	if detail := plainID(o.Reason + o.To); detail != "" {
		facts = append(facts, "detail", detail)
	}
	outcome := "done"
	if err != nil {
		outcome = err.Error()
	}
	d.Log.Log(r.Context(), Audit, "operator", append(facts, "outcome", outcome)...)
	reply(w, document, err)
}

// orderIn reads the order in a request, which may have none.
func orderIn(r *http.Request) (o Order, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &o)
	}
	if err != nil {
		err = errors.New("the request is no JSON object")
	}
	return o, err
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
	if d.wrongPace.Wait(netip.Addr{}, d.Clock.Now()) > 0 {
		http.Error(w, `{"error":"too many wrong keys"}`, http.StatusTooManyRequests)
		return "", false
	}
	d.Log.Log(r.Context(), Audit, "operator", "audit", true, "who", "", "what", "show a key", "outcome", "wrong key")
	w.WriteHeader(http.StatusUnauthorized)
	json.NewEncoder(w).Encode(failure{"the key is none of this host's: its file of keys has a line NAME KEY for each"})
	return "", false
}

// do does what an operator asks of all hosts, or of the one that has a room.
func (d *Desk) do(ctx context.Context, what, id string, o Order) (document any, err error) {
	switch what {
	case "list":
		return d.list(ctx), nil
	case "limits":
		return d.limits(ctx), nil
	}
	if id != plainID(id) {
		return nil, ErrUnknown
	}
	host, err := d.Rooms.Where(id)
	switch {
	case err != nil:
		return nil, err
	case host == d.Own || host == "":
		return d.act(ctx, what, id, o)
	}
	var answer json.RawMessage
	err = d.ask(ctx, host, what+"/"+id, o, &answer)
	return answer, err
}

func (d *Desk) list(ctx context.Context) Listing {
	all := Listing{Format: "muster.rooms/1", Rooms: []Room{}}
	others, silent := gather[[]Room](ctx, d, "list")
	all.Rooms = slices.Concat(all.Rooms, d.Rooms.List(), slices.Concat(others...))
	all.Silent = silent
	Sort(all.Rooms)
	return all
}

// limits lists the networks that ran into limits of any host.
func (d *Desk) limits(ctx context.Context) Limits {
	others, silent := gather[[]pressure.Row](ctx, d, "limits")
	rows := pressure.Merge(slices.Concat(d.Rooms.Limits(), slices.Concat(others...)))
	return Limits{Format: "muster.limits/1", Networks: append([]pressure.Row{}, rows...), Silent: silent}
}

// signs matches what is taken out of a text before it is logged.
var signs = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// plainID returns the part of a text that may stand in the log.
func plainID(text string) string { return signs.ReplaceAllString(text[:min(idLength, len(text))], "") }

// act does what is asked of this host.
func (d *Desk) act(ctx context.Context, what, id string, o Order) (document any, err error) {
	switch what {
	case "list":
		return d.Rooms.List(), nil
	case "limits":
		return d.Rooms.Limits(), nil
	case "explain":
		explanation, err := d.Rooms.Explain(id)
		return Explained{"muster.room-explained/1", explanation}, err
	case "close":
		if Closing(o.Reason) == nil {
			return nil, ErrReason
		}
		return Done{"closed"}, d.Rooms.Close(ctx, id, o.Reason)
	case "move":
		return Done{"moved to " + plainID(o.To)}, d.Rooms.Move(ctx, id, o.To)
	}
	return nil, ErrUnknown
}

// Inside answers the other hosts, at paths such as [Path] + "close/ID".
func (d *Desk) Inside(w http.ResponseWriter, r *http.Request) {
	what, id, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	o, err := orderIn(r)
	if err != nil {
		reply(w, nil, err)
		return
	}
	document, err := d.act(r.Context(), what, id, o)
	reply(w, document, err)
}

// gather asks all other hosts for the same document. silent are the hosts that do not answer.
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
			err := d.ask(ctx, host, what, Order{}, &answer)
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

func (d *Desk) ask(ctx context.Context, host, what string, o Order, answer any) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+Path+what, bytes.NewReader(body))
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
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
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
