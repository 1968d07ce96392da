package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/host/wire"
	"muster/selection"
)

// order is what a page asks of a room. Each action reads the fields it needs.
type order struct {
	Name     string         `json:"name"`
	By       selection.Rule `json:"by"`
	LimitsMS []float64      `json:"limits_ms"`
	Addr     netip.AddrPort `json:"addr"`
	Map      string         `json:"map"`
	Ready    bool           `json:"ready"`
	Locked   bool           `json:"locked"`
	Settings *newSettings   `json:"settings"`
	// Stage is what a go was meant for: two people press at once, or one twice.
	Stage wire.Stage `json:"stage"`
	// Secret makes who has a nickname the organiser.
	Secret string `json:"secret"`
}

// newSettings are the organiser's; what is left out stays.
type newSettings struct {
	Game     *string         `json:"game"`
	Map      *string         `json:"map"`
	Mode     *string         `json:"mode"`
	Players  *int            `json:"players"`
	By       *selection.Rule `json:"by"`
	LimitsMS *[]float64      `json:"limits_ms"`
	Agree    *bool           `json:"agree"`
}

// maxOrder bounds an order in bytes.
const maxOrder = 4 << 10

// caller is who gives an order: a guest, the holder of the secret, or nobody.
type caller struct {
	guest     *Guest
	organiser bool
	// credential is what the caller showed.
	credential string
}

// action changes the room for a caller. What it returns, if not nil, is the
// answer's document.
type action func(a *actor, who caller, o order, now time.Time) (any, error)

var (
	errOrganiserOnly = &wire.Refusal{Reason: wire.ReasonSecret, Message: "only the organiser can do this"}
	errNickname      = &wire.Refusal{Reason: wire.ReasonName, Message: "choose a nickname first"}
)

// actionOf finds an action by its name in the URL.
//
//	enter     a nickname for a page: {"name":"ann"} → {"name","token"}; with one,
//	          {"secret"} makes the organiser of it
//	whatif    by another rule: {"by","limits_ms"}; no rule takes it back
//	vote      for one of the first five: {"addr"}; none takes it back
//	veto      a server or a map: {"addr"} or {"map"}
//	ready     {"ready":true}
//	arrived   joined by hand
//	go        the organiser's, as all below: {"stage"} is left out, or the room's
//	apply, settings, handon, remove, trust, lock
func actionOf(name string) (act action, organisers bool) {
	switch name {
	case "enter":
		return enter, false
	case "whatif":
		return suppose, false
	case "vote":
		return byGuest(vote), false
	case "veto":
		return byGuest(veto), false
	case "ready":
		return byGuest(ready), false
	case "arrived":
		return byGuest(arrived), false
	case "go":
		return goOn, true
	case "apply":
		return apply, true
	case "settings":
		return settle, true
	case "handon":
		return handOn, true
	case "remove":
		return remove, true
	case "trust":
		return trust, true
	case "lock":
		return lock, true
	}
	return nil, false
}

// serveAction does what a page asks for: POST /api/rooms/CODE/ACTION with a
// JSON order, as whoever the bearer token says.
func (h *Host) serveAction(w http.ResponseWriter, r *http.Request) {
	a := h.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	act, organisers := actionOf(r.PathValue("action"))
	if act == nil {
		http.NotFound(w, r)
		return
	}
	o, err := readOrder(w, r)
	if err != nil {
		h.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Message: err.Error()})
		return
	}
	credential, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	document, err := a.order(act, organisers, credential, o)
	h.conclude(w, document, err)
}

// readOrder reads the body. It must say that it is JSON: browsers let no
// stranger's page send that.
func readOrder(w http.ResponseWriter, r *http.Request) (order, error) {
	var o order
	if r.ContentLength == 0 {
		return o, nil
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return o, errors.New("an order is application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(body, &o)
}

func (h *Host) conclude(w http.ResponseWriter, document any, err error) {
	var refusal *wire.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == wire.ReasonSecret:
		h.refuse(w, http.StatusForbidden, *refusal)
	case errors.As(err, &refusal):
		h.refuse(w, http.StatusConflict, *refusal)
	case err != nil:
		h.refuse(w, http.StatusConflict, wire.Refusal{Reason: wire.ReasonAction, Message: err.Error()})
	case document == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		answer(w, http.StatusOK, document)
	}
}

// order has the room's goroutine act, and waits for what comes of it.
func (a *actor) order(act action, organisers bool, credential string, o order) (document any, err error) {
	done := make(chan struct{})
	posted := a.post(func() {
		defer close(done)
		who := a.caller(credential)
		if organisers && !who.organiser {
			err = errOrganiserOnly
			return
		}
		document, err = act(a, who, o, time.Now())
		a.publish()
	})
	if !posted {
		return nil, closed(a.code)
	}
	<-done
	return document, err
}

func (a *actor) caller(credential string) caller {
	g := a.room.guestWith(credential)
	return caller{g, a.room.isSecret(credential) || g != nil && g.Organiser, credential}
}

func enter(a *actor, who caller, o order, now time.Time) (any, error) {
	if who.guest != nil {
		if a.room.isSecret(o.Secret) {
			a.room.appoint(who.guest.Name)
		}
		return map[string]string{"name": who.guest.Name, "token": who.guest.Token}, nil
	}
	g, refusal := a.room.Enter(o.Name, who.credential, access.NewSecret(), now)
	if refusal != nil {
		return nil, refusal
	}
	return map[string]string{"name": g.Name, "token": g.Token}, nil
}

// byGuest is an action of somebody with a nickname.
func byGuest(act func(a *actor, g *Guest, o order, now time.Time) error) action {
	return func(a *actor, who caller, o order, now time.Time) (any, error) {
		if who.guest == nil {
			return nil, errNickname
		}
		return nil, act(a, who.guest, o, now)
	}
}

func vote(a *actor, g *Guest, o order, now time.Time) error { return a.room.Vote(g, o.Addr, now) }

func veto(a *actor, g *Guest, o order, now time.Time) error {
	effects, err := a.room.Veto(g, selection.Veto{Server: o.Addr, Map: discovery.CleanText(o.Map)}, now)
	a.perform(effects)
	return err
}

func ready(a *actor, g *Guest, o order, now time.Time) error {
	a.room.Ready(g, o.Ready, now)
	return nil
}

func arrived(a *actor, g *Guest, _ order, _ time.Time) error {
	if a.room.Launch == nil {
		return errNoVote
	}
	g.ByHand = true
	return nil
}

func suppose(a *actor, who caller, o order, _ time.Time) (any, error) {
	name := "the organiser"
	switch {
	case who.guest != nil:
		name = who.guest.Name
	case !who.organiser:
		return nil, errNickname
	}
	if o.By == "" {
		a.room.WhatIf = nil
		return nil, nil
	}
	limits, err := limitsOf(o.LimitsMS)
	if err != nil {
		return nil, err
	}
	return nil, a.room.Suppose(name, o.By, limits)
}

// maxLimits is how many limits are tried one after the other.
const maxLimits = 8

func limitsOf(ms []float64) ([]time.Duration, error) {
	if len(ms) > maxLimits {
		return nil, fmt.Errorf("%d limits", len(ms))
	}
	var limits []time.Duration
	for _, limit := range ms {
		if !(limit > 0) || limit > float64(wire.MaxRTT.Milliseconds()) {
			return nil, fmt.Errorf("a limit of %v ms is none", limit)
		}
		limits = append(limits, time.Duration(limit*float64(time.Millisecond)))
	}
	slices.Sort(limits)
	return limits, nil
}

func goOn(a *actor, _ caller, o order, now time.Time) (any, error) {
	if o.Stage == "" || o.Stage == a.room.Stage {
		a.perform(a.room.Go(now))
	}
	return nil, nil
}

func apply(a *actor, _ caller, _ order, now time.Time) (any, error) {
	effects, err := a.room.Apply(now)
	a.perform(effects)
	return nil, err
}

func settle(a *actor, _ caller, o order, now time.Time) (any, error) {
	if o.Settings == nil {
		return nil, errors.New("no settings")
	}
	return nil, a.room.Change(*o.Settings, a.config.Games, now)
}

func handOn(a *actor, _ caller, o order, now time.Time) (any, error) {
	return nil, a.room.HandOn(o.Name, access.NewSecret(), now)
}

func remove(a *actor, _ caller, o order, now time.Time) (any, error) {
	effects, err := a.room.Remove(o.Name, now)
	a.perform(effects)
	return nil, err
}

func trust(a *actor, _ caller, o order, now time.Time) (any, error) {
	effects, err := a.room.Trust(o.Name, now)
	a.perform(effects)
	return nil, err
}

func lock(a *actor, _ caller, o order, now time.Time) (any, error) {
	a.room.Lock(o.Locked, now)
	return nil, nil
}
