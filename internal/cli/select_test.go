package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// table2 is Table 2 of MUSST (NetGames 2005): eight players, three servers, as
// QStat would have told.
func table2(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/table2/p*.xml")
	if err != nil || len(files) != 8 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// selected is the part of muster.selection/1 that tests look at.
type selected struct {
	Format  string
	By      string
	Players []string
	Chosen  *struct {
		Addr    string
		MeanMS  float64            `json:"mean_ms"`
		MaxMS   float64            `json:"max_ms"`
		StdevMS float64            `json:"stdev_ms"`
		RTT     map[string]float64 `json:"rtt_ms"`
	}
	Ranking []json.RawMessage
	Culled  map[string]int
	Doubts  []json.RawMessage
}

// TestMUSSTTable2: three rules, three winners.
func TestMUSSTTable2(t *testing.T) {
	tests := []struct {
		args        string
		chosen      string
		mean, stdev string
	}{
		{"--by mean", "10.0.0.1:27960", "58.0", "86.8"},
		{"--by threshold --max-rtt 150ms", "10.0.0.2:27960", "76.0", "25.7"},
		{"--by fairness", "10.0.0.3:27960", "91.8", "3.4"},
		{"--by minimax", "10.0.0.3:27960", "91.8", "3.4"},
		{"--by threshold --max-rtt 100ms,150ms", "10.0.0.3:27960", "91.8", "3.4"},
		{"--by mean --weights p8=100", "10.0.0.2:27960", "76.0", "25.7"},
	}
	for _, test := range tests {
		args := append([]string{"select", "--json"}, strings.Fields(test.args)...)
		s := decode[selected](t, []byte(succeeds(t, append(args, table2(t)...)...)))
		if s.Format != "muster.selection/1" || len(s.Players) != 8 || s.Players[0] != "p1" || s.Chosen == nil {
			t.Fatalf("%s: %+v", test.args, s)
		}
		mean, stdev := fmt.Sprintf("%.1f", s.Chosen.MeanMS), fmt.Sprintf("%.1f", s.Chosen.StdevMS)
		if s.Chosen.Addr != test.chosen || mean != test.mean || stdev != test.stdev {
			t.Errorf("%s chose %s with %s ± %s, want %s with %s ± %s", test.args, s.Chosen.Addr, mean, stdev, test.chosen, test.mean, test.stdev)
		}
	}
}

// TestSelectionDocument: no key may come or go unnoticed.
func TestSelectionDocument(t *testing.T) {
	out := succeeds(t, append([]string{"select", "--json", "--top", "2"}, table2(t)...)...)
	document := decode[map[string]json.RawMessage](t, []byte(out))
	if got, want := keys(document), "by chosen culled decided format players ranking reasons why"; got != want {
		t.Errorf("the document has %s, want %s", got, want)
	}
	chosen := decode[map[string]json.RawMessage](t, document["chosen"])
	if got, want := keys(chosen), "addr max_ms mean_ms rtt_ms score stdev_ms worst_off"; got != want {
		t.Errorf("chosen has %s, want %s", got, want)
	}
	if s := decode[selected](t, []byte(out)); len(s.Ranking) != 2 {
		t.Errorf("%d servers ranked, want 2", len(s.Ranking))
	}
}

// TestSelectionForPeople: the reasons, then the ranking.
func TestSelectionForPeople(t *testing.T) {
	out := succeeds(t, append([]string{"select"}, table2(t)...)...)
	for _, part := range []string{
		"10.0.0.1:27960 has the lowest average: 58.0 ms; p8 is worst off with 272.0 ms.",
		"Without p8: −30.6 ms, on the same server.",
		"   SERVER          NAME      MEAN  WORST  STDEV    p1    p2     p3    p4    p5    p6     p7     p8",
		"2  10.0.0.2:27960  Server B  76.0  122.0   25.7  74.0",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("does not say %q:\n%s", part, out)
		}
	}
}

// jsonReport is a report as muster discover --json writes it, with one server a
// pair of address and RTT.
func jsonReport(peer string, pairs ...any) string {
	var servers []string
	for i := 0; i < len(pairs); i += 2 {
		servers = append(servers, fmt.Sprintf(
			`{"addr":%q,"state":"answered","rtt_ms":%v,"phase":"ordered","order":%d,"max_players":8,"map":"dm1"}`, pairs[i], pairs[i+1], i/2+1))
	}
	return fmt.Sprintf(`{"format":"muster.report/1","peer":%q,"game":"openarena","strategy":"conventional","started":"2026-01-01T00:00:00Z","summary":{"listed":%d},"servers":[%s]}`,
		peer, len(servers), strings.Join(servers, ","))
}

func TestWrongReports(t *testing.T) {
	xml, err := os.ReadFile(table2(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	ann := writeFile(t, "a.json", jsonReport("ann", "10.0.0.1:1", 10, "10.0.0.2:1", 20))
	bob := writeFile(t, "b.json", jsonReport("bob", "10.0.0.1:1", 100, "10.0.0.2:1", 90))
	far := writeFile(t, "c.json", jsonReport("cat", "10.0.0.3:1", 10))
	checkAll(t, []wrong{
		{"missing file", []string{"select", "nobody.json"}, 1, []string{"nobody.json: no such file"}},
		{"folder", []string{"select", t.TempDir()}, 1, []string{"directory"}},
		{"empty file", []string{"select", writeFile(t, "e.json", "")}, 1, []string{"e.json: the file is empty", "muster discover --json"}},
		{"truncated XML", []string{"select", writeFile(t, "t.xml", string(xml[:len(xml)/2]))}, 1,
			[]string{"t.xml: ", "the file ends before </qstat>"}},
		{"other XML", []string{"select", writeFile(t, "o.xml", "<html></html>")}, 1, []string{"o.xml: "}},
		{"JSON of another format", []string{"select", writeFile(t, "s.json", `{"format":"muster.selection/1"}`)}, 1,
			[]string{"s.json: this is a muster.selection/1, not a muster.report/1"}},
		{"JSON without a format", []string{"select", writeFile(t, "n.json", `{"servers":[]}`)}, 1, []string{"n.json: this JSON is no report"}},
		{"truncated JSON", []string{"select", writeFile(t, "h.json", `{"format":"muster.report/1","servers":[`)}, 1, []string{"h.json: "}},
		{"impossible RTT", []string{"select", writeFile(t, "m.json", jsonReport("ann", "10.0.0.1:1", -5))}, 1, []string{"m.json: "}},
		{"neither JSON nor XML", []string{"select", writeFile(t, "l.csv", "addr,rtt_ms\n10.0.0.1:1,5\n")}, 1,
			[]string{"l.csv: this is neither JSON nor XML", "muster discover --json"}},
		{"a broken archive", []string{"select", writeFile(t, "g.json.gz", "\x1f\x8bno")}, 1, []string{"g.json.gz: "}},
		{"no name", []string{"select", writeFile(t, "u.json", jsonReport("", "10.0.0.1:1", 5))}, 1,
			[]string{"u.json does not name its player", "--name"}},
		{"two of one name", []string{"select", ann, far, ann}, 1, []string{"a.json and ", `two reports are by "ann"`, "--name"}},
		{"weight of a stranger", []string{"select", ann, bob, "--weights", "zoe=2"}, 2, []string{`"zoe"`}},
		{"weights of nobody", []string{"select", ann, bob, "--weights", "2"}, 2, []string{`"2" is not NAME=WEIGHT`}},
		{"top below 0", []string{"select", ann, bob, "--top", "-1"}, 2, []string{"--top -1"}},
		{"players below 0", []string{"select", ann, bob, "--players", "-1"}, 2, []string{"--players -1"}},
		{"threshold without a limit", []string{"select", ann, bob, "--by", "threshold"}, 2, []string{"needs a limit"}},
		{"no common server", []string{"select", ann, far}, 3, []string{"nothing suitable found"}},
	})
}

// TestReportsAsTheyCome: packed, with a byte-order mark, over standard input.
func TestReportsAsTheyCome(t *testing.T) {
	xml, err := os.ReadFile(table2(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	ann := jsonReport("ann", "10.0.0.1:27960", 10)
	bob := jsonReport("bob", "10.0.0.1:27960", 30)
	args := []string{"select", "--json", "-", writeFile(t, "b.json", "\ufeff\r\n"+bob), gzipped(t, "cat.xml.gz", string(xml))}
	o := musterWith(t, ann, args...)
	if s := decode[selected](t, []byte(o.out)); o.code != 0 || strings.Join(s.Players, " ") != "ann bob cat" ||
		s.Chosen.Addr != "10.0.0.1:27960" {
		t.Errorf("exit status %d\n%s%s", o.code, o.out, o.err)
	}
}

// TestNothingSuitable: the answer says what would have to give.
func TestNothingSuitable(t *testing.T) {
	ann := writeFile(t, "a.json", jsonReport("ann", "10.0.0.1:1", 10, "10.0.0.2:1", 20))
	bob := writeFile(t, "b.json", jsonReport("bob", "10.0.0.1:1", 100, "10.0.0.2:1", 90))
	cat := writeFile(t, "c.json", jsonReport("cat", "10.0.0.1:1", 100))
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"limit", []string{ann, bob, "--max-rtt", "50ms"}, "90"},
		{"map", []string{ann, bob, "--map", "dm2"}, "map"},
		{"seats", []string{ann, bob, "--players", "9"}, "8"},
		{"a player", []string{ann, bob, cat, "--max-rtt", "95ms"}, "cat"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := muster(t, append([]string{"select"}, test.args...)...)
			if o.code != 3 || !strings.Contains(o.out, "No server suits everyone.") || !strings.Contains(o.out, test.says) {
				t.Errorf("exit status %d\n%s%s", o.code, o.out, o.err)
			}
			o = muster(t, append([]string{"select", "--json"}, test.args...)...)
			if s := decode[selected](t, []byte(o.out)); o.code != 3 || s.Chosen != nil {
				t.Errorf("--json: exit status %d, chosen %v", o.code, s.Chosen)
			}
		})
	}
}

// TestDoubtsAreShown: a made-up report decides for nobody unnoticed.
func TestDoubtsAreShown(t *testing.T) {
	var honest, made []any
	for i := range 20 {
		addr := fmt.Sprintf("10.0.%d.1:1", i)
		honest, made = append(honest, addr, 10+7*i), append(made, addr, 9999)
	}
	made[len(made)-1] = 1
	out := succeeds(t, "select", writeFile(t, "a.json", jsonReport("ann", honest...)),
		writeFile(t, "b.json", jsonReport("bob", honest...)), writeFile(t, "m.json", jsonReport("mallory", made...)))
	if !strings.Contains(out, "mallory reports one and the same ping for 19 of 20 servers") {
		t.Errorf("no doubt in\n%s", out)
	}
}

// TestSelectByVersion: what reports say of versions, mods and tags is read back, and
// leaves others out.
func TestSelectByVersion(t *testing.T) {
	file := writeFile(t, "ann.json", `{"format":"muster.report/1","peer":"ann","game":"minecraft","servers":[
		{"addr":"192.0.2.1:1","state":"answered","rtt_ms":10,"max_players":9,"version":"Paper 1.20.4","protocol":765,"mod":"forge","tags":["create","jei"]},
		{"addr":"192.0.2.2:1","state":"answered","rtt_ms":20,"max_players":9,"version":"1.8.9","protocol":47}]}`)
	for args, want := range map[string]string{
		"": "192.0.2.1:1", "--version 1.20": "192.0.2.1:1", "--version 1.8": "192.0.2.2:1", "--version 47": "192.0.2.2:1",
		"--mod Forge": "192.0.2.1:1", "--tags create,jei": "192.0.2.1:1", "--tags -create": "192.0.2.2:1",
	} {
		s := decode[selected](t, []byte(succeeds(t, append([]string{"select", "--json", file}, strings.Fields(args)...)...)))
		if s.Chosen == nil || s.Chosen.Addr != want {
			t.Errorf("%q: %+v, want %s; left out %v", args, s.Chosen, want, s.Culled)
		}
	}
}
