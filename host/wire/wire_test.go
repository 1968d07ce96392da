package wire_test

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

func TestMalformed(t *testing.T) {
	tests := []struct{ name, line string }{
		{"no kind", ""},
		{"text that is no JSON", `{"type":`},
		{"JSON that is no object", `{"type":"hello"} {}`},
		{"no type", `{"version":1}`},
		{"field of another type", `{"type":"hello","version":"one"}`},
		{"unknown state of a server", `{"type":"verified","servers":[{"server":1,"state":"maybe"}]}`},
		{"answered without an RTT", `{"type":"verified","servers":[{"server":1,"state":"answered","rtts_ms":[],"sent":3}]}`},
		{"an RTT without an answer", `{"type":"verified","servers":[{"server":1,"state":"lost","rtts_ms":[3],"sent":3}]}`},
		{"negative RTT", `{"type":"verified","servers":[{"server":1,"state":"answered","rtts_ms":[-1],"sent":3}]}`},
		{"RTT of years", `{"type":"verified","servers":[{"server":1,"state":"answered","rtts_ms":[1e300],"sent":3}]}`},
		{"RTT that is no number", `{"type":"verified","servers":[{"server":1,"state":"answered","rtts_ms":[NaN],"sent":3}]}`},
		{"RTT over any float", `{"type":"verified","servers":[{"server":1,"state":"answered","rtts_ms":[1e999],"sent":3}]}`},
		{"more answers than samples", `{"type":"verified","servers":[{"server":1,"state":"answered","rtts_ms":[1,2],"sent":1}]}`},
		{"too many finalists", `{"type":"finalists","samples":3,"servers":[` + strings.Repeat("0,", 64) + `0]}`},
		{"too many samples", `{"type":"finalists","samples":61,"servers":[0]}`},
		{"a sample an hour", `{"type":"finalists","samples":3,"every_ms":3600000,"servers":[0]}`},
		{"a sample yesterday", `{"type":"finalists","samples":3,"after_ms":-1,"servers":[0]}`},
		{"no samples", `{"type":"finalists","servers":[0]}`},
		{"too many verified", `{"type":"verified","servers":[` + strings.Repeat("{},", 64) + `{}]}`},
		{"address that is an option", `{"type":"launch","address":"+exec evil"}`},
		{"address without port", `{"type":"launch","address":"192.0.2.7"}`},
		{"no name for an address", `{"type":"launch","address":"example.org;quit:27960"}`},
		{"name without port", `{"type":"launch","address":"example.org"}`},
		{"a router's port 0", `{"type":"outside","port":0}`},
		{"no port of a router", `{"type":"outside"}`},
		{"a router's port over 65535", `{"type":"outside","port":70000}`},
		{"a negative port", `{"type":"outside","port":-1}`},
		{"half a port", `{"type":"outside","port":1.5}`},
		{"an address for a port", `{"type":"outside","port":"192.0.2.7:7787"}`},
		{"unknown state of a launch", `{"type":"launched","state":"<script>"}`},

		{"report: no round", "02"},
		{"report: round too large", "02 ffffffff0f 00 00 00"},
		{"report: first beyond any list", "02 01 c19a0c 00 00"},
		{"report: a clock of over a day", "02 01 00 81b89929 00"},
		{"report: no count", "02 01 00 00"},
		{"report: number cut off", "02 01 00 00 80"},
		{"report: number of 11 bytes", "02 01 00 00 ffffffffffffffffffffff01"},
		{"report: more probes than bytes", "02 01 00 00 02 000000"},
		{"report: 2^64-1 probes", "02 01 00 00 ffffffffffffffffff01 000000"},
		{"report: probe cut off", "02 01 00 00 01 0080"},
		{"report: time of over a day", "02 01 00 00 01 86a8cc7b0000"},
		{"report: server before the list", "02 01 00 00 01 000100"},
		{"report: server beyond any list", "02 01 00 00 01 0080b51800"},
		{"report: server difference that overflows", "02 01 00 00 02 000200 00ffffffffffffffffff0100"},
		{"report: bytes left over", "02 01 00 00 01 000000 00"},
		{"report: negative RTT", "02 01 00 00 01 000004"},
		{"report: RTT of over a minute", "02 01 00 00 01 00008480cc9208"},
		{"report: RTT difference that overflows", "02 01 00 00 02 000005 0000ffffffffffffffffff01"},

		{"infos: more records than bytes", "03 01 02 00 00 00 00 0000 0000"},
		{"infos: cut off", "03 01 01 00 00 00 00 00"},
		{"infos: server before the list", "03 01 01 01 00 00 00 0000 0000"},
		{"infos: server beyond any list", "03 01 01 80b518 00 00 00 0000 0000"},
		{"infos: text that was not sent", "03 01 01 00 00 00 00 01 0000"},
		{"infos: text longer than the frame", "03 01 01 00 00 00 00 007f41 0000"},
		{"infos: text longer than any", "03 01 01 00 00 00 00 00ff7f41 0000"},
		{"infos: more seats than any server", "03 01 01 00 00 818004 00 0000 0000"},
		{"infos: port over 65535", "03 01 01 00 04 00 00 0000 0000 808004"},
		{"infos: flags that nobody knows", "03 01 01 00 80 00 00 0000 0000 08"},
		{"infos: flags without an end", "03 01 01 00 80 00 00 0000 0000"},
		{"infos: older protocols than there are", "03 01 01 00 80 00 00 0000 0000 01 05 06"},
		{"infos: bytes left over", "03 01 01 00 00 00 00 0000 0000 00"},

		{"memory: more cells than bytes", "05 02 4445 00 01 01 00 01 00"},
		{"memory: cut off", "05 01 4445 00 01 7b 00 01"},
		{"memory: a country that is none", "05 01 0041 00 01 7b 00 01 00"},
		{"memory: a country with an AS", "05 01 4445 07 01 7b 00 01 00"},
		{"memory: an AS without its number", "05 01 4445 00 02 7b 00 01 00"},
		{"memory: an address", "05 01 4445 00 05 c0000207 7b 00 01 00"},
		{"memory: a level of no list", "05 01 4445 00 00 7b 00 01 00"},
		{"memory: an RTT of over a minute", "05 01 4445 00 01 c1cf24 00 01 00"},
		{"memory: a day in the far future", "05 01 4445 00 01 7b 00 01 818004"},
		{"memory: measured at nothing", "05 01 4445 00 01 7b 00 00 00"},
		{"memory: bytes left over", "05 01 4445 00 01 7b 00 01 00 00"},

		{"list: no round", "01"},
		{"list: not deflated", "01 01 ffffffff"},
		{"list: deflated, cut off", "01 01 faefe2ca"},
		{"list: bytes left over", "01 01 0300 00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frame := wire.BinaryFrame(nil)
			if tt.line != "" {
				frame = frameOf(t, tt.line)
			}
			message, err := wire.Unmarshal(frame)
			if !errors.Is(err, wire.ErrMalformed) || message != nil {
				t.Errorf("Unmarshal gives %+v, error %v; want ErrMalformed", message, err)
			}
		})
	}
}

// TestUnknown checks that readers skip what a later version adds, both fields and kinds of
// messages.
func TestUnknown(t *testing.T) {
	for _, line := range []string{`{"type":"shutdown"}`, `{"type":"dance","steps":{"left":[1]}}`, "06", "06 01 02", "ff ffffff"} {
		if m, err := wire.Unmarshal(frameOf(t, line)); !errors.Is(err, wire.ErrUnknown) || errors.Is(err, wire.ErrMalformed) || m != nil {
			t.Errorf("%s reads %+v, error %v; want ErrUnknown", line, m, err)
		}
	}
	for _, example := range examples {
		if !strings.HasPrefix(example.line, "{") {
			continue
		}
		for _, line := range []string{
			strings.Replace(example.line, `",`, `","later":{"list":[1,{}]},`, 1),
			// This is a map of players.
			strings.ReplaceAll(strings.ReplaceAll(example.line, `{"`, `{"later":null,"`), `"rtt_ms":{"later":null,`, `"rtt_ms":{`),
			strings.TrimSuffix(example.line, "}") + `,"later":"text"}`,
		} {
			m, err := wire.Unmarshal(frameOf(t, line))
			same := reflect.DeepEqual(m, example.message)
			if _, is := m.(wire.Room); is {
				same = reflect.DeepEqual(merged(t, m), merged(t, example.message))
			}
			if err != nil || !same {
				t.Errorf("%s\nreads %+v, %v", line, m, err)
			}
		}
	}
}

// TestTextsAreCleaned checks that every text of a message is safe to print.
func TestTextsAreCleaned(t *testing.T) {
	evil := `\u001b[2J\u202egnp.exe\u0007 x`
	const clean = "[2Jgnp.exe x"
	tests := []struct {
		line string
		text func(wire.Message) string
	}{
		{`{"type":"welcome","name":"EVIL"}`, func(m wire.Message) string { return m.(wire.Welcome).Name }},
		{`{"type":"refused","message":"EVIL"}`, func(m wire.Message) string { return m.(wire.Refusal).Error() }},
		{`{"type":"room","log":[{"key":"plain","with":{"text":"EVIL"}}]}`, func(m wire.Message) string { return merged(t, m).Log[0].String() }},
		{`{"type":"room","people":[{"name":"EVIL"}]}`, func(m wire.Message) string { return merged(t, m).People[0].Name }},
		{`{"type":"room","choice":{"selection":{"why":{"bottleneck":"EVIL"}}}}`, func(m wire.Message) string {
			return merged(t, m).Choice.Selection.Why.Bottleneck
		}},
		{`{"type":"room","choice":{"selection":{"chosen":{"addr":"192.0.2.7:1","rtt_ms":{"EVIL":1}}}}}`, func(m wire.Message) string {
			for name := range merged(t, m).Choice.Selection.Chosen.RTT {
				return name
			}
			return "no name"
		}},
		{`{"type":"room","choice":{"servers":{"192.0.2.7:1":{"name":"EVIL"}}}}`, func(m wire.Message) string {
			return merged(t, m).Choice.Servers["192.0.2.7:1"].Name
		}},
		{`{"type":"verified","servers":[{"info":{"name":"EVIL"}}]}`, func(m wire.Message) string {
			return m.(wire.Verified).Servers[0].Info.Name
		}},
		{`{"type":"launched","state":"failed","detail":"EVIL"}`, func(m wire.Message) string { return catalogue.InEnglish().Say(m.(wire.Launched).Detail) }},
	}
	for _, tt := range tests {
		m, err := wire.Unmarshal(frameOf(t, strings.ReplaceAll(tt.line, "EVIL", evil)))
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if got := tt.text(m); got != clean {
			t.Errorf("%s reads %q, want %q", tt.line, got, clean)
		}
	}
	infos := wire.Infos{Servers: []wire.ServerInfo{{Info: discovery.Info{Map: "a\x1b[31mb\u202e"}}}}
	if got := roundTrip(t, infos).(wire.Infos).Servers[0].Info.Map; got != "a[31mb" {
		t.Errorf("the map of an infos frame reads %q", got)
	}
}

// merged returns the snapshot of a reader whose first update is m.
func merged(t *testing.T, m wire.Message) (s wire.Snapshot) {
	t.Helper()
	if err := s.Merge(m.(wire.Room)); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDocument checks that programs still read in a room what they have always read.
func TestDocument(t *testing.T) {
	const want = `{"code":"BAKODI","name":"Friday","game":"openarena","stage":"launching","phase":{"name":"launching","since_ms":900000},"round":1,"players":2,"by":"mean","max_rtt_ms":150,"map":"oa_dm1","mode":"","listed":128,"members":[` +
		`{"name":"ann","organiser":true,"connected":true,"probed":128,"answered":101,"done":true,"launch":"launched"},` +
		`{"name":"bob","connected":false,"probed":96,"answered":80,"done":false,"left_out":true}],` +
		`"selection":{"format":"muster.selection/1","by":"mean","players":["ann"],` +
		`"chosen":{"addr":"192.0.2.7:27960","score":23.9,"mean_ms":23.9,"max_ms":23.9,"stdev_ms":0,"rtt_ms":{"ann":23.9}},` +
		`"ranking":[],"culled":{"unmeasured":0,"unreachable":27,"full":0,"filtered":0,"over_threshold":0},"reasons":[]},` +
		`"connect":"192.0.2.7:27960","server":"Aggressor",` +
		`"log":[{"at":"2026-11-20T20:15:00Z","key":"room.here","with":{"player":"bob"}}]}`
	s := wire.Snapshot{
		Room: wire.Head{
			Code: "BAKODI", Stage: wire.Launching, Round: 1, Listed: 128,
			Settings: wire.Settings{
				Name:    "Friday",
				Game:    "openarena",
				Players: 2,
				By:      selection.Mean,
				Limits:  wire.Limits{50 * time.Millisecond, 150 * time.Millisecond},
				Wishes:  selection.Wishes{Map: "oa_dm1"},
			},
		},
		People: []wire.Person{
			{
				Name:      "ann",
				Organiser: true,
				Peer:      true,
				Connected: true,
				Page:      true,
				Probed:    128,
				Answered:  101,
				Done:      true,
				Launch:    wire.LaunchStarted,
			},
			{Name: "bob", Peer: true, Probed: 96, Answered: 80, LeftOut: true},
			{Name: "zoe", Page: true, Ready: true},
		},
		Choice: &wire.Choice{Selection: selection.Selection{
			Format: selection.Format, By: selection.Mean, Players: []string{"ann"},
			Chosen: &selection.Ranked{
				Addr:   hostport.At(netip.MustParseAddrPort("192.0.2.7:27960")),
				Score:  23.9,
				MeanMS: 23.9,
				MaxMS:  23.9,
				RTT:    map[string]float64{"ann": 23.9},
			},
			Ranking: []selection.Ranked{}, Reasons: []selection.Reason{}, Culled: selection.Culled{Unreachable: 27},
		}},
		Phase: wire.Phase{Name: wire.PhaseLaunching, SinceMS: 900_000},
		Way:   &wire.Way{Connect: "192.0.2.7:27960", Server: "Aggressor"},
		Log:   []wire.Note{{At: time.Date(2026, 11, 20, 20, 15, 0, 0, time.UTC), Sentence: sentence.Of("room.here", "player", "bob")}},
	}
	got, err := json.Marshal(s.Document())
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	document, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil || !contains(strings.Split(string(document), "\n"), want) {
		t.Errorf("PROTOCOL.md lacks the document, %v", err)
	}
}

// TestMerge checks that sections without news stay, and that sections with news keep nothing old.
func TestMerge(t *testing.T) {
	var s wire.Snapshot
	for _, text := range []string{
		`{"room":{"code":"BAKODI","map":"oa_dm1","limits_ms":[150]},"people":[{"name":"ann"}],"way":{"connect":"192.0.2.7:1","server":"A"},"later":[]}`,
		`{"room":{"code":"BAKODI"},"way":null}`,
	} {
		var news wire.Room
		if err := json.Unmarshal([]byte(text), &news); err != nil {
			t.Fatal(err)
		}
		if err := s.Merge(news); err != nil {
			t.Fatal(err)
		}
	}
	want := wire.Snapshot{Room: wire.Head{Code: "BAKODI"}, People: []wire.Person{{Name: "ann"}}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	before := s
	if err := s.Merge(wire.Room{"people": json.RawMessage(`{}`)}); !errors.Is(err, wire.ErrMalformed) || !reflect.DeepEqual(s, before) {
		t.Errorf("people that are no list: %+v, %v", s, err)
	}
}

func roundTrip(t testing.TB, m wire.Message) wire.Message {
	t.Helper()
	frame, err := wire.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := wire.Unmarshal(frame)
	if err != nil {
		t.Fatalf("%T does not come back: %v", m, err)
	}
	return back
}

// TestReportKeepsOrder checks that results arrive in the order of the report, even two for one
// server. The clock never runs back, and stops after a day. Unprobed results are not reported.
func TestReportKeepsOrder(t *testing.T) {
	answered := func(server, ms int, at time.Duration) discovery.Result {
		return discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(ms) * time.Millisecond, At: at}
	}
	got := roundTrip(t, wire.Report{Round: 3, First: 7, Now: 48 * time.Hour, Results: []discovery.Result{
		answered(9, 90, 5*time.Millisecond), answered(2, 20, 3*time.Millisecond), {Server: 5},
		answered(9, 91, time.Second+time.Microsecond), {Server: 2, State: discovery.Lost, At: 48 * time.Hour},
	}})
	want := wire.Report{Round: 3, First: 7, Now: 24 * time.Hour, Results: []discovery.Result{
		answered(9, 90, 5*time.Millisecond), answered(2, 20, 5*time.Millisecond),
		answered(9, 91, time.Second), {Server: 2, State: discovery.Lost, At: 24 * time.Hour},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestRTTs(t *testing.T) {
	tests := []struct{ rtt, want time.Duration }{
		{0, 50 * time.Microsecond},
		{-time.Second, 50 * time.Microsecond},
		{30 * time.Microsecond, 50 * time.Microsecond},
		{50 * time.Microsecond, 50 * time.Microsecond},
		{51 * time.Microsecond, 100 * time.Microsecond},
		{149 * time.Microsecond, 100 * time.Microsecond},
		{23_960 * time.Microsecond, 24 * time.Millisecond},
		{time.Hour, time.Minute},
	}
	for _, tt := range tests {
		report := wire.Report{Results: []discovery.Result{{State: discovery.Answered, RTT: tt.rtt}}}
		got := roundTrip(t, report).(wire.Report).Results[0].RTT
		if got != tt.want || wire.RoundRTT(tt.rtt) != tt.want || wire.RoundRTT(got) != got {
			t.Errorf("%v arrives as %v, and then as %v; RoundRTT says %v; want %v", tt.rtt, got, wire.RoundRTT(got), wire.RoundRTT(tt.rtt), tt.want)
		}
	}
}

// TestRoundTrips checks that tidy messages come back unchanged.
func TestRoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		for _, m := range []wire.Message{randomReport(random), randomInfos(random), randomList(random)} {
			if back := roundTrip(t, m); !reflect.DeepEqual(back, m) {
				t.Fatalf("%+v\ncame back as %+v", m, back)
			}
		}
	}
}

func randomReport(random *rand.Rand) wire.Report {
	report := wire.Report{
		Round: random.IntN(100), First: random.IntN(1000), Now: time.Duration(random.IntN(1e6)) * time.Millisecond, Results: []discovery.Result{},
	}
	at := time.Duration(0)
	for range random.IntN(300) {
		at += time.Duration(random.IntN(30)) * time.Millisecond
		result := discovery.Result{
			Server: random.IntN(discovery.MaxServers), State: discovery.State(1 + random.IntN(3)), Phase: discovery.Phase(random.IntN(3)), At: at,
		}
		if result.State == discovery.Answered {
			result.RTT = wire.RoundRTT(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
		}
		report.Results = append(report.Results, result)
	}
	return report
}

func randomInfos(random *rand.Rand) wire.Infos {
	infos := wire.Infos{Round: random.IntN(100), Servers: []wire.ServerInfo{}}
	texts := []string{"", "q3dm17", "oa_dm1", "ctf", "Größe"}
	sometimes := func(n int) int { return max(0, random.IntN(2*n)-n) }
	for range random.IntN(20) {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: random.IntN(discovery.MaxServers), Info: discovery.Info{
			Name: texts[random.IntN(5)], Map: texts[random.IntN(5)], Mode: texts[random.IntN(5)], Version: texts[random.IntN(5)],
			Players: sometimes(64), MaxPlayers: random.IntN(65), Bots: sometimes(8), Password: random.IntN(2) == 0,
			GamePort: uint16(sometimes(65535)), AppID: uint64(sometimes(1 << 40)),
			MinPing: time.Duration(sometimes(50)) * time.Millisecond, MaxPing: time.Duration(sometimes(500)) * time.Millisecond,
			Mod: texts[random.IntN(5)], Tags: discovery.Tags(texts[random.IntN(4)]),
		}})
		info := &infos.Servers[len(infos.Servers)-1].Info
		if info.Protocol = sometimes(1000); info.Protocol > 1 && random.IntN(2) == 0 {
			info.OldestProtocol = 1 + random.IntN(info.Protocol-1)
		}
	}
	return infos
}

func randomList(random *rand.Rand) wire.List {
	list := wire.List{Round: random.IntN(100), Servers: []discovery.Server{}}
	countries := []string{"", "AU", "DE", "US"}
	for range random.IntN(50) {
		addr := netip.AddrFrom4([4]byte{192, 0, 2, byte(random.IntN(256))})
		if random.IntN(4) == 0 {
			addr = netip.MustParseAddr("2001:db8::7")
		}
		list.Servers = append(list.Servers, discovery.Server{
			Addr: netip.AddrPortFrom(addr, uint16(1+random.IntN(65535))), Country: countries[random.IntN(4)], ASN: uint32(random.IntN(3)) * 3320,
		})
	}
	return list
}

func FuzzUnmarshal(f *testing.F) {
	for _, example := range examples {
		if text := strings.HasPrefix(example.line, "{"); text {
			f.Add(true, []byte(example.line))
		} else {
			data, err := hex.DecodeString(strings.ReplaceAll(example.line, " ", ""))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(false, data)
		}
	}
	f.Add(true, []byte(`{"type":"later"}`))
	f.Add(false, []byte{0xee, 1})
	f.Fuzz(func(t *testing.T, text bool, data []byte) {
		first, err := wire.Unmarshal(wire.Frame{Binary: !text, Data: data})
		if err != nil {
			if !errors.Is(err, wire.ErrMalformed) && !errors.Is(err, wire.ErrUnknown) || first != nil {
				t.Fatalf("%v, error %v", first, err)
			}
			return
		}
		if news, is := first.(wire.Room); is {
			var s wire.Snapshot
			if err := s.Merge(news); err != nil && !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("merging %s: %v", data, err)
			}
		}
		if list, is := first.(wire.List); is {
			seen := map[discovery.Server]bool{}
			for _, server := range list.Servers {
				seen[server] = true
			}
			if len(seen) < len(list.Servers) {
				return // not a host's list: it is so well deflated that it inflates to more than the bound
			}
		}
		frame, err := wire.Marshal(first)
		if err != nil {
			t.Fatalf("%+v was accepted, but cannot be sent on: %v", first, err)
		}
		second, err := wire.Unmarshal(frame)
		if err != nil {
			t.Fatalf("%+v was accepted once, but not again: %v", first, err)
		}
		if !text && !reflect.DeepEqual(first, second) {
			t.Fatalf("%+v\nbecame %+v", first, second)
		}
	})
}

// TestNearBounds checks that a player's program may report only servers of private networks, and
// only so many.
func TestNearBounds(t *testing.T) {
	near := func(addrs ...string) wire.Frame {
		return wire.Frame{Data: []byte(`{"type":"near","game":"openarena","servers":[{"addr":"` + strings.Join(addrs, `"},{"addr":"`) + `"}]}`)}
	}
	for _, addr := range []string{"192.168.1.5:27960", "10.0.0.1:1", "[fd00::1]:27960", "100.64.0.1:27015"} {
		if _, err := wire.Unmarshal(near(addr)); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"192.0.2.1:27960", "127.0.0.1:27960", "0.0.0.0:27960", "224.0.0.1:5353",
		"255.255.255.255:27960", "192.168.1.5:0", "[::ffff:192.168.1.5]:27960", "[fe80::1%eth0]:27960", "den.local:27960"} {
		if _, err := wire.Unmarshal(near(addr)); err == nil {
			t.Errorf("%s is let through", addr)
		}
	}
	many := strings.Split(strings.Repeat("192.168.1.5:27960 ", wire.MaxNear), " ")[:wire.MaxNear]
	if _, err := wire.Unmarshal(near(many...)); err != nil {
		t.Errorf("%d servers: %v", wire.MaxNear, err)
	}
	if _, err := wire.Unmarshal(near(append(many, many[0])...)); err == nil {
		t.Errorf("%d servers are let through", wire.MaxNear+1)
	}
}

// TestPack checks that a room's state comes through packed, and that short messages and binary ones
// stay as they are.
func TestPack(t *testing.T) {
	var packer wire.Packer
	people := []byte(`[`)
	for i := range 40 {
		people = fmt.Appendf(people, `{"name":"player %d","peer":true,"connected":true},`, i)
	}
	room := wire.Room{"people": append(people[:len(people)-1], ']')}
	plain, err := wire.Marshal(room)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time with a writer that was used
		packed := packer.Pack(plain)
		if !packed.IsDeflated() || 4*len(packed.Data) > len(plain.Data) {
			t.Errorf("%d bytes became %d", len(plain.Data), len(packed.Data))
		}
		if got, err := wire.Unmarshal(packed); err != nil || !reflect.DeepEqual(got, room) {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, f := range []wire.Frame{{Data: []byte(`{"type":"again"}`)}, wire.BinaryFrame(make([]byte, 4096))} {
		if packed := packer.Pack(f); !reflect.DeepEqual(packed, f) {
			t.Errorf("%+v became %+v", f, packed)
		}
	}
}

// TestUnpackHostile checks that what no host packs is refused.
func TestUnpackHostile(t *testing.T) {
	deflated := func(plain []byte) []byte {
		b := bytes.NewBuffer([]byte{4})
		w, _ := flate.NewWriter(b, flate.BestCompression)
		w.Write(plain)
		w.Close()
		return b.Bytes()
	}
	whole := deflated([]byte(`{"type":"done","round":1}`))
	for name, data := range map[string][]byte{
		"nothing":        {4},
		"cut short":      whole[:len(whole)-4],
		"more behind it": append(whole[:len(whole):len(whole)], 0),
		"no message":     deflated([]byte("[]")),
		"too much":       deflated(make([]byte, 8<<20+1)),
		"packed twice":   deflated(whole),
	} {
		if m, err := wire.Unmarshal(wire.BinaryFrame(data)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}
