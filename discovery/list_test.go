package discovery_test

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/hostport"
)

func server(addr, country string, asn uint32) discovery.Server {
	return discovery.Server{Addr: netip.MustParseAddrPort(addr), Country: country, ASN: asn}
}

func named(host, country string, asn uint32) discovery.Server {
	return discovery.Server{Addr: hostport.Of(host, 25565), Country: country, ASN: asn}
}

var lists = []struct {
	name    string
	servers []discovery.Server
	hex     string
}{
	{"empty", nil, ""},
	{"not annotated", []discovery.Server{server("1.2.3.4:27960", "", 0)}, "010203046d38"},
	{"the paper's AS marker", []discovery.Server{
		server("1.2.3.4:27960", "", 3320),
		server("1.2.3.5:27961", "", 3320),
		server("9.9.9.9:1", "", 19281),
	}, "00000cf80000 010203046d38 010203056d39 00004b510000 090909090001"},
	{"country, and back to unknown", []discovery.Server{
		server("1.2.3.4:27960", "DE", 3320),
		server("1.2.3.5:27960", "", 0),
	}, "ff4445000000 00000cf80000 010203046d38 ff2020000000 000000000000 010203056d38"},
	{"IPv6", []discovery.Server{server("[2001:db8::1]:27960", "", 0)},
		"ff0000060000 20010db80000 000000000000 000000016d38"},
	{"by name", []discovery.Server{named("anna.example.org", "DE", 0), named("b.de", "DE", 0), server("1.2.3.4:27960", "DE", 0)},
		"ff4445000000 ff0300070000 63dd616e6e61 2e6578616d70 6c652e6f7267 ff0100070000 63dd622e6465 010203046d38"},
	{"an IPv4 address like a marker", []discovery.Server{server("255.0.0.6:6", "", 0)}, "ff0000060006"},
}

func TestList(t *testing.T) {
	for _, tt := range lists {
		t.Run(tt.name, func(t *testing.T) {
			want, err := hex.DecodeString(strings.ReplaceAll(tt.hex, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			got := discovery.AppendList(nil, tt.servers)
			if !reflect.DeepEqual(got, want) && len(want) > 0 {
				t.Errorf("AppendList = %x, want %x", got, want)
			}
			back, err := discovery.ParseList(want)
			if err != nil || len(back) != len(tt.servers) || len(back) > 0 && !reflect.DeepEqual(back, tt.servers) {
				t.Errorf("ParseList = %v, %v, want %v", back, err, tt.servers)
			}
		})
	}
}

func TestListOddities(t *testing.T) {
	tests := []struct {
		name, hex string
		servers   int
		err       error
	}{
		{"marker without servers", "00000cf80000", 0, nil},
		{"two markers in a row", "00000cf80000 00004b510000 010203046d38", 1, nil},
		{"cut off in a record", "010203046d38 0102", 0, discovery.ErrMalformed},
		{"cut off in an IPv6 server", "ff0000060000 20010db80000", 0, discovery.ErrMalformed},
		{"cut off in a name", "ff0300070000 63dd616e6e61 2e6578616d70", 0, discovery.ErrMalformed},
		{"an empty name", "ff0000070000", 0, discovery.ErrMalformed},
		{"no name", "ff0100070000 63dd613b6220", 0, discovery.ErrMalformed},
		{"a name with capitals", "ff0100070000 63dd422e6465", 0, discovery.ErrMalformed},
		{"a name without port", "ff0100070000 0000622e6465", 0, discovery.ErrMalformed},
		{"a number for a name", "ff0100070000 63dd312e3233", 0, discovery.ErrMalformed},
		{"too many names", strings.Repeat("ff0100070000 63dd622e6465", discovery.MaxNames+1), 0, discovery.ErrMalformed},
		{"IPv6 server without port", "ff0000060000 20010db80000 000000000000 000000010000", 0, discovery.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, _ := hex.DecodeString(strings.ReplaceAll(tt.hex, " ", ""))
			servers, err := discovery.ParseList(b)
			if !errors.Is(err, tt.err) || len(servers) != tt.servers {
				t.Errorf("ParseList = %v, %v; want %d servers, error %v", servers, err, tt.servers, tt.err)
			}
		})
	}
}

// TestListOfPrivateASes checks that an AS number which means something else in a list
// is left out, and that the servers come through.
func TestListOfPrivateASes(t *testing.T) {
	for asn, want := range map[uint32]uint32{
		0xff444500: 0, 0xff000006: 0, 0xff000000: 0, // DE, an IPv6 server, no country
		0xff000001: 0xff000001, 0xff444501: 0xff444501, 0xfe444500: 0xfe444500, 4294967294: 4294967294, 64512: 64512,
	} {
		list := []discovery.Server{server("1.2.3.4:5", "FR", asn), server("[2001:db8::1]:5", "FR", asn), server("1.2.3.5:5", "", 3320)}
		back, err := discovery.ParseList(discovery.AppendList(nil, list))
		list[0].ASN, list[1].ASN = want, want
		if err != nil || !reflect.DeepEqual(back, list) {
			t.Errorf("AS %d: %v, %v", asn, back, err)
		}
	}
}

func FuzzParseList(f *testing.F) {
	for _, tt := range lists {
		f.Add(discovery.AppendList(nil, tt.servers))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		servers, err := discovery.ParseList(b)
		if err != nil {
			return
		}
		again, err := discovery.ParseList(discovery.AppendList(nil, servers))
		if err != nil || len(again) != len(servers) {
			t.Fatalf("%d servers came back as %d: %v", len(servers), len(again), err)
		}
		for i := range servers {
			if again[i] != servers[i] {
				t.Fatalf("server %d: %v came back as %v", i, servers[i], again[i])
			}
		}
	})
}
