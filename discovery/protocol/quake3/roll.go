package quake3

import (
	"slices"

	"muster/discovery"
)

// Roll returns the protocol that asks with getstatus, which lists the players.
func (p Protocol) Roll() discovery.Protocol { return roll{botsApart: p.BotsApart} }

// Roll returns the protocol that asks with getstatus in MOHAA's form.
func (MOHAA) Roll() discovery.Protocol { return roll{direction: toServer} }

type roll struct {
	direction string
	botsApart bool
}

func (r roll) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	b = append(b, oob+r.direction+"getstatus "...)
	return appendNonce(b, nonce)
}

// Parse reads the newest status. DarkPlaces answers without players if they do not fit.
func (r roll) Parse(datagrams [][]byte) (discovery.Reply, error) {
	var newest error
	for _, b := range slices.Backward(datagrams) {
		s, nonce, err := parseStatus(b, r.botsApart)
		if err != nil {
			newest = err
			continue
		}
		s.Info.Roster = &discovery.Roster{}
		for _, p := range s.Players {
			s.Info.Roster.Players = append(s.Info.Roster.Players, discovery.Player{Name: p.Name, Score: p.Score, Ping: p.Ping})
		}
		return discovery.Reply{Nonce: nonce, Echoed: true, Info: &s.Info}, nil
	}
	return discovery.Reply{Incomplete: newest == nil}, newest
}
