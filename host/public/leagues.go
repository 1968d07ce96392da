package public

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"time"

	"muster/host/keyfile"
	"muster/host/wire"
)

// League is somebody who opens rooms by a key, and has a limit of their own for them.
type League struct {
	Name string
	// Rooms is how many rooms the league may have at once.
	Rooms int
	// Webhook is where the league's rooms, and no others, tell what happens, empty for nowhere. The operator trusts
	// it, so it may be on this machine.
	Webhook string
	// digest is the SHA-256 of the key.
	digest [sha256.Size]byte
	key    string
}

// Sign returns what proves to the league that one of its rooms posts a body at a time: the header
// Muster-Signature. Only the host and the league know the key.
func (l *League) Sign(at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(l.key))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,sha256=%x", at.Unix(), mac.Sum(nil))
}

// maxLeagues bounds a file of leagues.
const maxLeagues = 1000

// ReadLeagues reads leagues, one a line. Its error has all mistakes: it names their lines, and no key.
//
//	# name, key, rooms at once, and where they tell what happens
//	winter-cup  9f2c8e61b7d04a35a1e0  64  json+https://cup.example/hook
func ReadLeagues(from io.Reader) (leagues []League, err error) {
	err = keyfile.EachLine(from, func(words []string) error {
		league, wrong := leagueOf(words, leagues)
		if wrong == "" {
			leagues = append(leagues, league)
			return nil
		}
		return errors.New(wrong)
	})
	if err != nil {
		return nil, err
	}
	return leagues, nil
}

// leagueOf reads the words of a line, or says what is wrong with them. others are the leagues before.
func leagueOf(words []string, others []League) (league League, wrong string) {
	if len(words) < 3 || len(words) > 4 {
		return league, "say NAME KEY ROOMS [WEBHOOK]"
	}
	rooms, err := strconv.Atoi(words[2])
	league = League{Name: words[0], Rooms: rooms, digest: sha256.Sum256([]byte(words[1])), key: words[1]}
	if len(words) == 4 {
		league.Webhook = words[3]
	}
	switch {
	case league.Webhook != "" && wire.CheckWebhook(league.Webhook) != nil:
		return league, "the webhook is none: it begins with https, or json+https"
	case err != nil || rooms < 1:
		return league, fmt.Sprintf("%q is no number of rooms", words[2])
	case len(words[1]) < keyfile.Min:
		return league, fmt.Sprintf("the key has %d signs, and %d are the least", len(words[1]), keyfile.Min)
	case len(others) == maxLeagues:
		return league, fmt.Sprintf("there are more than %d leagues", maxLeagues)
	}
	for _, other := range others {
		if other.Name == league.Name || other.digest == league.digest {
			return league, fmt.Sprintf("the league %s, or its key, is there already", league.Name)
		}
	}
	return league, ""
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
func (l *League) Addr() netip.Addr { return addrOf("the rooms of the league " + l.Name) }

// AddrOf returns an address that stands in the same way for a person for whom the league opens rooms.
// Each has a network of their own, down from the widest by which rooms are counted.
func (l *League) AddrOf(person string) netip.Addr {
	return addrOf("the rooms of " + person + " in the league " + l.Name)
}

func addrOf(text string) netip.Addr {
	sum := sha256.Sum256([]byte(text))
	sum[0] = 0xfc
	return netip.AddrFrom16([16]byte(sum[:16]))
}
