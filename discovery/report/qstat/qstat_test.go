package qstat_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func measured(addr string, order int, s discovery.State) report.Measurement {
	at, err := hostport.Parse(addr)
	if err != nil {
		panic(err)
	}
	m := report.Measurement{Addr: hostport.At(at), Order: order, State: s}
	if hostport.IsName(at.Addr()) && s == discovery.Answered {
		m.RTT = half
	}
	return m
}

// half is the value for a ping of 0 ms.
const half = discovery.Millis(time.Millisecond / 2)

func TestReadXMLOfQuakestat(t *testing.T) {
	for _, name := range []string{"openarena-latin1.xml", "openarena-utf8.xml"} {
		first, second := measured("127.0.0.1:27960", 1, discovery.Answered), measured("127.0.0.2:27960", 2, discovery.Answered)
		first.RTT, first.Name, first.Map, first.Mode, first.Players, first.MaxPlayers, first.Bots = half,
			"OA <test & 1> caf", "oa_dm1", "4", 4, 8, 4
		second.RTT, second.Name, second.Map, second.Mode, second.MaxPlayers = half, "OA <test & 2> caf", "oa_dm2", "4", 8
		for _, m := range []*report.Measurement{&first, &second} {
			m.Version, m.Protocol = "ioq3 1.36+u20221123.70d07d9+dfsg-1/Debian linux-x86_64 Jan 8 2023", 71
		}
		want := []report.Measurement{first, second, measured("127.0.0.3:27960", 3, discovery.Refused)}
		r, err := qstat.ReadXML(strings.NewReader(read(t, name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range r.Servers { // OpenArena masks the é's high bit away, QStat may drop it
			r.Servers[i].Name = strings.TrimSuffix(r.Servers[i].Name, "I")
		}
		if !reflect.DeepEqual(r.Servers, want) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", name, r.Servers, want)
		}
		if s := r.Summary; s.Listed != 3 || s.Answered != 2 || s.Refused != 1 || s.Lost != 0 {
			t.Errorf("%s: got the summary %+v", name, s)
		}
	}
}

// document returns a file of one server.
func document(encoding, inside string) string {
	return `<?xml version="1.0" encoding="` + encoding + `"?>` + "\n<qstat>\n" + inside + "</qstat>\n"
}

const up = `<server type="A2S" address="192.0.2.1:27015" status="UP"><hostname>192.0.2.1:27015</hostname>` +
	`<name>NAME</name><gametype>tf</gametype><map>cp_dustbowl</map><numplayers>20</numplayers><maxplayers>24</maxplayers>` +
	`<ping>42</ping><retries>1</retries><rules><rule name="bots">3</rule><rule name="password">1</rule></rules></server>`

func TestReadXML(t *testing.T) {
	a2s := measured("192.0.2.1:27015", 1, discovery.Answered)
	a2s.RTT, a2s.Map, a2s.Mode, a2s.Players, a2s.MaxPlayers, a2s.Bots,
		a2s.Password = discovery.Millis(42*time.Millisecond), "cp_dustbowl", "tf", 20, 24, 3, true
	named := func(name string) report.Measurement { m := a2s; m.Name = name; return m }
	tests := []struct {
		name, in string
		want     []report.Measurement
	}{
		{"A2S", document("UTF-8", strings.Replace(up, "NAME", "caf\u00e9 ^1 \u202e&lt;b&gt;", 1)), []report.Measurement{named("café ^1 <b>")}},
		{"Latin-1", document("iso-8859-1", strings.Replace(up, "NAME", "caf\xe9", 1)), []report.Measurement{named("café")}},
		{"Cyrillic as Latin-1", document("iso-8859-1", strings.Replace(up, "NAME", "\xd0\xf3\xf1\xf1\xea\xe8\xe9", 1)),
			[]report.Measurement{named("Русский")}},
		{"Cyrillic, each byte in UTF-8", document("UTF-8", strings.Replace(up, "NAME", "Ðóññêèé", 1)), []report.Measurement{named("Русский")}},
		{"UTF-8 as Latin-1", document("iso-8859-1", strings.Replace(up, "NAME", "café – 5", 1)), []report.Measurement{named("café – 5")}},
		{"colours of Quake III", document("UTF-8",
			`<server type="Q3S" address="192.0.2.1" status="UP"><name>^1red^7</name><ping>7</ping></server>`),
			[]report.Measurement{func() report.Measurement {
				m := measured("192.0.2.1:27960", 1, discovery.Answered)
				m.Name, m.RTT = "red", discovery.Millis(7*time.Millisecond)
				return m
			}()}},
		{"private seats", document("UTF-8",
			`<server type="Q3S" address="192.0.2.1" status="UP"><numplayers>5</numplayers><maxplayers>8</maxplayers><ping>7</ping>
			<rules><rule name="sv_privateClients">2</rule></rules></server>`),
			[]report.Measurement{func() report.Measurement {
				m := measured("192.0.2.1:27960", 1, discovery.Answered)
				m.Players, m.MaxPlayers, m.RTT = 5, 6, discovery.Millis(7*time.Millisecond)
				return m
			}()}},
		{"bots apart", document("UTF-8", strings.Replace(strings.Replace(up, "NAME", "a", 1), `"bots">3<`, `"bots">21<`, 1)),
			[]report.Measurement{func() report.Measurement {
				m := named("a")
				m.Players, m.MaxPlayers, m.Bots = 20+21, 24+21, 21
				return m
			}()}},
		{"states", document("UTF-8", `<server type="tees" address="192.0.2.1" status="DOWN"/>
			<server type="Q3S" address="[2001:db8::1]:27961" status="TIMEOUT"/><server type="Q3S" address="192.0.2.3:1" status="ERROR"><error>no</error></server>`),
			[]report.Measurement{
				measured("192.0.2.1:8303", 1, discovery.Refused),
				measured("[2001:db8::1]:27961", 2, discovery.Lost),
				measured("192.0.2.3:1", 3, discovery.Lost),
			}},
		{"masters, names and repetitions", document("UTF-8", `<server type="Q3M" address="192.0.2.9:27950" status="UP" servers="2"></server>
			<server type="Q3M" address="192.0.2.9:27950" status="DOWN"/><server type="STMA2S" address="192.0.2.9:1" status="UP" servers="0"/>
			<server type="Q3S" address="games.example.org:27960" status="UP"/><server type="Q3S" address="nobody.example.org:27960" status="ERROR"/><server type="CRYSIS" address="192.0.2.8" status="DOWN"/>
			<other><server/></other>
			<server type="Q3S" address="192.0.2.1:1" status="DOWN"/><server type="Q3S" address="192.0.2.1:1" status="TIMEOUT"/>
			<server type="TM" address="192.0.2.2:2" status="DOWN"/>`),
			[]report.Measurement{measured("games.example.org:27960", 1, discovery.Answered), measured("192.0.2.1:1", 2, discovery.Refused),
				measured("192.0.2.2:2", 3, discovery.Refused)}},
	}
	for _, tt := range tests {
		r, err := qstat.ReadXML(strings.NewReader(tt.in))
		if err != nil || !reflect.DeepEqual(r.Servers, tt.want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", tt.name, r.Servers, err, tt.want)
		}
	}
}

func TestReadXMLRefuses(t *testing.T) {
	whole := read(t, "openarena-latin1.xml")
	tests := []struct{ name, in, want string }{
		{"nothing", "", "ends before"},
		{"a header alone", xml.Header, "ends before"},
		{"a file cut off in a server", whole[:len(whole)/2], "ends before"},
		{"a file cut off between servers", strings.TrimSuffix(whole, "</qstat>\n"), "ends before"},
		{"a file cut off in a tag", document("UTF-8", up)[:120], "ends before"},
		{"another document", "<html><body/></html>", "root element"},
		{"no XML", `{"format":"muster.report/1"}`, "ends before"},
		{"crossed tags", "<qstat><server></qstat>", "element <server> closed by </qstat>"},
		{"another encoding", document("utf-16", up), "utf-16"},
		{"broken UTF-8", document("UTF-8", strings.Replace(up, "NAME", "\xff", 1)), "invalid UTF-8"},
		{"a control character", document("UTF-8", strings.Replace(up, "NAME", "\x1b[2J", 1)), "illegal character"},
		{"an unknown status", document("UTF-8", strings.Replace(up, "UP", "MAYBE", 1)), `status "MAYBE"`},
		{"a negative ping", document("UTF-8", strings.Replace(up, ">42<", ">-42<", 1)), "impossible"},
		{"a ping of a day", document("UTF-8", strings.Replace(up, ">42<", ">86400000<", 1)), "impossible"},
		{"words for numbers", document("UTF-8", strings.Replace(up, ">42<", ">fast<", 1)), "invalid syntax"},
		{"an entity that multiplies",
			`<!DOCTYPE q [<!ENTITY a "&b;&b;">]>` + document("UTF-8", strings.Replace(up, "NAME", "&a;", 1))[39:], "entity"},
	}
	for _, tt := range tests {
		_, err := qstat.ReadXML(strings.NewReader(tt.in))
		if !errors.Is(err, discovery.ErrMalformed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want a malformed one that says %q", tt.name, err, tt.want)
		}
		if truncated := tt.want == "ends before"; truncated != errors.Is(err, qstat.ErrTruncated) {
			t.Errorf("%s: got error %v, ErrTruncated is %t", tt.name, err, !truncated)
		}
	}
}

func TestReadXMLOfNoServers(t *testing.T) {
	for _, in := range []string{"", `<server type="Q3S" address="localhost:27960" status="ERROR"/>`} {
		if _, err := qstat.ReadXML(strings.NewReader(document("UTF-8", in))); !errors.Is(err, qstat.ErrEmpty) {
			t.Errorf("%q: got error %v, want ErrEmpty", in, err)
		}
	}
}

func sample() report.Report {
	answered := measured("192.0.2.1:27960", 1, discovery.Answered)
	answered.RTT, answered.Name, answered.Map, answered.Mode = discovery.Millis(29600*time.Microsecond), "a & b", "q3dm17", "ctf"
	answered.Players, answered.MaxPlayers, answered.Bots, answered.Password = 2, 8, 1, true
	answered.Country, answered.ASN = "DE", 3320
	answered.Version, answered.Protocol, answered.OldestProtocol, answered.Mod, answered.Tags = "1.36", 71, 68, "q3ut4", "a b"
	return report.Report{Servers: []report.Measurement{
		answered, measured("192.0.2.2:27960", 2, discovery.Lost), measured("[2001:db8::3]:27960", 3, discovery.Refused),
	}}
}

const sampleXML = `<?xml version="1.0" encoding="UTF-8"?>
<qstat>
	<server type="Q3S" address="192.0.2.1:27960" status="UP">
		<hostname>192.0.2.1:27960</hostname>
		<name>a &amp; b</name>
		<gametype>ctf</gametype>
		<map>q3dm17</map>
		<numplayers>2</numplayers>
		<maxplayers>8</maxplayers>
		<numspectators>0</numspectators>
		<maxspectators>0</maxspectators>
		<ping>30</ping>
		<retries>0</retries>
		<rules>
			<rule name="password">1</rule>
			<rule name="bots">1</rule>
			<rule name="rtt_ms">29.600</rule>
			<rule name="country">DE</rule>
			<rule name="asn">3320</rule>
			<rule name="version">1.36</rule>
			<rule name="protocol">71</rule>
			<rule name="protocol_min">68</rule>
			<rule name="gamedir">q3ut4</rule>
			<rule name="keywords">a b</rule>
		</rules>
		<players>
		</players>
	</server>
	<server type="Q3S" address="192.0.2.2:27960" status="TIMEOUT">
		<hostname>192.0.2.2:27960</hostname>
	</server>
	<server type="Q3S" address="[2001:db8::3]:27960" status="DOWN">
		<hostname>[2001:db8::3]:27960</hostname>
	</server>
</qstat>
`

func TestWriteXML(t *testing.T) {
	var b strings.Builder
	if err := qstat.WriteXML(&b, "Q3S", sample()); err != nil || b.String() != sampleXML {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), sampleXML)
	}
}

func TestReadXMLGivesBackWhatWriteXMLWrote(t *testing.T) {
	r, err := qstat.ReadXML(strings.NewReader(sampleXML))
	if want := sample().Servers; err != nil || !reflect.DeepEqual(r.Servers, want) {
		t.Errorf("%v, got\n%+v\nwant\n%+v", err, r.Servers, want)
	}
}

// elements returns the names of the elements in the first server, in order.
func elements(t *testing.T, document string) (names []string) {
	t.Helper()
	var file struct {
		Servers []struct {
			Elements []struct{ XMLName xml.Name } `xml:",any"`
		} `xml:"server"`
	}
	if err := xml.Unmarshal([]byte(document), &file); err != nil {
		t.Fatal(err)
	}
	for _, e := range file.Servers[0].Elements {
		names = append(names, e.XMLName.Local)
	}
	return names
}

func TestWriteXMLHasQuakestatsElements(t *testing.T) {
	got, want := elements(t, sampleXML), elements(t, read(t, "openarena-utf8.xml"))
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestWriteXMLIsWellFormedWhateverServersSay(t *testing.T) {
	for _, text := range []string{"]]></name><x>", "\x00\x1b[2J\uffff", "\xff\xfe", `"'&<>`, "\u202eevil", strings.Repeat("é", 2000)} {
		r := sample()
		r.Servers[0].Name, r.Servers[0].Map, r.Servers[0].Mode, r.Servers[0].Country = text, text, text, text
		var b strings.Builder
		if err := qstat.WriteXML(&b, text, r); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%q: %v in\n%s", text, err, b.String())
			}
		}
		if again, err := qstat.ReadXML(strings.NewReader(b.String())); err != nil || len(again.Servers) != 3 {
			t.Errorf("%q: read back %d servers, %v", text, len(again.Servers), err)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteXMLTellsOfWriteErrors(t *testing.T) {
	if err := qstat.WriteXML(full{}, "Q3S", sample()); err == nil {
		t.Error("no error from a full disk")
	}
}

func FuzzReadXML(f *testing.F) {
	f.Add(sampleXML)
	f.Add(document("iso-8859-1", up))
	f.Fuzz(func(t *testing.T, in string) {
		r, err := qstat.ReadXML(strings.NewReader(in))
		if err != nil {
			return
		}
		var b strings.Builder
		if err := qstat.WriteXML(&b, "Q3S", r); err != nil {
			t.Fatal(err)
		}
		again, err := qstat.ReadXML(strings.NewReader(b.String()))
		if err != nil || len(again.Servers) != len(r.Servers) {
			t.Fatalf("%v: %d servers became %d in\n%s", err, len(r.Servers), len(again.Servers), b.String())
		}
	})
}
