package luanti_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/luanti"
)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "minetest.hex")
	if got := (Protocol{}).AppendQuery(nil, 7, nil); string(got) != string(requests[0]) {
		t.Errorf("AppendQuery = %x, want %x", got, requests[0])
	}
	for name, b := range map[string][]byte{"recorded": replies[0], "the fleet's": Answer(requests[0])} {
		reply, err := Protocol{}.Parse([][]byte{b})
		if err != nil || *reply.Info != (discovery.Info{}) || reply.Echoed || reply.Incomplete ||
			len(reply.Challenge) > 0 || string(reply.Farewell[:4]) != string(requests[1][:4]) {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
		if name == "recorded" && string(reply.Farewell) != string(requests[1]) {
			t.Errorf("Farewell = %x, want %x", reply.Farewell, requests[1])
		}
	}
	whole := string(replies[0])
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "short": whole[:13], "long": whole + "x", "from another peer": whole[:5] + "\x02" + whole[6:],
		"an acknowledgement": whole[:11] + "\x00" + whole[12:],
	})
	if got := Answer(requests[1]); got != nil {
		t.Errorf("a goodbye is answered: %x", got)
	}
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "minetest.hex") }
