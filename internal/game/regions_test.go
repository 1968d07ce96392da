package game

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/discovery/hostport"
	"muster/discovery/lists/master"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// ownRegions is a user's entry with regions.
const ownRegions = `[game.arena]
name = "Arena"
[game.arena.regions]
how = "Press F8 and choose {set}"
list = [
  { name = "Frankfurt", set = "EU 1", country = "DE", measure = "one.example.org:443" },
  { name = "Lima", measure = "two.example.org:80" },
]
`

// TestRegionsTable checks what a user's entry with regions means, and that mistakes in it have a line.
func TestRegionsTable(t *testing.T) {
	g := find(t, load(t, ownRegions), "arena")
	if g.ProtocolName != "tcp" || g.Port != 443 || !slices.Equal(g.Kinds(), []string{"regions"}) || len(g.Regions.List) != 2 {
		t.Errorf("%+v", g)
	}
	for _, c := range []struct{ from, to, want string }{
		{"how = ", "hau = ", `games.toml:4: unknown key "game.arena.regions.hau"`},
		{"set = \"EU 1\"", "sett = \"EU 1\"", `games.toml:6: unknown key "game.arena.regions.sett": did you mean set?`},
		{"set = \"EU 1\"", "press = \"EU 1\"", `games.toml:6: unknown key "game.arena.regions.press"; regions has how, dump, command, list; a region has name, set, country, measure, code`},
		{"\"Lima\"", "\"frankfurt\"", `games.toml:5: game "arena": regions: region 2: another region has the same name frankfurt`},
		{"two.example.org:80", "two.example.org", `games.toml:5: game "arena": regions: region 2: a region has a measure`},
		{"how = \"Press F8 and choose {set}\"", "", "games.toml:3: game \"arena\": regions: how is missing"},
		{"name = \"Arena\"", "protocol = \"a2s\"", "games.toml:2: game \"arena\": a game of regions has no lists"},
	} {
		_, err := Load(strings.NewReader(strings.Replace(ownRegions, c.from, c.to, 1)), "games.toml")
		if _, is := errors.AsType[*FileError](err); !is || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.to, err, c.want)
		}
	}
	text, err := load(t, ownRegions).Entry("arena")
	if err != nil || !strings.Contains(text, "two.example.org") {
		t.Errorf("the entry reads %q, %v", text, err)
	}
}

// TestRegionsList checks that the regions are a list of servers that have names and no seats.
func TestRegionsList(t *testing.T) {
	g := find(t, load(t, ownRegions), "arena")
	sources, err := g.Sources(User{})
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]string{"one.example.org": "192.0.2.1", "two.example.org": "192.0.2.2"}
	client := master.Client{Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr(hosts[host])}, nil
	}}
	listing, err := client.Fetch(t.Context(), sources...)
	if err != nil || len(listing.Servers) != 2 || listing.Said.At.IsZero() {
		t.Fatalf("%+v, %v", listing, err)
	}
	for at, want := range map[string]string{"one.example.org:443": "Frankfurt", "two.example.org:80": "Lima"} {
		key, err := hostport.Parse(at)
		info := listing.Said.Infos[key]
		if err != nil || info == nil || info.Name != want || !info.Uncounted() || !info.AsListed {
			t.Errorf("%s is %+v", at, info)
		}
	}
	if listing.Servers[0].Country != "DE" {
		t.Errorf("%+v", listing.Servers[0])
	}
}

// TestRegionsMeasuredByTheGame checks that a region without an endpoint is listed at its key.
func TestRegionsMeasuredByTheGame(t *testing.T) {
	g := find(t, load(t, `[game.arena.regions]
how = "Choose {set}"
dump = "sdr"
command = "dump"
list = [{ name = "Frankfurt", code = "fra" }, { name = "Lima", code = "lim" }]
`), "arena")
	sources, err := g.Sources(User{})
	if err != nil {
		t.Fatal(err)
	}
	listing, err := master.Client{}.Fetch(t.Context(), sources...)
	if err != nil || len(listing.Servers) != 2 {
		t.Fatalf("%+v, %v", listing, err)
	}
	for i, s := range listing.Servers {
		if r := g.Regions.List[i]; s.Addr != r.Key() || listing.Said.Infos[s.Addr].Name != r.Name {
			t.Errorf("%v is %+v", s, listing.Said.Infos[s.Addr])
		}
	}
}

// TestRegionsLaunch checks that the launch of a region tells the player what to set, and no address.
func TestRegionsLaunch(t *testing.T) {
	for _, c := range []struct{ game, name, want string }{
		{"arena", "Frankfurt (192.0.2.1:443)", "everyone to the region Frankfurt. Press F8 and choose EU 1\n"},
		{"siege", "West Europe (192.0.2.1:443)", "everyone to the region West Europe. Before you start the game, write " +
			"DataCenterHint=playfab/westeurope into GameSettings.ini"},
	} {
		console, out := testConsole()
		l := &Launcher{Starts: StartAsk, Games: load(t, ownRegions), Console: console}
		var states []wire.LaunchState
		l.Launch(t.Context(), wire.Launch{Game: c.game, Name: c.name, Address: "192.0.2.1:443"}, sentence.Sentence{},
			func(s wire.LaunchState, _ sentence.Sentence) { states = append(states, s) })
		if !slices.Equal(states, []wire.LaunchState{wire.LaunchByHand}) || !strings.Contains(out.String(), c.want) ||
			strings.Contains(out.String(), "192.0.2.1") {
			t.Errorf("%v:\n%s", states, out)
		}
		if err := l.Ready(t.Context(), c.game); err != nil {
			t.Errorf("it is not ready: %v", err)
		}
	}
}

// TestRegionsWay checks that pages get the region to set, and no link.
func TestRegionsWay(t *testing.T) {
	table := load(t, ownRegions)
	way := table.Join("arena", wire.Way{Connect: "192.0.2.2:80", Server: "Lima (192.0.2.2:80)"})
	if way.Region == nil || *way.Region != (wire.Region{Name: "Lima", Set: "Lima", How: sentence.Plain("Press F8 and choose Lima")}) ||
		way.Server != "Lima" || way.Link != "" {
		t.Errorf("%+v", way)
	}
	if way = table.Join("cs2", wire.Way{Connect: "192.0.2.2:80", Server: "Lima (192.0.2.2:80)"}); way.Region != nil || way.Link == "" {
		t.Errorf("%+v", way)
	}
}

// TestRegionsSayHow checks that the catalogue says how players set the regions of each built-in game.
func TestRegionsSayHow(t *testing.T) {
	for _, g := range load(t, "").All() {
		if g.Regions.IsZero() {
			continue
		}
		if how := catalogue.InEnglish().Say(g.howTo("SET")); !strings.HasPrefix(g.Regions.How, "region.") || !strings.Contains(how, "SET") {
			t.Errorf("%s: %q says %q", g.ID, g.Regions.How, how)
		}
		if len(g.References) == 0 || len(g.Unsure) == 0 {
			t.Errorf("%s does not say where its regions come from, and what is unsure", g.ID)
		}
	}
}
