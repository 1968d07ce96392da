package page_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
	"muster/selection"
)

var update = flag.Bool("update", false, "write the golden files anew")

// playedRoom returns a room with ann and bob as players, and zoe with a page. The people of zoe's
// choice have just been sent to one of six servers.
func playedRoom(t *testing.T) *room.Room {
	t.Helper()
	n := roomtest.New(t, wire.Settings{
		Name: "Friday", Game: "openarena", By: selection.Mean, Players: 2, Strategy: "conventional", Agree: wire.Yes, GuestsVote: true,
		Limits: wire.Limits{150 * time.Millisecond}, Password: "club",
	})
	n.EntersFrom("zoe", "", netip.Addr{})
	n.Step(room.PageOpened{Token: "zoe's token"})
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "bob")
	list, infos := roomtest.ListOf(6), wire.Infos{Round: 1}
	for i := range list {
		list[i].Country = "DE"
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: i,
			Info:   discovery.Info{Name: "<b>six</b>", Map: "oa_dm1", Players: 4, MaxPlayers: 16},
		})
	}
	n.Gets(list)
	n.Says("ann", infos)
	n.Says("bob", infos)
	n.Measures("ann", 10, 20, 30, 40, 50, 60)
	n.Measures("bob", 20, 30, 40, 50, 60, 70)
	n.Done("ann", "bob")
	for _, name := range []string{"ann", "bob"} {
		n.Says(name, wire.Verified{Round: 1, Attempt: 1})
	}
	n.OnPage("zoe", room.Vote{Addr: hostport.At(roomtest.AddrOf(1))})
	n.OnPage("zoe", room.Ready{Ready: true})
	n.Wait((6 + 5) * time.Second) // the reveal, and the countdown
	n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchStarted})
	return n.Room
}

// pagesOf returns the credentials of a room's pages: those of people, by name, the organiser's, and a
// stranger's.
func pagesOf(n *roomtest.Session) map[string]string {
	pages := map[string]string{"organiser": n.Room.Keys().Secret, "stranger": ""}
	for _, name := range n.Guests() {
		pages[name] = name + "'s token"
	}
	for name := range n.Welcomes {
		pages[name] = n.PageOf(name)
	}
	return pages
}

func object(v *page.View, edition int) []byte {
	return append(v.AppendSince([]byte(`{"type":"state"`), edition), '}')
}

// TestNameOfGame checks that people read the name of the room's game, even if the host has no
// servers of it or does not know it.
func TestNameOfGame(t *testing.T) {
	listed := []wire.Game{{ID: "xonotic", Name: "Xonotic"}}
	name := func(game string) string { return map[string]string{"cs2": "Counter-Strike 2", "xonotic": "?"}[game] }
	for _, c := range []struct {
		settings wire.Settings
		want     []wire.Game
	}{
		{wire.Settings{Game: "xonotic"}, listed},
		{wire.Settings{Game: "cs2"}, []wire.Game{{ID: "cs2", Name: "Counter-Strike 2"}, listed[0]}},
		{wire.Settings{Game: "nobody-knows"}, listed},
		{wire.Settings{Game: "mine", OwnGame: &wire.OwnGame{ID: "mine", Name: "My Game"}}, []wire.Game{{ID: "mine", Name: "My Game"}, listed[0]}},
	} {
		r := room.New(room.Keys{Code: "BAKODI"}, c.settings, time.Unix(1_800_000_000, 0))
		v, err := (&page.View{}).Next(r, page.Host{Games: listed, Name: name})
		if err != nil || !slices.Equal(v.Snapshot.Games, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.settings.Game, v.Snapshot.Games, err, c.want)
		}
	}
}

// TestState compares the state that pages get with testdata/state.json.
func TestState(t *testing.T) {
	join := func(_ string, way wire.Way) wire.Way {
		way.Link = "steam://connect/" + way.Connect
		return way
	}
	v, err := (&page.View{}).Next(playedRoom(t), page.Host{Games: []wire.Game{{ID: "openarena", Name: "OpenArena"}}, Join: join})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, object(v, 0), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	const file = "testdata/state.json"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the state differs from %s; go test ./host/page -run State -update shows how:\n%s", file, got.String())
	}
	for _, private := range []string{"token", "secret", "club"} {
		if bytes.Contains(got.Bytes(), []byte(private)) {
			t.Errorf("readers are told %q", private)
		}
	}
	if badge := v.Badges[room.DigestOf("zoe's token")]; badge.Name != "zoe" || badge.Organiser ||
		!v.Badges[room.DigestOf("secret")].Organiser {
		t.Errorf("the badges are %+v", v.Badges)
	}
	if len(v.Traces) != 2 || v.Traces[1].Player != "bob" || len(v.Traces[1].Probes) != 6 {
		t.Errorf("the traces are %+v", v.Traces)
	}
}

// TestSections checks that unchanged sections are not sent again.
func TestSections(t *testing.T) {
	r := room.New(room.Keys{Code: "BAKODI", Secret: "secret"}, wire.Settings{Game: "openarena", By: selection.Mean}, roomtest.Eight)
	first, err := (&page.View{}).Next(r, page.Host{})
	if err != nil || first.Edition != 1 {
		t.Fatalf("the first view is %+v, %v", first, err)
	}
	if same, err := first.Next(r, page.Host{}); err != nil || same != first {
		t.Errorf("an unchanged room is shown again, %v", err)
	}
	r.Step(room.Join{Hello: wire.Hello{Name: "ann"}, Token: "token"}, roomtest.At(roomtest.Eight, 0))
	second, err := first.Next(r, page.Host{})
	if err != nil || second.Edition != 2 {
		t.Fatalf("a new player is not shown, %v", err)
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(object(second, 1), &state); err != nil {
		t.Fatal(err)
	}
	if state["people"] == nil || state["log"] == nil || state["room"] != nil || state["choice"] != nil {
		t.Errorf("readers are sent %s", object(second, 1))
	}
	if all := object(second, 0); !bytes.Contains(all, []byte(`,"choice":null`)) {
		t.Errorf("who is new is sent %s", all)
	}
	if _, err := r.Step(room.Order{
		Credential: "secret",
		Action:     room.Change{Settings: json.RawMessage(`{"by":"minimax"}`)},
	}, roomtest.At(roomtest.Eight, 0)); err != nil {
		t.Fatal(err)
	}
	third, err := second.Next(r, page.Host{})
	if err != nil {
		t.Fatal(err)
	}
	if news := object(third, 2); !bytes.Contains(news, []byte(`,"room":{`)) || bytes.Contains(news, []byte(`"games"`)) {
		t.Errorf("where the room stands comes with the list of games: %s", news)
	}
}
