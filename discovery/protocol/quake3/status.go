package quake3

import (
	"bytes"
	"strconv"
	"time"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Player is one line of a server's status:
//
//	score SP ping [SP team] SP "name"
//	ping SP "name"                    (MOHAA)
type Player struct {
	// Name is cleaned for display in a Player from [ParseStatus].
	Name  string
	Score int
	// Ping is what the server measured, in whole milliseconds; 0 marks a bot.
	Ping time.Duration
	// Text is DarkPlaces' text instead of the score.
	Text string
}

// Status is what a server says about itself and about its players.
type Status struct {
	Info discovery.Info
	// Players may be fewer than Info.Players: not every server lists them.
	Players []Player
}

// ParseStatus reads the reply to getstatus. DarkPlaces answers with an infoResponse
// when its players do not fit a datagram, which is read as well.
func ParseStatus(b []byte) (Status, discovery.Nonce, error) { return parseStatus(b, false) }

func parseStatus(b []byte, botsApart bool) (Status, discovery.Nonce, error) {
	body, isStatus := cutHeader(b, statusResponse)
	if !isStatus {
		var isInfo bool
		if body, isInfo = cutHeader(b, infoResponse); !isInfo {
			return Status{}, 0, errNoReply
		}
	}
	end := bytes.IndexByte(body, '\n')
	if isStatus {
		end = endOfVariables(body)
	}
	if end < 0 {
		end = len(body)
	}
	v, lines := parseVariables(body[:end]), body[end:]
	nonce, ok := parseNonce(v.challenge)
	if !ok {
		return Status{}, 0, errNotOurs
	}
	s := Status{Info: v.info()}
	clients, bots, seats := v.seats()
	if isStatus {
		s.readPlayers(lines)
		seats = max(0, seats-count(v.private)) // here sv_maxclients includes private seats
	}
	if isStatus && v.clients == nil { // ioquake3 leaves the counting to the client
		clients, bots = s.counted(botsApart)
	}
	packet.Seat(&s.Info, clients, bots, seats, botsApart)
	return s, nonce, nil
}

// endOfVariables returns the place of the line end that ends a status's variables, or
// -1. The servers of CPMA also have line ends in a value, fs_manifest. No value has a
// quotation mark, so all backslashes before the first one belong to variables.
func endOfVariables(body []byte) int {
	head, _, _ := bytes.Cut(body, []byte(`"`))
	last := bytes.LastIndexByte(head, '\\') + 1
	end := bytes.IndexByte(head[last:], '\n')
	if end < 0 {
		return end
	}
	return last + end
}

// maxPlayers bounds the players kept of a status; games have up to 255 seats.
const maxPlayers = 1024

func (s *Status) readPlayers(lines []byte) {
	for line := range bytes.Lines(lines) {
		if p, ok := parsePlayer(line); ok && len(s.Players) < maxPlayers {
			s.Players = append(s.Players, p)
		}
	}
}

// counted returns the numbers of clients, as the game counts them, and of bots.
func (s *Status) counted(botsApart bool) (clients, bots int) {
	for _, p := range s.Players {
		if p.Ping == 0 {
			bots++
		}
	}
	if clients = len(s.Players); botsApart {
		clients -= bots
	}
	return clients, bots
}

// parsePlayer reads a player's line. A line without a name is one only if it is
// numbers: it may be the rest of a variable.
func parsePlayer(line []byte) (Player, bool) {
	numbers, quoted, isNamed := bytes.Cut(line, []byte(`"`))
	numbers = bytes.TrimSpace(numbers)
	score, ping, isScored := bytes.Cut(numbers, []byte(" "))
	if !isScored {
		score, ping = nil, numbers // MOHAA has no score
	}
	name, _, _ := bytes.Cut(quoted, []byte(`"`))
	p := Player{
		Name: CleanName(string(name)),
		Ping: time.Duration(number(ping)) * time.Millisecond,
	}
	n, err := strconv.ParseInt(string(score), 10, 32)
	switch {
	case isNamed && !isScored && !isDigit(numbers), !isNamed && (err != nil || !isDigit(ping)):
		return Player{}, false
	case isScored && err != nil:
		p.Text = packet.Text(score)
	}
	p.Score = int(n)
	return p, true
}

// isDigit reports whether a text begins with a digit.
func isDigit(b []byte) bool { return len(b) > 0 && '0' <= b[0] && b[0] <= '9' }
