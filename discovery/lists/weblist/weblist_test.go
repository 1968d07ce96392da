package weblist_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/discovery"
	"muster/discovery/lists/weblist"
)

func read(form weblist.Form, text string) (rows []weblist.Row, err error) {
	err = form.Read(strings.NewReader(text), func(r weblist.Row) bool {
		rows = append(rows, r)
		return true
	})
	return rows, err
}

func at(addresses ...string) (rows []weblist.Row) {
	for _, a := range addresses {
		rows = append(rows, weblist.Row{Address: a})
	}
	return rows
}

func TestRead(t *testing.T) {
	whole := weblist.Form{Format: weblist.JSON, Rows: "a.list", Host: "ip", Port: "port", GamePort: "game",
		Name: "info.name", Map: "map", Mode: "mode",
		Players: "clients", MaxPlayers: "max", Bots: "bots", Password: "locked", Version: "v", Protocol: "most",
		OldestProtocol: "least", Mod: "mod", Tags: "tags"}
	for _, c := range []struct {
		name string
		form weblist.Form
		text string
		want []weblist.Row
	}{
		{"everything", whole, `{"x":[{"list":1}],"a":{"b":2,"list":[{"ip":"192.0.2.1","port":27015,"game":27016,"info":{"name":"A \u001b[31m\nB"},
			"map":"m","mode":"ctf","clients":[{},{}],"max":"16","bots":1,"locked":"true","v":1.5,"most":"49","least":37,"mod":"x\u0007y","tags":["A mod","b,c","b",{}]}]}}`,
			[]weblist.Row{{
				Address: "192.0.2.1:27015",
				Info: discovery.Info{
					Name:           "A [31m B",
					Map:            "m",
					Mode:           "ctf",
					Version:        "1.5",
					Protocol:       49,
					OldestProtocol: 37,
					Mod:            "xy",
					Tags:           "A_mod b c",
					Players:        2,
					MaxPlayers:     16,
					Bots:           1,
					Password:       true,
					GamePort:       27016,
				},
			}}},
		{"wrong types", whole, `{"a":{"list":[7,null,"x",[],{"ip":{},"port":1},{"ip":"192.0.2.1","port":"many"},
			{"ip":"192.0.2.2","port":"1","info":"name","clients":-1,"max":1e300,"bots":"x","locked":{},"game":70000,"most":-1,"least":"x","mod":[],"tags":{}}]}}`,
			at("192.0.2.2:1")},
		{"an address as a number", weblist.Form{Format: weblist.JSON, Host: "ip", Port: "port"},
			`[{"ip":"3221225985","port":2759},{"ip":3221225986,"port":"2759"}]`,
			at("192.0.2.1:2759", "192.0.2.2:2759")},
		{"IPv6 and a port", weblist.Form{Format: weblist.JSON, Host: "ip", Port: "port"},
			`[{"ip":"2001:db8::1","port":1}]`, at("[2001:db8::1]:1")},
		{"an array in an array", weblist.Form{Format: weblist.JSON, Rows: "1", Address: "a"}, `[{"a":"no"},[{"a":"h:1"}]]`, at("h:1")},
		{"in each of several", weblist.Form{Format: weblist.JSON, Rows: "#.servers", Address: "a"},
			`[{"servers":[{"a":"h:1"}]},{},7,{"servers":null},{"servers":[{"a":"h:2"}]}]`, at("h:1", "h:2")},
		{"several addresses a row", weblist.Form{Format: weblist.JSON, Address: "a"}, `[{"a":["h:1","h:2"]},{"a":[]}]`, at("h:1", "h:2")},
		{"one of several", weblist.Form{Format: weblist.JSON, Address: `a.#(%"tw-0.6*")`},
			`[{"a":["tw-0.7+udp://h:1","tw-0.6+udp://h:2"]}]`, at("tw-0.6+udp://h:2")},
		{"rows that are texts", weblist.Form{Format: weblist.JSON, Address: "@this"}, `["h:1","h:2"]`, at("h:1", "h:2")},
		{"an object of rows", weblist.Form{Format: weblist.JSON, Address: "_key", Name: "n"}, `{"h:1":{"n":"x"},"h:2":{ }}`,
			[]weblist.Row{{Address: "h:1", Info: discovery.Info{Name: "x"}}, {Address: "h:2"}}},
		{"conditions", weblist.Form{Format: weblist.JSON, Address: "a", Where: []string{"mod=ra", "private!=true"}},
			`[{"a":"h:1","mod":"ra"},{"a":"h:2","mod":"cnc"},{"a":"h:3","mod":"ra","private":true}]`, at("h:1")},
		{"XML", weblist.Form{Format: weblist.XML, Rows: "servers.server", Host: "info.ip", Port: "info.port", Name: "title", Players: "p"},
			"\ufeff<?xml version=\"1.0\"?><r><other><server/></other><servers n='1'><server><info " +
				"ip='192.0.2.1' port='1'/><title>A &amp; \x01B</title><p>1</p><p>2</p></server></servers></r>",
			[]weblist.Row{{Address: "192.0.2.1:1", Info: discovery.Info{Name: "A & B", Players: 2}}}},
		{"XML in Latin 1", weblist.Form{Format: weblist.XML, Address: "a", Name: "n"},
			"<?xml version='1.0' encoding=\"ISO-8859-1\"?><r><s a='h:1' n='Gr\xfc\xdfe'/></r>",
			[]weblist.Row{{Address: "h:1", Info: discovery.Info{Name: "Grüße"}}}},
		{"XML in CP1251 that does not say so", weblist.Form{Format: weblist.XML, Address: "a", Name: "n"},
			"<?xml version='1.0'?><r><s a='h:1' n='\xd0\xf3\xf1\xf1\xea\xe8\xe9'/></r>",
			[]weblist.Row{{Address: "h:1", Info: discovery.Info{Name: "Русский"}}}},
		{"JSON in Latin 1", weblist.Form{Format: weblist.JSON, Address: "a", Name: "n"},
			"[{\"a\":\"h:1\",\"n\":\"Gr\xfc\xdfe\"}]",
			[]weblist.Row{{Address: "h:1", Info: discovery.Info{Name: "Grüße"}}}},
		{"text", weblist.Form{Format: weblist.Text}, "\ufeff# mine\n\n192.0.2.1:1 home # x\r\nh:2\n", at("192.0.2.1:1 home", "h:2")},
		{"Sauerbraten", weblist.Form{Format: weblist.Sauerbraten},
			"echo hello\naddserver 192.0.2.1 28785\naddserver 192.0.2.2 28801 5 \"name\"\nclearservers\n\x00",
			at("192.0.2.1:28785", "192.0.2.2:28801")},
	} {
		if got, err := read(c.form, c.text); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

// frame returns a server in the form of FiveM's service.
func frame(name, game string, endpoints ...string) []byte {
	variable := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "gamename")
	variable = protowire.AppendString(protowire.AppendTag(variable, 2, protowire.BytesType), game)
	data := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 48)
	data = protowire.AppendVarint(protowire.AppendTag(data, 2, protowire.VarintType), 7)
	data = protowire.AppendString(protowire.AppendTag(data, 4, protowire.BytesType), name)
	data = protowire.AppendString(protowire.AppendTag(data, 6, protowire.BytesType), "map")
	data = protowire.AppendBytes(protowire.AppendTag(data, 12, protowire.BytesType), variable)
	for _, e := range endpoints {
		data = protowire.AppendString(protowire.AppendTag(data, 18, protowire.BytesType), e)
	}
	data = protowire.AppendFixed64(protowire.AppendTag(data, 99, protowire.Fixed64Type), 1) // a field of a newer service
	server := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "abc123")
	server = protowire.AppendBytes(protowire.AppendTag(server, 2, protowire.BytesType), data)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(server))), server...)
}

func TestFiveM(t *testing.T) {
	form := weblist.Form{Format: weblist.FiveM, Where: []string{"Data.vars.gamename!=rdr3"},
		Name: "Data.hostname", Map: "Data.mapname", Players: "Data.clients", MaxPlayers: "Data.svMaxclients"}
	stream := string(frame("One", "gta5", "192.0.2.1:30120", "https://private-placeholder.cfx.re/")) +
		string(frame("West", "rdr3", "192.0.2.2:30120"))
	info := discovery.Info{Name: "One", Map: "map", Players: 7, MaxPlayers: 48}
	want := []weblist.Row{{Address: "192.0.2.1:30120", Info: info}, {Address: "https://private-placeholder.cfx.re/", Info: info}}
	if got, err := read(form, stream); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	got, err := read(form, stream[:len(stream)-3])
	if len(got) != 2 || !errors.Is(err, discovery.ErrMalformed) || !strings.Contains(err.Error(), "breaks off") {
		t.Errorf("a stream that breaks off: %d rows, %v", len(got), err)
	}
}

func TestReadRefuses(t *testing.T) {
	form := weblist.Form{Format: weblist.JSON, Rows: "servers", Address: "addr"}
	xml := weblist.Form{Format: weblist.XML, Address: "a"}
	for _, c := range []struct {
		name string
		form weblist.Form
		text string
		want string
		rows int
	}{
		{"a page", form, "<!DOCTYPE html>", "a web page came", 0},
		{"a page, for XML", xml, "\ufeff\r\n<?xml version=\"1.0\"?>\n<!-- <r> -->\n<html lang=en><a>192.0.2.1:1</a>", "a web page came", 0},
		{"a page, for text", weblist.Form{Format: weblist.Text}, "<HTML>\n192.0.2.1:27015\n", "a web page came", 0},
		{"a page, for lines", weblist.Form{Format: weblist.Sauerbraten}, "\n<!doctype HTML>\naddserver 192.0.2.1 1\n", "a web page came", 0},
		{"a page, for frames", weblist.Form{Format: weblist.FiveM}, "<!DOCTYPE html PUBLIC \"\">", "a web page came", 0},
		{"a page's script", form, "<script>location=1</script>", "a web page came", 0},
		{"another document", xml, "<headless><a", "breaks off", 0},
		{"nothing", form, "", "breaks off", 0},
		{"another shape", form, `{"list":[]}`, `there is no "servers" in it`, 0},
		{"a number in place of the list", form, `{"servers":3}`, "should be a list", 0},
		{"no servers", form, `{"servers":[]}`, "lists no server", 0},
		{"conditions that no row meets", weblist.Form{
			Format:  weblist.JSON,
			Rows:    "servers",
			Address: "addr",
			Where:   []string{"up=1"},
		}, `{"servers":[{"addr":"h:1"},{"addr":"h:2"}]}`, `none of its 2 rows meets where = ["up=1"]`, 0},
		{"other names", form, `{"servers":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}]}`,
			`none of its 2 rows holds an address where it should be; the first is {"ip":"192.0.2.1"}`, 0},
		{"broken off", form, `{"servers":[{"addr":"h:1"},{"ad`, "breaks off", 1},
		{"without an end", form, `{"servers":[{"addr":"h:1"}`, "breaks off", 1},
		{"too deep", form, `{"servers":[` + strings.Repeat("[", 20000), "no JSON", 0},
		{"a row without end", form, `{"servers":[{"addr":"` + strings.Repeat("x", 5<<20), "a single row of it is longer", 0},
		{"XML that is none", xml, "<r><s a=h", "breaks off", 0},
		{"XML too deep", xml, "<r>" + strings.Repeat("<s>", 100), "nested too deeply", 0},
		{"no XML", xml, "[1]", "no XML, or breaks off", 0},
		{"a line without end", weblist.Form{Format: weblist.Text}, strings.Repeat("x", 1<<17), "a line of it", 0},
		{"a frame without end", weblist.Form{Format: weblist.FiveM}, "\xff\xff\xff\xff", "longer than", 0},
	} {
		got, err := read(c.form, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(got) != c.rows {
			t.Errorf("%s: %d rows, %v; want %d and %q", c.name, len(got), err, c.rows, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, form := range map[string]weblist.Form{
		"format":  {Address: "a"},
		"address": {Format: weblist.JSON},
		"port":    {Format: weblist.JSON, Address: "a", Port: "b"},
		"where":   {Format: weblist.JSON, Address: "a", Where: []string{"mod"}},
	} {
		if err := form.Check(); err == nil || !strings.HasPrefix(err.Error(), want+" ") {
			t.Errorf("%+v: %v, want something about %s", form, err, want)
		}
	}
}

// endless is a list without an end, and counts the bytes read.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	const row = `{"addr":"192.0.2.1:27015","name":"x"},`
	n := 0
	for n < len(b) {
		n += copy(b[n:], row[(e.read+n)%len(row):])
	}
	e.read += n
	return n, nil
}

// A list of millions of rows takes the memory of one, and has an end.
func TestReadIsBounded(t *testing.T) {
	form := weblist.Form{Format: weblist.JSON, Rows: "servers", Address: "addr", Name: "name"}
	source := &endless{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rows := 0
	enough := 200_000
	err := form.Read(io.MultiReader(strings.NewReader(`{"servers":[`), source), func(weblist.Row) bool { rows++; return rows < enough })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || rows != enough {
		t.Errorf("%d rows, %v", rows, err)
	}
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 8<<20 {
		t.Errorf("%d bytes are held after %d rows", grown, rows)
	}
}

// TestRowOfAMillion checks that a row that is only one long array takes little more
// memory than its own length.
func TestRowOfAMillion(t *testing.T) {
	form := weblist.Form{Format: weblist.JSON, Rows: "servers", Address: "addr", Players: "players"}
	for _, c := range []struct {
		head, part, tail string
		rows, players    int
	}{
		{`{"servers":[{"addr":["h:1"`, `,0`, `]}]}`, 64, 0},
		{`{"servers":[{"addr":["h:1"`, `,""`, `]}]}`, 1, 0},
		{`{"servers":[{"addr":["h:1"`, `,{}`, `]}]}`, 1, 0},
		{`{"servers":[{"addr":"h:1","players":[0`, `,0`, `]}]}`, 1, 65535},
	} {
		text := c.head + strings.Repeat(c.part, 300_000) + c.tail
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, err := read(form, text)
		runtime.ReadMemStats(&after)
		if err != nil || len(rows) != c.rows || rows[0].Info.Players != c.players {
			t.Errorf("%s%s…: %d rows, %v", c.head, c.part, len(rows), err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 20*uint64(len(text)) {
			t.Errorf("%s%s…: %d bytes take %d", c.head, c.part, len(text), taken)
		}
	}
}

func TestReadRemembered(t *testing.T) {
	const file = `"Filters"
{
	"gamelist" "1"
	"Favorites"
	{
		"1"
		{
			"name"		"The \"clan\""
			"address"		"192.0.2.1:27015"
			"LastPlayed"		"0"
			"appid"		"440"
			"accountid"		"0"
		}
		"2" { address 192.0.2.2 port 27016 } // by a tool
	}
	"history"
	{
		"1" { "address" "192.0.2.3:27015" "appid" "730" "name" "x" }
	}
}
`
	got, err := weblist.ReadRemembered(strings.NewReader(file))
	want := []weblist.Remembered{
		{Address: "192.0.2.1:27015", Name: `The "clan"`, AppID: 440, Favourite: true},
		{Address: "192.0.2.2:27016", Favourite: true},
		{Address: "192.0.2.3:27015", Name: "x", AppID: 730},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	whole := len(`"Filters"`) + strings.Index(file[len(`"Filters"`):], `"2" {`)
	if got, err := weblist.ReadRemembered(strings.NewReader(file[:whole])); !errors.Is(err, discovery.ErrMalformed) || !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("cut off: %+v, %v", got, err)
	}
	for _, wrong := range []string{"", "\x00\x00\x00", `"a" { }`, `"a" {`, `{`, `"a"`, `"a" }`, `"a" "b`, strings.Repeat(`a {`, 100)} {
		if got, err := weblist.ReadRemembered(strings.NewReader(wrong)); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%q: %v, %v", wrong, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(uint8(0), "servers", "addr", `{"servers":[{"addr":"192.0.2.1:1","name":"x"}]}`)
	f.Add(uint8(0), "", "_key", `{"h:1":{}}`)
	f.Add(uint8(1), "server", "info.ip", `<r><server><info ip="1" port="2"/></server></r>`)
	f.Add(uint8(2), "", "", "192.0.2.1:1 home")
	f.Add(uint8(3), "", "", string(frame("a", "gta5", "192.0.2.1:1")))
	f.Add(uint8(4), "", "", "addserver 192.0.2.1 1")
	f.Fuzz(func(t *testing.T, format uint8, rows, path, text string) {
		form := weblist.Form{Format: weblist.Formats()[int(format)%5], Rows: rows, Address: path, Name: path, Players: path, Password: path}
		n := 0
		err := form.Read(strings.NewReader(text), func(r weblist.Row) bool {
			if n++; r.Address == "" || len(r.Address) > 256 || len(r.Info.Name) > 1024 || r.Info.Players < 0 || r.Info.Players > 1<<16 {
				t.Fatalf("%q gives %+v", text, r)
			}
			return true
		})
		if err == nil && n == 0 {
			t.Fatalf("%q: neither servers nor an error", text)
		}
	})
}

func FuzzReadRemembered(f *testing.F) {
	f.Add(`"Filters" { "Favorites" { "1" { "address" "192.0.2.1:1" "appid" "440" } } }`)
	f.Add(`"Filters" { "Favorites" { "1" { "address" "192.0.2.1:1" "appid" "440" u } }`)
	f.Fuzz(func(t *testing.T, text string) {
		servers, err := weblist.ReadRemembered(strings.NewReader(text))
		if err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Fatalf("%q: %v", text, err)
		}
		for _, s := range servers { // those before the damage, too
			if s.Address == "" || len(s.Address) > 256 {
				t.Fatalf("%q gives %+v, %v", text, s, err)
			}
		}
	})
}

func ExampleForm_Read() {
	form := weblist.Form{Format: weblist.JSON, Rows: "servers", Host: "ip", Port: "port", Name: "info.name"}
	_ = form.Read(strings.NewReader(`{"servers":[{"ip":"192.0.2.1","port":27015,"info":{"name":"The clan's"}}]}`), func(r weblist.Row) bool {
		fmt.Println(r.Address, r.Info.Name)
		return true
	})
	// Output: 192.0.2.1:27015 The clan's
}
