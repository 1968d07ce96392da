package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"muster/discovery/sentence"
	"muster/host/pressure"
	"muster/host/wire"
)

// A gateway is a host whose client wants a room of another host, the owner. The gateway asks the
// owner by HTTP on the client's behalf. A reverse proxy passes requests on. A WebSocket is piped
// once the owner has answered.
//
//	client ══ WebSocket ══ gateway ══ WebSocket, by TLS ══ owner
//
// Owners change. A host without the room says so, and the gateway then looks where the room is by
// now; no owner passes anything on. An admitted client learns that its host has stopped, and comes
// back by itself.

// passedOn passes requests for another host's room on to that host. It reads the body first, so
// that the time of an early answer reveals nothing.
func (h *Host) passedOn(next http.HandlerFunc) http.HandlerFunc {
	if h.config.Relay == nil {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if relayedCallerOf(r) != nil {
			next(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestOrder(h.limits.Load(), r)))
		if err != nil {
			h.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain(err.Error())})
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		code := r.PathValue("code")
		if code == codeInHeader {
			code = r.Header.Get(codeHeader)
		}
		b, came := h.relayedCaller(r), time.Now()
		isRemote, refusal := h.direct(r.Context(), came, &b, code, credentialsOf(r), false)
		switch {
		case refusal != nil:
			w.Header().Set("Retry-After", retryAfter)
			h.refuse(w, http.StatusTooManyRequests, *refusal)
		case isRemote:
			b.Hurried = h.asks.Wait(b.Addr, h.config.Clock.Now()) > 0
			h.pass(w, r, code, b, came, body)
		default:
			next(w, r)
		}
	}
}

// pass passes a request on to the owner of a room. A caller whose guesses are not heard must learn
// nothing from the time that this takes.
func (h *Host) pass(w http.ResponseWriter, r *http.Request, code string, b relayedCaller, came time.Time, body []byte) {
	until := came.Add(ownerWait)
	if b.Unheard {
		until = came.Add(veil)
	}
	ctx, cancel := context.WithDeadline(r.Context(), until)
	defer cancel()
	on, _ := json.Marshal(b)
	proxy := httputil.ReverseProxy{
		Transport: roundTrip(func(out *http.Request) (*http.Response, error) { return h.askOwner(out, code, body) }),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.Host = "http", "relay"
			p.Out.Header.Set(relayedHeader, string(on))
			p.Out.Header.Set(codeHeader, code)
			p.Out.ContentLength = int64(len(body))
		},
		ModifyResponse: func(answer *http.Response) error {
			switch answer.Header.Get(refusedHeader) {
			case wire.ReasonCode:
				h.guard.Judge(b.Addr, false, h.config.Clock.Now())
			case wire.ReasonLimited:
				h.door.pressed.Note(pressure.Codes, b.Addr, h.config.Clock.Now())
				rest(r.Context(), time.Until(came.Add(veil)))
			}
			answer.Header.Del(refusedHeader)
			for name := range answer.Header {
				w.Header().Del(name) // the owner's header replaces ours
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if b.Unheard {
				rest(r.Context(), time.Until(came.Add(veil)))
				w.Header().Set("Retry-After", retryAfter)
				h.refuse(w, http.StatusTooManyRequests, *h.limited())
				return
			}
			if errors.Is(err, errNowhere) {
				h.refuse(w, http.StatusNotFound, *wire.Refuse(wire.ReasonCode, "refused.code-unknown"))
				return
			}
			if errors.Is(err, errUnanswered) {
				h.refuse(w, http.StatusBadGateway, *wire.Refuse(wire.ReasonBusy, "refused.unanswered").
					Advising("refused.unanswered-hint"))
				return
			}
			w.Header().Set("Retry-After", retryAfter)
			h.refuse(w, http.StatusServiceUnavailable, *wire.Refuse(wire.ReasonBusy, "refused.host-stopped-taken").
				Advising("refused.try-soon-hint"))
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// askOwner asks the owner of a room. If that host no longer has it, it asks the next owner. It
// never repeats a request that may have had an effect.
func (h *Host) askOwner(out *http.Request, code string, body []byte) (*http.Response, error) {
	for {
		owner, err := h.owner(out.Context(), code)
		if err != nil {
			return nil, err
		}
		out.URL.Host = owner
		out.Body = io.NopCloser(bytes.NewReader(body))
		answer, err := h.transport.RoundTrip(out)
		var unreached *unreachedError
		switch {
		case err == nil && answer.Header.Get(refusedHeader) != wire.ReasonMoved:
			return answer, nil
		case err == nil:
			answer.Body.Close()
		case out.Method != http.MethodGet && !errors.As(err, &unreached):
			return nil, errUnanswered
		}
		if !rest(out.Context(), lookEvery) {
			return nil, tired(out.Context())
		}
	}
}

// errUnanswered says that it is unknown whether a request had its effect.
var errUnanswered = errors.New("host: the owner has not answered")

// unreachedError says that the request never reached an owner.
type unreachedError struct{ error }

func (h *Host) dialOwner(ctx context.Context, _, at string) (net.Conn, error) {
	owner, _, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, ownerDial)
	defer cancel()
	conn, err := h.config.Relay.Dial(ctx, owner)
	if err != nil {
		return nil, &unreachedError{err}
	}
	return conn, nil
}

// ownerDial is how long an owner may take to accept a connection. By then its lease has ended, and
// another host has the room.
const ownerDial = 3 * time.Second

// ownersKept is how many idle connections to one owner are kept for the next requests.
const ownersKept = 64
