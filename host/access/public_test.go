package access

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"
	"time"
)

const year = 365 * 24 * time.Hour

// codes returns how many codes of a length in letters there are.
func codes(letters int) float64 {
	return math.Pow(float64(len(codeConsonants)*len(codeVowels)), float64(letters)/2)
}

// found returns the probability that guessers find any room of a service. A guess has one length,
// so it can only hit rooms with codes of that length. The service had at most this many rooms when
// it drew the last of those codes.
func found(tries float64, rooms int) (probability float64) {
	for had := range rooms {
		density := float64(had+1) / codes(len(NewPublicCode(had)))
		probability = max(probability, 1-math.Exp(-tries*density))
	}
	return probability
}

// TestCodesOfAPublicHost checks the arithmetic of docs/codes.md: the result of a year of guessing
// follows from the constants, and not from the guessers' means.
func TestCodesOfAPublicHost(t *testing.T) {
	tries := float64(budget.burst) + float64(year/budget.every)
	if tries != 1_052_200 {
		t.Errorf("%v tries a year: correct the comment of budget, and docs/codes.md", tries)
	}
	for _, c := range []struct {
		rooms, letters int
		most           float64 // the probability of finding any of them in a year
	}{
		{1, 10, 0.002}, {5, 10, 0.0096}, {6, 12, 0.0106}, {308, 12, 0.0106}, {309, 14, 0.0106}, {10_000, 14, 0.0106},
	} {
		if got := len(NewPublicCode(c.rooms - 1)); got != c.letters {
			t.Errorf("the last of %d rooms gets a code of %d letters, want %d", c.rooms, got, c.letters)
		}
		if got := found(tries, min(c.rooms, 400)); got > c.most {
			t.Errorf("of %d rooms one is found in a year with probability %.4f, want at most %.4f", c.rooms, got, c.most)
		}
	}
	if got := 1 - math.Exp(-tries*10_000/codes(14)); got > 0.0107 {
		t.Errorf("one of 10,000 rooms of long codes is found with probability %.4f", got)
	}
	if bits := float64(5 * linkKeyLength); bits < 64 {
		t.Errorf("a link carries %v bits", bits)
	}
}

// TestYearOfGuessing checks that the budget holds against 10,000 addresses in as many networks.
// They guess for a year, at one host and at three that share the rooms, each as soon as the host
// hears it again.
func TestYearOfGuessing(t *testing.T) {
	const addresses = 10_000
	for _, hosts := range []int{1, 3} {
		heard := 0
		for range hosts {
			g := Guard{Public: true, Hosts: func() int { return hosts }}
			next := 0
			for now := start; now.Before(start.Add(year)); now = now.Add(time.Hour) {
				for deaf := 0; deaf < 20; next++ { // an address that is not heard leaves it to the next one
					var b [4]byte
					binary.BigEndian.PutUint32(b[:], 0x0b000000+uint32(next%addresses)<<11)
					if g.Judge(netip.AddrFrom4(b), false, now) {
						heard++
					} else {
						deaf++
					}
				}
			}
		}
		most := budget.burst + int(year/budget.every)
		if heard > most+hosts || heard < most*9/10 {
			t.Errorf("%d hosts heard %d guesses, want nearly %d", hosts, heard, most)
		}
	}
}

// TestPublicGuard checks that one network has few tries and does not use up the others' share.
func TestPublicGuard(t *testing.T) {
	g := Guard{Public: true}
	ann := netip.MustParseAddr("192.0.2.1")
	if got := heard(&g, ann, 1000, start); got != 5 {
		t.Errorf("of an address %d guesses were heard, want 5", got)
	}
	if g.Judge(ann, true, start) {
		t.Error("a guesser who hits a code after too many tries is told so")
	}
	if !g.Judge(netip.MustParseAddr("192.0.2.2"), true, start) {
		t.Error("the neighbour has to answer for it")
	}
	got := 0
	for i := range 1 << 16 {
		if g.Judge(netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}), false, start) {
			got++
		}
	}
	if got != 100 {
		t.Errorf("of a /16 %d guesses were heard, want 100 of the 1000 that all have", got)
	}
	if !g.Judge(netip.MustParseAddr("203.0.113.1"), true, start) {
		t.Error("one network has taken what all others have")
	}
	if !g.Judge(ann, true, start.Add(time.Hour)) {
		t.Error("an hour later nobody at the guesser's address is heard")
	}
}
