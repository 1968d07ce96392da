package discord

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"
)

// BenchmarkForged measures what a forged request of the greatest length costs the host: everybody can send one.
func BenchmarkForged(b *testing.B) {
	v := NewVerifier(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)).Public().(ed25519.PublicKey))
	body, signature := bytes.Repeat([]byte{' '}, MaxBody), strings.Repeat("0", 2*ed25519.SignatureSize)
	for b.Loop() {
		if v.Verify(signature, "1764169200", body, time.Unix(1_764_169_200, 0)) == nil {
			b.Fatal("it is good")
		}
	}
}
