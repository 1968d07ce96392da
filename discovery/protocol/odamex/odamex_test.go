package odamex_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/odamex"
)

const nonce = discovery.Nonce(0x89abcdef)

// The packets here are written by hand after Odamex' source: no real server was at hand.
const (
	asked  = "\x02\x10\x01\xad" + "\x3c\x0a\x00\x00" + "\x07\x00\x00\x00" + "\xef\xcd\xab\x89"
	head   = "\x03\x20\x03\xad" + "\x3c\x0a\x00\x00" + "\x07\x00\x00\x00" + "\xef\xcd\xab\x89" + "\x07\x00\x00\x00" + "stable, a1b2c3\x00"
	facts  = "\x06" + "sv_hostname\x00\x06A place\xe9\x00" + "sv_maxclients\x00\x02\x10" + "sv_maxplayers\x00\x02\x08" + "sv_gametype\x00\x02\x03"
	others = "sv_timelimit\x00\x0530\x00" + "sv_freelook\x00\x01"
	hash   = "\x10" + "0123456789abcdef"
	rest   = "MAP01\x00" + "\x05\x00" + "\x02" + "Blue\x00\x00\x00\xff\x00\x01\x00" + "Red\x00\xff\x00\x00\x00\x02\x00"
	files  = "\x01" + "dwango.deh\x00" + "\x03" + "odamex.wad\x00\x00" + "doom2.wad\x00" + hash + "dwango5.wad\x00" + hash
	ann    = "ann\x00" + "\x01\x02\x03\x04" + "\x01" + "\x1e\x00" + "\x05\x00" + "\x00" + "\xff\xff" + "\x01\x00" + "\x02\x00"
	ben    = "ben\x00" + "\x01\x02\x03\x04" + "\x00" + "\x1f\x00" + "\x05\x00" + "\x01" + "\x00\x00" + "\x00\x00" + "\x00\x00"
	shaped = head + facts + others + hash + rest + files + "\x02" + ann + ben
	newer  = "\x02\x20\x03\xad" + "\x00\x0b\x00\x00" + "\x07\x00\x00\x00" + "\xef\xcd\xab\x89"
)

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 0x0123_4567_89ab_cdef, nil)); got != asked {
		t.Errorf("AppendQuery = %q", got)
	}
	want := discovery.Info{
		Name: "A placeé", Map: "MAP01", Mode: "ctf", Version: "10.6.0", Mod: "doom2.wad", Tags: "dwango.deh dwango5.wad",
		Players: 1, MaxPlayers: 8, Password: true,
	}
	reply, err := Protocol{}.Parse([][]byte{[]byte("noise"), []byte(shaped)})
	if err != nil || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != want {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
	reply, err = Protocol{}.Roll().Parse([][]byte{[]byte(shaped)})
	players := []discovery.Player{{Name: "ann", Score: -1, Ping: 30 * time.Millisecond}}
	if err != nil || !slices.Equal(reply.Info.Roster.Players, players) {
		t.Errorf("the players are %+v, %v", reply.Info, err)
	}
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "the question": asked, "the head": head, "no players": head + facts + others + hash + rest + files,
		"cut short": shaped[:len(shaped)-1], "a newer form": shaped[:8] + "\x08" + shaped[9:],
		"a server that is older, and says that the question is": newer[:4] + "\x3c\x0a" + newer[6:], "half of that": newer[:14],
	})
}

// TestForms checks how forms differ. Before the seventh form, the build is a number. Before the
// sixth, the remaining minutes are always present.
func TestForms(t *testing.T) {
	const variables, end = "\x01" + "sv_hostname\x00\x06n\x00", "\x00" + "\x00" + "\x00"
	for form, text := range map[string]string{
		"\x07": "b\x00" + variables + "\x00" + "E1M1\x00" + end,
		"\x06": "\xff\xff\xff\xff" + variables + "\x00" + "E1M1\x00" + end,
		"\x05": "\xff\xff\xff\xff" + variables + "\x00" + "E1M1\x00" + "\x01\x01" + end,
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte(head[:8] + form + head[9:20] + text)})
		want := discovery.Info{Name: "n", Map: "E1M1", Mode: "cooperative", Version: "10.6.0"}
		if err != nil || *reply.Info != want {
			t.Errorf("form %q: %+v, %v", form, reply.Info, err)
		}
	}
}

// TestNewer checks that a newer server is asked once more, with its own version.
func TestNewer(t *testing.T) {
	info := discovery.Info{Name: "n", Map: "m", Version: "11.0.2"}
	first := Answer(Protocol{}.AppendQuery(nil, nonce, nil), info, nil)
	reply, err := Protocol{}.Parse([][]byte{first})
	if err != nil || reply.Info != nil || !reply.Answers(nonce) || len(reply.Challenge) == 0 {
		t.Fatalf("%+v, %v", reply, err)
	}
	second := Answer(Protocol{}.AppendQuery(nil, nonce, reply.Challenge), info, nil)
	if reply, err = (Protocol{}).Parse([][]byte{second}); err != nil || reply.Info.Version != "11.0.2" || reply.Info.Name != "n" {
		t.Errorf("%+v, %v", reply, err)
	}
	if reply, err = (Protocol{}).Parse([][]byte{[]byte(newer)}); err != nil || string(reply.Challenge) != "\x00\x0b\x00\x00" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestAnswer checks that the fleet's servers are understood.
func TestAnswer(t *testing.T) {
	info := discovery.Info{Name: "n", Map: "m", Version: "10.5.1", Mode: "cooperative", Players: 2, MaxPlayers: 16, Password: true}
	question := Protocol{}.AppendQuery(nil, nonce, nil)
	reply, err := Protocol{}.Parse([][]byte{Answer(question, info, []string{"ann", "ben"})})
	if err != nil || !reply.Answers(nonce) || *reply.Info != info {
		t.Errorf("%+v, %v", reply.Info, err)
	}
	if Answer(question[:15], info, nil) != nil {
		t.Error("a server answers half a question")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shaped))
	f.Add([]byte(newer))
	codectest.Fuzz(f, Protocol{}.Roll())
}

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
