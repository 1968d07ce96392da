package quake3_test

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/quake3"
)

// Real clients sent the recorded queries, dpmaster answered them.
func TestMasterQueriesAsRecorded(t *testing.T) {
	for file, q := range map[string]MasterQuery{
		"dpmaster_getservers.hex":      {Protocol: 71, Empty: true, Full: true},
		"dpmaster_getservers_game.hex": {Game: "Nexuiz", Protocol: 3, Empty: true, Full: true},
		"dpmaster_getserversext.hex":   {Game: "Quake3Arena", Protocol: 71, Extended: true, IPv4: true, IPv6: true, Empty: true, Full: true},
	} {
		requests, _ := codectest.Packets(t, file)
		if got := AppendMasterQuery(nil, q); string(got) != string(requests[0]) {
			t.Errorf("%s: %q, want %q", file, got, requests[0])
		}
		if got, err := ParseMasterQuery(requests[0]); err != nil || got != q {
			t.Errorf("%s: %+v, %v, want %+v", file, got, err, q)
		}
	}
}

func TestParseMasterQuery(t *testing.T) {
	for text, want := range map[string]MasterQuery{
		"getservers 68":                     {Protocol: 68},
		"getservers 68 full demo ffa\n":     {Protocol: 68, Full: true},
		"getservers 68 ipv6":                {Protocol: 68},
		"getservers Xonotic 3 gametype=ctf": {Game: "Xonotic", Protocol: 3},
		"getserversExt 007 3 ipv6 empty":    {Game: "007", Protocol: 3, Extended: true, IPv6: true, Empty: true},
	} {
		if got, err := ParseMasterQuery([]byte("\xff\xff\xff\xff" + text)); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"getinfo 68", "getservers", "getservers empty full", "getservers Xonotic",
		"getserversExt 71", "getservers -1", "getservers 99999999999"} {
		if q, err := ParseMasterQuery([]byte("\xff\xff\xff\xff" + text)); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%q: %+v, err = %v, want ErrMalformed", text, q, err)
		}
	}
}

func addrs(texts ...string) []netip.AddrPort {
	var list []netip.AddrPort
	for _, text := range texts {
		list = append(list, netip.MustParseAddrPort(text))
	}
	return list
}

func TestParseRecordedMasterReplies(t *testing.T) {
	for file, want := range map[string][]netip.AddrPort{
		"dpmaster_getservers.hex":      addrs("127.0.0.1:27960", "127.0.0.1:27962", "127.0.0.1:27961"),
		"dpmaster_getservers_none.hex": nil,
		"dpmaster_getservers_game.hex": addrs("127.0.0.1:26001", "127.0.0.1:26000"),
		"dpmaster_getserversext.hex":   addrs("127.0.0.1:27960", "127.0.0.1:27962", "127.0.0.1:27961"),
	} {
		_, replies := codectest.Packets(t, file)
		got, end, err := ParseMasterReply(replies[0], nil)
		if err != nil || !end || !slices.Equal(got, want) {
			t.Errorf("%s: %v, end %v, %v, want %v", file, got, end, err, want)
		}
		extended := strings.Contains(file, "ext")
		if again := slices.Collect(MasterReplies(got, extended)); len(again) != 1 || string(again[0]) != string(replies[0]) {
			t.Errorf("%s: wrote %q, want %q", file, again, replies[0])
		}
	}
}

func TestParseMasterReply(t *testing.T) {
	const plain, extended = "\xff\xff\xff\xffgetserversResponse", "\xff\xff\xff\xffgetserversExtResponse"
	const v4, v6 = "\\\x01\x02\x03\x04\x6d\x38", "/\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x6d\x38"
	const mapped = "/\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x01\x02\x03\x04\x6d\x38"
	one := addrs("1.2.3.4:27960")
	for name, c := range map[string]struct {
		text string
		want []netip.AddrPort
		end  bool
		fail bool
	}{
		"without end":             {plain + v4, one, false, false},
		"EOT":                     {plain + v4 + "\\EOT\x00\x00\x00", one, true, false},
		"EOF":                     {plain + v4 + "\\EOF\x00\x00\x00", one, true, false},
		"EOF cut short":           {plain + v4 + "\\EOF", one, true, false},
		"nothing after the end":   {plain + "\\EOT\x00\x00\x00" + v4, nil, true, false},
		"line end first":          {plain + "\n\x00" + v4, one, false, false},
		"NUL last":                {plain + v4 + "\x00", one, false, false},
		"nothing":                 {plain, nil, false, false},
		"backslash in an address": {plain + "\\\\\\\\\\\\\\" + v4, addrs("92.92.92.92:23644", "1.2.3.4:27960"), false, false},
		"EOT as an address":       {plain + "\\EOT\x01\x6d\x38", addrs("69.79.84.1:27960"), false, false},
		"EOT as half an address":  {plain + "\\EOT\x00\x6d\x38", addrs("69.79.84.0:27960"), false, false},
		"port 0":                  {plain + "\\\x01\x02\x03\x04\x00\x00" + v4, one, false, false},
		"no host":                 {plain + "\\\x00\x00\x00\x00\x6d\x38" + v4, one, false, false},
		"IPv6":                    {extended + v6 + v4, addrs("[2001:db8::1]:27960", "1.2.3.4:27960"), false, false},
		"IPv4 in IPv6":            {extended + mapped, one, false, false},
		"IPv6 in a plain reply":   {plain + v4 + v6, one, false, true},
		"cut short":               {plain + v4 + "\\\x01\x02\x03", one, false, true},
		"IPv6 cut short":          {extended + v6[:18], nil, false, true},
		"noise":                   {plain + v4 + "x" + v4, one, false, true},
		"other word":              {"\xff\xff\xff\xffinfoResponse\n" + v4, nil, false, true},
		"no header":               {v4, nil, false, true},
		"empty":                   {"", nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := addrs("9.9.9.9:9")
			got, end, err := ParseMasterReply([]byte(c.text), before)
			if want := append(before, c.want...); !slices.Equal(got, want) || end != c.end {
				t.Errorf("%v, end %v, want %v, end %v", got, end, want, c.end)
			}
			if errors.Is(err, discovery.ErrMalformed) != c.fail {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// world returns n servers of both families.
func world(n int) []netip.AddrPort {
	list := make([]netip.AddrPort, 0, n)
	for i := range n {
		b := [16]byte{0x20, 0x01, 0x0d, 0xb8}
		binary.BigEndian.PutUint32(b[12:], uint32(i))
		addr := netip.AddrFrom16(b)
		if i%3 != 0 {
			addr = netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 92})
		}
		list = append(list, netip.AddrPortFrom(addr, uint16(1+i)))
	}
	return list
}

func TestMasterRepliesCarryEveryServer(t *testing.T) {
	for _, n := range []int{0, 1, 120, 121, 122, 292, 293, 294, 295, 5000} {
		for _, extended := range []bool{false, true} {
			var got []netip.AddrPort
			ends := 0
			for b := range MasterReplies(world(n), extended) {
				if len(b) > 1400 {
					t.Errorf("%d servers: a datagram of %d bytes", n, len(b))
				}
				var end bool
				var err error
				if got, end, err = ParseMasterReply(b, got); err != nil || ends > 0 {
					t.Fatalf("%d servers: err = %v, after %d ends", n, err, ends)
				}
				if end {
					ends++
				}
			}
			want := world(n)
			if !extended {
				want = slices.DeleteFunc(want, func(a netip.AddrPort) bool { return a.Addr().Is6() })
			}
			if !slices.Equal(got, want) || ends != 1 {
				t.Errorf("%d servers, extended %v: got %d, %d ends", n, extended, len(got), ends)
			}
		}
	}
}

func TestMasterRepliesStop(t *testing.T) {
	for range MasterReplies(world(5000), true) {
		break
	}
	list := append(addrs("[::ffff:1.2.3.4]:5"), netip.AddrPort{})
	b := slices.Collect(MasterReplies(list, false))
	if got, _, err := ParseMasterReply(b[0], nil); err != nil || !reflect.DeepEqual(got, addrs("1.2.3.4:5")) {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzParseMasterReply(f *testing.F) {
	for _, file := range []string{"dpmaster_getservers.hex", "dpmaster_getserversext.hex"} {
		_, replies := codectest.Packets(f, file)
		f.Add(replies[0])
	}
	for b := range MasterReplies(world(80), true) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _, err := ParseMasterReply(b, nil)
		if err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("err = %v", err)
		}
		var again []netip.AddrPort
		for b := range MasterReplies(got, true) {
			if again, _, err = ParseMasterReply(b, again); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, again) {
			t.Errorf("%v became %v", got, again)
		}
	})
}

func FuzzParseMasterQuery(f *testing.F) {
	for _, file := range []string{"dpmaster_getservers.hex", "dpmaster_getserversext.hex", "dpmaster_getservers_game.hex"} {
		requests, _ := codectest.Packets(f, file)
		f.Add(requests[0])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := ParseMasterQuery(b)
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("err = %v", err)
			}
			return
		}
		if again, err := ParseMasterQuery(AppendMasterQuery(nil, q)); err != nil || again != q {
			t.Errorf("%+v became %+v, %v", q, again, err)
		}
	})
}
