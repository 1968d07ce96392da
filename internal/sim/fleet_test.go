package sim

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/a2s"
	"muster/discovery/quake3"
)

// handWorld has these servers, each as far from place p as rtts[p] says, without
// jitter.
func handWorld(rtts []time.Duration, servers ...Server) *World {
	w := &World{Seed: 1, Servers: servers}
	for p, rtt := range rtts {
		w.Places = append(w.Places, Place{Name: "place " + strconv.Itoa(p)})
		w.floor = append(w.floor, slices.Repeat([]time.Duration{rtt}, len(servers))...)
	}
	return w
}

// server is one at an address of the world, with a few players.
func server(addr string) Server {
	s := Server{Server: discovery.Server{Addr: netip.MustParseAddrPort(addr), Country: "DE", ASN: 3320}}
	s.Info = discovery.Info{Name: "Arena at " + addr, Map: "q3dm17", Mode: "0", Players: 2, Bots: 1, MaxPlayers: 8}
	return s
}

func with(s Server, change func(*Server)) Server {
	change(&s)
	return s
}

// startFleet runs a fleet for the length of a test.
func startFleet(tb testing.TB, o FleetOptions) *Fleet {
	tb.Helper()
	if o.Kind == "" {
		o.Kind = Quake3
	}
	if o.Game == (GameIdentity{}) {
		o.Game = GameIdentity{Name: "Quake3Arena", Protocol: 68, AppID: 440, Version: "1.0"}
	}
	f, err := StartFleet(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

// asker is a player's socket towards one server.
type asker struct {
	testing.TB
	*net.UDPConn
}

func newAsker(tb testing.TB, from netip.Addr, to netip.AddrPort) asker {
	tb.Helper()
	conn, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), net.UDPAddrFromAddrPort(to))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return asker{tb, conn}
}

// patience is how long a reply may take that should come; silence is how long
// none may come that should not.
const (
	patience = 5 * time.Second
	silence  = 100 * time.Millisecond
)

func (a asker) ask(request string, wait time.Duration) (reply []byte, rtt time.Duration, err error) {
	a.Helper()
	sent := time.Now()
	if _, err := a.Write([]byte(request)); err != nil {
		return nil, 0, err
	}
	reply, err = a.next(wait)
	return reply, time.Since(sent), err
}

func (a asker) next(wait time.Duration) ([]byte, error) {
	a.Helper()
	if err := a.SetReadDeadline(time.Now().Add(wait)); err != nil {
		a.Fatal(err)
	}
	buf := make([]byte, 65535)
	n, err := a.Read(buf)
	return buf[:n], err
}

func (a asker) mustAsk(request string) ([]byte, time.Duration) {
	a.Helper()
	reply, rtt, err := a.ask(request, patience)
	if err != nil {
		a.Fatal(err)
	}
	return reply, rtt
}

func (a asker) mustStaySilent(request string) {
	a.Helper()
	if reply, _, err := a.ask(request, silence); !isTimeout(err) {
		a.Fatalf("reply %q, error %v, want silence", reply, err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

const (
	getinfo   = "\xff\xff\xff\xffgetinfo xyzzy"
	getstatus = "\xff\xff\xff\xffgetstatus xyzzy"
)

// layouts are the ways in which a fleet can spread on this system.
var layouts = map[string]bool{"by address": false, "one address": true}

func TestFleetAnswersAfterThePlacesRTT(t *testing.T) {
	rtts := []time.Duration{15 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond}
	w := handWorld(rtts, server("203.0.113.7:27960"), server("203.0.113.7:27961"), server("198.51.100.1:27960"))
	for name, oneAddress := range layouts {
		t.Run(name, func(t *testing.T) {
			f := startFleet(t, FleetOptions{World: w, OneAddress: oneAddress})
			for place, want := range rtts {
				for i, s := range f.Servers() {
					a := newAsker(t, f.Source(place), s.Addr)
					f.Seat(localAddr(a.UDPConn), place)
					reply, rtt := a.mustAsk(getinfo)
					if !strings.Contains(string(reply), `\hostname\`+w.Servers[i].Info.Name+`\`) {
						t.Errorf("server %d answered %q", i, reply)
					}
					if rtt < want || rtt > want+100*time.Millisecond {
						t.Errorf("place %d, server %d: RTT %v, want %v", place, i, rtt, want)
					}
				}
			}
		})
	}
}

func TestFleetTellsPlacesBySeat(t *testing.T) {
	w := handWorld([]time.Duration{1, 2, 3}, server("203.0.113.7:27960"))
	seen := make(chan Exchange, 1)
	f := startFleet(t, FleetOptions{World: w, Home: 2, Sent: func(e Exchange) { seen <- e }})
	a := newAsker(t, loopback, f.Servers()[0].Addr)
	for _, want := range []int{2, 1, 0} {
		switch want {
		case 1:
			f.Seat(netip.AddrPortFrom(loopback, 0), 1)
		case 0:
			f.Seat(localAddr(a.UDPConn), 0)
		}
		a.mustAsk(getinfo)
		e := <-seen
		if e.Place != want || e.Source != localAddr(a.UDPConn) || e.RTT != w.floor[want] || e.Held < e.RTT {
			t.Errorf("%+v, want place %d", e, want)
		}
	}
}

func TestFleetKeepsStates(t *testing.T) {
	w := handWorld([]time.Duration{time.Millisecond},
		with(server("203.0.113.1:27960"), func(s *Server) { s.Silent = true }),
		with(server("203.0.113.2:27960"), func(s *Server) { s.Refusing = true }),
		with(server("203.0.113.2:27961"), func(s *Server) { s.Refusing = true }),
		with(server("203.0.113.3:27960"), func(s *Server) { s.Loss = 1 }),
		server("203.0.113.3:27961"))
	for name, oneAddress := range layouts {
		t.Run(name, func(t *testing.T) {
			f := startFleet(t, FleetOptions{World: w, OneAddress: oneAddress})
			var got []string
			for _, s := range f.Servers() {
				_, _, err := newAsker(t, f.Source(0), s.Addr).ask(getinfo, silence)
				got = append(got, outcome(err))
			}
			want := []string{"lost", "refused", "refused", "lost", "answered"}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "answered"
	case isTimeout(err):
		return "lost"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	}
	return err.Error()
}

func TestFleetLimitsBySourceAddress(t *testing.T) {
	w := handWorld([]time.Duration{0}, with(server("203.0.113.1:27960"), func(s *Server) { s.Limited = true }))
	f := startFleet(t, FleetOptions{World: w})
	addr := f.Servers()[0].Addr
	first, second := newAsker(t, f.Source(0), addr), newAsker(t, f.Source(0), addr)
	for range limitBurst / 2 {
		first.mustAsk(getinfo)
		second.mustAsk(getstatus)
	}
	second.mustStaySilent(getinfo)
	newAsker(t, f.Source(0).Next(), addr).mustAsk(getinfo)
	if got := f.Stats(); got.Limited != 1 || got.Replies != limitBurst+1 || got.Queries != limitBurst+2 {
		t.Errorf("stats %+v", got)
	}
}

func TestFleetUpdate(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	f := startFleet(t, FleetOptions{World: w})
	a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
	f.Update(0, func(s *Server) { s.Silent, s.Refusing = true, true })
	a.mustStaySilent(getinfo)
	f.Update(0, func(s *Server) { s.Silent, s.Info.Players, s.Info.Map = false, 8, "oa_dm1" })
	reply, _ := a.mustAsk(getinfo)
	if got := string(reply); !strings.Contains(got, `\clients\8\`) || !strings.Contains(got, `\mapname\oa_dm1\`) {
		t.Errorf("reply %q", got)
	}
	if w.Servers[0].Info.Players != 2 {
		t.Error("the update changed the world it came from")
	}
}

func TestFleetStatusNamesPlayers(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	f := startFleet(t, FleetOptions{World: w})
	a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
	reply, _ := a.mustAsk(getstatus)
	again, _ := a.mustAsk(getstatus)
	lines := strings.Split(strings.TrimSuffix(string(reply), "\n"), "\n")
	if len(lines) != 4 || lines[0] != "\xff\xff\xff\xffstatusResponse" {
		t.Fatalf("reply %q", reply)
	}
	if !strings.HasSuffix(lines[2], `"`) || !strings.Contains(lines[3], ` 0 "`) {
		t.Errorf("players %q, want a human, then a bot with ping 0", lines[2:])
	}
	if string(reply) != string(again) {
		t.Error("two replies differ")
	}
}

func TestFleetIgnoresNoise(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	for _, kind := range []Kind{Quake3, A2S} {
		f := startFleet(t, FleetOptions{World: w, Kind: kind})
		a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
		for _, noise := range []string{"", "x", "\xff\xff\xff\xff", "\xff\xff\xff\xffgetservers 68", strings.Repeat("\xff", 9000)} {
			a.mustStaySilent(noise)
		}
		if got := f.Stats().Malformed; got != 5 {
			t.Errorf("%s: %d malformed, want 5", kind, got)
		}
	}
}

const a2sInfo = "\xff\xff\xff\xffTSource Engine Query\x00"

func TestFleetA2SDemandsItsChallenge(t *testing.T) {
	f := startFleet(t, FleetOptions{Kind: A2S, World: handWorld([]time.Duration{0}, server("203.0.113.1:27015"))})
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

func TestFleetA2SWithoutChallenge(t *testing.T) {
	o := FleetOptions{Kind: A2S, NoChallenge: true, World: handWorld([]time.Duration{0}, server("203.0.113.1:27015"))}
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

func TestFleetA2SSplitsWhatIsLong(t *testing.T) {
	crowd := with(server("203.0.113.1:27015"), func(s *Server) { s.Info.Players, s.Info.MaxPlayers = 100, 128 })
	f := startFleet(t, FleetOptions{Kind: A2S, World: handWorld([]time.Duration{0}, crowd)})
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

func TestFleetEndsWithItsContext(t *testing.T) {
	before, files := runtime.NumGoroutine(), openFiles(t)
	ctx, cancel := context.WithCancel(context.Background())
	f, err := StartFleet(ctx, FleetOptions{Kind: Quake3, World: handWorld([]time.Duration{time.Hour}, server("203.0.113.1:27960"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newAsker(t, f.Source(0), f.Servers()[0].Addr).Write([]byte(getinfo)); err != nil {
		t.Fatal(err)
	}
	cancel()
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
	if after := openFiles(t) - 1; after > files { // the asker's
		t.Errorf("%d open files, %d before", after, files)
	}
}

func TestFleetNeedsFreePorts(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	f := startFleet(t, FleetOptions{World: w})
	before := openFiles(t)
	_, err := StartFleet(context.Background(), FleetOptions{World: w, Kind: Quake3, Port: f.Servers()[0].Addr.Port()})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error %v, want port in use", err)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

func TestFleetRefusesNonsense(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	for name, o := range map[string]FleetOptions{
		"no world":   {Kind: Quake3},
		"no servers": {Kind: Quake3, World: handWorld([]time.Duration{0})},
		"no places":  {Kind: Quake3, World: handWorld(nil, server("203.0.113.1:27960"))},
		"no kind":    {World: w},
		"no home":    {World: w, Kind: Quake3, Home: 1},
	} {
		if _, err := StartFleet(context.Background(), o); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}

func TestFleetMasterLists(t *testing.T) {
	w := handWorld([]time.Duration{0},
		server("203.0.113.1:27960"),
		with(server("203.0.113.2:27960"), func(s *Server) { s.Info.Players = 0 }),
		with(server("203.0.113.3:27960"), func(s *Server) { s.Info.Players = 8; s.Silent = true }))
	f := startFleet(t, FleetOptions{World: w})
	for request, want := range map[string][]int{
		"getservers 68":                            {0},
		"getservers 68 empty":                      {0, 1},
		"getservers 68 full":                       {0, 2},
		"getservers Quake3Arena 68 empty full":     {0, 1, 2},
		"getservers 71 empty full":                 {},
		"getservers Xonotic 68 empty full":         {},
		"getserversExt Quake3Arena 68 empty full":  {0, 1, 2},
		"getserversExt Quake3Arena 68 ipv6 empty":  {},
		"getserversExt Quake3Arena 68 ipv4 empty":  {0, 1},
		"getserversExt Quake3Arena 68 ipv4 ipv6\n": {0},
	} {
		reply, _ := newAsker(t, f.Source(0), f.Master()).mustAsk("\xff\xff\xff\xff" + request)
		got, end, err := quake3.ParseMasterReply(reply, nil)
		if err != nil || !end {
			t.Fatalf("%s: %q: %v", request, reply, err)
		}
		wanted := []netip.AddrPort{}
		for _, i := range want {
			wanted = append(wanted, f.Servers()[i].Addr)
		}
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: %v, want %v", request, got, wanted)
		}
	}
}

func TestFleetMasterListsMany(t *testing.T) {
	w := handWorld([]time.Duration{0}, manyServers(30_000)...)
	f := startFleet(t, FleetOptions{World: w})
	a := newAsker(t, f.Source(0), f.Master())
	if err := a.SetReadBuffer(receiveBuffer); err != nil {
		t.Fatal(err)
	}
	got, datagrams := []netip.AddrPort{}, 0
	reply, _ := a.mustAsk("\xff\xff\xff\xffgetservers 68 empty full")
	for end := false; !end; datagrams++ {
		var err error
		if got, end, err = quake3.ParseMasterReply(reply, got); err != nil {
			t.Fatal(err)
		}
		if !end {
			if reply, err = a.next(patience); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, s := range f.Servers() {
		if got[i] != s.Addr {
			t.Fatalf("entry %d is %v, want %v", i, got[i], s.Addr)
		}
	}
	if datagrams < 100 || datagrams > 200 {
		t.Errorf("%d datagrams for %d servers", datagrams, len(got))
	}
}

// manyServers stand alone at addresses all over 60.0.0.0/8 and up.
func manyServers(n int) []Server {
	servers := make([]Server, n)
	for i := range servers {
		addr := netip.AddrFrom4([4]byte{60 + byte(i>>16), byte(i >> 8), byte(i) / 4, byte(i%4 + 1)})
		servers[i] = server(netip.AddrPortFrom(addr, 27960).String())
	}
	return servers
}

func TestFleetWritesItsServers(t *testing.T) {
	plain := with(server("203.0.113.2:27960"), func(s *Server) { s.Country, s.ASN = "", 0 })
	f := startFleet(t, FleetOptions{World: handWorld([]time.Duration{0}, server("203.0.113.1:27960"), plain)})
	var b strings.Builder
	if err := f.WriteServers(&b); err != nil {
		t.Fatal(err)
	}
	s := f.Servers()
	want := "addr,country,asn\n" + s[0].Addr.String() + ",DE,3320\n" + s[1].Addr.String() + ",,0\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
