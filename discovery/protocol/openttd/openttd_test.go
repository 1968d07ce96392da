package openttd_test

import (
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/openttd"
)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "openttd13.hex")
	if got := (Protocol{}).AppendQuery(nil, 7, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %x, want %x", got, requests[0])
	}
	want := discovery.Info{Name: "Unnamed Server", Map: "256×256", Mode: "temperate", Version: "13.0", MaxPlayers: 25}
	for n := range replies[0] {
		if reply, err := (Protocol{}).Parse([][]byte{replies[0][:n]}); err != nil || !reply.Incomplete {
			t.Fatalf("after %d bytes: %+v, %v", n, reply, err)
		}
	}
	reply, err := Protocol{}.Parse(replies)
	if err != nil || *reply.Info != want {
		t.Errorf("%+v, %v, want %+v", reply.Info, err, want)
	}
	want.Players, want.Password = 3, true
	reply, err = Protocol{}.Parse([][]byte{Answer(requests[0], 0, want)})
	if err != nil || *reply.Info != want {
		t.Errorf("the fleet's: %+v, %v, want %+v", reply.Info, err, want)
	}
}

func packet(body string) string {
	return string([]byte{byte(len(body) + 3), 0, 6}) + body
}

func TestParse(t *testing.T) {
	const seats, size = "\x01\x0a\x04\x01", "\x00\x01\x00\x02\x01\x01"
	grf := "abcd" + "0123456789abcdef"
	want := discovery.Info{Name: "n", Map: "256×512", Mode: "arctic", Version: "v", Players: 4, MaxPlayers: 10, Password: true}
	for name, body := range map[string]string{
		"form 1":                    "\x01n\x00v\x00\x01" + seats + "\x00\x00\x00\x00map\x00" + size,
		"form 2":                    "\x02\x0f\x01\x05n\x00v\x00\x01" + seats + "\x00\x00\x00\x00map\x00" + size,
		"form 3":                    "\x03ddddssss\x0f\x01\x05n\x00v\x00\x01" + seats + "map\x00" + size,
		"form 4, with NewGRFs":      "\x04\x02" + grf + grf + "ddddssss\x0f\x01\x05n\x00v\x00\x01" + seats + "map\x00" + size,
		"form 6, of their names":    "\x06\x01ssss\x00\x01" + grf + "name\x00" + "ddddssss\x0f\x01\x05n\x00v\x00" + seats + size,
		"form 7, of their numbers":  "\x0712345678\x02ssssscript\x00\x01" + "1234" + "ddddssss\x0f\x01\x05n\x00v\x00" + seats + size,
		"a later one, longer still": "\x0712345678\x02ssss\x00\x00" + "ddddssss\x0f\x01\x05n\x00v\x00" + seats + size + "more",
	} {
		if want.Tags = ""; strings.Contains(body, "1234") && name != "a later one, longer still" {
			want.Tags = "newgrf"
		}
		reply, err := Protocol{}.Parse([][]byte{[]byte(packet(body))})
		if err != nil || *reply.Info != want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, want)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"a web server": "HTTP/1.1", "another kind": "\x04\x00\x03\x01", "an error": "\x02\x00\x06",
		"cut short": packet("\x01n\x00v\x00"), "form 0": packet("\x00n\x00v\x00\x01" + seats + "\x00\x00\x00\x00map\x00" + size),
		"more NewGRFs than there are": packet("\x04\xff" + grf),
	})
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "openttd13.hex") }
