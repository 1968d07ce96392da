package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/lobby"
	"muster/internal/venue"
)

// onlyHere lists the flags of muster host that make no sense for a room on a public host, and why.
var onlyHere = []struct{ flag, why string }{
	{"listen", "nobody connects to this machine"},
	{"tls", "the public host encrypts"},
	{"tls-cert", "the public host has a certificate of its own"},
	{"tls-key", "the public host has a certificate of its own"},
	{"port-map", "nobody connects to this machine"},
	{"public-url", "the public host has an address of its own"},
	{"host-name", "the public host has names of its own"},
	{"trusted-proxy", "the public host knows its own"},
	{"metrics-from", "the public host counts"},
	{"no-mdns", "such a room is not announced on the local network"},
	{"announce", "nobody announces such a room on the local network"},
	{"open", "every room on a public host has a code"},
	{"country-db", "the public host looks up where servers are"},
	{"as-db", "the public host looks up where servers are"},
	{"geo-overrides", "the public host looks up where servers are"},
}

// runAt opens the room on a public host, and steers it there.
func (h *hostCommand) runAt(ctx context.Context) error {
	for _, f := range onlyHere {
		if !h.given(f.flag) {
			continue
		}
		if h.given("at") {
			return hint.With(usagef("--%s makes no sense with --at: %s", f.flag, f.why), "leave out one of the two")
		}
		return hint.With(usagef("--%s makes no sense for a room on %s: %s", f.flag, h.at, f.why),
			"add --here to open the room on this machine")
	}
	base, err := publicHost(h.at)
	if err != nil {
		return err
	}
	g, err := h.checkRoom()
	if err != nil {
		return err
	}
	if err := h.load(func() netip.Addr { return netip.Addr{} }); err != nil {
		return err
	}
	if base.Scheme == "http" && !lobby.IsNear(base.Host) {
		h.warn(hint.Say("term.at-unencrypted", "host", base))
	}
	h.settings.Places = h.roomPlaces()
	client, supply := lobby.NewClient(base, nil), lobby.NewSupply(&h.lists, base.Host, h.warn)
	opening := &lobby.Opening{
		Desk: h.sits, Client: client, Base: base, Game: g, Settings: h.settings, Patch: h.patch(),
		Supply: supply, Named: h.given("room"), Fresh: h.fresh,
	}
	link, brings, err := opening.Room(ctx)
	if err != nil {
		return lobby.ExplainAt(err, base)
	}
	friends := link
	friends.Secret = ""
	known := h.settings
	if known.Seeks != "" && len(known.Places) == 0 {
		known.Places = venue.Builtin() // the host has chosen from its own, which are mostly these
	}
	organiser := h.organiser(link, friends, func() wire.Settings { return known })
	organiser.At, organiser.Client = base.String(), client
	if brings {
		organiser.Supply = supply
	}
	_, stop := organiser.Begin(ctx)
	defer stop()
	organiser.Greet(ctx)
	return lobby.ExplainAt(organiser.Run(ctx), base)
}

// publicHost parses the address of a public host. Without a scheme, such as muster.example, it is
// https.
func publicHost(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	base, err := invite.ParseBase(text)
	if err != nil {
		return nil, hint.With(usagef("--at: %w", err), "scheme and host are wanted, such as https://muster.example")
	}
	return base, nil
}

// patch returns the settings from the command line that a room can change.
func (h *hostCommand) patch() map[string]json.RawMessage {
	patch := map[string]json.RawMessage{}
	for _, row := range wire.Table() {
		flag := row.Flag
		if row.Key == placesFlag {
			flag = placesFlag
		}
		if flag == "" || !wire.OnPage(row) || !h.given(flag) {
			continue
		}
		value, err := json.Marshal(row.Of(&h.settings))
		if err != nil {
			panic(fmt.Sprintf("cli: setting %s: %v", row.Key, err)) // texts, numbers and truth values
		}
		patch[row.Key] = value
	}
	return patch
}
