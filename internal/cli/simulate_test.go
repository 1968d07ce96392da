package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/sim"
)

// vantage writes a data file of 60 servers: near ones in one country, far ones in another, and some
// silent.
func vantage(t *testing.T, name string) string {
	t.Helper()
	var csv strings.Builder
	csv.WriteString("asn,rtt_ms,addr,country,note\n")
	for i := range 60 {
		rtt, country := fmt.Sprint(20+i), "AU"
		if i%3 > 0 {
			rtt, country = fmt.Sprint(300+i), "DE"
		}
		if i%10 == 9 {
			rtt = ""
		}
		fmt.Fprintf(&csv, "%d,%s,10.%d.0.%d:27960,%s,x\n", 64500+i%3, rtt, i%3, i, country)
	}
	return writeFile(t, name, csv.String())
}

func TestSimulationDocument(t *testing.T) {
	out := succeeds(t, "simulate", "--data", vantage(t, "au.csv"), "--strategy", "conventional,as", "--auto-stop",
		"percentile,smooth", "--window", "5", "--runs", "3", "--json")
	document := decode[struct {
		Format string
		Rows   []map[string]json.RawMessage
	}](t, []byte(out))
	if document.Format != "muster.simulation/1" || len(document.Rows) != 3 {
		t.Fatalf("%s with %d rows, want conventional and twice as:\n%s", document.Format, len(document.Rows), out)
	}
	for _, key := range strings.Fields("data strategy auto_stop listed clusters calibration probes percent " +
		"seconds playable playable_found recall stopped excess_ms runs") {
		if _, ok := document.Rows[0][key]; !ok {
			t.Errorf("rows have no %s", key)
		}
	}
	first := document.Rows[0]
	for key, want := range map[string]string{
		"data": `"au.csv"`, "strategy": `"conventional"`, "auto_stop": `"off"`, "listed": "60", "probes": "60",
		"percent": "100", "playable": "18",
		"playable_found": "18", "recall": "1", "stopped": "false", "runs": "3",
	} {
		if got := string(first[key]); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if again := succeeds(t, "simulate", "--data", vantage(t, "au.csv"), "--strategy", "conventional,as", "--auto-stop",
		"percentile,smooth", "--window", "5", "--runs", "3", "--json"); again != out {
		t.Errorf("the same seed gives another result:\n%s%s", out, again)
	}
}

// TestRunsCountTheirSeeds checks that several runs at once equal the same runs one by one.
func TestRunsCountTheirSeeds(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("addr,asn,rtt_ms\n")
	for i := range 200 {
		fmt.Fprintf(&csv, "10.%d.%d.1:1,%d,%d\n", i%20, i/20, 64500+i%20, i*i*37%400)
	}
	file := writeFile(t, "x.csv", csv.String())
	share := func(seed, runs string) float64 {
		out := succeeds(t, "simulate", "--data", file, "--strategy", "as", "--window", "5", "--rate", "10", "--seed",
			seed, "--runs", runs, "--json")
		return decode[struct{ Rows []sim.Simulation }](t, []byte(out)).Rows[0].MeanPercent
	}
	sum, first, differ := 0.0, share("1", "1"), false
	for seed := range 6 {
		one := share(strconv.Itoa(1+seed), "1")
		sum, differ = sum+one, differ || one != first
	}
	if mean := share("1", "6"); !differ || math.Abs(mean-sum/6) > 1e-6 {
		t.Errorf("six runs asked %v %%, one by one %v %%; they differ: %v", mean, sum/6, differ)
	}
}

// TestDataFromStandardInput checks that a pipe works as a file.
func TestDataFromStandardInput(t *testing.T) {
	const file = "addr,rtt_ms\n10.0.0.1:1,20\n"
	for _, args := range [][]string{{"--data", "-"}, {"--matrix", "-", "--place", "1"}} {
		in := file
		if args[0] == "--matrix" {
			in = matrix
		}
		o := musterWith(t, in, append([]string{"simulate", "--strategy", "conventional", "--runs", "1", "--json"}, args...)...)
		if rows := decode[struct{ Rows []sim.Simulation }](t, []byte(o.out)).Rows; o.code != 0 || len(rows) != 1 {
			t.Errorf("%v: exit status %d\n%s%s", args, o.code, o.out, o.err)
		}
	}
}

// TestPlacesStayApart checks that two files with the same name are two places.
func TestPlacesStayApart(t *testing.T) {
	out := succeeds(t, "simulate", "--data", vantage(t, "au.csv"), "--data", vantage(t, "au.csv"), "--strategy", "as", "--runs", "2", "--json")
	rows := decode[struct{ Rows []sim.Simulation }](t, []byte(out)).Rows
	if len(rows) != 2 || rows[0].Runs != 2 || rows[1].Data != "au.csv" {
		t.Errorf("%+v", rows)
	}
}

func TestSimulationTable(t *testing.T) {
	out := succeeds(t, "simulate", "--world", "et2007", "--place", "AU,DE", "--strategy", "conventional,adaptive", "--runs", "1")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 5 || !strings.HasPrefix(lines[0], "PLACE") ||
		!strings.HasPrefix(lines[3], "DE ") {
		t.Errorf("want a title and four rows:\n%s", out)
	}
}

// TestPlot checks that the picture is an SVG with a panel for each trial.
func TestPlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "picture.svg")
	succeeds(t, "simulate", "--data", vantage(t, "au.csv"), "--strategy", "as,adaptive", "--runs", "1", "--plot", file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, titles := xml.NewDecoder(f), 0
	for {
		token, err := text.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := token.(xml.CharData); ok && strings.Contains(string(c), "au.csv, ") {
			titles++
		}
	}
	if titles != 2 {
		t.Errorf("%d panels, want 2", titles)
	}
}

// gzipped writes a compressed file for the test.
func gzipped(t *testing.T, name, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, name, packed.String())
}

// matrix has four hosts in two towns; the two in a town are near each other.
const matrix = "0 8 150 160\n8 0 155 165\n150 155 0 9\n160 165 9 0\n"

// serverList returns a list with the column names that other programs use.
func serverList(n int) string {
	var csv strings.Builder
	csv.WriteString("ip,port,country,asn,players\n")
	for i := range n {
		fmt.Fprintf(&csv, "80.%d.%d.7,%d,%s,%d,3\n", i%20, i/20, 27015+i%2, []string{"DE", "FR", "JP"}[i%3], 64500+i%7)
	}
	return csv.String()
}

// TestMatrixWorlds checks worlds that are made from real round trips and a real list. Each run has
// another world.
func TestMatrixWorlds(t *testing.T) {
	plain, packed := writeFile(t, "rtt.txt", matrix), gzipped(t, "rtt.txt.gz", matrix)
	list, packedList := writeFile(t, "list.csv", serverList(300)), gzipped(t, "list.csv.gz", serverList(300))
	simulate := func(more ...string) []sim.Simulation {
		args := append([]string{"simulate", "--strategy", "conventional,adaptive", "--runs", "3", "--json"}, more...)
		return decode[struct{ Rows []sim.Simulation }](t, []byte(succeeds(t, args...))).Rows
	}
	// Drawn hosts count as one place, whichever hosts they are.
	drawn := simulate("--matrix", plain, "--servers", list, "--draw", "2")
	if len(drawn) != 2 || drawn[0].Data != "rtt" || drawn[0].Runs != 6 || drawn[0].Listed != 300 || drawn[1].Recall < 0.9 {
		t.Errorf("%+v", drawn)
	}
	if again := simulate("--matrix", packed, "--servers", packedList, "--draw", "2"); !slices.Equal(again, drawn) {
		t.Errorf("gzipped files give %+v, want %+v", again, drawn)
	}
	named := simulate("--matrix", plain, "--servers", list, "--place", "1,4")
	if len(named) != 4 || named[0].Data != "host 1" || named[2].Data != "host 4" || named[0].Runs != 3 {
		t.Errorf("%+v", named)
	}
	cities := simulate("--world", "distance", "--servers", list, "--place", "DE,AU")
	if len(cities) != 4 || cities[0].Data != "DE" || cities[0].Playable < 150 || cities[2].Playable > 150 {
		t.Errorf("%+v", cities)
	}
	synthetic := simulate("--world", "night2005", "--place", "JP", "--new-worlds")
	if len(synthetic) != 2 || synthetic[0].Runs != 3 || synthetic[0].Recall > 1 {
		t.Errorf("%+v", synthetic)
	}
}

// TestMatrixGroup checks that the players of a group are drawn again for each world.
func TestMatrixGroup(t *testing.T) {
	file, list := writeFile(t, "rtt.txt", matrix), writeFile(t, "list.csv", serverList(300))
	out := succeeds(t, "simulate", "--group", "--matrix", file, "--servers", list, "--draw", "far:2", "--runs", "3", "--json")
	document := decode[struct{ Rows []sim.GroupSimulation }](t, []byte(out))
	for _, row := range document.Rows {
		if row.Runs != 3 || !row.Found || len(row.PercentPerPlayer) != 2 || row.PercentPerPlayer["player 2"] == 0 || row.OptimumMS < 75 {
			t.Errorf("%+v", row)
		}
	}
}

// TestLabelsOfWorlds checks that plans can be given other locations than those that made the world.
// With the same seed the labels are the same, also for a group.
func TestLabelsOfWorlds(t *testing.T) {
	t.Parallel()
	file, list := writeFile(t, "rtt.txt", matrix), writeFile(t, "list.csv", serverList(300))
	other := writeFile(t, "other.csv", strings.ReplaceAll(serverList(300), "JP", "DE"))
	simulate := func(more ...string) sim.Simulation {
		args := append([]string{"simulate", "--matrix", file, "--servers", list, "--draw", "2", "--strategy", "country",
			"--runs", "3", "--json"}, more...)
		return decode[struct{ Rows []sim.Simulation }](t, []byte(succeeds(t, args...))).Rows[0]
	}
	own := simulate()
	if same := simulate("--labels", list, "--mislabel", "0"); same != own {
		t.Errorf("labelled like the world itself: %+v, want %+v", same, own)
	}
	for labels, clusters := range map[string]int{"none": 1, other: 2, "tables": own.Clusters} {
		got := simulate("--labels", labels)
		if got.Playable != own.Playable || labels != "tables" && got.Clusters >= own.Clusters {
			t.Errorf("--labels %s: %d playable servers in %d clusters, want %d as with the world's own, in about %d",
				labels, got.Playable, got.Clusters, own.Playable, clusters)
		}
	}
	wrong := simulate("--mislabel", "30%/16")
	if again := simulate("--mislabel", "0.3/16"); wrong == own || again != wrong || wrong.Playable != own.Playable {
		t.Errorf("mislabelled: %+v, again %+v, and with the right ones %+v", wrong, again, own)
	}
	group := []string{"simulate", "--group", "--matrix", file, "--servers", list, "--runs", "2", "--mislabel", "20%",
		"--labels", other, "--json"}
	if first := succeeds(t, group...); first != succeeds(t, group...) {
		t.Error("the same group of a mislabelled world came to something else")
	}
}

func TestWrongWorlds(t *testing.T) {
	t.Parallel()
	file, list := writeFile(t, "rtt.txt", matrix), writeFile(t, "list.csv", serverList(30))
	on := func(more ...string) []string { return append([]string{"simulate", "--matrix", file}, more...) }
	checkAll(t, []wrong{
		{"missing matrix", []string{"simulate", "--matrix", "nowhere.txt"}, 1, []string{"cannot read nowhere.txt: no such file"}},
		{"titles", []string{"simulate", "--matrix", writeFile(t, "m.txt", "ann bob\n0 1\n1 0\n")}, 1,
			[]string{"m.txt: line 1 of the matrix", `"ann"`, "no titles"}},
		{"not square", []string{"simulate", "--matrix", writeFile(t, "m.txt", "0 1 2\n1 0 2\n")}, 1,
			[]string{"3 values, want 2", "a row and a column for each host"}},
		{"a broken archive", []string{"simulate", "--matrix", writeFile(t, "m.gz", "\x1f\x8bno")}, 1, []string{"cannot read ", "m.gz"}},
		{"matrix and world", on("--world", "et2007"), 2, []string{"exclude each other"}},
		{"no such host", on("--place", "5"), 2, []string{"--place 5", "hosts 1 to 4"}},
		{"a host by name", on("--place", "AU"), 2, []string{"--place AU", "hosts 1 to 4"}},
		{"too many drawn", on("--draw", "5"), 2, []string{"--draw 5", "4 hosts"}},
		{"drawn in words", on("--draw", "close:2"), 2, []string{"--draw", `"close:2"`, "near:8"}},
		{"drawn and named", on("--draw", "2", "--place", "1"), 2, []string{"--draw"}},
		{"drawn in a world", []string{"simulate", "--world", "et2007", "--draw", "2"}, 2, []string{"--draw", "--matrix"}},
		{"one is no group", on("--group", "--draw", "1"), 2, []string{"one place is no group"}},
		{"servers nowhere", []string{"simulate", "--world", "et2007", "--servers", list}, 2,
			[]string{"--servers", "--matrix FILE", "--world distance"}},
		{"servers by name", on("--servers", writeFile(t, "l.txt", "games.example.org:1\n")), 1,
			[]string{"l.txt:1: games.example.org is a name", "put its address"}},
		{"no servers", on("--servers", writeFile(t, "l.txt", "\n")), 1, []string{"lists no server"}},
		{"labels nowhere", on("--labels", "nowhere.csv"), 1, []string{"nowhere.csv: no such file"}},
		{"busy when", on("--shift", "50ms"), 2, []string{"--shift", `"50ms"`, "50ms@0.1"}},
		{"busy until before", on("--shift", "50ms@0.3-0.1"), 2, []string{"--shift", "50ms@0.1-0.3"}},
		{"mislabelled a bit", on("--mislabel", "some"), 2, []string{"--mislabel", `"some"`, "10% or 0.1/16"}},
		{"mislabelled too much", on("--mislabel", "101%"), 2, []string{"--mislabel", `"101%"`}},
		{"mislabelled negatively", on("--mislabel", "-1"), 2, []string{"--mislabel"}},
		{"mislabelled by what", on("--mislabel", "10%/64"), 2, []string{"--mislabel", `"10%/64"`}},
		{"new worlds of measurements", []string{"simulate", "--data", vantage(t, "au.csv"), "--new-worlds"}, 2, []string{"--new-worlds"}},
	})
}

func TestWrongSimulations(t *testing.T) {
	data := vantage(t, "au.csv")
	checkAll(t, []wrong{
		{"missing file", []string{"simulate", "--data", "nowhere.csv"}, 1, []string{"cannot read nowhere.csv: no such file"}},
		{"no header", []string{"simulate", "--data", writeFile(t, "x.csv", "10.0.0.1:1,DE,1,5\n")}, 1,
			[]string{"x.csv has no column addr", "addr,country,asn,rtt_ms"}},
		{"malformed row", []string{"simulate", "--data",
			writeFile(t, "x.csv", "addr,rtt_ms\n10.0.0.1:1,5\n10.0.0.2:1,soon\n")}, 1, []string{"x.csv:3: ", `"soon"`}},
		{"a folder", []string{"simulate", "--data", t.TempDir()}, 1, []string{"cannot read ", "is a directory"}},
		{"standard input", []string{"simulate", "--data", "-"}, 1, []string{"standard input is empty"}},
		{"no servers", []string{"simulate", "--data", writeFile(t, "x.csv", "addr,rtt_ms\n")}, 1, []string{"lists no server"}},
		{"data and world", []string{"simulate", "--data", data, "--world", "et2007"}, 2, []string{"exclude each other"}},
		{"place without a world", []string{"simulate", "--data", data, "--place", "AU"}, 2, []string{"--place"}},
		{"unknown world", []string{"simulate", "--world", "mars"}, 2, []string{"mars", "css2007"}},
		{"no runs", []string{"simulate", "--data", data, "--runs", "0"}, 2, []string{"--runs 0"}},
		{"no rate", []string{"simulate", "--data", data, "--rate", "0"}, 2, []string{"--rate 0"}},
		{"no limit", []string{"simulate", "--data", data, "--max-rtt", "0s"}, 2, []string{"--max-rtt 0s"}},
		{"a ladder alone", []string{"simulate", "--data", data, "--max-rtt", "100ms,200ms"}, 2, []string{"--group"}},
		{"plot nowhere", []string{"simulate", "--data", data, "--runs", "1", "--strategy", "as", "--plot",
			"/nowhere/p.svg"}, 1, []string{"cannot write /nowhere/p.svg"}},
	})
}

// TestGroupLadder checks that the strictest of several limits that can be kept applies.
func TestGroupLadder(t *testing.T) {
	ann, bob := vantage(t, "ann.csv"), vantage(t, "bob.csv")
	for limits, found := range map[string]bool{"1ms": false, "1ms,200ms": true} {
		out := succeeds(t, "simulate", "--group", "--data", ann, "--data", bob, "--by", "threshold", "--max-rtt", limits, "--runs", "1", "--json")
		if got := strings.Count(out, `"found":true`); got != map[bool]int{true: 3}[found] {
			t.Errorf("--max-rtt %s: %d of 3 methods found a server:\n%s", limits, got, out)
		}
	}
}

// TestGroupSimulation checks the full, naive and coordinated methods side by side.
func TestGroupSimulation(t *testing.T) {
	ann, bob := vantage(t, "ann.csv"), vantage(t, "bob.csv")
	args := []string{"simulate", "--group", "--data", ann, "--data", bob, "--by", "minimax", "--runs", "2"}
	document := decode[struct {
		Format, By string
		Rows       []map[string]json.RawMessage
	}](t, []byte(succeeds(t, append(args, "--json")...)))
	if document.Format != "muster.group-simulation/1" || document.By != "minimax" || len(document.Rows) != 3 {
		t.Fatalf("%+v", document)
	}
	for i, method := range []string{"full", "naive", "coordinated"} {
		row := document.Rows[i]
		if got := string(row["method"]); got != strconv.Quote(method) {
			t.Errorf("row %d is %s, want %s", i, got, method)
		}
		for _, key := range strings.Fields("percent_per_player percent found score_ms optimum_ms regret_ms rounds seconds runs") {
			if _, ok := row[key]; !ok {
				t.Errorf("rows have no %s", key)
			}
		}
		if got := keys(decode[map[string]json.RawMessage](t, row["percent_per_player"])); got != "ann bob" {
			t.Errorf("the players are %s", got)
		}
	}
	if out := succeeds(t, args...); !strings.HasPrefix(out, "METHOD ") || !strings.Contains(out, "coordinated ") {
		t.Errorf("the table is\n%s", out)
	}
	other := writeFile(t, "cat.csv", "addr,rtt_ms\n10.9.9.9:1,5\n")
	checkAll(t, []wrong{
		{"alone", []string{"simulate", "--group", "--data", ann}, 2, []string{"one place is no group"}},
		{"other servers", []string{"simulate", "--group", "--data", ann, "--data", other}, 1,
			[]string{"ann and cat do not list the same servers"}},
		{"plot", append(args, "--plot", "x.svg"), 2, []string{"--plot"}},
		{"warm", append(args, "--warm"), 2, []string{"--warm"}},
		{"a rule for nobody", []string{"simulate", "--data", ann, "--by", "minimax"}, 2, []string{"--by is for a --group"}},
		{"weight of a stranger", append(args, "--weights", "zoe=2"), 2, []string{`"zoe"`}},
		{"seats that nobody knows of", append(args, "--players", "4"), 2, []string{"max_players", "players,max_players"}},
		{"a map that nobody knows of", append(args, "--map", "q3dm17"), 2, []string{"says its map"}},
		{"two strategies", append(args, "--strategy", "as,country"), 2, []string{"one --strategy"}},
		{"the nearest by AS", append(args, "--strategy", "as", "--nearest", "5"), 2, []string{"--nearest is for the adaptive strategy"}},
	})
}

// TestGroupMeasuredApart checks that files of one list form a group, although each player's
// discovery asks in another order.
func TestGroupMeasuredApart(t *testing.T) {
	const header = "addr,rtt_ms,max_players,map\n"
	ann := writeFile(t, "ann.csv", header+"10.0.0.1:1,20,8,dm1\n10.0.0.2:1,40,8,dm2\n10.0.0.3:1,60,8,dm2\n")
	bob := writeFile(t, "bob.csv", header+"10.0.0.3:1,90,8,dm2\n10.0.0.1:1,,8,dm1\n10.0.0.2:1,50,8,dm2\n")
	few := writeFile(t, "few.csv", header+"10.0.0.3:1,90,8,dm2\n10.0.0.1:1,,8,dm1\n")
	out := succeeds(t, "simulate", "--group", "--data", ann, "--data", bob, "--runs", "1", "--json")
	for _, row := range decode[struct{ Rows []sim.GroupSimulation }](t, []byte(out)).Rows {
		if !row.Found || row.FoundRuns != 1 || row.ScoreMS != 45 || row.OptimumMS != 45 {
			t.Errorf("%+v, want 45 ms", row)
		}
	}
	wrong{"", []string{"simulate", "--group", "--data", ann, "--data", few}, 1,
		[]string{"ann and few do not list the same servers", "10.0.0.2:1 is only in ann",
			"hint: have everybody ask all servers of one list"}}.check(t)
}

// TestGroupFilters checks that map, seats, passwords and weights count in a simulation as in
// select.
func TestGroupFilters(t *testing.T) {
	const header = "addr,rtt_ms,players,max_players,map,mode,password\n"
	ann := writeFile(t, "ann.csv", header+
		"10.0.0.1:1,10,8,8,dm1,0,false\n10.0.0.2:1,20,0,8,dm2,1,true\n10.0.0.3:1,30,0,8,dm1,0,false\n10.0.0.4:1,80,0,8,dm3,0,false\n")
	bob := writeFile(t, "bob.csv", header+
		"10.0.0.1:1,10,8,8,dm1,0,false\n10.0.0.2:1,20,0,8,dm2,1,true\n10.0.0.3:1,70,0,8,dm1,0,false\n10.0.0.4:1,30,0,8,dm3,0,false\n")
	for args, score := range map[string]float64{
		"--by mean":                              10,
		"--players 2":                            20,
		"--mode 1":                               20,
		"--players 2 --no-password":              50,
		"--map DM3":                              55,
		"--players 2 --no-password --by minimax": 70,
		"--players 2 --no-password --weights bob=3,ann=1": 42.5,
	} {
		all := append([]string{"simulate", "--group", "--data", ann, "--data", bob, "--runs", "1", "--json"}, strings.Fields(args)...)
		for _, row := range decode[struct{ Rows []sim.GroupSimulation }](t, []byte(succeeds(t, all...))).Rows {
			if row.ScoreMS != score || row.OptimumMS != score {
				t.Errorf("%s: %+v, want %v ms", args, row, score)
			}
		}
	}
	out := succeeds(t, "simulate", "--group", "--data", ann, "--data", bob, "--runs", "1", "--players", "9")
	if lines := strings.Split(out, "\n"); !strings.Contains(lines[1], " no ") || !strings.Contains(lines[1], "–") {
		t.Errorf("no server has 9 seats, and the table says\n%s", out)
	}
}

// TestGroupLooksAlone checks that the naive method searches as its flags say.
func TestGroupLooksAlone(t *testing.T) {
	ann, bob := vantage(t, "ann.csv"), vantage(t, "bob.csv")
	naive := func(more ...string) float64 {
		args := append([]string{"simulate", "--group", "--data", ann, "--data", bob, "--runs", "1", "--window", "5",
			"--rate", "10", "--json"}, more...)
		return decode[struct{ Rows []sim.GroupSimulation }](t, []byte(succeeds(t, args...))).Rows[1].Percent
	}
	if part, all := naive(), naive("--auto-stop", "off"); part >= 100 || all != 100 {
		t.Errorf("naive asked %v %%, and without auto-stop %v %%", part, all)
	}
	if all, few := naive("--strategy", "conventional"), naive("--nearest", "3"); all != 100 || few >= 100 {
		t.Errorf("naive asked %v %% conventionally, and %v %% for the 3 nearest", all, few)
	}
}
