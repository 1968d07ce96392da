package master_test

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/discovery/protocol/jamulus"
	"muster/discovery/protocol/odamex"
	"muster/discovery/protocol/zandronum"
)

// startOther answers each question with the same datagrams, and returns the master's address
// and the number of questions so far.
func startOther(t *testing.T, answer ...string) (at netip.AddrPort, asked func() int) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	var mu sync.Mutex
	n := 0
	done.Go(func() {
		buf := make([]byte, 1500)
		for {
			_, client, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			mu.Lock()
			n++
			mu.Unlock()
			for _, d := range answer {
				_, _ = conn.WriteToUDPAddrPort([]byte(d), client)
			}
		}
	})
	t.Cleanup(func() { conn.Close(); done.Wait() })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort(), func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// TestOtherMasters asks masters outside the Quake III family. Each is asked once more only if
// it gives no list.
func TestOtherMasters(t *testing.T) {
	const (
		jamulusShort = "\x00\x00\xfa\x03\x00\x21\x00\x00\x00\x00\x00\x00\x00\x0dThe directory\x01\x00\x00\x7f\x8d\xa4\x06Sp\xc3\xa4ti\xca\x70"
		jamulusLong  = "\x00\x00\xee\x03\x00\x3e\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x01\x0d\x00The directory\x00\x00\x06\x00Berlin" +
			"\x01\x00\x00\x7f\x8d\xa4\x00\x00\x07\x00\x06\x00Sp\xc3\xa4ti\x00\x00\x05\x00K\xc3\xb6ln\x5a\xc1"
	)
	for _, c := range []struct {
		name   string
		lister discovery.Lister
		answer []string
		want   []string
		asked  int
		wrong  string
	}{
		{"two parts", zandronum.Protocol{}.Master(), []string{
			"\xff\x06\x00\x00\x00\x00\x08\x01\xc6\x33\x64\x07\xaa\x29\x00\x07",
			"\xff\x06\x00\x00\x00\x01\x08\x01\xcb\x00\x71\x09\xaa\x29\x00\x02",
		}, []string{"198.51.100.7:10666", "203.0.113.9:10666"}, 1, ""},
		{"a master that waits", zandronum.Protocol{}.Master(), []string{"\xff\x04\x00\x00\x00"}, nil, 2, "the master gives a list only every ten seconds"},
		{"one packet", odamex.Protocol{}.Master(), []string{"\xa3\xdb\x0b\x00\x01\x00\xc6\x33\x64\x07\xaa\x29"}, []string{"198.51.100.7:10666"}, 1, ""},
		{"junk", odamex.Protocol{}.Master(), []string{"hello"}, nil, 2, "what answers there is no master"},
		{"a directory that is a server, too", jamulus.Protocol{}.Master(), []string{jamulusShort, jamulusLong}, []string{"itself", "127.0.0.1:42125"}, 1, ""},
		{"a directory whose long list is lost", jamulus.Protocol{}.Master(), []string{jamulusShort}, []string{"itself", "127.0.0.1:42125"}, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at, asked := startOther(t, c.answer...)
			got, err := impatient.Fetch(t.Context(), master.Query{Master: at.String(), Asks: []discovery.Lister{c.lister}})
			want := slices.Clone(c.want)
			if len(want) > 0 && want[0] == "itself" {
				want[0] = at.String()
			}
			var servers []string
			for _, s := range addrsOf(got) {
				servers = append(servers, s.String())
			}
			if !slices.Equal(servers, want) || asked() != c.asked {
				t.Errorf("%v, asked %d times, %v; want %v", servers, asked(), err, want)
			}
			if c.wrong != "" && (len(got.Warnings) != 1 || got.Warnings[0].Error() != "master: "+at.String()+": "+c.wrong) {
				t.Errorf("%v", got.Warnings)
			}
			if c.wrong == "" && c.lister == (jamulus.Protocol{}).Master() {
				seats := map[string]int{"a directory that is a server, too": 7}[c.name]
				info := got.Said.Infos[netip.MustParseAddrPort("127.0.0.1:42125")]
				if info == nil || info.Name != "Späti" || info.MaxPlayers != seats || !info.AsListed || got.Said.At.IsZero() {
					t.Errorf("it says %+v", info)
				}
			}
		})
	}
}
