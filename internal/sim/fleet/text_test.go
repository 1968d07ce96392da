package fleet

import (
	"net/netip"
	"testing"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/ase"
	"muster/discovery/protocol/bedrock"
	"muster/discovery/protocol/doom3"
	"muster/discovery/protocol/frostbite"
	"muster/discovery/protocol/gamespy"
	"muster/discovery/protocol/mindustry"
	"muster/discovery/protocol/odamex"
	"muster/discovery/protocol/openttd"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/samp"
	"muster/discovery/protocol/satisfactory"
	"muster/discovery/protocol/sqp"
	"muster/discovery/protocol/teeworlds"
	"muster/discovery/protocol/zandronum"
	"muster/internal/sim"
)

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
