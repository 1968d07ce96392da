package cli

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/term"
)

// sayRouter prints how the router lets friends in.
func (h *hostCommand) sayRouter(line string) {
	if !strings.HasPrefix(line, " ") { // indented lines are for pasting
		line = h.screen.Wrap(line, 0)
	}
	h.screen.Say("%s", line)
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
	answer, ok := c.Ask(ctx, "May Muster ask your router to let friends in, now and whenever you host here? [y/N] ")
	if !ok {
		return false
	}
	h.portMap = declined
	if answer != "" && c.Yes(answer) {
		h.portMap = consented
	}
	where := "port_map in config.toml"
	if h.home != nil {
		where = "“This computer”"
	}
	err := h.settle(map[string]string{"port_map": string(h.portMap)})
	switch {
	case err != nil:
		h.warn(fmt.Errorf("cannot remember that, and will ask again: %w", hint.Reason(err)))
	case h.portMap == consented:
		h.screen.Say("remembered; %s says otherwise, and --port-map=false just once", where)
	default:
		h.screen.Say("remembered: the router is left alone; %s says otherwise, and --port-map just once", where)
	}
	return h.portMap == consented
}

// waysOut says how friends elsewhere get in if the link only works in the local network; otherwise
// it is empty.
func waysOut(at netip.Addr) string {
	if discovery.ReachOf(at) != discovery.NetworkReach {
		return ""
	}
	return fmt.Sprintf(`%v is an address of your own network: friends elsewhere do not get in. Three ways help:
  --port-map         asks your router to let them in
  --at URL           opens the room on a public host
  --public-url URL   if a tunnel or an address of your own leads here`, at)
}
