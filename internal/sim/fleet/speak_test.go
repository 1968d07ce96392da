package fleet

import (
	"testing"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
	"muster/internal/sim"
)

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
