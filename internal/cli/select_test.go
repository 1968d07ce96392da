package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// table2 returns Table 2 of MUSST (NetGames 2005): eight players and three servers, in QStat's
// format.
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

// TestSelectionDocument checks the keys of the document.
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

// jsonReport returns a report in the format of muster discover --json, with a server for each pair
// of address and RTT.
func jsonReport(peer string, pairs ...any) string {
	var servers []string
	for i := 0; i < len(pairs); i += 2 {
		servers = append(servers, fmt.Sprintf(
			`{"addr":%q,"state":"answered","rtt_ms":%v,"phase":"ordered","order":%d,"max_players":8,"map":"dm1"}`, pairs[i], pairs[i+1], i/2+1))
	}
	return fmt.Sprintf(`{"format":"muster.report/1","peer":%q,"game":"openarena","strategy":"conventional","started":"2026-01-01T00:00:00Z","summary":{"listed":%d},"servers":[%s]}`,
		peer, len(servers), strings.Join(servers, ","))
}

func TestBrokenArchive(t *testing.T) {
	file := writeFile(t, "g.json.gz", "\x1f\x8bno")
	wrong{"a broken archive", []string{"select", file}, 1, []string{"g.json.gz: "}}.check(t)
}

// TestReportsAsTheyCome checks reports that are compressed, have a byte-order mark, or come over
// standard input.
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

// TestDoubtsAreShown checks that a made-up report cannot decide unnoticed, by a rule or by a law.
func TestDoubtsAreShown(t *testing.T) {
	var honest, made []any
	for i := range 20 {
		addr := fmt.Sprintf("10.0.%d.1:1", i)
		honest, made = append(honest, addr, 10+7*i), append(made, addr, 9999)
	}
	made[len(made)-1] = 1
	args := []string{"select", writeFile(t, "a.json", jsonReport("ann", honest...)),
		writeFile(t, "b.json", jsonReport("bob", honest...)), writeFile(t, "m.json", jsonReport("mallory", made...))}
	for _, out := range []string{succeeds(t, args...), succeeds(t, append(args, "--sides", "ann=a,mallory=b", "--law", "na-draft")...)} {
		if !strings.Contains(out, "mallory reports the same ping for 19 of 20 servers") {
			t.Errorf("no doubt in\n%s", out)
		}
	}
}
