package lobby

import (
	"context"
	"net/netip"
	"sync"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/hint"
	"muster/internal/term"
)

// OfferRouter asks the organiser whether the router may be asked to let friends in, and remembers the answer. After a yes
// it calls ask. If nobody can answer, it asks nothing and leaves the router alone. stop undoes everything.
func (d *Desk) OfferRouter(ctx context.Context, c *term.Console, remember func(yes bool) error, ask func() (stop func())) (stop func()) {
	if !d.hasPerson() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	takeBack := func() {}
	offer := func() {
		if d.mayAskRouter(ctx, c, remember) {
			takeBack = ask()
		}
	}
	var asking sync.WaitGroup
	if d.Page != nil {
		asking.Go(offer) // the room's page does not wait for it
	} else {
		offer()
	}
	return func() { cancel(); asking.Wait(); takeBack() }
}

// mayAskRouter asks the organiser, and remembers the answer.
func (d *Desk) mayAskRouter(ctx context.Context, c *term.Console, remember func(yes bool) error) bool {
	answer, ok := c.Ask(ctx, d.Screen.Words("term.may-ask-router")+" ")
	if !ok {
		return false
	}
	yes, where := answer != "" && c.Yes(answer), sentence.Plain("port_map in config.toml")
	if d.Page != nil {
		where = sentence.Of("term.this-computer")
	}
	switch err := remember(yes); {
	case err != nil:
		d.Warn(hint.Say("term.not-remembered", "why", hint.Reason(err)))
	case yes:
		d.Screen.Tell("term.router-asked", "where", where, "flag", "--port-map=false")
	default:
		d.Screen.Tell("term.router-left", "where", where, "flag", "--port-map")
	}
	return yes
}

// WaysOut says how friends elsewhere get in if the link only works in the local network; otherwise it says nothing.
func WaysOut(at netip.Addr) sentence.Sentence {
	if discovery.ReachOf(at) != discovery.NetworkReach {
		return sentence.Sentence{}
	}
	return sentence.Of("term.ways-in", "address", at, "router", "--port-map", "at", "--at URL", "public", "--public-url URL")
}
