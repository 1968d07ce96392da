package a2s_test

import (
	"testing"

	"muster/discovery"
	. "muster/discovery/protocol/a2s"
)

// TestSevenDaysPort checks a server of 7 Days to Die that is asked at 26900 and names
// 26902, where its game's traffic goes. Players type 26900.
func TestSevenDaysPort(t *testing.T) {
	// The reply of three recorded servers of version 0.20, with another name. The
	// application is only in the game ID, and the fields of both flags come before it.
	packet := []byte("\xff\xff\xff\xffI\x11A server\x00PREGEN8k\x007DTD\x007 Days To Die\x00\x00\x00\x0f\x0f\x00dw\x00\x0000.20.05\x00" +
		"\xb1\x16\x69\x02\x64\x4d\x5d\x4d\x40\x40\x01A7gB\x00\xb2\xd6\x03\x00\x00\x00\x00\x00")
	reply, err := Protocol{}.Parse([][]byte{packet})
	if err != nil || reply.Info == nil {
		t.Fatal(err)
	}
	if i := reply.Info; i.AppID != 251570 || i.GamePort != 26900 || i.Players != 15 {
		t.Errorf("got %+v", i)
	}
	for game, want := range map[uint16]uint16{26900: 26900, 1: 1, 65533: 65533} {
		info := discovery.Info{AppID: 251570, GamePort: game}
		reply, err := Protocol{}.Parse([][]byte{AppendInfo(nil, info)})
		if err != nil || reply.Info.GamePort != want {
			t.Errorf("port %d comes back as %+v, %v", game, reply.Info, err)
		}
	}
}
