package listing

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
)

// longList returns a list of this many servers, with facts about every second one.
func longList(servers int) List {
	l := List{Said: discovery.Said{At: time.Unix(1_800_000_000, 0), Infos: map[netip.AddrPort]*discovery.Info{}}}
	for i := range servers {
		s := discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{9, byte(i >> 16), byte(i >> 8), byte(i)}), 27015),
			Country: "DE",
			ASN:     3320,
		}
		l.Servers = append(l.Servers, s)
		if i%2 == 0 {
			l.Said.Infos[s.Addr] = &discovery.Info{
				Name:       fmt.Sprint("Server ", i),
				Map:        "haven",
				Version:    "0.16",
				Players:    i % 40,
				MaxPlayers: 40,
				Password:   i%10 == 0,
				AsListed:   true,
			}
		}
	}
	return l
}

// TestList checks that hosts can pass each other a list with its facts.
func TestList(t *testing.T) {
	for _, l := range []List{longList(0), longList(1), longList(1000), {Servers: serversAt("192.0.2.1:27960")}} {
		data, err := l.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseList(data)
		if len(l.Said.Infos) == 0 {
			l.Said = discovery.Said{}
		}
		if len(l.Servers) == 0 {
			l.Servers = []discovery.Server{}
		}
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%d servers come as %d, %v", len(l.Servers), len(got.Servers), err)
		}
		for _, cut := range []int{0, 1, len(data) / 2, len(data) - 1} {
			if short, err := ParseList(data[:cut]); err == nil && len(short.Servers) == len(l.Servers) &&
				len(short.Said.Infos) == len(l.Said.Infos) && len(l.Servers) > 0 {
				t.Errorf("%d of %d bytes are whole", cut, len(data))
			}
		}
	}
}

// FuzzParseList checks that any bytes are a list or an error, and that the facts are about its servers.
func FuzzParseList(f *testing.F) {
	for _, n := range []int{0, 1, 20} {
		data, _ := longList(n).Append(nil)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseList(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "listing: ") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		listed := map[netip.AddrPort]bool{}
		for _, s := range l.Servers {
			listed[s.Addr] = true
		}
		for addr, info := range l.Said.Infos {
			if !listed[addr] || !info.AsListed {
				t.Errorf("of %v it says %+v", addr, info)
			}
		}
	})
}
