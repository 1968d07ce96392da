package a2s_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
)

// TestRoll checks that players are asked for with the server's challenge, and read up
// to the place where the list is cut off.
func TestRoll(t *testing.T) {
	roll := a2s.Protocol{}.Roll()
	first, err := a2s.ParseRequest(roll.AppendQuery(nil, 1, nil))
	if err != nil || first.Kind != a2s.Players || first.Challenge != nil {
		t.Fatalf("the first question is %+v, %v", first, err)
	}
	reply, err := roll.Parse([][]byte{a2s.AppendChallenge(nil, [4]byte{1, 2, 3, 4})})
	if err != nil || string(reply.Challenge) != "\x01\x02\x03\x04" {
		t.Fatalf("a challenge is %+v, %v", reply, err)
	}
	again, err := a2s.ParseRequest(roll.AppendQuery(nil, 1, reply.Challenge))
	if err != nil || string(again.Challenge) != string(reply.Challenge) {
		t.Fatalf("the second question is %+v, %v", again, err)
	}
	list := a2s.AppendPlayers(nil, []a2s.Player{{Name: "ann\x1b[31m", Score: 7}, {Name: "", Score: 1}, {Name: "bob", Score: -2}})
	for cut, want := range map[int]int{0: 2, 3: 1, len(list) - 6: 0} {
		reply, err := roll.Parse([][]byte{list[:len(list)-cut]})
		if err != nil || reply.Info == nil || reply.Info.Roster == nil || len(reply.Info.Roster.Players) != want {
			t.Errorf("without the last %d bytes: %+v, %v", cut, reply.Info, err)
		}
	}
	reply, _ = roll.Parse([][]byte{list})
	if players := reply.Info.Roster.Players; players[0].Name != discovery.CleanText("ann\x1b[31m") || players[1].Score != -2 {
		t.Errorf("who plays is %+v", players)
	}
}

func FuzzRoll(f *testing.F) {
	f.Add(a2s.AppendPlayers(nil, []a2s.Player{{Name: "ann", Score: 7}}), []byte{})
	f.Add(a2s.AppendChallenge(nil, [4]byte{1, 2, 3, 4}), []byte("\xff\xff\xff\xffD\x05"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		reply, err := a2s.Protocol{}.Roll().Parse([][]byte{first, second})
		if err != nil || reply.Info == nil {
			return
		}
		for _, p := range reply.Info.Roster.Players {
			if p.Name == "" || p.Name != discovery.CleanText(p.Name) {
				t.Errorf("a player is called %q", p.Name)
			}
		}
	})
}
