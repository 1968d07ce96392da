package fleet

import (
	"context"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
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
