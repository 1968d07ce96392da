package discord

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"sync"
	"time"
)

const (
	// MaxBody bounds the body of a request, in bytes. A press brings its card along, which has some 10 kB.
	MaxBody = 64 << 10
	// freshFor is how far the time of a request may be from this machine's. Discord gives up after three seconds; the
	// rest is for clocks that are off.
	freshFor = 2 * time.Minute
	// maxSeen bounds the requests that are remembered, against replays. Only Discord's own requests are.
	maxSeen = 1 << 16
)

// These say why a request is refused.
var (
	ErrForged = errors.New("discord: the request is not signed by Discord for this application")
	ErrStale  = errors.New("discord: a signed request is from another time: is this machine's clock right?")
	ErrReplay = errors.New("discord: a signed request came twice")
	ErrMany   = errors.New("discord: too many requests at once")
)

// Verifier checks that requests come from Discord, each only once. Its methods may run at the same time.
type Verifier struct {
	key ed25519.PublicKey

	mu sync.Mutex // guards what follows; a forged request does not wait for it
	// newer has the requests of the last turn of twice freshFor, and older those of the turn before. A request is too
	// old before it is forgotten.
	newer, older map[[sha256.Size]byte]bool
	turned       time.Time
}

// NewVerifier returns a verifier of requests that a key signs.
func NewVerifier(key ed25519.PublicKey) *Verifier {
	return &Verifier{key: key, newer: map[[sha256.Size]byte]bool{}}
}

// Verify returns nil for a request that Discord signed just now, and that did not come before. signature and timestamp
// are the texts of the request's headers.
func (v *Verifier) Verify(signature, timestamp string, body []byte, now time.Time) error {
	signed, err := hex.DecodeString(signature)
	if err != nil || len(signed) != ed25519.SignatureSize || len(timestamp) > len("18446744073709551615") {
		return ErrForged
	}
	message := append([]byte(timestamp), body...)
	if !ed25519.Verify(v.key, message, signed) {
		return ErrForged
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > freshFor {
		return ErrStale
	}
	sum := sha256.Sum256(message)
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Sub(v.turned).Abs() > 2*freshFor {
		v.older, v.newer, v.turned = v.newer, map[[sha256.Size]byte]bool{}, now
	}
	switch {
	case v.newer[sum] || v.older[sum]:
		return ErrReplay
	case len(v.newer) >= maxSeen:
		return ErrMany
	}
	v.newer[sum] = true
	return nil
}
