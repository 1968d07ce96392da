package fleet

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/ase"
	"muster/discovery/protocol/bedrock"
	"muster/discovery/protocol/doom3"
	"muster/discovery/protocol/frostbite"
	"muster/discovery/protocol/gamespy"
	"muster/discovery/protocol/jamulus"
	"muster/discovery/protocol/luanti"
	"muster/discovery/protocol/mindustry"
	"muster/discovery/protocol/minecraft"
	"muster/discovery/protocol/mumble"
	"muster/discovery/protocol/odamex"
	"muster/discovery/protocol/openttd"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/quakeworld"
	"muster/discovery/protocol/samp"
	"muster/discovery/protocol/satisfactory"
	"muster/discovery/protocol/sauerbraten"
	"muster/discovery/protocol/sqp"
	"muster/discovery/protocol/tcp"
	"muster/discovery/protocol/teeworlds"
	"muster/discovery/protocol/unreal2"
	"muster/discovery/protocol/zandronum"
	"muster/internal/sim"
)

// TestSmallKinds checks the prober against a fleet of each kind. It reads the server's facts at the
// right distance, and tells silent servers from those that refuse.
func TestSmallKinds(t *testing.T) {
	t.Parallel()
	const rtt = 30 * time.Millisecond
	for kind, c := range map[Kind]struct {
		protocol discovery.Protocol
		untold   string // the missing ones of name, map and version
	}{
		MOHAA:        {quake3.MOHAA{}, "version"},
		QuakeWorld:   {quakeworld.Protocol{}, ""},
		Quake2:       {quakeworld.Quake2{}, ""},
		DDNet:        {teeworlds.DDNet{}, ""},
		Teeworlds:    {teeworlds.Protocol{}, ""},
		Luanti:       {luanti.Protocol{}, "all"},
		GameSpy:      {gamespy.Protocol{}, ""},
		Unreal:       {gamespy.Protocol{Above: 1, Echo: true}, ""},
		GameSpy2:     {gamespy.Second{Above: 2}, ""},
		GameSpy3:     {gamespy.Third{Above: 13333}, ""},
		Unreal2:      {unreal2.Protocol{Above: 1}, "version"},
		ASE:          {ase.Protocol{Above: 123}, ""},
		Bedrock:      {bedrock.Protocol{}, ""},
		Sauerbraten:  {sauerbraten.Protocol{}, "version"},
		RedEclipse:   {sauerbraten.RedEclipse{}, ""},
		Mumble:       {mumble.Protocol{}, "name and map"},
		Mindustry:    {mindustry.Protocol{}, ""},
		Doom3:        {doom3.Protocol{}, ""},
		SAMP:         {samp.Protocol{}, "map and version"},
		SQP:          {sqp.Protocol{}, ""},
		Jamulus:      {jamulus.Protocol{}, "all but players"},
		Odamex:       {odamex.Protocol{}, ""},
		Satisfactory: {satisfactory.Protocol{}, "map, version and counts"},
		Zandronum:    {zandronum.Protocol{}, ""},
		VCMP:         {samp.VCMP{}, ""},
		Frostbite:    {frostbite.Protocol{}, ""},
		Minecraft:    {minecraft.Protocol{}, "map"},
		OpenTTD:      {openttd.Protocol{}, "map"},
		TCP:          {tcp.Protocol{}, "all"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			servers := []sim.Server{
				server("203.0.113.1:27500"),
				with(server("203.0.113.2:27500"), func(s *sim.Server) { s.Silent = true }),
				with(server("203.0.113.3:27500"), func(s *sim.Server) { s.Refusing = true }),
				server("203.0.113.4:27500"),
			}
			game := Game{Version: "1.2.3"}
			if aside, ok := c.protocol.(discovery.Aside); ok {
				game.QueryAbove = aside.QueryPort(0)
			}
			f := startFleet(t, Options{Kind: kind, World: handWorld([]time.Duration{rtt}, servers...), Game: game})
			p, err := prober.New(prober.Options{Protocol: c.protocol, LocalAddr: f.Source(0), Timeout: 300 * time.Millisecond, Retries: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for _, local := range p.LocalAddrs() {
				f.Seat(local, 0)
			}
			silent := discovery.Lost
			if kind == TCP {
				silent = discovery.Answered // all listen
			}
			states := []discovery.State{discovery.Answered, silent, discovery.Refused, discovery.Answered}
			got := map[int]discovery.Result{}
			isRight := func() bool {
				clear(got)
				err := p.Run(context.Background(), f.Servers(), discovery.NewConventional(4), func(r discovery.Result) { got[r.Server] = r })
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range states {
					if got[i].State != want || want == discovery.Answered && got[i].RTT > rtt+100*time.Millisecond {
						return false
					}
				}
				return true
			}
			// A second round from the same socket gives the same. A busy machine may be late, though not always.
			for begun, rounds := time.Now(), 0; rounds < 2; {
				if isRight() {
					rounds++
				} else if time.Since(begun) > patience {
					t.Fatalf("after %d right rounds %+v, want %v about %v", rounds, got, states, rtt)
				}
			}
			for _, i := range []int{0, 3} {
				if kind != OpenTTD && kind != TCP && got[i].RTT < rtt {
					t.Errorf("server %d: RTT %v, want %v", i, got[i].RTT, rtt)
				}
				info, want := got[i].Info, servers[i].Info
				if c.untold == "all" {
					if info == nil || *info != (discovery.Info{}) {
						t.Errorf("server %d says %+v of itself", i, info)
					}
					continue
				}
				want.Version = "1.2.3"
				switch c.untold {
				case "name and map":
					want.Name, want.Map = "", ""
				case "map and version":
					want.Map, want.Version = "", ""
				case "map, version and counts":
					want.Map, want.Version, want.Players, want.MaxPlayers = "", "0", 0, 0 // it has a number for its version
				case "all but players":
					want.Name, want.Map, want.Version, want.MaxPlayers = "", "", "", 0
				case "map":
					want.Map, info.Map = "", ""
				case "version":
					want.Version = ""
				}
				if info == nil || info.Name != want.Name || info.Map != want.Map || info.Version != want.Version ||
					info.Players != want.Players || info.MaxPlayers != want.MaxPlayers {
					t.Errorf("server %d says %+v, want %+v", i, info, want)
				}
			}
		})
	}
}

func TestPlaceOf(t *testing.T) {
	s := seating{places: 1000, home: 7, taken: map[netip.AddrPort]int{}}
	s.taken[netip.MustParseAddrPort("127.0.0.1:5000")] = 2
	s.taken[netip.MustParseAddrPort("127.0.0.2:0")] = 3
	s.taken[netip.MustParseAddrPort("127.200.4.1:5000")] = 5
	for source, want := range map[string]int{
		"127.0.0.1:5000":     2,
		"127.0.0.1:5001":     7,
		"127.0.0.2:5001":     3,
		"127.200.4.1:5000":   5, // seated elsewhere
		"127.200.4.1:5001":   4,
		"127.200.4.200:5001": 4,
		"127.203.0.1:1":      768,
		"127.203.232.1:1":    7, // place 1000 is one too many
		"127.208.0.1:1":      7,
	} {
		if got := s.placeOf(netip.MustParseAddrPort(source)); got != want {
			t.Errorf("%s sits at place %d, want %d", source, got, want)
		}
	}
}

func TestSourceOfEveryPlace(t *testing.T) {
	for place := range maxPlaces {
		if got, ok := placeOfSource(sourceOf(place)); !ok || got != place {
			t.Fatalf("place %d comes back as %d", place, got)
		}
	}
}

func TestSign(t *testing.T) {
	quake := discovery.Info{AppID: 2200, Version: "ioq3 1.36"}
	for name, tt := range map[string]struct {
		options    Options
		info, want discovery.Info
	}{
		"Quake III says what the world has": {Options{Kind: Quake3}, quake, quake},
		"A2S does not":                      {Options{Kind: A2S}, quake, discovery.Info{AppID: 2200, Version: "1.0.0.0"}},
		"the game knows better": {Options{Kind: Quake3, Game: Game{Version: "1.32"}}, quake,
			discovery.Info{AppID: 2200, Version: "1.32"}},
		"the game tells all": {Options{Kind: A2S, Game: Game{Version: "1.2", AppID: 440}}, discovery.Info{},
			discovery.Info{AppID: 440, Version: "1.2"}},
	} {
		tt.options.sign(&tt.info)
		if tt.info != tt.want {
			t.Errorf("%s: %+v, want %+v", name, tt.info, tt.want)
		}
	}
}

func TestGeneratedA2SServersAreNoQuakeServers(t *testing.T) {
	spec, err := sim.NamedSpec("css2007", 1)
	if err != nil {
		t.Fatal(err)
	}
	spec.Servers = 1
	w := sim.Generate(spec)
	w.Servers[0].Silent, w.Servers[0].Loss = false, 0
	f := startFleet(t, Options{Kind: A2S, Game: Game{Name: "cstrike", AppID: 240}, NoChallenge: true, World: w})
	answer, _ := newAsker(t, f.Source(0), f.Servers()[0].Addr).mustAsk(a2sInfo)
	reply, err := a2s.Protocol{}.Parse([][]byte{answer})
	if err != nil || reply.Info == nil || reply.Info.Version != "1.0.0.0" || reply.Info.AppID != 240 {
		t.Errorf("%q is %+v, %v", answer, reply.Info, err)
	}
}

// heard returns the name that a protocol reads of a server's answers.
func heard(t *testing.T, kind Kind, protocol discovery.Protocol, name string) string {
	speaker := Options{Kind: kind, World: &sim.World{}}.speaker()
	info := discovery.Info{Name: name, Map: "m", Mode: "ctf", Version: "1.2.3", MaxPlayers: 8}
	var challenge []byte
	for range 3 {
		query := protocol.AppendQuery(nil, 7, challenge)
		answers := speaker.answer(speech{info: &info, from: netip.MustParseAddrPort("127.0.0.1:9"), request: query})
		if answer := kind.stream(); answer != nil {
			answers = [][]byte{answer(query, 0, info)}
		}
		reply, err := protocol.Parse(answers)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if reply.Info != nil {
			return reply.Info.Name
		}
		challenge = reply.Challenge
	}
	return ""
}

// TestNamesInOldCharacterSets checks every protocol whose servers send a name as their machine has
// it. Quake's and Cube's have letters of their own, and Java's Minecraft writes UTF-8.
func TestNamesInOldCharacterSets(t *testing.T) {
	for kind, protocol := range map[Kind]discovery.Protocol{
		Quake3: quake3.Protocol{}, MOHAA: quake3.MOHAA{}, A2S: a2s.Protocol{}, GameSpy: gamespy.Protocol{}, Unreal: gamespy.Protocol{Echo: true},
		GameSpy2: gamespy.Second{}, GameSpy3: gamespy.Third{}, ASE: ase.Protocol{}, DDNet: teeworlds.DDNet{}, Teeworlds: teeworlds.Protocol{},
		Bedrock: bedrock.Protocol{}, Mindustry: mindustry.Protocol{}, Doom3: doom3.Protocol{}, SAMP: samp.Protocol{}, VCMP: samp.VCMP{},
		SQP: sqp.Protocol{}, Odamex: odamex.Protocol{}, Satisfactory: satisfactory.Protocol{}, Zandronum: zandronum.Protocol{},
		Frostbite: frostbite.Protocol{}, OpenTTD: openttd.Protocol{},
	} {
		for name, want := range map[string]string{
			"Caf\xe9 M\xfcller":                  "Café Müller",
			"\xd0\xf3\xf1\xf1\xea\xe8\xe9":       "Русский",
			"\xa3\xf3d\x9f, ca\xb3a Polska":      "Łódź, cała Polska",
			"Café Müller – Русский":              "Café Müller – Русский",
			"(RU) \xd0\xf3\xf1\xf1\xea\xe8\xe9!": "(RU) Русский!",
		} {
			if got := heard(t, kind, protocol, name); got != want {
				t.Errorf("%s: %q became %q", kind, name, got)
			}
		}
	}
}

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
