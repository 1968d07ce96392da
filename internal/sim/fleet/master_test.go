package fleet

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/protocol/quake3"
	"muster/internal/sim"
)

func TestMasterLists(t *testing.T) {
	w := handWorld([]time.Duration{0},
		server("203.0.113.1:27960"),
		with(server("203.0.113.2:27960"), func(s *sim.Server) { s.Info.Players = 0 }),
		with(server("203.0.113.3:27960"), func(s *sim.Server) { s.Info.Players = 8; s.Silent = true }))
	f := startFleet(t, Options{World: w})
	for request, want := range map[string][]int{
		"getservers 68":                            {0},
		"getservers 68 empty":                      {0, 1},
		"getservers 68 full":                       {0, 2},
		"getservers Quake3Arena 68 empty full":     {0, 1, 2},
		"getservers 71 empty full":                 {},
		"getservers Xonotic 68 empty full":         {},
		"getserversExt Quake3Arena 68 empty full":  {0, 1, 2},
		"getserversExt Quake3Arena 68 ipv6 empty":  {},
		"getserversExt Quake3Arena 68 ipv4 empty":  {0, 1},
		"getserversExt Quake3Arena 68 ipv4 ipv6\n": {0},
	} {
		reply, _ := newAsker(t, f.Source(0), f.Master()).mustAsk("\xff\xff\xff\xff" + request)
		got, end, err := quake3.ParseMasterReply(reply, nil)
		if err != nil || !end {
			t.Fatalf("%s: %q: %v", request, reply, err)
		}
		wanted := []netip.AddrPort{}
		for _, i := range want {
			wanted = append(wanted, f.Servers()[i].Addr)
		}
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: %v, want %v", request, got, wanted)
		}
	}
}

func TestMasterListsMany(t *testing.T) {
	w := handWorld([]time.Duration{0}, manyServers(30_000)...)
	f := startFleet(t, Options{World: w})
	a := newAsker(t, f.Source(0), f.Master())
	if err := a.SetReadBuffer(receiveBuffer); err != nil {
		t.Fatal(err)
	}
	got, datagrams := []netip.AddrPort{}, 0
	reply, _ := a.mustAsk("\xff\xff\xff\xffgetservers 68 empty full")
	for end := false; !end; datagrams++ {
		var err error
		if got, end, err = quake3.ParseMasterReply(reply, got); err != nil {
			t.Fatal(err)
		}
		if !end {
			if reply, err = a.next(patience); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, s := range f.Servers() {
		if got[i] != s.Addr {
			t.Fatalf("entry %d is %v, want %v", i, got[i], s.Addr)
		}
	}
	if datagrams < 100 || datagrams > 200 {
		t.Errorf("%d datagrams for %d servers", datagrams, len(got))
	}
}

func TestWritesItsServers(t *testing.T) {
	plain := with(server("203.0.113.2:27960"), func(s *sim.Server) { s.Country, s.ASN = "", 0 })
	f := startFleet(t, Options{World: handWorld([]time.Duration{0}, server("203.0.113.1:27960"), plain)})
	var b strings.Builder
	if err := f.WriteServers(&b); err != nil {
		t.Fatal(err)
	}
	s := f.Servers()
	want := "addr,country,asn\n" + s[0].Addr.String() + ",DE,3320\n" + s[1].Addr.String() + ",,0\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
