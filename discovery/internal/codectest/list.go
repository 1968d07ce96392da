package codectest

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"muster/discovery"
)

// List returns the servers of a datagram, as ADDRESS, or ADDRESS{NAME SEATS} with the list's
// word, and whether the list ends.
func List(lister discovery.Lister, datagram string) (servers []string, end bool, err error) {
	end, err = lister.ParseList([]byte(datagram), func(at netip.AddrPort, info *discovery.Info) {
		text := at.String()
		if info != nil {
			text += fmt.Sprintf("{%s %d}", info.Name, info.MaxPlayers)
		}
		servers = append(servers, text)
	})
	return servers, end, err
}

// RefusesList checks that a lister takes none of the datagrams for a list.
func RefusesList(t *testing.T, lister discovery.Lister, datagrams map[string]string) {
	t.Helper()
	for name, b := range datagrams {
		if servers, _, err := List(lister, b); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%s: %v, err = %v, want ErrMalformed", name, servers, err)
		}
	}
}

// FuzzList feeds fuzzed input to the reader of a list. A datagram yields no more servers than
// it has bytes, unpacked; two bits are the shortest code.
func FuzzList(f *testing.F, lister discovery.Lister) {
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		_, err := lister.ParseList(b, func(_ netip.AddrPort, info *discovery.Info) {
			n++
			if info != nil && (info.Name != discovery.CleanText(info.Name) || info.MaxPlayers < 0) {
				t.Errorf("the list says %+v", info)
			}
		})
		if n > 4*len(b) {
			t.Errorf("%d servers in %d bytes, %v", n, len(b), err)
		}
	})
}
