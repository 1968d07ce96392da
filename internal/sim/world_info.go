package sim

import (
	"fmt"
	"math/rand/v2"
)

var (
	quakeMaps = []string{"q3dm17", "q3dm6", "q3dm7", "q3tourney2", "q3tourney4", "q3ctf1", "q3ctf4", "pro-q3dm6",
		"pro-q3tourney4", "ztn3tourney1", "oa_dm1", "oa_ctf2", "am_galmevish2", "ps37ctf", "wrackdm17"}
	// quakeModes are g_gametype: free for all, tournament, team deathmatch, capture the flag.
	quakeModes = []string{"0", "0", "0", "1", "3", "4", "4"}
	clans      = []string{"<OM>", "[RDW]", "|ICE|", "^1Red^7Eye", "-=GoD=-", "TFC", "pro-g", "#quake", "Jolt", "NGZ",
		"Barrysworld", "Clanbase", "Wireplay", "GameArena", "Multiplay", "eSports"}
	kinds = []string{"FFA", "CTF", "InstaGib", "OSP 1v1", "CPMA", "TDM", "Noobs welcome", "RailArena", "Freeze Tag",
		"Excessive+", "DM17 24/7", "Ladder"}
	seats = []int{8, 10, 12, 14, 16, 16, 16, 20, 24, 32}
)

// furnish gives a server its name, its game and its players, and its faults.
func (b *builder) furnish(s *Server, silent bool) {
	rng, spec := b.rng, &b.spec
	number := len(b.servers)
	s.Silent = silent
	s.Refusing = !silent && rng.Float64() < spec.Refusing
	s.Limited = rng.Float64() < spec.Limited
	s.Loss = spec.Loss * min(8, rng.ExpFloat64())
	s.Info.Name = fmt.Sprintf("%s %s [%s] #%d", pick(clans, rng), pick(kinds, rng), s.Country, number)
	s.Info.Map = pick(orDefault(spec.Maps, quakeMaps), rng)
	s.Info.Mode = pick(orDefault(spec.Modes, quakeModes), rng)
	s.Info.Version = "ioq3 1.36 linux-x86_64"
	s.Info.MaxPlayers = pick(seats, rng)
	s.Info.Players = players(s.Info.MaxPlayers, spec, rng)
	if s.Info.Players == 0 && rng.Float64() < 0.15 {
		s.Info.Bots = min(4, s.Info.MaxPlayers)
		s.Info.Players = s.Info.Bots
	}
	s.Info.Password = rng.Float64() < spec.Password
}

// players draws how many seats are taken: all, none, or rather few.
func players(seats int, spec *Spec, rng *rand.Rand) int {
	switch at := rng.Float64(); {
	case at < spec.Full:
		return seats
	case at < spec.Full+spec.Empty || seats < 2:
		return 0
	}
	share := rng.Float64()
	return 1 + int(share*share*float64(seats-1))
}

func pick[T any](from []T, rng *rand.Rand) T { return from[rng.IntN(len(from))] }

func orDefault(words, fallback []string) []string {
	if len(words) == 0 {
		return fallback
	}
	return words
}
