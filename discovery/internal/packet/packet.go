// Package packet finds the reply among a game server's datagrams, and takes fields off
// its front.
package packet

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/discovery/internal/charset"
)

// Newest returns the newest reply that read finds among the datagrams. If there are
// datagrams and none is a reply, the error is none.
func Newest(datagrams [][]byte, none error, read func(b []byte) (reply discovery.Reply, ok bool)) (discovery.Reply, error) {
	for _, b := range slices.Backward(datagrams) {
		if reply, ok := read(b); ok {
			return reply, nil
		}
	}
	if len(datagrams) == 0 {
		return discovery.Reply{Incomplete: true}, nil
	}
	return discovery.Reply{}, none
}

// MaxCount is above any true number of players or seats. A larger count is ignored,
// because it would win every search for free seats.
const MaxCount = 1<<16 - 1

// Count returns a number of players or seats, or 0 if the number is impossible.
func Count(n int) int {
	if n < 0 || n > MaxCount {
		return 0
	}
	return n
}

// ParseCount reads such a number from decimal digits; 0 is none.
func ParseCount(text string) int { return Count(ParseNumber(text)) }

// ParseNumber reads a number from decimal digits, 0 if it is none or below 0. A number
// that is too large becomes the largest, [discovery.MaxProtocol].
func ParseNumber(text string) int {
	n, _ := strconv.ParseInt(text, 10, 32)
	return max(0, int(n))
}

// Seat sets who sits on a server's seats, from the numbers of clients, of bots and of public
// seats that it tells. Some games count people alone as clients, and their bots take no seat
// from anybody: each is on a seat of its own. More bots than clients prove it.
func Seat(info *discovery.Info, clients, bots, seats int, botsApart bool) {
	if bots > 0 && (botsApart || bots > clients) {
		clients += bots
		if seats > 0 {
			seats += bots
		}
	}
	info.Players, info.Bots, info.MaxPlayers = Count(clients), bots, Count(seats)
}

// Crowd sets the same for a server that may be a proxy: these show any number of seats, so a
// number that is below that of the players says nothing.
func Crowd(info *discovery.Info, players, seats int) {
	if info.Players, info.MaxPlayers = players, seats; players > seats {
		info.MaxPlayers = 0
	}
}

// MaxPing is more than a server waits for a player.
const MaxPing = time.Minute

// Ping returns a player's ping of so many milliseconds as the server measured it, between
// 0 and [MaxPing].
func Ping(ms int) time.Duration {
	return time.Duration(min(max(0, ms), int(MaxPing/time.Millisecond))) * time.Millisecond
}

// Reader takes fields off the front of a packet. A missing field and all fields after
// it are 0 or empty; Short reports that.
type Reader struct {
	Rest  []byte
	Short bool
}

// Take returns the next n bytes, or n zeros.
func (r *Reader) Take(n int) []byte {
	if len(r.Rest) < n {
		r.Rest, r.Short = nil, true
		return make([]byte, n)
	}
	field := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return field
}

// Octet returns the next byte.
func (r *Reader) Octet() byte { return r.Take(1)[0] }

// Bytes returns the bytes before the next NUL.
func (r *Reader) Bytes() []byte {
	text, rest, found := bytes.Cut(r.Rest, []byte{0})
	if !found {
		r.Rest, r.Short = nil, true
		return nil
	}
	r.Rest = rest
	return text
}

// Text returns the text before the next NUL, cleaned for display.
func (r *Reader) Text() string { return Text(r.Bytes()) }

// Text returns a text cleaned for display, whatever character set it is in.
func Text(text []byte) string { return discovery.CleanText(charset.UTF8(string(text))) }

// Above returns the port that is so far above another, for a QueryPort. A list's port may leave no
// room for it; then that port itself is asked.
func Above(port, by uint16) uint16 {
	if above := port + by; above > port {
		return above
	}
	return port
}
