// Package codectest is shared by the tests of the protocols' packages: recorded
// packets, and the rules that every parser keeps for any input.
package codectest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Packets returns the requests and replies of a recording in testdata. A line is one
// packet in hexadecimal digits, after > or <. A line after # names the program.
func Packets(t testing.TB, file string) (requests, replies [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		mark, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if mark == "#" {
			continue
		}
		b, err := hex.DecodeString(digits)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		case mark == ">":
			requests = append(requests, b)
		default:
			replies = append(replies, b)
		}
	}
	return requests, replies
}

// Datagrams returns texts as datagrams.
func Datagrams(texts ...string) (datagrams [][]byte) {
	for _, text := range texts {
		datagrams = append(datagrams, []byte(text))
	}
	return datagrams
}

// Refuses checks that a protocol takes none of the datagrams for a reply, and waits while there is
// none.
func Refuses(t *testing.T, protocol discovery.Protocol, datagrams map[string]string) {
	t.Helper()
	if reply, err := protocol.Parse(nil); err != nil || !reply.Incomplete {
		t.Errorf("no datagram: %+v, %v", reply, err)
	}
	for name, b := range datagrams {
		if reply, err := protocol.Parse([][]byte{[]byte(b)}); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%s: %+v, err = %v, want ErrMalformed", name, reply, err)
		}
	}
}

// Fuzz feeds fuzzed input to a protocol's parser, starting from the replies in some recordings. It
// checks that errors are of one kind, counts are sensible, and texts are clean.
func Fuzz(f *testing.F, protocol discovery.Protocol, files ...string) {
	for _, file := range files {
		_, replies := Packets(f, file)
		for _, b := range replies {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		reply, err := protocol.Parse([][]byte{b})
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("err = %v", err)
			}
			return
		}
		i := reply.Info
		if i == nil {
			return
		}
		if i.Players < 0 || i.MaxPlayers < 0 || i.Bots < 0 || i.Bots > i.Players {
			t.Errorf("counts: %+v", i)
		}
		if max(i.Players, i.MaxPlayers) > packet.MaxCount {
			t.Errorf("nobody has so many seats: %+v", i)
		}
		for _, text := range []string{i.Name, i.Map, i.Mode, i.Version, i.Mod} {
			if text != discovery.CleanText(text) {
				t.Errorf("text %q is not clean", text)
			}
		}
		if i.Roster != nil {
			for _, p := range i.Roster.Players {
				if p.Name != discovery.CleanText(p.Name) || p.Ping < 0 {
					t.Errorf("a player is %+v", p)
				}
			}
		}
		if i.Tags != discovery.TagsOf(string(i.Tags)) {
			t.Errorf("tags %q are none", i.Tags)
		}
		if i.Protocol < 0 || i.Protocol > discovery.MaxProtocol || i.OldestProtocol < 0 {
			t.Errorf("protocols: %+v", i)
		}
	})
}

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
