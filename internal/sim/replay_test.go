package sim

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/report"
)

const ms = time.Millisecond

// vantage returns a view of one server for each RTT in ms. A negative RTT means a silent server.
// Each server has its own /16 and AS.
func vantage(rtts ...int) *Vantage {
	v := &Vantage{Name: "test"}
	for i, rtt := range rtts {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{80, byte(i), 0, 1}), 1)
		v.Servers = append(v.Servers, discovery.Server{Addr: addr, Country: "DE", ASN: uint32(i + 1)})
		v.RTT = append(v.RTT, time.Duration(rtt)*ms)
	}
	return v
}

func TestReplayKeepsTheRate(t *testing.T) {
	v := vantage(10, 10, 10, 80, 10)
	results, took := v.Replay(discovery.NewConventional(5), ReplayOptions{Rate: 100})
	// The fourth goes out at 30 ms and is back at 110, after the fifth.
	if len(results) != 5 || took != 110*ms {
		t.Errorf("%d results after %v, want 5 after 110ms", len(results), took)
	}
	for i, r := range results {
		if r.Server != i || r.Order != i+1 || r.State != discovery.Answered || r.RTT != v.RTT[i] {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

func TestReplayRepeatsAndGivesUp(t *testing.T) {
	v := vantage(-1, 30, 1500, 30)
	lost := map[int]uint64{1: 2, 3: 3} // the first pairs of these servers
	v.Sample = func(server int, n uint64) (time.Duration, bool) {
		return v.RTT[server], n < lost[server]
	}
	results, took := v.Replay(discovery.NewConventional(4), ReplayOptions{Rate: 1000})
	want := []discovery.State{discovery.Lost, discovery.Answered, discovery.Answered, discovery.Lost}
	for i, r := range results {
		if r.State != want[i] {
			t.Errorf("server %d is %v, want %v", i, r.State, want[i])
		}
	}
	// The last server, probed at 3 ms, is silent for three seconds.
	if took != 3*time.Second+3*ms {
		t.Errorf("it took %v", took)
	}
	if results[1].RTT != 30*ms {
		t.Errorf("a repeated query's RTT is %v, want that of one packet pair", results[1].RTT)
	}
}

// waiting is a plan that waits for each result before it goes on.
type waiting struct {
	servers, next int
	free          bool
}

func (w *waiting) Next() (discovery.Probe, discovery.Verdict) {
	switch {
	case w.next == w.servers:
		return discovery.Probe{}, discovery.Stop
	case !w.free:
		return discovery.Probe{}, discovery.Wait
	}
	w.free = false
	w.next++
	return discovery.Probe{Server: w.next - 1}, discovery.Go
}

func (w *waiting) Observe(discovery.Result)       { w.free = true }
func (w *waiting) Summary() discovery.PlanSummary { return discovery.PlanSummary{} }

func TestReplayWaits(t *testing.T) {
	v := vantage(100, 200, 300)
	results, took := v.Replay(&waiting{servers: 3, free: true}, ReplayOptions{Rate: 1000})
	if len(results) != 3 || took != 600*ms {
		t.Errorf("%d results after %v, want 3 after 600ms", len(results), took)
	}
	// A plan that waits for nothing ends.
	if results, _ := v.Replay(&waiting{servers: 3}, ReplayOptions{}); len(results) != 0 {
		t.Errorf("%d results of a plan that waits for nothing", len(results))
	}
}

func TestResultsAreObservedInTheOrderInWhichTheyEnd(t *testing.T) {
	rtts := []int{90, 10, 70, 30, 50, -1, 20, 80, 40, 60}
	seen := &recorder{Plan: discovery.NewConventional(len(rtts))}
	v := vantage(rtts...)
	v.Replay(seen, ReplayOptions{Rate: 1e6})
	if want := []int{1, 6, 3, 8, 4, 9, 2, 7, 0, 5}; !slices.Equal(seen.order, want) {
		t.Errorf("observed %v, want %v", seen.order, want)
	}
}

type recorder struct {
	discovery.Plan
	order []int
}

func (r *recorder) Observe(result discovery.Result) {
	r.order = append(r.order, result.Server)
	r.Plan.Observe(result)
}

// simulate sums up so many runs.
func (c Case) simulate(o ReplayOptions, n int) (Simulation, error) {
	all := runs{Case: c}
	for i := range n {
		r, err := c.run(o, uint64(i))
		if err != nil {
			return Simulation{}, err
		}
		all.all = append(all.all, r)
	}
	return all.sum(), nil
}

func (v *Vantage) simulate(strategy discovery.Strategy, plan discovery.PlanOptions, o ReplayOptions, n int) (Simulation, error) {
	return Case{Vantage: v, Strategy: strategy, Plan: plan}.simulate(o, n)
}

func TestSimulate(t *testing.T) {
	v := vantage(10, 20, 30, 250, 260, -1, 270, 280)
	s, err := v.simulate(discovery.Conventional, discovery.PlanOptions{Nearest: 2}, ReplayOptions{Rate: 100}, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := Simulation{
		Data: "test", Strategy: discovery.Conventional, AutoStop: discovery.StopOff, Listed: 8, Probes: 8, Percent: 100,
		MeanPercent: 100, Seconds: 3.05,
		Playable: 3, PlayableFound: 3, Recall: 1, WorstRecall: 1, Within: 1, Runs: 3,
	}
	s.Recall, s.Within = float64(int(s.Recall*1000+.5))/1000, float64(int(s.Within*1000+.5))/1000
	if s != want {
		t.Errorf("%+v\nwant %+v", s, want)
	}
	if _, err := v.simulate("best", discovery.PlanOptions{}, ReplayOptions{}, 1); err == nil {
		t.Error("an unknown strategy was simulated")
	}
}

func TestExcessComparesWithTheTrulyNearest(t *testing.T) {
	v := vantage(10, 20, 30, 36, 100)
	answered := func(servers ...int) (results []discovery.Result) {
		for _, i := range servers {
			results = append(results, discovery.Result{Server: i, State: discovery.Answered, RTT: v.RTT[i]})
		}
		return results
	}
	truly := v.truth(discovery.PlanOptions{Nearest: 3}).nearest
	tests := []struct {
		found      []int
		ms, within float64
	}{
		{[]int{4, 2, 1, 0}, 0, 1},
		{[]int{0, 1, 3}, 2, 2. / 3},
		{[]int{0, 1, 4}, 70. / 3, 2. / 3},
	}
	for _, tt := range tests {
		ms, within := v.excess(answered(tt.found...), truly)
		if diff := ms - tt.ms; diff > 1e-9 || diff < -1e-9 || within != tt.within {
			t.Errorf("%v: %v ms and %v within, want %v and %v", tt.found, ms, within, tt.ms, tt.within)
		}
	}
	if ms, _ := v.excess(nil, truly); ms < 1000 {
		t.Errorf("nothing found has an excess of only %v ms", ms)
	}
}

func TestReadVantage(t *testing.T) {
	v, err := ReadVantage("au.csv", strings.NewReader(
		"rtt_ms,asn,addr,country,note,players,max_players\n"+
			"12.5,3320,1.2.3.4:27960,DE,x,3,16\n"+
			",0,[::ffff:1.2.3.5]:27960,,y,,\n"+
			"0.25,1,[2001:db8::1]:27960,SE,z,0,8\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []discovery.Server{
		{Addr: netip.MustParseAddrPort("1.2.3.4:27960"), Country: "DE", ASN: 3320},
		{Addr: netip.MustParseAddrPort("1.2.3.5:27960")},
		{Addr: netip.MustParseAddrPort("[2001:db8::1]:27960"), Country: "SE", ASN: 1},
	}
	if !slices.Equal(v.Servers, want) || !slices.Equal(v.RTT, []time.Duration{12500 * time.Microsecond, Silent, 250 * time.Microsecond}) {
		t.Errorf("read %+v at %v", v.Servers, v.RTT)
	}
	if v.Infos[0].Players != 3 || v.Infos[0].MaxPlayers != 16 || v.Name != "au.csv" {
		t.Errorf("read %+v of %s", v.Infos[0], v.Name)
	}
	if _, gone := v.Pair(1, 0); !gone {
		t.Error("a server without an RTT answered")
	}
	if rtt, gone := v.Pair(0, 7); gone || rtt != 12500*time.Microsecond {
		t.Errorf("a packet pair took %v", rtt)
	}
}

// TestReadVantageAsWritten checks that the variants of a data file that editors, spreadsheets and
// muster discover write read alike.
func TestReadVantageAsWritten(t *testing.T) {
	for name, file := range map[string]string{
		"by hand":         "addr,country,asn,rtt_ms\n1.2.3.4:5,DE,3320,6\n1.2.3.5:5,,0,\n",
		"no end":          "addr,country,asn,rtt_ms\n1.2.3.4:5,DE,3320,6\n1.2.3.5:5,,0,",
		"CRLF and a mark": "\ufeffaddr,country,asn,rtt_ms\r\n1.2.3.4:5,DE,3320,6\r\n1.2.3.5:5,,0,\r\n",
		"comments":        "# at home\n\naddr,country,asn,rtt_ms\n1.2.3.4:5,DE,3320,6\n# silent\n\n1.2.3.5:5,,0,\n",
		"blanks":          "addr, country , asn, rtt_ms \n1.2.3.4:5, DE, AS3320, 6 \n1.2.3.5:5, , , \n",
		"letter case":     "Addr,Country,ASN,RTT_ms\n1.2.3.4:5,de,as3320,6\n1.2.3.5:5,,,\n",
		"quotes":          "\"addr\",\"country\",\"asn\",\"rtt_ms\"\n\"1.2.3.4:5\",\"DE\",\"3320\",\"6.000\"\n\"1.2.3.5:5\",\"\",\"\",\"\"\n",
	} {
		v, err := ReadVantage("x.csv", strings.NewReader(file))
		want := []discovery.Server{
			{Addr: netip.MustParseAddrPort("1.2.3.4:5"), Country: "DE", ASN: 3320},
			{Addr: netip.MustParseAddrPort("1.2.3.5:5")},
		}
		if err != nil || !slices.Equal(v.Servers, want) || !slices.Equal(v.RTT, []time.Duration{6 * time.Millisecond, Silent}) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestReadVantageOfAReport checks that a report's CSV is a data file, with the servers' facts.
func TestReadVantageOfAReport(t *testing.T) {
	report := report.Report{Servers: []report.Measurement{
		{Addr: hostport.At(netip.MustParseAddrPort("1.2.3.4:5")), State: discovery.Answered, RTT: discovery.Millis(7 * time.Millisecond), Name: "-=GoD=-, FFA",
			Map: "q3dm17", Mode: "0", Players: 3, MaxPlayers: 8, Bots: 1, Password: true, Country: "DE", ASN: 7},
		{Addr: hostport.At(netip.MustParseAddrPort("[2001:db8::1]:5")), State: discovery.Lost},
	}}
	var file bytes.Buffer
	if err := report.WriteCSV(&file); err != nil {
		t.Fatal(err)
	}
	v, err := ReadVantage("x.csv", &file)
	if err != nil {
		t.Fatal(err)
	}
	if want := (discovery.Info{Map: "q3dm17", Mode: "0", Players: 3, MaxPlayers: 8, Bots: 1, Password: true}); v.Infos[0] != want {
		t.Errorf("read %+v", v.Infos[0])
	}
	if v.Servers[0] != report.Servers[0].Server() || v.Servers[1] != report.Servers[1].Server() || v.RTT[1] != Silent {
		t.Errorf("read %+v at %v", v.Servers, v.RTT)
	}
}

func TestReadVantageRefuses(t *testing.T) {
	tests := []struct{ file, want string }{
		{"", "x.csv is empty"},
		{"# nothing\n", "x.csv is empty"},
		{"1.2.3.4:5,DE,0,6\n", "no column addr"},
		{"addr,country\n", "no column rtt_ms"},
		{"addr,rtt_ms\n1.2.3.4,5\n", `x.csv:2: addr "1.2.3.4"`},
		{"addr,rtt_ms\n1.2.3.4:0,5\n", `x.csv:2: addr "1.2.3.4:0"`},
		{"addr,rtt_ms\n1.2.3.4:5,6\n\n1.2.3.4:5,6\n", "x.csv:4: 1.2.3.4:5 stands in line 2 already"},
		{"addr,rtt_ms\n1.2.3.4:5,-6\n", `"-6"`},
		{"addr,rtt_ms\n1.2.3.4:5,NaN\n", `"NaN"`},
		{"addr,rtt_ms\n1.2.3.4:5,1e300\n", `"1e300"`},
		{"addr,rtt_ms,asn\n1.2.3.4:5,6,ASx\n", `"ASx"`},
		{"addr,rtt_ms,asn\n1.2.3.4:5,6,4294967296\n", `"4294967296"`},
		{"addr,rtt_ms,players\n1.2.3.4:5,6,-1\n", `players "-1"`},
		{"addr,rtt_ms\n1.2.3.4:5\n", "x.csv:2: not as many fields"},
		{"addr,rtt_ms\n1.2.3.4:5,6,7\n", "x.csv:2: not as many fields"},
		{"addr,rtt_ms\n\"1.2.3.4:5,6\n", "x.csv:2: a quotation mark"},
	}
	for _, tt := range tests {
		if _, err := ReadVantage("x.csv", strings.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one with %q", tt.file, err, tt.want)
		}
	}
}

func TestVisitsDiffer(t *testing.T) {
	spec, err := NamedSpec("et2007", 1)
	if err != nil {
		t.Fatal(err)
	}
	v := Generate(spec).Vantage(0)
	at := make(map[any]int)
	for i, s := range v.Servers {
		at[s.Addr] = i
	}
	first, second := v.Visits(1)
	listed := make(map[any]bool)
	for i, s := range first.Servers {
		listed[s.Addr] = true
		if first.RTT[i] != v.RTT[at[s.Addr]] {
			t.Fatalf("at the first visit %v is not where it is", s.Addr)
		}
	}
	replaced, factors := 0, make(map[any]float64)
	for i, s := range second.Servers {
		if !listed[s.Addr] {
			replaced++
		}
		was := v.RTT[at[s.Addr]]
		if was < 0 != (second.RTT[i] < 0) {
			t.Fatalf("%v is silent at one visit only", s.Addr)
		}
		if was < 0 {
			continue
		}
		factor := float64(second.RTT[i]) / float64(was)
		if before, known := factors[routeOf(s)]; known && (factor > before*1.001 || factor < before/1.001) {
			t.Fatalf("a route is %v and %v times as long as before", before, factor)
		}
		factors[routeOf(s)] = factor
		// It is the same packet pair, longer by the same factor.
		one, lost := v.Pair(at[s.Addr], 7)
		other, again := second.Pair(i, 7)
		if lost != again || !lost && other-one != second.RTT[i]-was {
			t.Fatalf("a packet pair of %v has %v more, want %v", s.Addr, other-one, second.RTT[i]-was)
		}
	}
	if share := float64(replaced) / float64(len(second.Servers)); share < 0.08 || share > 0.12 {
		t.Errorf("%v of the servers are new, want %v", share, replacedShare)
	}
	rerouted := 0
	for _, factor := range factors {
		if factor != 1 {
			rerouted++
		}
		if factor < 1/maxShorter-1e-6 || factor > maxLonger+1e-6 {
			t.Errorf("a route is %v times as long", factor)
		}
	}
	if share := float64(rerouted) / float64(len(factors)); share < 0.02 || share > 0.09 {
		t.Errorf("%v of the networks were rerouted, want %v", share, ReroutedShare)
	}
}
