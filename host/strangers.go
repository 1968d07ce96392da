package host

import (
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/openers"
	"muster/host/pressure"
	"muster/host/public"
	"muster/host/wire"
)

// strangers answers requests to open rooms on a public host.
type strangers struct {
	*site
	replies
	asks     *access.Pace // limits requests about rooms, by address
	limits   *atomic.Pointer[public.Limits]
	rooms    *lifecycle
	counting *counting
	posts    bool // the host posts to webhooks
	places   wire.Venues
}

// serveService says which rooms can be opened, for the page and for programs: GET /api/service. With
// ?game=TEXT it has only the games that the text may mean, the nearest first.
func (s *strangers) serveService(w http.ResponseWriter, r *http.Request) {
	p := s.limits.Load()
	service, text := p.Service(), r.URL.Query().Get("game")
	service.Places = len(s.places)
	if text != "" && p.Search != nil {
		if s.isTooMuch(w, s.asks, access.Subscriber(s.asker(r))) {
			return
		}
		service.Games = append([]public.Game{}, p.Search(text)...)
	}
	answer(w, http.StatusOK, service)
}

// personHeader is the header in which a league says for whom it opens a room.
const personHeader = "Muster-For"

// serveOpening opens a room: POST /api/rooms with settings by their names in
// [wire.Table], and servers for an own list.
//
//	{"game":"openarena","by":"mean","limits_ms":[150],"players":4,"servers":["1.2.3.4:27960"]}
//
// A league shows its key as a bearer token. Its rooms count for the league, wherever it opens them, and
// also for the person whom it names by [personHeader].
func (s *strangers) serveOpening(w http.ResponseWriter, r *http.Request) {
	p, from := s.limits.Load(), access.Subscriber(s.asker(r))
	if s.isTooMuch(w, s.asks, from) {
		return
	}
	var league *public.League
	if key := bearer(r); key != "" {
		if league = p.League(key); league == nil {
			s.refuse(w, http.StatusUnauthorized, *wire.Refuse(wire.ReasonSecret, "refused.league-key").
				Advising("refused.league-key-hint"))
			return
		}
	}
	body, err := readOpening(w, r, p.LongestOpening())
	var settings wire.Settings
	if err == nil {
		settings, err = p.Settings(body, from, s.clock.Now())
	}
	if err == nil {
		settings, err = settings.Placed(s.places)
	}
	var refusal *wire.Refusal
	switch {
	case errors.As(err, &refusal):
		why := *refusal
		why.Reason = wire.ReasonMalformed // there is no room yet
		s.refuse(w, http.StatusBadRequest, why)
		return
	case err != nil:
		s.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain(err.Error())})
		return
	}
	if s.rooms.keeper.storeTrouble() != "" {
		s.refuseUnkept(w)
		return
	}
	stays := settings.Every != ""
	counts := []openers.Opening{{From: from, Stays: stays}}
	if league != nil {
		counts = []openers.Opening{{From: league.Addr(), Max: league.Rooms, Stays: stays}}
		if person := r.Header.Get(personHeader); person != "" {
			counts = slices.Insert(counts, 0, openers.Opening{From: league.AddrOf(person), Stays: stays})
		}
		settings.Webhook, settings.League = cmp.Or(settings.Webhook, league.Webhook), league.Name
	}
	if stays && p.Standing.Rooms == 0 {
		s.refuse(w, http.StatusServiceUnavailable, *errNoneStay)
		return
	}
	for _, about := range counts { // before the limit of all rooms is checked
		tooMany := s.counting.ask(r.Context(), about)
		if tooMany == nil {
			continue
		}
		limit := pressure.Rooms
		if tooMany.Wait > 0 {
			limit = pressure.Openings
			w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait.Seconds())+1))
		}
		s.pressed.Note(limit, from, s.clock.Now())
		s.refuse(w, http.StatusTooManyRequests, tooMany.Refusal)
		return
	}
	if _, asleep := s.rooms.standing(); s.rooms.count()-asleep >= p.Rooms {
		w.Header().Set("Retry-After", "60")
		s.refuse(w, http.StatusServiceUnavailable, *wire.Refuse(wire.ReasonFull, "refused.rooms-taken", "n", p.Rooms).
			Advising("refused.rooms-taken-hint", "game", cmp.Or(settings.Game, "--where")))
		return
	}
	if stays {
		done, why := s.rooms.mayStay(p)
		if why != nil {
			s.refuse(w, http.StatusServiceUnavailable, *why)
			return
		}
		defer done()
	}
	if settings.Webhook != "" && !s.posts {
		s.refuse(w, http.StatusBadRequest, *wire.Refuse(wire.ReasonMalformed, "refused.posts").
			Advising("refused.posts-hint"))
		return
	}
	code, _, err := s.rooms.open(counts[0].From, settings)
	if err != nil {
		s.rooms.log.Debug("no room opened", "error", err) // the log already has the store's error
		s.refuseUnkept(w)
		return
	}
	for _, about := range counts {
		about.Code = code
		s.counting.ask(r.Context(), about)
	}
	s.rooms.metrics.Opened.Inc()
	keys, at := s.rooms.keys(code), s.entrance(r)
	w.Header().Set("Location", "/api/rooms/-") // proxies must not log the code
	answer(w, http.StatusCreated, wire.Opened{
		Code: code, Link: at.link(keys), OrganiserLink: at.personal(keys), Go: at.page("go/" + access.PublicID(keys.Link)),
	})
}

// refuseUnkept tells an opener that the host cannot save a new room.
func (s *strangers) refuseUnkept(w http.ResponseWriter) {
	w.Header().Set("Retry-After", retryAfter)
	s.refuse(w, http.StatusServiceUnavailable, *wire.Refuse(wire.ReasonBusy, "refused.unkept").
		Advising("refused.try-soon-hint"))
}

// isJSON reports whether a request declares its body as JSON. Browsers do not let a foreign site's page
// do that.
func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}

func readOpening(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if !isJSON(r) {
		return nil, wire.Refuse(wire.ReasonMalformed, "refused.opening-json").
			Advising("refused.opening-json-hint", "example", `{"game":"openarena","players":4}`)
	}
	body, err := readBody(w, r, most)
	if _, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, wire.Refuse(wire.ReasonMalformed, "refused.opening-long", "n", int(most)).
			Advising("refused.opening-long-hint")
	}
	return body, err
}

// readBody reads a body, which may be compressed. most bounds it before and after decompression.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, most))
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		packed, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = packed
	default:
		return nil, wire.Refuse(wire.ReasonMalformed, "refused.encoding", "encoding", encoding)
	}
	text, err := io.ReadAll(io.LimitReader(body, most+1))
	if err == nil && int64(len(text)) > most {
		err = &http.MaxBytesError{Limit: most}
	}
	return text, err
}
