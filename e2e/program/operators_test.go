package program_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/internal/freeport"

	"go.yaml.in/yaml/v3"
)

// promtool runs Prometheus' tool in a folder, with input if it is not empty, and fails the test if the
// tool finds a fault.
func promtool(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("/opt/muster-e2e/prometheus/usr/bin/promtool", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// rule is an alert of docs/serve/alerts.yml.
type rule struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

// alerts returns the rules for operators.
func alerts(t *testing.T) (rules []rule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal([]byte(documented(t, "alerts.yml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	return rules
}

// TestAlerts checks the alert rules with promtool and their own tests. Each alert has a test in which
// it fires and one in which it does not, and names a section of docs/serve/alerts.md that says what people
// notice, where to look, and what to do.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool(t, "../../docs/serve", "", "check", "rules", "alerts.yml")
	promtool(t, "../../docs/serve", "", "test", "rules", "alerts_test.yml")
	var tests struct {
		Tests []struct {
			Checks []struct {
				Alertname string
				Alerts    []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(documented(t, "alerts_test.yml")), &tests); err != nil {
		t.Fatal(err)
	}
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, check := range test.Checks {
			fires[check.Alertname] = fires[check.Alertname] || len(check.Alerts) > 0
			rests[check.Alertname] = rests[check.Alertname] || len(check.Alerts) == 0
		}
	}
	page := documented(t, "alerts.md")
	for _, r := range alerts(t) {
		if !fires[r.Alert] || !rests[r.Alert] {
			t.Errorf("%s: alerts_test.yml has it fire: %v, not fire: %v", r.Alert, fires[r.Alert], rests[r.Alert])
		}
		if r.Labels["severity"] != "page" && r.Labels["severity"] != "ticket" {
			t.Errorf("%s has the severity %q", r.Alert, r.Labels["severity"])
		}
		// In a published copy the address of the repository stands before it.
		before, found := strings.CutSuffix(r.Annotations["runbook_url"], "docs/serve/alerts.md#"+strings.ToLower(r.Alert))
		if !found || before != "" && !strings.HasPrefix(before, "https://") {
			t.Errorf("%s names %q", r.Alert, r.Annotations["runbook_url"])
		}
		_, section, found := strings.Cut(page, "\n### "+r.Alert+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		if !found {
			t.Errorf("docs/serve/alerts.md has no section %s", r.Alert)
		}
		for _, part := range []string{"**People notice**", "**Look**", "**do**"} {
			if !strings.Contains(strings.ReplaceAll(section, "**Do**", "**do**"), part) {
				t.Errorf("the section %s of docs/serve/alerts.md lacks %s", r.Alert, part)
			}
		}
	}
}

// panel is a panel of docs/serve/dashboard.json.
type panel struct {
	Type, Title, Description string
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct{ Expr string }
}

// dashboard returns the panels for operators, without the rows' titles.
func dashboard(t *testing.T) (panels []panel) {
	t.Helper()
	var file struct{ Panels []panel }
	if err := json.Unmarshal([]byte(documented(t, "dashboard.json")), &file); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Panels {
		if p.Type != "row" {
			panels = append(panels, p)
		}
	}
	return panels
}

// filled replaces what Grafana fills in.
var filled = strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")

// TestDashboard checks that each panel says what it shows and in which unit, that Prometheus parses
// its queries, and that the alerts that it names exist.
func TestDashboard(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range alerts(t) {
		known[r.Alert] = true
	}
	type record struct{ Record, Expr string }
	var records []record
	titles := map[string]bool{}
	shown := map[string]bool{}
	for _, p := range dashboard(t) {
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || titles[p.Title] {
			t.Errorf("the panel %q: description %q, unit %q, %d queries, title used: %v", p.Title, p.Description,
				p.FieldConfig.Defaults.Unit, len(p.Targets), titles[p.Title])
		}
		titles[p.Title] = true
		for _, name := range regexp.MustCompile(`Muster[A-Z]\w+`).FindAllString(p.Description, -1) {
			if shown[name] = true; !known[name] {
				t.Errorf("the panel %q names the alert %s, which does not exist", p.Title, name)
			}
		}
		for _, target := range p.Targets {
			records = append(records, record{fmt.Sprint("panel:", len(records)), filled.Replace(target.Expr)})
		}
	}
	for name := range known {
		if !shown[name] && name != "MusterCodesGuessed" {
			t.Errorf("no panel names the alert %s", name)
		}
	}
	dir := t.TempDir()
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": records}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dashboard.yml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "", "check", "rules", "dashboard.yml")
}

// series are the samples of a scrape by their names and labels.
type series map[string]string

// scraped reads the metrics of a host; ok is false if it does not answer.
func scraped(at string) (text string, samples series, ok bool) {
	answer, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + at + "/metrics")
	if err != nil {
		return "", nil, false
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	samples = series{}
	for line := range strings.Lines(string(data)) {
		if space := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") && space > 0 {
			samples[line[:space]] = strings.TrimSpace(line[space:])
		}
	}
	return string(data), samples, err == nil && answer.StatusCode == http.StatusOK
}

// metricNames matches the names of metrics in a query, and selectors those with labels.
var (
	metricNames = regexp.MustCompile(`\b(?:muster|process|go)_\w+`)
	selectors   = regexp.MustCompile(`\b((?:muster|process|go)_\w+)\{([^}]*)\}`)
	labelNames  = regexp.MustCompile(`(\w+)(?:=~|=|!=|!~)"`)
	groupings   = regexp.MustCompile(`by \(([^)]*)\)`)
)

// exported returns the labels of each metric in scrapes.
func exported(scrapes ...series) map[string]map[string]bool {
	labels := map[string]map[string]bool{}
	for _, scrape := range scrapes {
		for sample := range scrape {
			name, rest, _ := strings.Cut(sample, "{")
			if labels[name] == nil {
				labels[name] = map[string]bool{"instance": true, "job": true}
			}
			for _, label := range labelNames.FindAllStringSubmatch(rest, -1) {
				labels[name][label[1]] = true
			}
		}
	}
	return labels
}

// checkQuery checks that a query asks for metrics and labels that hosts export.
func checkQuery(t *testing.T, where, query string, known map[string]map[string]bool) {
	t.Helper()
	all := map[string]bool{"instance": true, "job": true}
	for _, name := range metricNames.FindAllString(query, -1) {
		if known[name] == nil {
			t.Errorf("%s asks for %s, which no host exports", where, name)
		}
		maps.Copy(all, known[name])
	}
	for _, selector := range selectors.FindAllStringSubmatch(query, -1) {
		for _, label := range labelNames.FindAllStringSubmatch(selector[2], -1) {
			if !known[selector[1]][label[1]] {
				t.Errorf("%s asks %s for the label %s, which it lacks", where, selector[1], label[1])
			}
		}
	}
	for _, grouping := range groupings.FindAllStringSubmatch(query, -1) {
		for label := range strings.SplitSeq(grouping[1], ",") {
			if label = strings.TrimSpace(label); !all[label] {
				t.Errorf("%s groups by %s, which its metrics lack: %s", where, label, query)
			}
		}
	}
}

// TestWatchedCluster runs two hosts with a real NATS server, and reads their metrics again and
// again. The hosts export whatever the queries of dashboard and alerts ask for. One host is killed,
// and then NATS. Prometheus' own tool reads what was recorded, and fires the alerts for these two
// faults and no others.
func TestWatchedCluster(t *testing.T) {
	t.Parallel()
	at, nats := startNATS(t)
	hosts := []string{freeport.TCP(t), freeport.TCP(t)}
	list := writeFile(t, "servers.txt", "127.0.0.1:27960\n")
	var programs []*process
	for i, host := range hosts {
		p := run(t, t.TempDir(), fmt.Sprint("host", i), "serve", "--listen", host, "--nats", "nats://"+at,
			"--node", fmt.Sprint("host", i), "--cluster-listen", "127.0.0.1:0",
			"--servers", list)
		p.awaits(`(?m)^page `)
		programs = append(programs, p)
	}
	opensRoom(t, hosts[0])
	for _, path := range []string{"/", "/api/service", "/api/rooms/BAKODIBAKODI"} {
		answer, err := http.Get("http://" + hosts[0] + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	answer, err := http.Post("http://"+hosts[0]+"/api/rooms", "application/json", strings.NewReader(`{"game":"openarena","players":1}`))
	if err != nil {
		t.Fatal(err)
	}
	var opened struct{ Link string }
	if err := json.NewDecoder(answer.Body).Decode(&opened); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	run(t, t.TempDir(), "ann", "join", opened.Link, "--name", "ann", "--launch", "never")
	var text string
	var first series
	eventually(t, "the host has got a list", func() (has bool) {
		text, first, _ = scraped(hosts[0])
		_, has = first[`muster_list_age_seconds{game="openarena"}`]
		return has
	})
	promtool(t, "", text, "check", "metrics")
	known := exported(first)
	for _, r := range alerts(t) {
		checkQuery(t, r.Alert, r.Expr, known)
	}
	for _, p := range dashboard(t) {
		for _, target := range p.Targets {
			checkQuery(t, "the panel "+p.Title, filled.Replace(target.Expr), known)
		}
	}
	var record recorder
	record.hosts = hosts
	record.until(t, "both hosts are in the cluster", func(now []series) bool {
		return now[1]["muster_cluster_hosts"] == "2" && now[1]["muster_store_up"] == "1" && now[0]["muster_cluster_hosts_unreached"] == "0"
	})
	healthy := record.ticks
	programs[0].cmd.Process.Kill()
	record.until(t, "the other host has the rooms", func(now []series) bool {
		rooms, err := strconv.Atoi(now[1][`muster_takeovers_total{cause="ended"}`])
		return err == nil && rooms >= 2
	})
	took := record.ticks
	record.times(10)
	nats.stop(syscall.SIGKILL)
	record.until(t, "the store is away", func(now []series) bool { return now[1]["muster_store_up"] == "0" })
	away := record.ticks
	record.times(6)
	t.Logf("%d scrapes: healthy until %d, taken over at %d, without a store from %d", record.ticks, healthy, took, away)
	record.check(t, map[string][]int{
		"MusterStoreDown": {away + 4, record.ticks - 1}, "MusterHostDown": {healthy + 6, record.ticks - 1},
		"MusterHostDied": {took, record.ticks - 1}, "MusterHostsMissing": {took + 9, record.ticks - 1},
	}, healthy)
}

// recorder reads the metrics of hosts.
type recorder struct {
	hosts []string
	ticks int
	// samples are those of each series, by host and name. Where one ends, Prometheus notes that it is
	// stale; _ is no sample.
	samples map[string][]string
}

// tick reads all hosts once.
func (r *recorder) tick() (now []series) {
	now = make([]series, len(r.hosts))
	up := make([]bool, len(r.hosts))
	var all sync.WaitGroup
	for i, host := range r.hosts {
		all.Go(func() { _, now[i], up[i] = scraped(host) })
	}
	all.Wait()
	if r.samples == nil {
		r.samples = map[string][]string{}
	}
	note := func(name, value string) {
		for len(r.samples[name]) < r.ticks {
			r.samples[name] = append(r.samples[name], "_")
		}
		r.samples[name] = append(r.samples[name], value)
	}
	defer func() {
		r.ticks++
		for name, values := range r.samples {
			if len(values) == r.ticks-1 && values[len(values)-1] != "stale" {
				r.samples[name] = append(values, "stale")
			}
		}
	}()
	for i := range r.hosts {
		labels := fmt.Sprintf(`job="muster",instance="host%d"`, i)
		note("up{"+labels+"}", map[bool]string{true: "1", false: "0"}[up[i]])
		for sample, value := range now[i] {
			name, rest, has := strings.Cut(sample, "{")
			if has {
				rest = "," + rest
			} else {
				rest = "}"
			}
			note(name+"{"+labels+rest, value)
		}
	}
	return now
}

// until reads each second until a condition holds.
func (r *recorder) until(t *testing.T, what string, is func([]series) bool) {
	t.Helper()
	every(t, time.Second, what, func() bool { return is(r.tick()) })
}

// times reads n times.
func (r *recorder) times(n int) {
	for range n {
		r.tick()
	}
}

// check runs promtool, which says which alerts the recorded samples fire, as if Prometheus had read
// them every 15 seconds. fires are the ticks at which alerts fire. Before the tick healthy no alert
// may fire.
func (r *recorder) check(t *testing.T, fires map[string][]int, healthy int) {
	t.Helper()
	type input struct{ Series, Values string }
	type check struct {
		EvalTime  string `yaml:"eval_time"`
		Alertname string
		Alerts    []map[string]map[string]string `yaml:"exp_alerts"`
	}
	var inputs []input
	for _, name := range slices.Sorted(maps.Keys(r.samples)) {
		if values := r.samples[name]; !strings.Contains(strings.Join(values, ""), "N") { // promtool takes no NaN here
			inputs = append(inputs, input{name, strings.Join(values, " ")})
		}
	}
	dir := t.TempDir()
	write := func(name string, checks []check) {
		text, err := yaml.Marshal(map[string]any{
			"rule_files": []string{"alerts.yml"}, "evaluation_interval": "15s",
			"tests": []any{map[string]any{"interval": "15s", "input_series": inputs, "alert_rule_test": checks}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Other tests check labels and texts. Here only the alert's name counts.
	var rules struct{ Groups []map[string]any }
	if err := yaml.Unmarshal([]byte(documented(t, "alerts.yml")), &rules); err != nil {
		t.Fatal(err)
	}
	for _, group := range rules.Groups {
		for _, r := range group["rules"].([]any) {
			rule := r.(map[string]any)
			delete(rule, "annotations")
			delete(rule, "labels")
			rule["expr"] = fmt.Sprintf("count(%s) > 0", rule["expr"])
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": rules.Groups})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "alerts.yml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(tick int) string { return fmt.Sprintf("%ds", 15*tick) }
	var checks []check
	for _, a := range alerts(t) {
		checks = append(checks, check{at(healthy - 1), a.Alert, nil})
		if ticks, does := fires[a.Alert]; does {
			for _, tick := range ticks {
				checks = append(checks, check{at(tick), a.Alert, []map[string]map[string]string{{"exp_labels": {}}}})
			}
			continue
		}
		checks = append(checks, check{at(r.ticks - 1), a.Alert, nil})
	}
	write("recorded_test.yml", checks)
	promtool(t, dir, "", "test", "rules", "recorded_test.yml")
}
