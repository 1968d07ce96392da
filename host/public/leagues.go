package public

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"muster/host/wire"
)

// League is somebody who opens rooms by a key, and has a limit of their own for them.
type League struct {
	Name string
	// Rooms is how many rooms the league may have at once.
	Rooms int
	// Webhook is where the league's rooms tell what happens, empty for nowhere. The operator trusts
	// it, so it may be on this machine.
	Webhook string
	// digest is the SHA-256 of the key.
	digest [sha256.Size]byte
}

const (
	// leastKey is the least length of a league's key, in bytes: nobody guesses so many.
	leastKey = 20
	// mostLeagues bounds a file of leagues, and longestLeague one of its lines, in bytes.
	mostLeagues, longestLeague = 1000, 1 << 10
)

// ReadLeagues reads leagues, one a line. An error names the line, and no key.
//
//	# name, key, rooms at once, and where they tell what happens
//	winter-cup  9f2c8e61b7d04a35a1e0  64  json+https://cup.example/hook
func ReadLeagues(from io.Reader) (leagues []League, err error) {
	lines, n := bufio.NewScanner(from), 0
	lines.Buffer(make([]byte, longestLeague), longestLeague)
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if len(words) < 3 || len(words) > 4 {
			return nil, fmt.Errorf("line %d: say NAME KEY ROOMS [WEBHOOK]", n)
		}
		rooms, err := strconv.Atoi(words[2])
		league := League{Name: words[0], Rooms: rooms, digest: sha256.Sum256([]byte(words[1]))}
		if len(words) == 4 {
			league.Webhook = words[3]
		}
		switch {
		case league.Webhook != "" && wire.CheckWebhook(league.Webhook) != nil:
			return nil, fmt.Errorf("line %d: the webhook is none: it begins with https, or json+https", n)
		case err != nil || rooms < 1:
			return nil, fmt.Errorf("line %d: %q is no number of rooms", n, words[2])
		case len(words[1]) < leastKey:
			return nil, fmt.Errorf("line %d: the key has %d signs, and %d are the least", n, len(words[1]), leastKey)
		case len(leagues) == mostLeagues:
			return nil, fmt.Errorf("line %d: there are more than %d leagues", n, mostLeagues)
		}
		for _, other := range leagues {
			if other.Name == league.Name || other.digest == league.digest {
				return nil, fmt.Errorf("line %d: the league %s, or its key, is there already", n, league.Name)
			}
		}
		leagues = append(leagues, league)
	}
	return leagues, lines.Err()
}

// League returns the league with a key, nil if there is none.
func (p *Limits) League(key string) (found *League) {
	digest := sha256.Sum256([]byte(key))
	for i := range p.Leagues {
		if subtle.ConstantTimeCompare(p.Leagues[i].digest[:], digest[:]) == 1 {
			found = &p.Leagues[i]
		}
	}
	return found
}

// Addr returns an address that stands for the league where rooms are counted by address. It is in
// fc00::/8, which no network uses, and no other league's network has it.
func (l *League) Addr() netip.Addr {
	sum := sha256.Sum256([]byte("the rooms of the league " + l.Name))
	sum[0] = 0xfc
	return netip.AddrFrom16([16]byte(sum[:16]))
}
