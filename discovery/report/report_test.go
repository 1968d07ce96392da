package report_test

import (
	"encoding/csv"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/report"
)

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// facts are what a server of the sample says of itself.
var facts = discovery.Info{
	Name:           "=1+1",
	Map:            "dm6",
	Mode:           "ctf",
	Players:        3,
	MaxPlayers:     8,
	Bots:           2,
	Password:       true,
	Version:        "1.36",
	Protocol:       71,
	OldestProtocol: 68,
	Mod:            "-x",
	Tags:           "a no3rd",
}

// sample returns a report with a server in each state; the third of the list was never
// asked.
func sample() report.Report {
	list := []discovery.Server{
		{Addr: addr("192.0.2.1:27960"), Country: "DE", ASN: 3320},
		{Addr: addr("192.0.2.2:27960")},
		{Addr: addr("192.0.2.3:27960")},
		{Addr: addr("[2001:db8::4]:27960"), Country: "JP"},
	}
	results := []discovery.Result{
		{Server: 1, Order: 2, State: discovery.Lost},
		{Server: 3, Order: 3, State: discovery.Refused, Phase: discovery.Refining},
		{Server: 2},
		{
			Server: 0, Order: 1, State: discovery.Answered, Phase: discovery.Calibration, RTT: 12345678 * time.Nanosecond,
			Info: &facts,
		},
	}
	head := report.Report{
		Peer: "ann", Game: "openarena", Strategy: "as",
		Started: time.Date(2026, 11, 21, 20, 30, 0, 123456789, time.FixedZone("CET", 3600)),
		Summary: report.Summary{
			Clusters:      2,
			Calibration:   1,
			AutoStopped:   true,
			ElapsedMS:     1500,
			PacketsSent:   5,
			BytesSent:     250,
			BytesReceived: 900,
		},
	}
	return report.New(head, list, results)
}

const sampleJSON = `{"format":"muster.report/1","peer":"ann","game":"openarena","strategy":"as","started":"2026-11-21T19:30:00.123Z",` +
	`"summary":{"listed":4,"clusters":2,"calibration":1,"probed":3,"answered":1,"lost":1,"refused":1,"auto_stopped":true,` +
	`"elapsed_ms":1500,"packets_sent":5,"bytes_sent":250,"bytes_received":900},` +
	`"servers":[{"addr":"192.0.2.1:27960","state":"answered","rtt_ms":12.345,"phase":"calibration","order":1,` +
	`"name":"=1+1","map":"dm6","mode":"ctf","players":3,"max_players":8,"bots":2,"password":true,"country":"DE","asn":3320,"version":"1.36","protocol":71,"protocol_min":68,"mod":"-x","tags":["a","no3rd"]},` +
	`{"addr":"192.0.2.2:27960","state":"lost","phase":"ordered","order":2,` +
	`"name":"","map":"","mode":"","players":0,"max_players":0,"bots":0,"password":false,"country":"","asn":0},` +
	`{"addr":"[2001:db8::4]:27960","state":"refused","phase":"refining","order":3,` +
	`"name":"","map":"","mode":"","players":0,"max_players":0,"bots":0,"password":false,"country":"JP","asn":0}]}` + "\n"

func TestReportJSON(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != sampleJSON {
		t.Errorf("got  %s\nwant %s", b.String(), sampleJSON)
	}
}

func TestReadReportGivesBackWhatWasWritten(t *testing.T) {
	got, err := report.Read(strings.NewReader(sampleJSON))
	if err != nil {
		t.Fatal(err)
	}
	want := sample()
	want.Servers[0].RTT = discovery.Millis(12345 * time.Microsecond)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReportOfNobody(t *testing.T) {
	var b strings.Builder
	if err := report.New(report.Report{}, nil, nil).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"servers":[]`) {
		t.Errorf("got %s, want an empty array of servers", b.String())
	}
}

func TestMeasurementIsServerAndInfo(t *testing.T) {
	servers := sample().Servers
	if got, want := servers[0].Server(), (discovery.Server{Addr: addr("192.0.2.1:27960"), Country: "DE", ASN: 3320}); got != want {
		t.Errorf("Server() = %+v, want %+v", got, want)
	}
	if got := servers[0].Info(); got == nil || *got != facts {
		t.Errorf("Info() = %+v, want %+v", got, facts)
	}
	if got := servers[1].Info(); got != nil {
		t.Errorf("Info() of a lost server = %+v, want none", got)
	}
}

func TestReadReportRefuses(t *testing.T) {
	server := func(fields string) string {
		return `{"format":"muster.report/1","servers":[{"addr":"192.0.2.1:1",` + fields + `}]}`
	}
	tests := []struct{ name, in, want string }{
		{"nothing", ``, "EOF"},
		{"a cut-off file", sampleJSON[:400], "unexpected EOF"},
		{"no JSON", `<?xml version="1.0"?>`, "invalid character"},
		{"no address", `{"format":"muster.report/1","servers":[{"state":"lost"}]}`, "server 1"},
		{"a host name without port", `{"format":"muster.report/1","servers":[{"addr":"example.org","state":"lost"}]}`, "example.org"},
		{"an unknown state", server(`"state":"maybe"`), `unknown state "maybe"`},
		{"an answer without RTT", server(`"state":"answered"`), "rtt_ms is missing"},
		{"an answer in no time", server(`"state":"answered","rtt_ms":0`), "rtt_ms is missing or 0"},
		{"an answer before the question", server(`"state":"answered","rtt_ms":-1`), "no time in milliseconds"},
		{"an answer after a day", server(`"state":"answered","rtt_ms":86400000`), "no time in milliseconds"},
		{"RTT of a lost server", server(`"state":"lost","rtt_ms":5`), "lost, but rtt_ms is 5.000"},
		{"negative players", server(`"state":"lost","players":-1`), "negative"},
		{"the same server twice", `{"format":"muster.report/1","servers":[
			{"addr":"192.0.2.1:1","state":"lost"},{"addr":"[::ffff:192.0.2.1]:1","state":"lost"}]}`, "twice"},
	}
	for _, tt := range tests {
		_, err := report.Read(strings.NewReader(tt.in))
		if !errors.Is(err, discovery.ErrMalformed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want a malformed one that says %q", tt.name, err, tt.want)
		}
	}
}

func TestReadReportKnowsOtherFormats(t *testing.T) {
	tests := []struct{ in, format string }{
		{`{"format":"muster.report/2","servers":[]}`, "muster.report/2"},
		{`{"format":"muster.selection/1","players":["ann"]}`, "muster.selection/1"},
		{`{"format":"muster.simulation/1","servers":7}`, "muster.simulation/1"},
		{`{}`, ""},
		{`[1]`, ""},
	}
	for _, tt := range tests {
		_, err := report.Read(strings.NewReader(tt.in))
		if format, is := errors.AsType[*report.FormatError](err); !is || format.Format != tt.format {
			t.Errorf("ReadReport(%s): got error %v, want a FormatError of %q", tt.in, err, tt.format)
		}
	}
}

func TestReadReportCleansText(t *testing.T) {
	r, err := report.Read(strings.NewReader(
		`{"format":"muster.report/1","peer":"a\u001b[2Jnn","servers":[{"addr":"192.0.2.1:1","state":"lost","name":"x\u202ey\nz","version":"1\u0007","mod":"\u001b[m","tags":["a b","\u202e","a"]}]}`))
	if s := r.Servers; err != nil || r.Peer != "a[2Jnn" || s[0].Name != "xy z" || s[0].Version != "1" ||
		s[0].Mod != "[m" || s[0].Tags != "a b" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// endless never ends its document.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestReadReportIsBounded(t *testing.T) {
	_, err := report.ReadUpTo(1<<20, io.MultiReader(strings.NewReader(`{"format":`), endless{}))
	if !errors.Is(err, discovery.ErrMalformed) || !strings.Contains(err.Error(), "over") {
		t.Errorf("got error %v, want one about the size", err)
	}
}

func TestReportCSV(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	want := "addr,state,rtt_ms,name,map,mode,players,max_players,bots,password,country,asn,version,protocol,mod,tags\n" +
		"192.0.2.1:27960,answered,12.345,'=1+1,dm6,ctf,3,8,2,true,DE,3320,1.36,71,'-x,a no3rd\n" +
		"192.0.2.2:27960,lost,,,,,0,0,0,false,,0,,0,,\n" +
		"[2001:db8::4]:27960,refused,,,,,0,0,0,false,JP,0,,0,,\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestReportCSVHoldsNoFormula(t *testing.T) {
	for _, name := range []string{"=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", `",=1`, "a\n=1"} {
		r := report.Report{Servers: []report.Measurement{{
			Name:    name,
			Map:     name,
			Mode:    name,
			Version: name,
			Mod:     name,
			Tags:    discovery.Tags(name),
		}}}
		var b strings.Builder
		if err := r.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%q: %v, %d rows", name, err, len(rows))
		}
		for _, cell := range rows[1] {
			if cell != "" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
				t.Errorf("%q gives the cell %q", name, cell)
			}
		}
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add(sampleJSON)
	f.Add(`{"format":"muster.report/1","servers":[{"addr":"192.0.2.1:1","state":"answered","rtt_ms":1e-9}]}`)
	f.Fuzz(func(t *testing.T, in string) {
		r, err := report.Read(strings.NewReader(in))
		if err != nil {
			return
		}
		var b strings.Builder
		if err := r.WriteJSON(&b); err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		again, err := report.Read(strings.NewReader(b.String()))
		if err != nil || len(again.Servers) != len(r.Servers) {
			t.Fatalf("%v: the second reading gives %d servers, the first %d", err, len(again.Servers), len(r.Servers))
		}
	})
}
