package master_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"muster/discovery"
	"muster/discovery/lists/master"
)

func TestParseList(t *testing.T) {
	tests := []struct {
		name, in string
		want     []master.Entry
	}{
		{"addresses", "192.0.2.1:27960\n[2001:db8::1]:27961\n", []master.Entry{
			{Line: 1, Host: "192.0.2.1", Port: 27960},
			{Line: 2, Host: "2001:db8::1", Port: 27961},
		}},
		{"no ports", "192.0.2.1\n2001:db8::1\n[2001:db8::2]\ngames.example.org", []master.Entry{
			{Line: 1, Host: "192.0.2.1"},
			{Line: 2, Host: "2001:db8::1"},
			{Line: 3, Host: "2001:db8::2"},
			{Line: 4, Host: "games.example.org"},
		}},
		{"QStat's types", "Q3S 192.0.2.1:27960\na2s\thost:27015\nsof2m1.0 192.0.2.2:1\n", []master.Entry{
			{Line: 1, Type: "Q3S", Host: "192.0.2.1", Port: 27960},
			{Line: 2, Type: "A2S", Host: "host", Port: 27015},
			{Line: 3, Type: "SOF2M1.0", Host: "192.0.2.2", Port: 1},
		}},
		{"comments, blanks, BOM, CRLF", "\ufeff# mine\r\n\r\n  192.0.2.1:1 # fast\r\n\t\r\nQ3S\tHost_1.Example:2\r\n", []master.Entry{
			{Line: 3, Host: "192.0.2.1", Port: 1},
			{Line: 5, Type: "Q3S", Host: "host_1.example", Port: 2},
		}},
		{"ports in lines of their own", "IP: 192.0.2.1\nPort: 27015\nPort: 27016\nIP: 192.0.2.2\n192.0.2.3\n# the port\nPort: 27017\n", []master.Entry{
			{Line: 1, Host: "192.0.2.1", Port: 27015},
			{Line: 3, Host: "192.0.2.2", Port: 27016},
			{Line: 5, Host: "192.0.2.3"},
		}},
		{"an IPv4-mapped address", "[::ffff:192.0.2.1]:1", []master.Entry{{Line: 1, Host: "192.0.2.1", Port: 1}}},
		{"CSV", "addr,country,asn\n192.0.2.1:27960,DE,3320\n192.0.2.2:27960,,\n192.0.2.3,us,AS7018\n", []master.Entry{
			{Line: 2, Host: "192.0.2.1", Port: 27960, Country: "DE", ASN: 3320},
			{Line: 3, Host: "192.0.2.2", Port: 27960},
			{Line: 4, Host: "192.0.2.3", Country: "US", ASN: 7018},
		}},
		{"CSV of another order", "\ufeff# saved\r\nname,ASN, Addr ,rtt_ms\r\n\"one, \"\"two\"\"\",64500, " +
			"\"[2001:db8::1]:1\",1.5\r\n\r\nx,,192.0.2.1:2\r\n", []master.Entry{
			{Line: 3, Host: "2001:db8::1", Port: 1, Name: `one, "two"`, ASN: 64500},
			{Line: 5, Host: "192.0.2.1", Port: 2, Name: "x"},
		}},
		{"CSV of ip and port", "ip,port,country,players\n192.0.2.1,27960,DE,4\n2001:db8::1,27961,,0\n192.0.2.2,,,\n", []master.Entry{
			{Line: 2, Host: "192.0.2.1", Port: 27960, Country: "DE"},
			{Line: 3, Host: "2001:db8::1", Port: 27961},
			{Line: 4, Host: "192.0.2.2"},
		}},
		{"CSV of one column", "addr\n192.0.2.1:1\n", []master.Entry{{Line: 2, Host: "192.0.2.1", Port: 1}}},
		{"a name over two lines", "name,addr\n\"a\nb\",192.0.2.1:1\nc,192.0.2.2:1\n", []master.Entry{
			{Line: 2, Host: "192.0.2.1", Port: 1, Name: "a\nb"},
			{Line: 4, Host: "192.0.2.2", Port: 1, Name: "c"},
		}},
		{"CSV of other names and separators", "Name;IP;Port\r\nAnn's;192.0.2.1;27960\r\n", []master.Entry{
			{Line: 2, Host: "192.0.2.1", Port: 27960, Name: "Ann's"},
		}},
		{"a table from a page", "| Server | IP |\n|---|---|\n| Ann's | 192.0.2.1:1 |\n", []master.Entry{
			{Line: 3, Host: "192.0.2.1", Port: 1, Name: "Ann's"},
		}},
		{"a copied sheet", "name\taddress\nx\t192.0.2.1:1\n", []master.Entry{{Line: 2, Host: "192.0.2.1", Port: 1, Name: "x"}}},
		{"records without a header", "192.0.2.1:1,Ann's\n192.0.2.2,27960,Ben's\n", []master.Entry{
			{Line: 1, Host: "192.0.2.1", Port: 1, Name: "Ann's"},
			{Line: 2, Host: "192.0.2.2", Port: 27960, Name: "Ben's"},
		}},
		{"a configuration", "[server]\nip = \"192.0.2.1\"\nport = 27960\n; old\n", []master.Entry{{Line: 2, Host: "192.0.2.1", Port: 27960}}},
		{"two in a line", "\"net_slist_favorites\" \"192.0.2.1:26000 [::1]:26000\"\n", []master.Entry{
			{Line: 1, Host: "192.0.2.1", Port: 26000},
			{Line: 1, Host: "::1", Port: 26000},
		}},
		{"numbers in names", "Ann's #3 192.0.2.1:1\n192.0.2.2:1 #1 of all\n", []master.Entry{
			{Line: 1, Host: "192.0.2.1", Port: 1},
			{Line: 2, Host: "192.0.2.2", Port: 1, Name: "#1 of all"},
		}},
		{"UTF-16", "\xff\xfe1\x009\x002\x00.\x000\x00.\x002\x00.\x001\x00\n\x00", []master.Entry{{Line: 1, Host: "192.0.2.1"}}},
	}
	for _, tt := range tests {
		for i := range tt.want {
			tt.want[i].File = "l.txt"
		}
		got, _, err := master.ParseList(strings.NewReader(tt.in), "l.txt")
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestParseListRefuses(t *testing.T) {
	tests := []struct {
		in   string
		line int
		text string
	}{
		{"192.0.2.1:1\n192.0.2.2:65536\n", 2, "192.0.2.2:65536"},
		{"192.0.2.1:0", 1, "192.0.2.1:0"},
		{"192.0.2.1:", 1, "192.0.2.1:"},
		{"192.0.2.1:+5", 1, "192.0.2.1:+5"},
		{"192.0.2.400:1", 1, "192.0.2.400:1"},
		{"192.0.2:1", 1, "192.0.2:1"},
		{"0.0.0.0:1", 1, "0.0.0.0:1"},
		{"255.255.255.255:1", 1, "255.255.255.255:1"},
		{"224.0.0.1:1", 1, "224.0.0.1:1"},
		{"[fe80::1%eth0]:1", 1, "[fe80::1%eth0]:1"},
		{"[2001:db8::1:1", 1, "[2001:db8::1:1"},
		{"http://192.0.2.1/", 1, "http://192.0.2.1/"},
		{"-x.example:1", 1, "-x.example:1"},
		{"a..b:1", 1, "a..b:1"},
		{"\x1b[31mred:1", 1, "[31mred:1"},
		{"name,place\nx,192.0.2.1:1", 1, "name,place"},
		{"192.0.2.1 24\n192.0.2.2:1", 1, "192.0.2.1 24"},
		{"169.254.7.7:27015", 1, "169.254.7.7:27015"},
		{"addr,name\n192.0.2.1:1,\"open\n192.0.2.2:2,shut\n", 2, `192.0.2.1:1,"open`},
		{"addr,asn\n192.0.2.1:1,0\n192.0.2.2:1,many\n", 3, "many"},
		{"addr,country\n192.0.2.1:1,Germany\n", 2, "Germany"},
		{"country,addr\nDE\n", 2, ""},
		{"addr,name\n192.0.2.1:1,ok\n192.0.2.2:1,\"never closed\n", 3, `192.0.2.2:1,"never closed`},
	}
	for _, tt := range tests {
		entries, warnings, err := master.ParseList(strings.NewReader(tt.in), "l.txt")
		var wrong *master.ListError
		if len(entries) > 0 { // the other lines are taken
			err = errors.Join(warnings...)
		}
		if !errors.As(err, &wrong) || !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%q: got error %v, want a ListError", tt.in, err)
			continue
		}
		if wrong.Line != tt.line || wrong.Text != tt.text || wrong.File != "l.txt" {
			t.Errorf("%q: got %s:%d: %q, want l.txt:%d: %q", tt.in, wrong.File, wrong.Line, wrong.Text, tt.line, tt.text)
		}
	}
}

func TestListErrorReads(t *testing.T) {
	_, _, err := master.ParseList(strings.NewReader("\n192.0.2.1:x"), "favourites.txt")
	want := `master: favourites.txt:2: "192.0.2.1:x" is not an ADDRESS[:PORT] such as 192.0.2.1:27960, [2001:db8::1]:27960 or games.example.org`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestSkippedReads checks the warning about lines that are left out.
func TestSkippedReads(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1:1\nme and you\n":                                    `master: l.txt:2: "me and you" is not `,
		"192.0.2.1:x\n192.0.2.2\n" + strings.Repeat("no server\n", 11): ": left out, and so are lines 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more",
		"no server\nno server\n192.0.2.2\n":                            ": left out, and so is line 2",
	} {
		_, warnings, err := master.ParseList(strings.NewReader(in), "l.txt")
		if err != nil || !strings.Contains(fmt.Sprint(warnings), want) {
			t.Errorf("%q: %v, %v, want %s", in, warnings, err, want)
		}
	}
}

func TestParseListOfNothing(t *testing.T) {
	for _, in := range []string{"", "\n\n", "# only\n# comments", "addr,country,asn\n", "\ufeff"} {
		if _, _, err := master.ParseList(strings.NewReader(in), "l.txt"); !errors.Is(err, master.ErrEmpty) {
			t.Errorf("%q: got error %v, want ErrEmpty", in, err)
		}
	}
}

func TestParseListIsBounded(t *testing.T) {
	var many bytes.Buffer
	for i := range discovery.MaxServers + 1 {
		fmt.Fprintf(&many, "10.%d.%d.%d:1\n", i>>16, i>>8&255, i&255)
	}
	entries, warnings, err := master.ParseList(&many, "l.txt")
	want := "[master: l.txt lists over 200000 servers in all: each network has a fair share of them]"
	if err != nil || len(entries) != discovery.MaxServers || fmt.Sprint(warnings) != want {
		t.Errorf("got %d entries, %v, %v, want %d and %s", len(entries), warnings, err, discovery.MaxServers, want)
	}
	if _, _, err := master.ParseList(blanks{}, "l.txt"); !errors.Is(err, discovery.ErrMalformed) {
		t.Errorf("a list without end: got error %v, want ErrMalformed", err)
	}
}

// blanks is a list that never ends.
type blanks struct{}

func (blanks) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '\n'
	}
	return len(b), nil
}

func TestParseListPassesOnReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, _, err := master.ParseList(iotest.ErrReader(broken), "l.txt"); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add("# favourites\n192.0.2.1:27960\nQ3S [2001:db8::1]:27960\nhost\n")
	f.Add("\ufeffname,addr,country,asn\r\n\"a,b\",192.0.2.1:1,DE,3320\r\n")
	f.Add("Addr #000")
	f.Add(",Addr\n,Addr")
	f.Fuzz(func(t *testing.T, in string) {
		entries, _, err := master.ParseList(strings.NewReader(in), "l.txt")
		if err != nil {
			return
		}
		var again strings.Builder
		for _, e := range entries {
			host := e.Host
			if strings.Contains(host, ":") {
				host = "[" + host + "]"
			}
			if e.Port != 0 {
				host = fmt.Sprintf("%s:%d", host, e.Port)
			}
			fmt.Fprintln(&again, e.Type, host)
		}
		second, _, err := master.ParseList(strings.NewReader(again.String()), "l.txt")
		if err != nil || len(second) != len(entries) {
			t.Fatalf("%q gives %+v; written out again it gives %+v, %v", in, entries, second, err)
		}
	})
}
