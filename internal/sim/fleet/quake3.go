package fleet

import (
	"muster/discovery"
	"muster/discovery/quake3"
)

// quake3Speaker answers as ioquake3 does.
type quake3Speaker struct {
	seed     uint64
	protocol int
}

// replySize is more than most replies need, in bytes.
const replySize = 512

func (q quake3Speaker) answer(s speech) [][]byte {
	r, err := quake3.ParseRequest(s.request)
	if err != nil {
		return nil
	}
	b := make([]byte, 0, replySize)
	switch r.Command {
	case "getinfo":
		return [][]byte{quake3.AppendInfoResponse(b, *s.info, r.Challenge(), q.protocol)}
	case "getstatus":
		return [][]byte{quake3.AppendStatusResponse(b, *s.info, q.players(s.server, s.info), r.Challenge(), q.protocol)}
	}
	return nil
}

func (q quake3Speaker) players(server int, info *discovery.Info) []quake3.Player {
	var players []quake3.Player
	for c := range castOf(q.seed, server, info) {
		players = append(players, quake3.Player{Name: c.name, Score: c.score, Ping: c.ping})
	}
	return players
}
