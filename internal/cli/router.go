package cli

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/hint"
	"muster/internal/term"
)

// sayRouter prints how the router lets friends in.
func (h *hostCommand) sayRouter(how sentence.Sentence) {
	for line := range strings.SplitSeq(h.screen.Language.Say(how), "\n") {
		if !strings.HasPrefix(line, " ") { // indented lines are for pasting
			line = h.screen.Wrap(line, 0)
		}
		h.screen.Say("%s", line)
	}
}

// offerRouter asks once whether the router may be asked to let friends in, and remembers the
// answer. After a yes it calls ask. If nobody can answer, it asks nothing and leaves the router
// alone. stop undoes everything.
func (h *hostCommand) offerRouter(ctx context.Context, c *term.Console, ask func() (stop func())) (stop func()) {
	canAnswer := h.home != nil || term.IsTerminal(h.in) && h.screen.IsTerminal && !h.lists.HasStdin()
	if h.portMap != notAsked || !canAnswer {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	takeBack := func() {}
	offer := func() {
		if h.mayAskRouter(ctx, c) {
			takeBack = ask()
		}
	}
	var asking sync.WaitGroup
	if h.home != nil {
		asking.Go(offer) // the room's page does not wait for it
	} else {
		offer()
	}
	return func() { cancel(); asking.Wait(); takeBack() }
}

// mayAskRouter asks the user, and remembers the answer.
func (h *hostCommand) mayAskRouter(ctx context.Context, c *term.Console) bool {
	answer, ok := c.Ask(ctx, h.screen.Words("term.may-ask-router")+" ")
	if !ok {
		return false
	}
	h.portMap = declined
	if answer != "" && c.Yes(answer) {
		h.portMap = consented
	}
	where := sentence.Plain("port_map in config.toml")
	if h.home != nil {
		where = sentence.Of("term.this-computer")
	}
	err := h.settle(map[string]string{"port_map": string(h.portMap)})
	switch {
	case err != nil:
		h.warn(hint.Say("term.not-remembered", "why", hint.Reason(err)))
	case h.portMap == consented:
		h.screen.Tell("term.router-asked", "where", where, "flag", "--port-map=false")
	default:
		h.screen.Tell("term.router-left", "where", where, "flag", "--port-map")
	}
	return h.portMap == consented
}

// waysOut says how friends elsewhere get in if the link only works in the local network; otherwise
// it says nothing.
func waysOut(at netip.Addr) sentence.Sentence {
	if discovery.ReachOf(at) != discovery.NetworkReach {
		return sentence.Sentence{}
	}
	return sentence.Of("term.ways-in", "address", at, "router", "--port-map", "at", "--at URL", "public", "--public-url URL")
}
