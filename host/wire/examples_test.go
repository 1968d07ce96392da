package wire_test

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/memory"
)

// examples has one message of each kind as it stands on the wire: text, or the bytes of a binary
// frame in hex. PROTOCOL.md shows the same lines.
var examples = []struct {
	message wire.Message
	line    string
}{
	{wire.Hello{
		Version: 2,
		Code:    "BAKODI",
		Key:     "Q3KXOJ2VBBKZ6BPC",
		Name:    "bob",
		Probes:  wire.ProbesElsewhere,
	}, `{"type":"hello","version":2,"code":"BAKODI","name":"bob","key":"Q3KXOJ2VBBKZ6BPC","probes":"elsewhere"}`},
	{wire.Hello{Version: 2, Code: "BAKODI", Name: "ann", Token: "Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE", Program: "FZ3G5NDNZ5DN3RNL", Line: 3},
		`{"type":"hello","version":2,"code":"BAKODI","name":"ann","token":"Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE","program":"FZ3G5NDNZ5DN3RNL","line":3}`},
	{wire.Hello{
		Version:  2,
		Code:     "BAKODI",
		Name:     "ben",
		Editions: map[string]discovery.Edition{"": {Version: "5.6.1"}, "luanti": {Version: "5.6.1", Protocol: 41}},
	},
		`{"type":"hello","version":2,"code":"BAKODI","name":"ben","editions":{"":{"version":"5.6.1"},"luanti":{"version":"5.6.1","protocol":41}}}`},
	{wire.Hello{Version: 2, Code: "BAKODI", Name: "dora", Discreet: 50},
		`{"type":"hello","version":2,"code":"BAKODI","name":"dora","discreet":50}`},
	{wire.Hello{Version: 2, Code: "BAKODI", Name: "dan", Somewhere: true},
		`{"type":"hello","version":2,"code":"BAKODI","name":"dan","somewhere":true}`},
	{wire.Hello{Version: 2, Code: "BAKODI", Name: "eve", Beacon: 7787},
		`{"type":"hello","version":2,"code":"BAKODI","name":"eve","beacon":7787}`},
	{wire.Hello{Version: 2, Code: "BAKODI", Name: "cat", Asks: true}, `{"type":"hello","version":2,"code":"BAKODI","name":"cat","asks":true}`},
	{wire.Hello{Version: 2, Code: "BAKODI", Name: "dan", Side: wire.SideB}, `{"type":"hello","version":2,"code":"BAKODI","name":"dan","side":"b"}`},
	{wire.Say{
		Round: 1,
		What:  wire.SayVote,
		Addr:  hostport.At(netip.MustParseAddrPort("192.0.2.7:27960")),
	}, `{"type":"say","round":1,"what":"vote","addr":"192.0.2.7:27960"}`},
	{wire.Say{Round: 1, What: wire.SayReady}, `{"type":"say","round":1,"what":"ready"}`},
	{
		wire.Say{Round: 1, What: wire.SayMove, Number: 3, Addr: hostport.At(netip.MustParseAddrPort("192.0.2.7:27960"))},
		`{"type":"say","round":1,"what":"move","addr":"192.0.2.7:27960","number":3}`,
	},
	{wire.Say{Round: 1, What: wire.SayMove, Number: 6, Map: "dm6"}, `{"type":"say","round":1,"what":"move","number":6,"map":"dm6"}`},
	{wire.Say{Round: 1, What: wire.SayCome}, `{"type":"say","round":1,"what":"come"}`},
	{wire.Say{Round: 1, What: wire.SayNotCome}, `{"type":"say","round":1,"what":"not-come"}`},
	{wire.Say{Round: 1, What: wire.SayLiked}, `{"type":"say","round":1,"what":"liked"}`},
	{wire.Say{Round: 1, What: wire.SayDisliked}, `{"type":"say","round":1,"what":"disliked"}`},
	{wire.Answer{Notice: wire.Notice{Message: "you have one veto a round"}}, `{"type":"answer","message":"you have one veto a round"}`},
	{wire.Welcome{Version: 2, Name: "ann", Token: "Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE", Page: "7YQUXVVMV3YHXRJT", Epoch: 3},
		`{"type":"welcome","version":2,"name":"ann","token":"Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE","page":"7YQUXVVMV3YHXRJT","epoch":3}`},
	{wire.Welcome{
		Version: 2,
		Name:    "bob",
		Token:   "DFZ3G5NDNZ5DN3RNLGQXYJ2MYT",
		Hosts:   []netip.AddrPort{netip.MustParseAddrPort("198.51.100.2:7777")},
	},
		`{"type":"welcome","version":2,"name":"bob","token":"DFZ3G5NDNZ5DN3RNLGQXYJ2MYT","hosts":["198.51.100.2:7777"]}`},
	{wire.Seek{Version: 2, Place: access.Place("Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE"), Nonce: "HZKU4RBVGH6YPTCJQ2X5SN7DAW"},
		`{"type":"seek","version":2,"place":"4QPVHU3I2XGOEKFUYCD6SGJ6WA","nonce":"HZKU4RBVGH6YPTCJQ2X5SN7DAW"}`},
	{wire.Found{Proof: access.Proof("Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE", "HZKU4RBVGH6YPTCJQ2X5SN7DAW")},
		`{"type":"found","proof":"SQUDU7R57ULOAFXATWTR7PN65M"}`},
	{wire.Refusal{
		Reason: wire.ReasonCode, Says: sentence.Of("refused.code-unknown"), Advises: sentence.Of("refused.code-hint"),
		Message: "no room has this code", Hint: "ask the organiser for the code; letter case does not matter",
	},
		`{"type":"refused","reason":"code","says":{"key":"refused.code-unknown"},"advises":{"key":"refused.code-hint"},` +
			`"message":"no room has this code","hint":"ask the organiser for the code; letter case does not matter"}`},
	{wire.Measure{Round: 1, Game: "openarena", Strategy: "as", MaxRTT: discovery.Millis(150 * time.Millisecond), Seed: 1, Known: 2},
		`{"type":"measure","round":1,"game":"openarena","strategy":"as","max_rtt_ms":150.000,"seed":1,"known":2}`},
	{wire.Ask{Round: 1, Servers: []int{17, 4}, Own: 25}, `{"type":"ask","round":1,"servers":[17,4],"own":25}`},
	{wire.Ask{Round: 1, Servers: []int{}, Names: []int{17}}, `{"type":"ask","round":1,"servers":[],"names":[17]}`},
	{wire.Done{Round: 1}, `{"type":"done","round":1}`},
	{wire.Rests{Round: 1, For: discovery.Millis(32 * time.Second)}, `{"type":"rests","round":1,"for_ms":32000.000}`},
	{wire.Late{By: discovery.Millis(45 * time.Millisecond)}, `{"type":"late","late_ms":45.000}`},
	{wire.Finalists{
		Round:   1,
		Game:    "openarena",
		Attempt: 1,
		Servers: []int{17, 4},
		Samples: 3,
		After:   discovery.Millis(500 * time.Millisecond),
		Every:   discovery.Millis(2 * time.Second),
		Gap:     discovery.Millis(300 * time.Millisecond),
	},
		`{"type":"finalists","round":1,"game":"openarena","attempt":1,"servers":[17,4],"samples":3,"after_ms":500.000,"every_ms":2000.000,"gap_ms":300.000}`},
	{wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{
		{
			Server: 17,
			State:  discovery.Answered,
			RTTs:   []float64{24.1, 23.9},
			Sent:   3,
			Info:   &discovery.Info{Name: "Aggressor", Map: "oa_dm1", Players: 4, MaxPlayers: 8},
		},
		{Server: 4, State: discovery.Lost, RTTs: []float64{}, Sent: 3},
	}},
		`{"type":"verified","round":1,"attempt":1,"servers":[` +
			`{"server":17,"state":"answered","rtts_ms":[24.1,23.9],"sent":3,"info":{"name":"Aggressor","map":"oa_dm1","players":4,"max_players":8}},` +
			`{"server":4,"state":"lost","rtts_ms":[],"sent":3}]}`},
	{wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.7:27960", QueryPort: 27015, Name: "Aggressor", Password: "club", Epoch: 3},
		`{"type":"launch","round":1,"game":"openarena","address":"192.0.2.7:27960","query_port":27015,"name":"Aggressor","password":"club","epoch":3}`},
	{wire.Delay{Round: 1, By: discovery.Millis(38 * time.Millisecond)}, `{"type":"delay","round":1,"by_ms":38.000}`},
	{wire.Status{Round: 1}, `{"type":"status","round":1}`},
	{wire.Pings{Round: 1, Pings: []wire.NamedPing{{Name: "ann", MS: 62}, {Name: "bob", MS: 65}}}, `{"type":"pings","round":1,"pings":[{"name":"ann","ms":62},{"name":"bob","ms":65}]}`},
	{wire.Look{Game: "openarena", At: []netip.AddrPort{netip.MustParseAddrPort("10.2.0.9:27960")}},
		`{"type":"look","game":"openarena","at":["10.2.0.9:27960"]}`},
	{wire.Bring{
		Game:       "openarena",
		Favourites: []wire.Brought{{Addr: hostport.At(netip.MustParseAddrPort("192.0.2.7:27960")), Name: "Aggressor"}},
		Hidden:     []wire.Brought{{Addr: hostport.At(netip.MustParseAddrPort("192.0.2.9:27960"))}},
	},
		`{"type":"bring","game":"openarena","favourites":[{"addr":"192.0.2.7:27960","name":"Aggressor"}],"hidden":[{"addr":"192.0.2.9:27960"}]}`},
	{wire.Memory{Cells: []memory.Cell{
		{Part: memory.Part{Country: "DE", ASN: 3320, Prefix: netip.MustParsePrefix("192.0.2.0/24")}, MS: 12.3, Spread: 0.4, Count: 2, Seen: time.Unix(20780*86400, 0).UTC()},
		{Part: memory.Part{Country: "SE", ASN: 1257, Prefix: netip.MustParsePrefix("2001:db8::/32")}, MS: 31, Spread: 2, Count: 3, Seen: time.Unix(20770*86400, 0).UTC()},
		{Part: memory.Part{Country: "US"}, MS: 104.5, Spread: 21, Count: 9, Seen: time.Unix(20770*86400, 0).UTC()},
	}}, "05 03 4445 f819 04 c00002 7b 04 02 aca201 5345 e909 83 20010db8 b602 14 03 a2a201 5553 00 01 9508 d201 09 a2a201"},
	{wire.Near{
		Game: "openarena",
		Servers: []wire.NearServer{{
			Addr: netip.MustParseAddrPort("192.168.1.5:27960"),
			Info: discovery.Info{Name: "Den", Map: "oa_dm1", Players: 1, MaxPlayers: 8},
		}},
	},
		`{"type":"near","game":"openarena","servers":[{"addr":"192.168.1.5:27960","info":{"name":"Den","map":"oa_dm1","players":1,"max_players":8}}]}`},
	{wire.Survey{
		Attempt: 1,
		Places: wire.Venues{{
			Name:     "Frankfurt",
			Addr:     hostport.At(netip.MustParseAddrPort("192.0.2.7:7787")),
			Protocol: "beacon",
		}, {
			Name: "London", Addr: hostport.At(hostport.Of("lon.example.net", 443)), Protocol: "tcp",
			URL: "https://lon.example.net/empty", Country: "GB", Lat: 51.5074, Lon: -0.1278,
			Offers: []wire.Offer{{Provider: "Example", Region: "lon1"}, {Provider: "Another"}},
		}},
		Samples: 3,
	},
		`{"type":"survey","attempt":1,"places":[{"name":"Frankfurt","addr":"192.0.2.7:7787","protocol":"beacon"},{"name":"London","addr":"lon.example.net:443","protocol":"tcp","url":"https://lon.example.net/empty","country":"GB","lat":51.5074,"lon":-0.1278,"offers":[{"provider":"Example","region":"lon1"},{"provider":"Another"}]}],"samples":3}`},
	{wire.Surveyed{
		Attempt: 1,
		Places: []wire.Finalist{{
			Server: 0,
			State:  discovery.Answered,
			RTTs:   []float64{24.1, 23.9},
			Sent:   3,
		}, {Server: 1, State: discovery.Lost, RTTs: []float64{}, Sent: 3}},
	},
		`{"type":"surveyed","attempt":1,"places":[{"server":0,"state":"answered","rtts_ms":[24.1,23.9],"sent":3},{"server":1,"state":"lost","rtts_ms":[],"sent":3}]}`},
	{wire.Surveyed{Attempt: 3, Places: []wire.Finalist{{Server: 7, State: discovery.Answered, RTTs: []float64{12.3}, Sent: 1}}, More: true},
		`{"type":"surveyed","attempt":3,"places":[{"server":7,"state":"answered","rtts_ms":[12.3],"sent":1}],"more":true}`},
	{wire.Wait{Notice: wire.Notice{Message: "the host that had the room has stopped; another takes it over"}},
		`{"type":"wait","message":"the host that had the room has stopped; another takes it over"}`},
	{wire.Again{}, `{"type":"again"}`},
	{wire.Outside{Port: 40001}, `{"type":"outside","port":40001}`},
	{wire.Able{Game: "openarena", Why: sentence.Of("go.game-did-not-open")},
		`{"type":"able","game":"openarena","why":{"key":"go.game-did-not-open"}}`},
	{wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: sentence.Of("go.game-did-not-open")},
		`{"type":"launched","round":1,"state":"failed","detail":{"key":"go.game-did-not-open"}}`},
	{wire.Room{
		"people": json.RawMessage(`[{"name":"ann","organiser":true,"peer":true,"connected":true,"page":true,"probed":128,"answered":101,"done":true,"launch":"launched"},` +
			`{"name":"bob","arrival":1,"peer":true,"connected":false,"page":false,"probed":96,"answered":80,"left_out":true}]`),
		"way": json.RawMessage(`{"connect":"192.0.2.7:27960","server":"Aggressor"}`),
	},
		`{"type":"room","people":[` +
			`{"name":"ann","organiser":true,"peer":true,"connected":true,"page":true,"probed":128,"answered":101,"done":true,"launch":"launched"},` +
			`{"name":"bob","arrival":1,"peer":true,"connected":false,"page":false,"probed":96,"answered":80,"left_out":true}],` +
			`"way":{"connect":"192.0.2.7:27960","server":"Aggressor"}}`},

	{wire.List{Round: 1, Servers: []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.7:27960"), Country: "DE", ASN: 3320},
		{Addr: netip.MustParseAddrPort("192.0.2.8:27960"), Country: "DE", ASN: 3320},
	}}, "01 01 faefe2ca00023c3f18180e3030b1e75a1c6060e2c8b500040000ffff"},
	{wire.Report{Round: 1, First: 2, Now: 300 * time.Millisecond, Results: []discovery.Result{
		{Server: 5, State: discovery.Answered, RTT: 24 * time.Millisecond, At: 10 * time.Millisecond, Phase: discovery.Calibration},
		{Server: 9, State: discovery.Answered, RTT: 23900 * time.Microsecond, At: 17 * time.Millisecond},
		{Server: 6, State: discovery.Refused, At: 40 * time.Millisecond},
		{Server: 7, State: discovery.Lost, At: 200 * time.Millisecond, Phase: discovery.Refining},
		{Server: 8, State: discovery.Forbidden, At: 205 * time.Millisecond},
	}}, "02 01 02 ac02 05 1f0ae303 150804 450501 e2030200 0f0202"},
	{wire.Infos{Round: 1, Servers: []wire.ServerInfo{
		{Server: 5, Info: discovery.Info{Map: "oa_dm1", Mode: "0", Players: 4, MaxPlayers: 8, Bots: 2}},
		{Server: 9, Info: discovery.Info{Map: "oa_dm1", Mode: "4", Players: 0, MaxPlayers: 16, Password: true}},
		{Server: 10, Info: discovery.Info{Map: "oa_dm1", Mode: "4", MaxPlayers: 16, Protocol: 71, OldestProtocol: 68, Mod: "q3ut4", Tags: "ffa"}},
	}}, "03 01 03 0a 02 04 08 00066f615f646d31 000130 02 08 01 00 10 01 000134 02 80 00 10 01 03 07 47 03 00057133757434 0003666661"},
}

// frameOf returns the frame of an example's line.
func frameOf(t *testing.T, line string) wire.Frame {
	t.Helper()
	if strings.HasPrefix(line, "{") {
		return wire.Frame{Data: []byte(line)}
	}
	data, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return wire.BinaryFrame(data)
}

func TestExamples(t *testing.T) {
	seen := map[string]bool{}
	for _, example := range examples {
		name := reflect.TypeOf(example.message).Name()
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			want := frameOf(t, example.line)
			got, err := wire.Marshal(example.message)
			if _, isList := example.message.(wire.List); isList {
				want = got // another release of flate may produce other bytes
			}
			if err != nil || got.Binary != want.Binary || string(got.Data) != string(want.Data) {
				t.Errorf("Marshal gives binary %v, error %v\n%s\n%x\nwant binary %v\n%s", got.Binary, err, got.Data,
					got.Data, want.Binary, example.line)
			}
			back, err := wire.Unmarshal(frameOf(t, example.line))
			if err != nil || !reflect.DeepEqual(back, example.message) {
				t.Errorf("Unmarshal gives %+v, %v\nwant %+v", back, err, example.message)
			}
		})
	}
	if len(seen) != 33 {
		t.Errorf("%d kinds of message have an example, want all 33", len(seen))
	}
}

// TestProtocolDocument compares PROTOCOL.md with the messages that this program sends.
func TestProtocolDocument(t *testing.T) {
	document, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(document), "\n")
	for _, example := range examples {
		if !contains(lines, example.line) {
			t.Errorf("PROTOCOL.md lacks the example of %T:\n%s", example.message, example.line)
		}
	}
}

// TestProtocolNamesEveryField checks that PROTOCOL.md has each field of each message, for authors
// of other peers and hosts.
func TestProtocolNamesEveryField(t *testing.T) {
	document, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	types := []reflect.Type{reflect.TypeFor[wire.Snapshot](), reflect.TypeFor[wire.Document]()}
	for _, example := range examples {
		if strings.HasPrefix(example.line, "{") { // PROTOCOL.md chooses its own names for binary frames
			types = append(types, reflect.TypeOf(example.message))
		}
	}
	told := map[string]bool{} // of settings GET /api/form says all
	for _, field := range wire.FormOf(wire.MaxPlayers, false, true).Settings {
		told[field.Key] = true
	}
	for _, of := range append(types, reflect.TypeFor[wire.Form]()) {
		for _, field := range fieldsOf(of) {
			if told[field] {
				continue
			}
			if name := "`" + field + "`"; !strings.Contains(string(document), name) && !strings.Contains(string(document), `"`+field+`"`) {
				t.Errorf("PROTOCOL.md does not name %s of %v", name, of)
			}
		}
	}
}

// fieldsOf returns the JSON names of a type's fields, and of their fields. A selection and a law are
// documents of their own.
func fieldsOf(of reflect.Type) (names []string) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return fieldsOf(of.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
		if field.Type != reflect.TypeFor[*selection.Selection]() && field.Type != reflect.TypeFor[selection.Selection]() && field.Type != reflect.TypeFor[wire.Law]() && name != "-" {
			names = append(names, fieldsOf(field.Type)...)
		}
	}
	return names
}

func contains(lines []string, line string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}
