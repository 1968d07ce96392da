package cli

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/home"
	"muster/internal/input"
	"muster/internal/listing"
	"muster/internal/venue"
	"muster/selection"
)

// doRequest runs the command for a request of Home's page. The command goes by config.toml where the
// request says nothing. isQuiet says that a room is not announced on the local network.
func (p *program) doRequest(ctx context.Context, request home.Request, isQuiet bool) error {
	switch r := request.(type) {
	case home.Find:
		d := &discover{program: p}
		if err := p.grant(newDiscover(d)); err != nil {
			return err
		}
		d.game, d.top, d.watch = r.Game, 1, r.Watches
		if r.All {
			d.options.AutoStop = discovery.StopOff
		}
		if r.Goes {
			d.connect = 1
		}
		useList(&d.sources, r.Servers)
		return d.run(ctx)
	case home.Join:
		j := &join{program: p}
		err := p.grant(newJoin(j))
		if err == nil {
			err = j.take(r.Self)
		}
		if err != nil {
			return err
		}
		j.code = r.Code
		return j.enter(ctx, []string{r.Link})
	case home.Open:
		return p.openRoom(ctx, r, isQuiet)
	case home.Beacon:
		b := &beaconCommand{program: p}
		if err := p.grant(newBeacon(b)); err != nil {
			return err
		}
		if b.name = r.Name; r.Port > 0 {
			b.listen = ":" + strconv.Itoa(r.Port)
		}
		if r.PortMap != nil {
			b.portMap = consent(strconv.FormatBool(*r.PortMap))
		}
		return b.run(ctx)
	}
	return errors.New("cli: a request that no command takes")
}

// useList makes a command read the user's own list, if that has a server.
func useList(sources *listing.Sources, list string) {
	if strings.TrimSpace(list) != "" {
		sources.In, sources.Files = strings.NewReader(list+"\n"), []string{input.Standard}
	}
}

// openRoom opens a room as muster host does. What the request sets counts as given on the command line.
func (p *program) openRoom(ctx context.Context, r home.Open, isQuiet bool) error {
	h := &hostCommand{program: p, sits: p.desk()}
	cmd := newHost(h)
	err := p.grant(cmd)
	if err == nil {
		err = h.take(r.Self)
	}
	h.fresh, h.noMDNS = !r.Again, isQuiet
	if h.at = r.At; h.at != "" {
		give(cmd, "at")
	} else {
		h.here, h.listen = true, r.Listen
		give(cmd, "here", "listen")
	}
	var servers string
	if err == nil {
		servers, err = h.takeRoom(ctx, cmd, r.Room)
	}
	if err != nil {
		return err
	}
	useList(&h.lists.Sources, servers)
	return h.run(ctx)
}

// give notes that flags are given.
func give(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		cmd.Flags().Lookup(flag).Changed = true
	}
}

// takeRoom takes a room's settings by their keys. It returns the user's own list of servers.
func (h *hostCommand) takeRoom(ctx context.Context, cmd *cobra.Command, room map[string]json.RawMessage) (servers string, err error) {
	var lines []string
	if list, is := room["servers"]; is {
		if err := json.Unmarshal(list, &lines); err != nil {
			return "", wire.Refuse(wire.ReasonMalformed, "refused.servers-list", "example", `["192.0.2.1:27960"]`)
		}
	}
	rest := maps.Clone(room)
	delete(rest, "servers")
	if cmd.Flags().Changed("at") { // a form may have them from the last room, which was here
		delete(rest, "open")
		delete(rest, wire.AnnounceKey)
	}
	var places string
	if json.Unmarshal(room[placesFlag], &places) == nil && strings.TrimSpace(places) != "" {
		if h.settings.Places, err = venue.Read(ctx, input.Standard, strings.NewReader(places)); err != nil {
			return "", err
		}
		delete(rest, placesFlag)
		give(cmd, placesFlag)
	}
	patch, err := json.Marshal(rest)
	if err != nil {
		return "", err
	}
	json.Unmarshal(room["game"], &h.game) // a value that is not a text names no game
	var seeks string
	json.Unmarshal(room["seeks"], &seeks) // the settings refuse what is no text
	h.settings.By = selection.Mean
	if h.game != "" || seeks != wire.SeekPlace {
		g, err := h.findGame(h.game)
		if err != nil {
			return "", err
		}
		h.settings.By = g.Rule
	}
	h.settings, err = h.settings.Patched(patch, func(row wire.Setting) bool { return row.Key == "open" || wire.IsOpen(row) })
	for _, row := range wire.Table() {
		if _, is := rest[row.Key]; is && row.Flag != "" {
			give(cmd, row.Flag)
		}
	}
	return strings.Join(lines, "\n"), err
}
