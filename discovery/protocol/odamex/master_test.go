package odamex_test

import (
	"slices"
	"testing"

	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/odamex"
)

// list is written by hand after the master's source.
const list = "\xa3\xdb\x0b\x00" + "\x02\x00" + "\xc0\x00\x02\x01\xaa\x29" + "\xc6\x33\x64\x07\xab\x29"

func TestMaster(t *testing.T) {
	m := Protocol{}.Master()
	if got := string(m.AppendListQuery(nil)); got != "\xa3\xdb\x0b\x00" || m.Repeats() {
		t.Errorf("it is asked %q", got)
	}
	if got, end, err := codectest.List(m, list); !slices.Equal(got, []string{"192.0.2.1:10666", "198.51.100.7:10667"}) || !end || err != nil {
		t.Errorf("%v, %v, %v", got, end, err)
	}
	if got, end, err := codectest.List(m, "\xa3\xdb\x0b\x00\x00\x00"); got != nil || !end || err != nil {
		t.Errorf("an empty list: %v, %v, %v", got, end, err)
	}
	codectest.RefusesList(t, m, map[string]string{
		"nothing": "", "the question": list[:4], "a server's answer": shaped, "cut short": list[:len(list)-1], "too many": list[:4] + "\xff\xff" + list[6:],
	})
}

func FuzzMaster(f *testing.F) {
	f.Add([]byte(list))
	codectest.FuzzList(f, Protocol{}.Master())
}
