package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

// loopback is a small internet on this machine: its servers file, and the address to ask from.
type loopback struct{ file, from string }

// startLoopback runs a fleet of OpenArena servers until the test ends.
func startLoopback(t *testing.T, servers int) loopback {
	t.Helper()
	running, err := fleet.Start(t.Context(), fleet.Options{
		World: sim.Night2005(servers, 1),
		Kind:  fleet.Quake3,
		Game:  fleet.Game{Protocol: 71},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running.Close() })
	var list bytes.Buffer
	if err := running.WriteServers(&list); err != nil {
		t.Fatal(err)
	}
	return loopback{writeFile(t, "servers.csv", list.String()), running.Source(0).String()}
}

// discover returns the arguments that ask the fleet.
func (l loopback) discover(more ...string) []string {
	return append([]string{"discover", "--game", "openarena", "--servers", l.file, "--listen-addr", l.from, "--rate",
		"2000", "--retries", "0", "--name", "ann"}, more...)
}

// keys returns the names in a JSON object.
func keys(object map[string]json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(object)), " ")
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// TestReportDocument checks the keys of muster.report/1, because other programs read it.
func TestReportDocument(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 60)
	out := succeeds(t, l.discover("--strategy", "as", "--auto-stop", "off", "--json")...)
	document := decode[map[string]json.RawMessage](t, []byte(out))
	if got, want := keys(document), "format game peer servers started strategy summary"; got != want {
		t.Errorf("the document has %s, want %s", got, want)
	}
	summary := decode[map[string]json.RawMessage](t, document["summary"])
	if got, want := keys(summary),
		"answered auto_stopped bytes_received bytes_sent calibration clusters elapsed_ms listed lost packets_sent probed refused"; got != want {
		t.Errorf("the summary has %s, want %s", got, want)
	}
	servers := decode[[]map[string]json.RawMessage](t, document["servers"])
	for i, s := range servers {
		want := "addr asn bots country map max_players mode name order password phase players protocol rank rtt_ms state"
		if string(s["state"]) != `"answered"` {
			want = strings.NewReplacer(" rank rtt_ms", "", " protocol", "").Replace(want)
		}
		if got := keys(s); got != want {
			t.Errorf("server %d has %s, want %s", i, got, want)
		}
	}
	checkReport(t, out)
}

// checkReport checks that the figures in the document are consistent.
func checkReport(t *testing.T, out string) {
	t.Helper()
	report, err := report.Read(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	s := report.Summary
	if report.Peer != "ann" || report.Game != "openarena" || report.Strategy != "as" {
		t.Errorf("report of %s, %s, %s", report.Peer, report.Game, report.Strategy)
	}
	if s.Listed != 60 || s.Probed != 60 || s.Answered+s.Lost+s.Refused != 60 || len(report.Servers) != 60 || s.Answered < 45 {
		t.Errorf("summary %+v with %d servers", s, len(report.Servers))
	}
	for i, m := range report.Servers {
		if m.Order != i+1 {
			t.Fatalf("server %d was asked as number %d", i, m.Order)
		}
	}
}

func TestReportFormats(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 30)
	rows, err := csv.NewReader(strings.NewReader(succeeds(t, l.discover("--strategy", "conventional", "--format", "csv")...))).ReadAll()
	if err != nil || len(rows) != 31 || !slices.Contains(rows[0], "addr") || !slices.Contains(rows[0], "rtt_ms") {
		t.Errorf("CSV: %v, %d rows, header %v", err, len(rows), rows[0])
	}
	var stat struct {
		XMLName xml.Name `xml:"qstat"`
		Servers []struct {
			Type string `xml:"type,attr"`
		} `xml:"server"`
	}
	if err := xml.Unmarshal([]byte(succeeds(t, l.discover("--strategy", "conventional", "--format", "qstat-xml")...)), &stat); err != nil {
		t.Error(err)
	}
	if len(stat.Servers) != 30 || stat.Servers[0].Type != "OPENARENAS" {
		t.Errorf("QStat XML has %d servers: %+v", len(stat.Servers), stat.Servers)
	}
}

// TestTable checks that the table has the nearest servers first, as many as requested.
func TestTable(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 30)
	lines := strings.Split(strings.TrimSpace(succeeds(t, l.discover("--nearest", "5")...)), "\n")
	if len(lines) != 6 || !slices.Equal(strings.Fields(lines[0])[:3], []string{"#", "PING", "PLAYERS"}) {
		t.Fatalf("want a title and 5 servers:\n%s", strings.Join(lines, "\n"))
	}
	var before discovery.Millis
	for i, line := range lines[1:] {
		var rtt discovery.Millis
		fields := strings.Fields(line)
		if err := rtt.UnmarshalJSON([]byte(fields[1])); err != nil || rtt < before || fields[0] != strconv.Itoa(i+1) {
			t.Errorf("%q is out of order: %v", line, err)
		}
		before = rtt
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 30)
	checkAll(t, []wrong{
		{"no such map", l.discover("--map", "nosuchmap"), 3, []string{"found nothing suitable", "none passes the filters", "leave out a filter"}},
		{"no such version", l.discover("--version", "9.9"), 3, []string{"none passes the filters"}},
		{"another protocol", l.discover("--version", "68"), 3, []string{"none passes the filters"}},
		{"no such mod", l.discover("--mod", "q3ut4"), 3, []string{"none passes the filters"}},
		{"no such tag", l.discover("--tags", "no3rd"), 3, []string{"none passes the filters"}},
		{"no such mode", l.discover("--mode", "chess", "--json"), 3, []string{"none passes the filters"}},
	})
	all := succeeds(t, l.discover("--auto-stop", "off", "--json")...)
	few, err := report.Read(strings.NewReader(
		succeeds(t, l.discover("--auto-stop", "off", "--json", "--not-full", "--not-empty", "--no-password",
			"--version", "71", "--tags", "-mod")...)))
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, m := range few.Servers {
		if m.Rank == 0 { // it is not in the table
			continue
		}
		answered++
		if m.Players >= m.MaxPlayers || m.Players <= m.Bots || m.Password {
			t.Errorf("%v has %d of %d players, %d bots, password %v", m.Addr, m.Players, m.MaxPlayers, m.Bots, m.Password)
		}
	}
	if total := strings.Count(all, `"state":"answered"`); len(few.Servers) != strings.Count(all, `"state"`) {
		t.Errorf("%d servers stand in the JSON of a filtered table", len(few.Servers))
	} else if answered == 0 || answered >= total {
		t.Errorf("%d of %d servers pass the filters", answered, total)
	}
}

func TestGamesDocument(t *testing.T) {
	type entry struct {
		ID, Name, Protocol string
		Port               uint16
		Launch             []string
	}
	document := decode[struct {
		Format string
		Games  []entry
	}](t, []byte(succeeds(t, "games", "--json")))
	at := slices.IndexFunc(document.Games, func(e entry) bool { return e.ID == "openarena" })
	if document.Format != "muster.games/1" || at < 0 || document.Games[at].Protocol != "quake3" || len(document.Games[at].Launch) == 0 {
		t.Errorf("%s, OpenArena is %d", document.Format, at)
	}
	if out := succeeds(t, "games"); !strings.Contains(out, "openarena") || !strings.Contains(out, "cs2") {
		t.Errorf("games prints\n%s", out)
	}
}

// TestUsersGames checks that the user's table adds games, and that its mistakes are shown.
func TestUsersGames(t *testing.T) {
	ownGames(t, "[game.myarena]\nname = \"My Arena\"\nprotocol = \"smoke\"\n")
	wrong{"", []string{"games"}, 1, []string{"games.toml", "smoke"}}.check(t)
}

// TestSort checks that the table has the requested order, that the JSON contains each server's
// rank, and that filters by name and country apply.
func TestSort(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 60)
	read := func(args ...string) report.Report {
		t.Helper()
		r, err := report.Read(strings.NewReader(succeeds(t, l.discover(append(args, "--auto-stop", "off", "--json")...)...)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	table := func(r report.Report) []report.Measurement {
		shown := slices.DeleteFunc(slices.Clone(r.Servers), func(m report.Measurement) bool { return m.Rank == 0 })
		slices.SortFunc(shown, func(a, b report.Measurement) int { return a.Rank - b.Rank })
		return shown
	}
	byPlayers := table(read("--sort", "players"))
	if len(byPlayers) < 30 || !slices.IsSortedFunc(byPlayers, func(a, b report.Measurement) int {
		return (b.Players - b.Bots) - (a.Players - a.Bots)
	}) {
		t.Errorf("%d servers are not by players", len(byPlayers))
	}
	byName := table(read("--sort", "name", "--top", "5"))
	if len(byName) != 5 || !slices.IsSortedFunc(byName, func(a, b report.Measurement) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	}) {
		t.Errorf("by name: %+v", byName)
	}
	part := strings.ToUpper(byName[0].Name[:4])
	for _, m := range table(read("--name-contains", part)) {
		if !strings.Contains(strings.ToUpper(m.Name), part) {
			t.Errorf("%s is shown for %s", m.Name, part)
		}
	}
}

// TestConnect checks that the player goes to a server of the table, by the player's own template.
func TestConnect(t *testing.T) {
	t.Parallel()
	l := startLoopback(t, 20)
	o := muster(t, l.discover("--auto-stop", "off", "--connect", "2", "--launch", "never", "--launch-command", "mygame +connect {address}")...)
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	fields := strings.Fields(lines[2]) // after the titles and the nearest
	if o.code != 0 || !strings.Contains(o.err, "mygame +connect "+fields[len(fields)-1]) {
		t.Errorf("exit status %d, %s\n%s", o.code, lines[2], o.err)
	}
	checkAll(t, []wrong{
		{"no such row", l.discover("--connect", "99"), 3, []string{"--connect 99"}},
		{"no row", l.discover("--connect", "-1"), 2, []string{"the first of the table is 1"}},
		{"a country's name", l.discover("--country", "Germany"), 2, []string{"two letters are wanted"}},
		{"no column", l.discover("--sort", "colour"), 2, []string{"none of ping"}},
		{"two games", []string{"discover", "xonotic", "openarena"}, 2, []string{"one game"}},
		{"two other games", []string{"host", "xonotic", "--game", "openarena"}, 2, []string{"xonotic, or openarena"}},
	})
}

// TestOneAddress checks that two players on one machine find a server if each server answers an
// address once a second, as Xonotic's do.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	servers, err := fleet.Start(t.Context(), fleet.Options{
		World: sim.Night2005(4, 1), Kind: fleet.Quake3, Game: fleet.Game{Protocol: 71}, Gap: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	for i := range servers.Servers() {
		servers.Update(i, func(s *sim.Server) {
			s.Info.MaxPlayers, s.Info.Players, s.Info.Bots, s.Info.Password = 16, 0, 0, false
			s.Info.MinPing, s.Info.MaxPing = 0, 0
		})
	}
	var list bytes.Buffer
	if err := servers.WriteServers(&list); err != nil {
		t.Fatal(err)
	}
	ann := begin(t, "host", "--here", "--new", "--game", "openarena", "--servers",
		writeFile(t, "servers.csv", list.String()), "--listen", "127.0.0.1:0",
		"--no-mdns", "--no-browser", "--lan", "off", "--players", "2", "--vote=false", "--once", "--launch", "never", "--name", "ann")
	link := ann.says(t, `(?m)^link +(\S+)$`)[1]
	bob := begin(t, "join", link, "--no-browser", "--once", "--launch", "never", "--name", "bob")
	ann.says(t, `(?m)^everyone to `)
	bob.says(t, `(?m)^openarena .*\+connect `)
}
