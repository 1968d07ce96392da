// Package access decides who comes in: room codes, the organiser's secret and
// players' tokens, what a link says of them, the host's own certificate, and how
// many wrong codes are put up with.
package access

import (
	"crypto/rand"
	"errors"
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

// NewCode draws a room's code.
func NewCode() string {
	pick := func(letters string) byte {
		i, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			panic(err) // crypto/rand never fails on supported systems
		}
		return letters[i.Int64()]
	}
	var code strings.Builder
	for range codeSyllables {
		code.WriteByte(pick(codeConsonants))
		code.WriteByte(pick(codeVowels))
	}
	return code.String()
}

// NewSecret draws a player's token or an organiser's secret, of at least 128 bits.
func NewSecret() string { return rand.Text() }

// Key is what a link has after its #: the room's code, the fingerprint of the
// host's own certificate if it has one, and in the organiser's own link the secret.
type Key struct{ Code, Fingerprint, Secret string }

// What stands in a key before the fingerprint, and before the secret.
const (
	fingerprintMark = "~"
	secretMark      = "."
)

// String is the key as it stands in a link: CODE~FINGERPRINT.SECRET.
func (k Key) String() string {
	s := k.Code
	if k.Fingerprint != "" {
		s += fingerprintMark + k.Fingerprint
	}
	if k.Secret != "" {
		s += secretMark + k.Secret
	}
	return s
}

// ErrCutOff is the error of a key that ends within its fingerprint.
var ErrCutOff = errors.New("access: the fingerprint is cut off")

// ParseKey reads a key as people paste it, or a code as they type it. Of a key
// that is cut off it returns the code.
func ParseKey(typed string) (Key, error) {
	code, fingerprint, pinned := strings.Cut(typed, fingerprintMark)
	fingerprint, secret, _ := strings.Cut(fingerprint, secretMark)
	code, early, _ := strings.Cut(code, secretMark) // the other way round, too
	k := Key{Code: strings.ToUpper(strings.NewReplacer("-", "", " ", "", "#", "").Replace(code)), Secret: early + secret}
	if fingerprint = strings.ToUpper(fingerprint); pinned && !IsFingerprint(fingerprint) {
		return k, ErrCutOff
	}
	k.Fingerprint = fingerprint
	return k, nil
}

// CanonicalCode is the code that people typed, or that is in the key they pasted,
// as [NewCode] wrote it.
func CanonicalCode(typed string) string {
	k, _ := ParseKey(typed) // the code is there in any case
	return k.Code
}
