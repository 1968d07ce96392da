package jamulus_test

import (
	"net/netip"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/jamulus"
)

// TestDirectory reads what a real directory answers: a short list and a long one. It has no
// address for itself.
func TestDirectory(t *testing.T) {
	d := Protocol{}.Master()
	requests, replies := codectest.Packets(t, "directory.hex")
	if got := d.AppendListQuery(nil); !slices.Equal(got, requests[0]) || d.Repeats() {
		t.Errorf("it is asked %x, want %x", got, requests[0])
	}
	for i, want := range [][]string{
		{"invalid AddrPort{The directory 0}", "127.0.0.1:42125{Späti 0}"},
		{"invalid AddrPort{The directory 10}", "127.0.0.1:42125{Späti 7}"},
	} {
		if got, end, err := codectest.List(d, string(replies[i])); !slices.Equal(got, want) || end != (i == 1) || err != nil {
			t.Errorf("%q, %v, %v, want %q", got, end, err, want)
		}
	}
	codectest.RefusesList(t, d, map[string]string{
		"nothing": "", "the question": string(requests[0]), "a ping": three, "a wrong CRC": string(replies[1][:len(replies[1])-1]) + "?",
		"cut in a frame":  string(Frame(nil, SeatedList, replies[1][7:30])),
		"a name too long": string(Frame(nil, SeatedList, []byte("\x01\x00\x00\x7f\x8d\xa4\x00\x00\x07\x00\xff\xff"))),
	})
}

// framedList takes messages for frames, because no fuzzer finds a CRC.
type framedList struct{ discovery.Lister }

func (f framedList) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (bool, error) {
	return f.Lister.ParseList(Frame(nil, SeatedList, b), yield)
}

func FuzzDirectory(f *testing.F) {
	_, replies := codectest.Packets(f, "directory.hex")
	f.Add(replies[1][7 : len(replies[1])-2])
	codectest.FuzzList(f, framedList{Protocol{}.Master()})
}
