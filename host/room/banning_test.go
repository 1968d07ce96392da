package room_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
)

// inMatch returns a match of ann and ben against emil and fay, with three maps, whose captains have
// just begun to ban from five servers.
func inMatch(t *testing.T) *session {
	t.Helper()
	s := settings(4)
	s.Match, s.Order, s.Maps, s.Turn = "bo1", "ban ban ban pick", "dm6, dm17, ztn", discovery.Millis(10*time.Second)
	n := newSession(t, s)
	names := []string{"ann", "ben", "emil", "fay"}
	for i, name := range names {
		n.Join(name)
		if err := n.Acts(n.PageOf(name), room.TakeSide{Side: []wire.Side{wire.SideA, wire.SideB}[i/2]}); err != nil {
			t.Fatal(err)
		}
	}
	n.Listed(6)
	n.Informs("ann", 12, 12, 12, 12, 12, 12)
	for i, name := range names {
		n.Measures(name, 10+10*i, 20+10*i, 30+5*i, 40-5*i, 50-9*i, 60+10*i)
	}
	n.Done(names...)
	for _, name := range names {
		n.Verifies(name)
	}
	if turn := n.View().Match.Turn; turn == nil || turn.Captain != "ann" {
		t.Fatalf("the turn is %+v; the log:\n%s", turn, n.Story())
	}
	return n
}

// actsInMatch does something that people do in a match, or their machines.
func actsInMatch(n *session, act, what byte) {
	names := []string{"ann", "ben", "emil", "fay"}
	who := names[what%4]
	match := n.View().Match
	move := room.Move{Number: len(match.Moves) + 1 - int(what>>6)%2, What: []string{"dm6", "dm17", "ztn"}[what%3]}
	if match.Turn != nil && match.Turn.Of == wire.OfServer {
		move.What = match.Servers[int(what>>2)%len(match.Servers)].Addr
	}
	switch act % 18 {
	case 0, 1, 2:
		n.Acts(n.PageOf(who), move)
	case 3:
		n.Step(room.Hear{Player: people.ID(who), Message: wire.Say{
			Round: n.Round(), What: wire.SayMove, Number: move.Number, Addr: hostport.At(addrOf(int(what) % 7)),
		}})
	case 4:
		n.Step(room.Leave{Player: people.ID(who)})
	case 5:
		if n.Here[who] {
			return
		}
		n.TryJoin(who, n.Welcomes[who].Token)
	case 6:
		n.Wait(time.Duration(what) * 100 * time.Millisecond)
	case 7:
		n.Restarts(time.Duration(what) * time.Second)
	case 8:
		n.Acts(n.PageOf(who), room.Ready{Ready: what%2 == 0})
	case 9:
		n.Acts(n.PageOf(who), room.Vote{Addr: hostport.At(addrOf(int(what) % 6))})
		n.Acts(n.PageOf(who), room.Veto{Addr: hostport.At(addrOf(int(what) % 6))})
	case 10:
		n.Acts(n.PageOf(who), room.NameCaptain{Name: names[(what>>2)%4]})
		n.Acts(n.PageOf(who), room.TakeSide{Side: wire.SideB, Name: names[(what>>2)%4]})
	case 11:
		n.Acts(n.PageOf(who), room.Quit{})
	case 12:
		n.Orders(room.Remove{Name: who})
	case 13:
		n.Orders(room.Hide{Addr: hostport.At(addrOf(int(what) % 6)), Hidden: true})
	case 14:
		n.Orders(room.Change{Settings: []byte([]string{
			`{"match":""}`, `{"by":"minimax"}`, `{"order":"pick"}`, `{"maps":"t9, aero"}`, `{"turn_ms":300000}`,
			`{"limits_ms":[1]}`, `{"players":2}`, `{"agree":true}`,
		}[what%8])})
		n.Orders(room.Apply{})
	case 15:
		if n.Here[who] && n.Looks[who].Servers != nil {
			n.Verifies(who, int(what>>2)%6)
		}
	case 16:
		n.Orders(room.Without{Name: who})
		n.Orders(room.Allow{LimitMS: 500})
		n.Orders(room.More{Servers: 10})
		n.Orders(room.AwaitSeats{})
		n.Orders(room.Unwait{Instead: true})
		n.Orders(room.Trust{Name: who})
	case 17:
		n.Step(room.Proceed{})
	}
}

// FuzzMatch checks that a match comes to exactly one of its servers and to its map within its time,
// whatever people do: a side that leaves, stalls or moves twice, a captain who goes, a host that
// restarts in the middle.
func FuzzMatch(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x06\x00\x08\x00\x0e\x06\xff"))
	f.Add([]byte("\x04\x00\x04\x01\x06\xff\x07\x10\x05\x02\x0b\x02\x0c\x03"))
	f.Add([]byte("\x0e\x00\x0e\x05\x10\x00\x11\x00\x09\x02\x08\x02\x0d\x01\x0f\x04"))
	f.Add([]byte("\x0b\x00\x0b\x01\x0b\x02\x0b\x03\x06\xff"))
	f.Fuzz(playsMatch)
}

// TestRandomMatches checks the same with some random sessions.
func TestRandomMatches(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 6))
	for i := range 40 {
		acts := make([]byte, 2*dice.IntN(60))
		for j := range acts {
			acts[j] = byte(dice.Uint32())
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { playsMatch(t, acts) })
	}
}

// playsMatch plays a match in which people act at random, a byte for what they do and one for whom and
// what it is about, and checks where it leads.
func playsMatch(t *testing.T, acts []byte) {
	if len(acts) > 400 {
		return
	}
	n := inMatch(t)
	servers := n.View().Match.Servers
	for ; len(acts) > 1 && n.Room.Stage() == wire.Chosen; acts = acts[2:] {
		before := len(n.View().Match.Moves)
		actsInMatch(n, acts[0], acts[1])
		if made := len(n.View().Match.Moves) - before; made < 0 || made > 1 && acts[0]%18 != 6 && acts[0]%18 != 7 {
			t.Fatalf("act %d makes %d moves", acts[0]%18, made)
		}
	}
	if n.View().Room.Ended.IsZero() && len(n.Players()) == 0 {
		return // a room without anybody has nobody to send
	}
	for range 20 { // six moves, and the countdown; a pause while nobody is there
		if n.Room.Stage() == wire.Launching {
			break
		}
		for _, name := range n.Players() {
			if !n.Here[name] {
				n.TryJoin(name, n.Welcomes[name].Token)
			}
		}
		n.Wait(10 * time.Second)
	}
	match, way := n.View().Match, n.View().Way
	if n.Room.Stage() != wire.Launching || match == nil || !match.Decided || way == nil {
		t.Fatalf("the match is %s: %+v; the log:\n%s", n.Room.Stage(), match, n.Story())
	}
	isFinalist := slices.ContainsFunc(servers, func(s wire.MatchServer) bool { return s.Addr == match.Server })
	if !isFinalist || way.Connect != match.Server || len(match.Moves) != 6 || len(match.Play) != 1 {
		t.Fatalf("it goes to %s, of %s, to play %q after %d moves", way.Connect, match.Server, match.Play, len(match.Moves))
	}
	went := map[string]bool{}
	for _, sent := range n.Sent {
		for _, m := range sent {
			if launch, is := m.(wire.Launch); is {
				went[launch.Address] = true
			}
		}
	}
	if len(went) > 1 || len(went) == 1 && !went[match.Server] {
		t.Fatalf("players went to %v", went)
	}
}
