package fleet

import (
	"testing"
	"time"

	"muster/discovery/protocol/a2s"
	"muster/internal/sim"
)

const a2sInfo = "\xff\xff\xff\xffTSource Engine Query\x00"

func TestA2SDemandsItsChallenge(t *testing.T) {
	f := startFleet(t, Options{Kind: A2S, World: handWorld([]time.Duration{0}, server("203.0.113.1:27015"))})
	addr := f.Servers()[0].Addr
	a, b := newAsker(t, f.Source(0), addr), newAsker(t, f.Source(0), addr)
	ours, _ := a.mustAsk(a2sInfo)
	theirs, _ := b.mustAsk(a2sInfo)
	if len(ours) != 9 || ours[4] != 'A' || string(ours) == string(theirs) {
		t.Fatalf("challenges % x and % x, want two of 4 bytes", ours, theirs)
	}
	for request, want := range map[string]byte{
		a2sInfo + string(ours[5:]):                 'I',
		a2sInfo + string(theirs[5:]):               'A',
		"\xff\xff\xff\xffU\xff\xff\xff\xff":        'A',
		"\xff\xff\xff\xffU" + string(ours[5:]):     'D',
		"\xff\xff\xff\xffV" + string(ours[5:]):     'E',
		"\xff\xff\xff\xffV" + string(theirs[5:]):   'A',
		a2sInfo + string(ours[5:]) + "and padding": 'I',
	} {
		if reply, _ := a.mustAsk(request); reply[4] != want {
			t.Errorf("request %q: reply %q, want %c", request, reply, want)
		}
	}
}

func TestA2SWithoutChallenge(t *testing.T) {
	o := Options{Kind: A2S, NoChallenge: true, World: handWorld([]time.Duration{0}, server("203.0.113.1:27015"))}
	f := startFleet(t, o)
	a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
	reply, _ := a.mustAsk(a2sInfo)
	info := o.World.Servers[0].Info
	info.AppID, info.Version = 440, "1.0"
	if want := a2s.AppendInfo(nil, info); string(reply) != string(want) {
		t.Errorf("reply %q, want %q", reply, want)
	}
	if reply, _ := a.mustAsk("\xff\xff\xff\xffU\xff\xff\xff\xff"); reply[4] != 'A' {
		t.Errorf("players without a challenge: %q", reply)
	}
}

func TestA2SSplitsWhatIsLong(t *testing.T) {
	full := with(server("203.0.113.1:27015"), func(s *sim.Server) { s.Info.Players, s.Info.MaxPlayers = 100, 128 })
	f := startFleet(t, Options{Kind: A2S, World: handWorld([]time.Duration{0}, full)})
	a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
	challenge, _ := a.mustAsk(a2sInfo)
	first, _ := a.mustAsk("\xff\xff\xff\xffU" + string(challenge[5:]))
	second, err := a.next(patience)
	if err != nil {
		t.Fatal(err)
	}
	for i, piece := range [][]byte{first, second} {
		if string(piece[:4]) != "\xfe\xff\xff\xff" || piece[8] != 2 || piece[9] != byte(i) {
			t.Errorf("piece %d starts % x", i, piece[:12])
		}
	}
}
