package host

import (
	"crypto/rand"
	"math/big"
	"strings"
)

// A code is three syllables, so that it can be said over a headset. Letters
// that sound or look like others are left out: 14 consonants by 4 vowels give
// 175,616 codes.
const (
	codeConsonants = "BDFGHKLMNPRSTV"
	codeVowels     = "AEIO"
	codeSyllables  = 3
)

// newCode draws a room's code.
func newCode() string {
	var code strings.Builder
	for range codeSyllables {
		code.WriteByte(pick(codeConsonants))
		code.WriteByte(pick(codeVowels))
	}
	return code.String()
}

func pick(letters string) byte {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
	if err != nil {
		panic(err) // crypto/rand never fails on supported systems
	}
	return letters[i.Int64()]
}

// newSecret draws a token or an organiser's secret of at least 128 bits.
func newSecret() string { return rand.Text() }

// FingerprintMark stands in a link between the code and the fingerprint of the
// host's certificate.
const FingerprintMark = "~"

// SecretMark stands at the end of the organiser's own link, before the secret.
const SecretMark = "."

// CanonicalCode is a code as people type it, in the form of [Room.Code].
func CanonicalCode(typed string) string {
	typed, _, _ = strings.Cut(typed, FingerprintMark)
	typed, _, _ = strings.Cut(typed, SecretMark)
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' || r == '#' {
			return -1
		}
		return r
	}, typed))
}
