package anomaly_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/catalogue"
	"muster/selection/anomaly"
)

// TestCopies checks that a report is named that is another's times a factor, with jitter or without,
// and whichever of the two it is. Players who live beside each other are not named, nor is a report
// that agrees with another's by chance.
func TestCopies(t *testing.T) {
	const copier, other = "p5", "p0"
	random := rand.New(rand.NewPCG(11, 11))
	jitter := func() time.Duration { return time.Duration(random.ExpFloat64() * float64(500*time.Microsecond)) }
	scaled := func(percent int) func(server int, theirs, own time.Duration) time.Duration {
		return func(_ int, theirs, _ time.Duration) time.Duration { return theirs * time.Duration(percent) / 100 }
	}
	for _, of := range []struct {
		name  string
		tells func(server int, theirs, own time.Duration) time.Duration
		named string
	}{
		{"the truth", func(_ int, _, own time.Duration) time.Duration { return own }, ""},
		{"+3 %", scaled(103), copier},
		{"+20 %", scaled(120), copier},
		{"−4 %", scaled(96), other},
		{"+3 % and 7 ms, with jitter", func(_ int, theirs, _ time.Duration) time.Duration {
			return theirs*103/100 + 7*time.Millisecond + jitter()
		}, copier},
		{"+5 to 6 %", func(_ int, theirs, _ time.Duration) time.Duration {
			return time.Duration(float64(theirs) * (1.05 + random.Float64()/100))
		}, copier},
		{"nine of ten +5 %", func(server int, theirs, own time.Duration) time.Duration {
			if server%10 == 0 {
				return own
			}
			return theirs * 105 / 100
		}, copier},
		{"half of them +5 %", func(server int, theirs, own time.Duration) time.Duration {
			if server%2 == 0 {
				return own
			}
			return theirs * 105 / 100
		}, ""},
		{"a neighbour", func(_ int, theirs, _ time.Duration) time.Duration { return theirs + 7*time.Millisecond + jitter() }, ""},
		{"the same line", func(_ int, theirs, _ time.Duration) time.Duration { return theirs }, ""},
	} {
		for range 20 {
			p := newPlane(random, 6)
			for server := range planeServers {
				_, theirs := p.table.At(0, server)
				_, own := p.table.At(5, server)
				p.table.Set(5, server, discovery.Answered, of.tells(server, theirs, own))
			}
			found := slices.DeleteFunc(anomaly.Find(p.servers.List, p.table), func(a anomaly.Anomaly) bool { return a.Sign != anomaly.Copied })
			switch {
			case of.named == "" && len(found) == 0:
			case len(found) != 1 || found[0].Player != of.named || found[0].Other == of.named:
				t.Fatalf("%s: found %v, want %q", of.name, found, of.named)
			}
		}
	}
	const says = "ann’s pings are bob’s times a factor, as if one of the two had copied the other’s"
	a := anomaly.Anomaly{Player: "ann", Other: "bob", Sign: anomaly.Copied}
	if said := catalogue.InEnglish().Say(a.Sentence()); said != says {
		t.Errorf("it is said that %s", said)
	}
}
