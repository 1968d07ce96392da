package selection_test

import (
	"net/netip"
	"testing"

	"muster/discovery"
	"muster/selection"
)

// TestCullByWhatTheListSays checks that the list's facts count where a server does not tell its
// own. They leave out a server that nobody has asked, unless the list is dated, and take in none,
// because it will be asked.
func TestCullByWhatTheListSays(t *testing.T) {
	full, free, uncounted := &discovery.Info{Players: 16, MaxPlayers: 16}, &discovery.Info{Players: 2, MaxPlayers: 16}, &discovery.Info{}
	seats, onMap := selection.Criteria{Seats: 4}, selection.Criteria{Wishes: selection.Wishes{Map: "tokara"}}
	for _, c := range []struct {
		name          string
		heard, listed *discovery.Info
		dated         bool
		criteria      selection.Criteria
		want          selection.Cause
		// barred servers are never asked. unknown servers must be asked.
		barred, unknown bool
	}{
		{name: "said to be full", listed: full, criteria: seats, want: selection.Full, barred: true},
		{name: "said to be full long ago", listed: full, dated: true, criteria: seats, want: selection.Unknown, unknown: true},
		{name: "said to be free", listed: free, criteria: seats, want: selection.Unknown, unknown: true},
		{name: "said to have players, and no seats", listed: &discovery.Info{Players: 5}, criteria: seats, want: selection.Unknown, unknown: true},
		{name: "more players than seats", listed: &discovery.Info{Players: 17, MaxPlayers: 16}, criteria: seats, want: selection.Full, barred: true},
		{name: "said to be full, heard to be free", heard: free, listed: full, criteria: seats, want: survives},
		{name: "said to be free, heard to be full", heard: full, listed: free, criteria: seats, want: selection.Full, barred: true},
		{name: "it counts nobody, the list does", heard: uncounted, listed: full, criteria: seats, want: selection.Full, barred: true},
		{name: "it counts nobody, the list did", heard: uncounted, listed: full, dated: true, criteria: seats, want: survives},
		{name: "it counts nobody, the list says free", heard: uncounted, listed: free, criteria: seats, want: survives},
		{name: "another map", listed: &discovery.Info{Map: "flux2"}, criteria: onMap, want: selection.Filtered, barred: true},
		{name: "a list without maps", listed: &discovery.Info{Name: "One"}, criteria: onMap, want: selection.Unknown, unknown: true},
		{name: "it tells no map, the list does", heard: free, listed: &discovery.Info{Map: "Tokara"}, criteria: onMap, want: survives},
		{name: "it tells no map, the list did", heard: free, listed: &discovery.Info{Map: "Tokara"}, dated: true, criteria: onMap, want: survives},
		{name: "it tells no map, the list another", heard: free, listed: &discovery.Info{Map: "flux2"}, criteria: onMap,
			want: selection.Filtered, barred: true},
		{name: "with a password", listed: &discovery.Info{Password: true}, criteria: wish(selection.Wishes{NoPassword: true}),
			want: selection.Passworded, barred: true},
		{name: "another version", listed: &discovery.Info{Version: "1"}, criteria: wish(selection.Wishes{Version: "2"}),
			want: selection.WrongVersion, barred: true},
		{name: "vetoed map", listed: &discovery.Info{Map: "flux2"}, criteria: selection.Criteria{Vetoes: []selection.Veto{{Player: "bob", Map: "flux2"}}},
			want: selection.Vetoed, barred: true},
		{name: "nobody asks for anything", listed: full, want: survives},
	} {
		servers, table := oneServer(serverA, c.heard)
		if c.heard == nil {
			delete(servers.Infos, 0)
		}
		listed := *c.listed
		listed.AsListed = true
		servers.Said.Infos = map[netip.AddrPort]*discovery.Info{servers.List[0].Addr: &listed}
		servers.Dated = c.dated
		got := selection.Select(servers, table, c.criteria)
		if c.want == survives && got.Chosen == nil || c.want != survives && (len(got.Reasons) != 1 || got.Reasons[0].Cause != c.want) {
			t.Errorf("%s: %+v, want %v", c.name, got.Reasons, c.want)
		}
		if barred, unknown := selection.NewFilter(servers, c.criteria).Bars(0); barred != c.barred || unknown != c.unknown {
			t.Errorf("%s: barred %v, unknown %v; want %v and %v", c.name, barred, unknown, c.barred, c.unknown)
		}
		// A fact in a server's favour counts even if only one of several players heard it. The
		// list's facts do not become a player's lone word.
		if servers.Lone = map[int]bool{0: true}; c.heard != nil && c.want != selection.Filtered {
			barred, unknown := selection.NewFilter(servers, c.criteria).Bars(0)
			if c.heard == full && (barred || !unknown) || c.heard != full && barred != c.barred {
				t.Errorf("%s, by one of several: barred %v, unknown %v", c.name, barred, unknown)
			}
		}
	}
}

// TestUnaskedAsListed checks that a server nobody has asked counts under the list's cause, not as
// unmeasured by the players: measuring it would not be enough.
func TestUnaskedAsListed(t *testing.T) {
	servers, table := tableOf(annAndBob, nil, serverA)
	servers.Said.Infos = map[netip.AddrPort]*discovery.Info{servers.List[0].Addr: {Players: 16, MaxPlayers: 16, AsListed: true}}
	got := selection.Select(servers, table, selection.Criteria{Seats: 2})
	if got.Culled.Full != 1 || got.Culled.Unmeasured != 0 || got.Why == nil || len(got.Why.Relax) > 0 {
		t.Errorf("%+v, %+v", got.Culled, got.Why)
	}
	servers.Dated = true
	if got = selection.Select(servers, table, selection.Criteria{Seats: 2}); got.Culled.Unmeasured != 1 {
		t.Errorf("by an old list: %+v", got.Culled)
	}
}
