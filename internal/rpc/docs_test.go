package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/lobby"
	"muster/peer"
	"muster/selection"
)

var write = flag.Bool("write", false, "write what is now into docs/rpc.md")

// fresh compares a part of docs/rpc.md, between two comments, with what it should be.
func fresh(t *testing.T, name, want string) {
	t.Helper()
	const file = "../../docs/rpc.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, is := strings.Cut(string(text), "<!-- "+name+" -->\n")
	got, after, ends := strings.Cut(rest, "<!-- end -->")
	if !is || !ends {
		t.Fatalf("%s has no part %q", file, name)
	}
	if want = "\n" + want + "\n"; got == want {
		return
	}
	if !*write {
		t.Fatalf("%s is out of date: go test ./internal/rpc -write\n%s", file, want)
	}
	if err := os.WriteFile(file, []byte(before+"<!-- "+name+" -->\n"+want+"<!-- end -->"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// evening is a room that a test lets happen.
type evening struct {
	front *lobby.Front
	at    string // the host's address
	done  chan struct{}
}

// tells lets the room change.
func (e *evening) tells(how func(*wire.Snapshot)) {
	s := wire.Snapshot{Room: wire.Head{Code: "TABOMI", Settings: wire.Settings{Name: "Friday", Game: "openarena", By: "mean"},
		Stage: wire.Gathering}, People: []wire.Person{{Name: "ann", Organiser: true, Peer: true, Connected: true}}}
	how(&s)
	e.front.Sees(peer.RoomChanged{Room: s})
}

// chosen makes the room one that has chosen between two servers.
func chosen(s *wire.Snapshot) {
	s.Room.Stage, s.Room.Round = wire.Chosen, 1
	s.People[0].Probed, s.People[0].Answered = 163, 151
	s.People = append(s.People, wire.Person{Name: "bob", Peer: true, Connected: true, Probed: 148, Answered: 139})
	first, second := netip.MustParseAddrPort("192.0.2.7:27960"), netip.MustParseAddrPort("198.51.100.4:27961")
	ranking := []selection.Ranked{
		{Addr: hostport.At(first), Score: 21.5, MeanMS: 21.5, MaxMS: 24, RTT: map[string]float64{"ann": 19, "bob": 24}},
		{Addr: hostport.At(second), Score: 23, MeanMS: 23, MaxMS: 23.5, RTT: map[string]float64{"ann": 22.5, "bob": 23.5}},
	}
	s.Choice = &wire.Choice{
		Selection: selection.Selection{Chosen: &ranking[0], Ranking: ranking, Players: []string{"ann", "bob"}},
		Servers: map[string]wire.ServerCard{
			first.String():  {Name: "The tavern", Map: "oa_dm1", Country: "DE", Players: 2, MaxPlayers: 12},
			second.String(): {Name: "Rust", Map: "oa_dm6", Country: "NL", Players: 0, MaxPlayers: 16},
		},
	}
	s.Voting = wire.Voting{Open: true, Ballot: []string{first.String(), second.String()}, Numbers: []int{1, 2}}
}

// launching is the room once everyone goes to the second server.
func launching(s *wire.Snapshot) {
	chosen(s)
	s.Room.Stage, s.Voting.Open = wire.Launching, false
	s.Choice.Selection.Chosen = &s.Choice.Selection.Ranking[1]
	s.Way = &wire.Way{Connect: "198.51.100.4:27961", Server: "Rust"}
	for i := range s.People {
		s.People[i].Launch = wire.LaunchAsking
	}
}

// TestConversation plays the conversation of docs/rpc.md with a room of two people. The host's answers and
// the room's states come from the test; everything between them and the launcher is real.
func TestConversation(t *testing.T) {
	e := &evening{done: make(chan struct{})}
	orders := make(chan string, 10)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		orders <- strings.TrimPrefix(r.URL.Path, "/api/rooms/-/") + " " + string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer host.Close()
	e.at = strings.TrimPrefix(host.URL, "http://")
	entered := make(chan struct{})
	l := serve(t, commands{"host": func(ctx context.Context, _ []string, _ io.Writer, _ home.Terminal, f *lobby.Front) error {
		own := invite.Link{Host: e.at, Code: "TABOMI", Key: "ABCDEFGHIJKLMNOP", Secret: "SECRET"}
		friends := own
		friends.Secret = ""
		e.front = f
		f.Enters(own, &friends)
		f.Sees(peer.Joined{Name: "ann", Page: "ANNSPAGE"})
		close(entered)
		<-ctx.Done()
		return nil
	}})
	type step struct {
		says  string
		order string
		// then lets the room change once the call is answered. lines is how many lines that makes.
		then  func()
		lines int
	}
	launches := func() {
		go e.front.Launch(t.Context(), wire.Launch{Round: 1, Game: "openarena", Address: "198.51.100.4:27961", Name: "Rust"}, sentence.Sentence{},
			func(state wire.LaunchState, _ sentence.Sentence) {
				if state == wire.LaunchStarted {
					e.tells(func(s *wire.Snapshot) { launching(s); s.People[0].Launch = state })
				}
			}, nil)
	}
	var text strings.Builder
	for _, s := range []step{
		{calling(1, "hello", `{"client":"Example Launcher 3.1","version":1}`), "", nil, 0},
		{calling(2, "host", `{"game":"openarena","name":"ann","settings":{"agree":true,"name":"Friday"}}`), "", func() {
			<-entered
			e.tells(func(*wire.Snapshot) {})
		}, 1},
		{"", "", func() {
			e.tells(func(s *wire.Snapshot) {
				s.People = append(s.People, wire.Person{Name: "bob", Peer: true, Connected: true})
			})
		}, 1},
		{calling(3, "start", `{"room":1}`), `go {"stage":"gathering"}`, func() { e.front.Sees(peer.Progress{Probed: 163, Answered: 151, Listed: 803}) }, 1},
		{"", "", func() { e.tells(chosen) }, 1},
		{`[{"jsonrpc":"2.0","id":"v","method":"vote","params":{"room":1,"number":2}},{"jsonrpc":"2.0","id":"r","method":"ready","params":{"room":1}}]`,
			`vote {"addr":"198.51.100.4:27961"}, ready {"ready":true}`, func() { e.tells(launching) }, 1},
		{"", "", launches, 1},
		{calling(4, "confirm", `{"room":1,"launch":1,"state":"started"}`), "", func() {}, 1},
		{calling(5, "vote", `{"room":1,"number":7}`), "", nil, 0},
		{calling(6, "leave", `{"room":1}`), `leave `, nil, 1},
		{calling(7, "shutdown", `{}`), "", nil, 0},
	} {
		var heard []string
		if s.says != "" {
			fmt.Fprintf(&text, "    → %s\n", s.says)
			l.says(s.says)
			heard = append(heard, l.hears())
		}
		if s.order != "" {
			var got []string
			for range strings.Count(s.order, ", ") + 1 {
				got = append(got, <-orders)
			}
			if strings.Join(got, ", ") != s.order {
				t.Errorf("%s orders %q, want %s", s.says, got, s.order)
			}
		}
		if s.then != nil {
			s.then()
		}
		for range s.lines {
			heard = append(heard, l.hears())
		}
		slices.SortStableFunc(heard, func(a, b string) int { // answers first
			return strings.Compare(fmt.Sprint(strings.Contains(a[:30], `"method"`)), fmt.Sprint(strings.Contains(b[:30], `"method"`)))
		})
		for _, line := range heard {
			fmt.Fprintf(&text, "    ← %s\n", strings.ReplaceAll(line, e.at, "192.0.2.1:7777"))
		}
	}
	fresh(t, "conversation", text.String())
}

// theRoom describes a parameter that most calls and notifications have. The page says so once.
const theRoom = "the room's number"

// TestReference checks that docs/rpc.md has every method, parameter, result and notification.
func TestReference(t *testing.T) {
	var text strings.Builder
	text.WriteString("## Methods\n")
	types := map[reflect.Type]bool{}
	table := func(of reflect.Type, isCall bool) {
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[Room]().PkgPath() || len(fieldsOf(of)) == 0 {
			return
		}
		var rows strings.Builder
		for i := range of.NumField() {
			f := of.Field(i)
			switch doc := f.Tag.Get("doc"); {
			case doc == theRoom, nameOf(f) == "-", f.Type == reflect.TypeFor[InRoom]():
			case f.Anonymous:
				fmt.Fprintf(&rows, "- all of %s\n", typeName(f.Type, types))
			default:
				fmt.Fprintf(&rows, "- `%s` (%s%s): %s\n", nameOf(f), typeName(f.Type, types),
					map[bool]string{true: ", needed"}[isCall && f.Tag.Get("need") != ""], doc)
			}
		}
		if rows.Len() > 0 {
			text.WriteString("\n" + rows.String())
		}
	}
	all := methods()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		fmt.Fprintf(&text, "\n### %s\n\n%s\n", name, m.summary)
		if table(m.params, true); m.result != reflect.TypeFor[struct{}]() {
			what := typeName(m.result, types)
			if what == "any" {
				what = "the document"
			}
			fmt.Fprintf(&text, "\nIt returns %s.\n", what)
		}
	}
	text.WriteString("\n## Notifications\n")
	for _, name := range slices.Sorted(maps.Keys(notifications())) {
		m := notifications()[name]
		fmt.Fprintf(&text, "\n### %s\n\n%s\n", name, m.summary)
		table(m.params, false)
	}
	text.WriteString("\n## Objects\n")
	for done := map[reflect.Type]bool{}; len(done) < len(types); { // objects have objects
		for of := range maps.Clone(types) {
			done[of] = true
			for _, f := range fieldsOf(of) {
				typeName(f.Type, types)
			}
		}
	}
	ordered := slices.SortedFunc(maps.Keys(types), func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	for _, of := range ordered {
		fmt.Fprintf(&text, "\n### %s\n", of.Name())
		table(of, false)
	}
	fresh(t, "reference", text.String())
}

// typeName names a type for launchers' authors, and notes the objects.
func typeName(t reflect.Type, objects map[reflect.Type]bool) string {
	own := reflect.TypeFor[Room]().PkgPath()
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem(), objects)
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem(), objects)
	case t.Kind() == reflect.Map:
		return "map to " + typeName(t.Elem(), objects)
	case t.Kind() == reflect.Struct && t.PkgPath() == own:
		objects[t] = true
		return "[" + t.Name() + "](#" + strings.ToLower(t.Name()) + ")"
	case t.Kind() == reflect.Struct && strings.HasSuffix(t.PkgPath(), "/discovery/report"):
		return "a " + strings.ToLower(t.Name()) + " of `muster.report/1`"
	case t.Kind() == reflect.Struct && t.Name() == "Error":
		return "an error"
	case t.Kind() == reflect.Struct:
		return "an object of PROTOCOL.md"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "boolean"
	}
	return "number"
}

// TestDescribe checks that the OpenRPC document names all methods, and that its references lead
// somewhere.
func TestDescribe(t *testing.T) {
	var out bytes.Buffer
	if err := Describe(&out, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var d struct {
		OpenRPC string
		Methods []struct {
			Name   string
			Params []struct {
				Name   string
				Schema map[string]any
			}
			Result *struct{ Name string }
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || d.OpenRPC != "1.3.2" || len(d.Methods) != len(methods()) {
		t.Fatalf("%v, %d methods in %s", err, len(d.Methods), out.String())
	}
	for _, m := range d.Methods {
		if (m.Result == nil) != (m.Name == cancelMethod) {
			t.Errorf("%s has the result %v", m.Name, m.Result)
		}
		for _, p := range m.Params {
			if p.Schema == nil {
				t.Errorf("%s has the parameter %s without a schema", m.Name, p.Name)
			}
		}
	}
	for ref := range strings.SplitSeq(out.String(), `"#/components/schemas/`) {
		name, _, _ := strings.Cut(ref, `"`)
		if !strings.HasPrefix(ref, "{") && d.Components.Schemas[name] == nil {
			t.Errorf("nothing describes %s", name)
		}
	}
}
