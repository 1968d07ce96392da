package sim

import (
	"fmt"
	"time"
)

// Spec describes a world. Shares lie between 0 and 1.
type Spec struct {
	Seed    uint64
	Servers int
	Places  []Place
	// Mix is the spread of the servers over countries. Every country with a weight gets at least
	// one server while there are enough.
	Mix []Share
	// ASes is roughly how many autonomous systems the servers stand in.
	ASes int

	Silent   float64 // listed, but never answers; neighbours at an address share it
	Refusing float64 // nobody listens: ICMP
	Limited  float64 // see [Server.Limited]
	Full     float64
	Empty    float64
	Password float64

	// Loss is the mean share of lost packet pairs.
	Loss float64
	// Jitter is the median of the addition to a packet pair's RTT.
	Jitter time.Duration
	// Misplaced is the share of address blocks that the country database places in a wrong country.
	Misplaced float64

	// Maps and Modes are the maps and modes that servers play. If they are empty, Quake III's are used.
	Maps, Modes []string
}

// Share is a country's weight among the servers of a world.
type Share struct {
	Country string // ISO 3166-1 alpha-2
	Weight  float64
}

// NamedSpec returns the recipe of a named world: et2007 and css2007, shaped like the lists of the
// discovery papers, or night2005, the one of MUSST's evaluation.
func NamedSpec(name string, seed uint64) (Spec, error) {
	switch name {
	case "et2007":
		return et2007(seed), nil
	case "css2007":
		return css2007(seed), nil
	case "night2005":
		return NightSpec(3000, seed), nil
	}
	return Spec{}, fmt.Errorf("sim: unknown world %q (known: et2007, css2007, night2005)", name)
}

// Night2005 returns the internet of the four players of MUSST's evaluation (NetGames 2005, Table 1)
// with this many Quake III servers.
func Night2005(servers int, seed uint64) *World { return Generate(NightSpec(servers, seed)) }

// papersPlaces returns the places of the named worlds of 2007, the papers' first.
func papersPlaces() []Place { return append([]Place(nil), places[:13]...) }

// et2007 returns Wolfenstein: Enemy Territory. About 2,981 of 3,000-odd servers answered, in 50-55
// countries. The ten largest are those of ATNAC 2006, Table 2.
func et2007(seed uint64) Spec {
	return Spec{
		Seed: seed, Servers: 3070, Places: papersPlaces(), Mix: mixET(), ASes: 330,
		Silent: 0.03, Limited: 0.9, Full: 0.08, Empty: 0.5, Password: 0.15,
		Loss: 0.01, Jitter: time.Millisecond, Misplaced: 0.03,
		Maps: []string{"oasis", "battery", "goldrush", "railgun", "radar", "fueldump", "supply", "adlernest"}, Modes: []string{"2", "4", "5"},
	}
}

// css2007 returns Counter-Strike: Source. The master listed 28-31 thousand servers, and 27 thousand
// of them answered (NOSSDAV 2008, §2.2), in 69-71 countries and 1,170-1,240 ASes.
func css2007(seed uint64) Spec {
	return Spec{
		Seed: seed, Servers: 29500, Places: papersPlaces(), Mix: mixCSS(), ASes: 1210,
		Silent: 0.063, Full: 0.08, Empty: 0.55, Password: 0.12,
		Loss: 0.01, Jitter: time.Millisecond, Misplaced: 0.03,
		Maps: []string{"de_dust2", "cs_office", "de_dust", "de_aztec", "de_nuke", "cs_italy", "de_train", "de_inferno",
			"gg_mini_dust"}, Modes: []string{"cstrike"},
	}
}

func NightSpec(servers int, seed uint64) Spec {
	return Spec{
		Seed: seed, Servers: servers, Places: append([]Place(nil), places[9:13]...), Mix: mixCSS(),
		ASes:   max(1, servers/9),
		Silent: 0.06, Refusing: 0.02, Limited: 0.9, Full: 0.06, Empty: 0.5, Password: 0.06,
		Loss: 0.01, Jitter: time.Millisecond, Misplaced: 0.03,
	}
}

// mixET returns the ten largest countries of ATNAC 2006, Table 2 as printed. The tail of smaller
// ones is a guess at the rest of 50-52 countries.
func mixET() []Share {
	return []Share{
		{"DE", 943}, {"US", 554}, {"NL", 312}, {"GB", 209}, {"FR", 147}, {"PL", 83}, {"FI", 60}, {"CZ", 58}, {"AU", 51}, {"JP", 50},
		{"SE", 49}, {"DK", 46}, {"BE", 45}, {"CA", 44}, {"CH", 40}, {"AT", 38}, {"NO", 36}, {"IT", 34}, {"ES", 28}, {"HU", 25},
		{"SK", 18}, {"PT", 16}, {"RU", 15}, {"EE", 12}, {"LT", 11}, {"BR", 10}, {"LV", 9}, {"RO", 9}, {"SI", 9}, {"IE", 8},
		{"HR", 8}, {"IL", 7}, {"TR", 7}, {"GR", 6}, {"TW", 6}, {"LU", 5}, {"KR", 5}, {"IS", 4}, {"NZ", 4}, {"UA", 4},
		{"SG", 4}, {"CN", 3}, {"HK", 3}, {"ZA", 3}, {"AR", 3}, {"BG", 3}, {"CL", 2}, {"MY", 2}, {"TH", 1}, {"MX", 1}, {"MT", 1},
	}
}

// mixCSS is a guess. The papers print no countries for Counter-Strike: Source. They only say that
// Europe has many servers, the USA some and Asia few, in 69-71 countries.
func mixCSS() []Share {
	return []Share{
		{"DE", 6500}, {"US", 4800}, {"GB", 2750}, {"FR", 2350}, {"NL", 1450}, {"SE", 1000}, {"PL", 950}, {"RU", 900}, {"DK", 880}, {"AU", 700},
		{"IT", 680}, {"ES", 640}, {"CA", 560}, {"NO", 480}, {"CZ", 460}, {"BE", 450}, {"FI", 430}, {"BR", 420}, {"HU", 360}, {"RO", 340},
		{"AT", 330}, {"CH", 300}, {"CN", 260}, {"PT", 240}, {"TW", 220}, {"UA", 190}, {"TR", 190}, {"SK", 170}, {"JP", 150}, {"SG", 130},
		{"NZ", 120}, {"KR", 110}, {"ZA", 110}, {"BG", 110}, {"IL", 110}, {"AR", 110}, {"LT", 100}, {"LV", 90}, {"EE", 90}, {"HK", 80},
		{"IE", 80}, {"GR", 75}, {"HR", 70}, {"SI", 65}, {"RS", 60}, {"IS", 50}, {"CL", 50}, {"MY", 45}, {"MX", 40}, {"TH", 38},
		{"PH", 30}, {"IN", 30}, {"ID", 25}, {"BY", 22}, {"LU", 20}, {"VE", 18}, {"PE", 14}, {"KZ", 12}, {"AE", 10}, {"CY", 9},
		{"MT", 8}, {"MD", 8}, {"BA", 7}, {"MK", 6}, {"CO", 6}, {"KW", 5}, {"UY", 4}, {"EG", 3}, {"MA", 2}, {"CR", 2},
	}
}
