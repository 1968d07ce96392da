package wire_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// TestAbsurdInfos checks that no info that a parser accepts makes a frame that the other side
// refuses.
func TestAbsurdInfos(t *testing.T) {
	absurd := discovery.Info{
		Name: strings.Repeat("n", 300), Map: strings.Repeat("m", 256) + " x", Mode: "\x00\xff", Version: "1\n2",
		Players: -3, MaxPlayers: 1 << 30, Bots: 1 << 40, GamePort: 65535, AppID: 1<<64 - 1,
		MinPing: -time.Second, MaxPing: 1<<62 + 1,
		Protocol: 1 << 40, OldestProtocol: -3, Mod: "a\x00b", Tags: discovery.Tags("x " + strings.Repeat("y", 300) + " \x1bz x"),
	}
	want := discovery.Info{
		Name: discovery.CleanText(absurd.Name), Map: discovery.CleanText(absurd.Map), Version: "1 2",
		GamePort: 65535, AppID: 1<<64 - 1, MaxPing: 65536 * time.Millisecond,
		Protocol: discovery.MaxProtocol, Mod: "ab", Tags: "x z",
	}
	got := roundTrip(t, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 7, Info: absurd}}}).(wire.Infos)
	if !reflect.DeepEqual(got.Servers[0].Info, want) || got.Servers[0].Info != wire.TidyInfo(absurd) {
		t.Errorf("got %+v\nwant %+v", got.Servers[0].Info, want)
	}
}

// TestFramesBoundMemory checks that a frame's length bounds the memory it allocates. An honest
// report has at least three bytes for each result, which takes 48.
func TestFramesBoundMemory(t *testing.T) {
	many := func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
	zeros := func(n int) []byte { return make([]byte, n) }
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	tests := []struct {
		name  string
		frame []byte
		// most is the bound, in bytes allocated for each byte of the frame.
		most int
	}{
		{"report that promises a full list", join([]byte{2, 1, 0, 0}, many(discovery.MaxServers)), 64},
		{"report that promises many, and has some", join([]byte{2, 1, 0, 0}, many(discovery.MaxServers), zeros(100)), 64},
		{"report, all servers", join([]byte{2, 1, 0, 0}, many(100_000), zeros(300_000)), 64},
		{"report without servers, long", join([]byte{2, 1, 0, 0, 0}, zeros(1<<20)), 64},
		{"infos that promise many", join([]byte{3, 1}, many(discovery.MaxServers), zeros(1000)), 64},
		{"infos, the shortest", join([]byte{3, 1}, many(1<<14), zeros(7<<14)), 64},
		{"list that inflates a thousandfold", join([]byte{1, 1}, deflated(zeros(8<<20))), 256},
		{"list of one server, again and again", join([]byte{1, 1}, deflated(bytes.Repeat([]byte{192, 0, 2, 7, 0, 1}, 1<<20))), 256},
		{"verified, the shortest", []byte(`{"type":"verified","servers":[` + strings.Repeat("{},", 40_000) + `{}]}`), 256},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const slack = 64 << 10 // flate's tables
			if got := allocated(func() {
				wire.Unmarshal(wire.Frame{Binary: tt.frame[0] != '{', Data: tt.frame})
			}); got > tt.most*len(tt.frame)+slack {
				t.Errorf("a frame of %d bytes made us allocate %d", len(tt.frame), got)
			}
		})
	}
}

func deflated(plain []byte) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	w.Write(plain)
	w.Close()
	return packed.Bytes()
}

func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// TestDensestList checks that the bound on inflation lets the most compressible lists pass.
func TestDensestList(t *testing.T) {
	one := netip.MustParseAddr("192.0.2.7")
	lists := map[string]func(i int) netip.AddrPort{
		"every port of one address": func(i int) netip.AddrPort { return netip.AddrPortFrom(one, uint16(1+i)) },
		"addresses in a row": func(i int) netip.AddrPort {
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 27960)
		},
		"IPv6 in a row": func(i int) netip.AddrPort {
			addr := one.As4()
			return netip.AddrPortFrom(netip.AddrFrom16(
				[16]byte{0x20, 1, 0xd, 0xb8, 12: addr[0], 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}), 27960)
		},
	}
	for name, address := range lists {
		servers := make([]discovery.Server, 65_000)
		for i := range servers {
			servers[i].Addr = address(i)
		}
		frame := wire.AppendList(nil, wire.List{Servers: servers})
		if _, err := wire.Unmarshal(wire.BinaryFrame(frame)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes, %.1f a server", name, len(frame), float64(len(frame))/float64(len(servers)))
	}
}
