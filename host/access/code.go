// Package access decides who comes in: room codes, the organiser's secret and
// players' tokens, what a link says of them, the host's own certificate, and how
// many wrong codes are put up with.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"math/big"
	"strings"
)

// A code is said over a headset, in syllables. Letters that sound or look like
// others are left out: a syllable is one of 14 consonants and one of 4 vowels.
const (
	codeConsonants = "BDFGHKLMNPRSTV"
	codeVowels     = "AEIO"
	// codeSyllables are those of a code on a host of few rooms: 56⁴ are 9,834,496
	// codes.
	codeSyllables = 4
	// codesByRoom is how many codes there have to be for each room of a host: a
	// guess hits one of many rooms about as rarely as it hits a single one, and the
	// arithmetic of [Guard] holds for all hosts. A host of 4 rooms says five
	// syllables, one of 221 six, which do for 12,000 rooms.
	codesByRoom = 2_500_000
	// codesByPublicRoom is how many there have to be for each room where anybody opens
	// one, and guessers have years: a host of 6 rooms says six syllables, one of 308
	// seven, which do for 17,000 rooms. See docs/codes.md.
	codesByPublicRoom = 100_000_000
)

// NewCode draws a room's code, for a host that holds so many other rooms.
func NewCode(rooms int) string { return newCode(rooms, codesByRoom) }

// NewPublicCode draws one for hosts that hold so many other rooms for everybody.
func NewPublicCode(rooms int) string { return newCode(rooms, codesByPublicRoom) }

func newCode(rooms, codesByRoom int) string {
	pick := func(letters string) byte {
		i, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			panic(err) // crypto/rand never fails on supported systems
		}
		return letters[i.Int64()]
	}
	var code strings.Builder
	codes := 1
	for syllable := 0; syllable < codeSyllables || codes/(rooms+1) < codesByRoom; syllable++ {
		code.WriteByte(pick(codeConsonants))
		code.WriteByte(pick(codeVowels))
		codes *= len(codeConsonants) * len(codeVowels)
	}
	return code.String()
}

// IsCode reports whether a text is a code as [NewCode] draws them, for whatever number
// of rooms.
func IsCode(text string) bool {
	for i := range len(text) {
		if letters := [...]string{codeConsonants, codeVowels}[i%2]; !strings.Contains(letters, text[i:i+1]) {
			return false
		}
	}
	return len(text) >= 2*codeSyllables && len(text)%2 == 0
}

// linkKeyLength is how many letters of [rand.Text] a room's link key has, 5 bits
// each: 80 bits are out of reach for guessers at any rate, and short enough for a
// small QR code.
const linkKeyLength = 16

// NewLinkKey draws what links to a room carry beside its code: who shows it is let
// in whatever others guess.
func NewLinkKey() string { return rand.Text()[:linkKeyLength] }

// PublicID is what a room is called where anybody may read it, such as in logs: it
// says nothing of the room's code, and is a hash of 80 bits of the link key, which
// nobody gets back from it.
func PublicID(linkKey string) string {
	if linkKey == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("the public id of the room of " + linkKey))
	return base32.StdEncoding.EncodeToString(sum[:publicIDBytes])
}

// publicIDBytes is the length of a public id, as link keys have.
const publicIDBytes = 10

// NewSecret draws a player's token or an organiser's secret, of at least 128 bits.
func NewSecret() string { return rand.Text() }

// Key is what a link has after its #: the room's code, the room's link key, the
// fingerprint of the host's own certificate if it has one, and in a personal link
// the credential of its owner. A code that people say has none of these.
type Key struct{ Code, Link, Fingerprint, Secret string }

// What stands in a key before the link key, the fingerprint and the credential.
const (
	linkMark        = "_"
	fingerprintMark = "~"
	secretMark      = "."
)

// String is the key as it stands in a link: CODE_KEY~FINGERPRINT.SECRET.
func (k Key) String() string {
	s := k.Code
	for _, part := range []struct{ mark, text string }{{linkMark, k.Link}, {fingerprintMark, k.Fingerprint}, {secretMark, k.Secret}} {
		if part.text != "" {
			s += part.mark + part.text
		}
	}
	return s
}

// ErrCutOff is the error of a key that ends within its fingerprint.
var ErrCutOff = errors.New("access: the fingerprint is cut off")

// ParseKey reads a key as people paste it, its parts in any order, or a code as
// they type it. Of a key that is cut off it returns what is whole.
func ParseKey(typed string) (Key, error) {
	var k Key
	var err error
	const marks = linkMark + fingerprintMark + secretMark
	for mark, rest := "", typed; rest != ""; {
		end := strings.IndexAny(rest, marks)
		if end < 0 {
			end = len(rest)
		}
		part := rest[:end]
		switch mark {
		case "":
			k.Code = strings.ToUpper(strings.NewReplacer("-", "", " ", "", "#", "").Replace(part))
		case linkMark:
			k.Link = strings.ToUpper(part)
		case secretMark:
			k.Secret = part
		case fingerprintMark:
			k.Fingerprint = strings.ToUpper(part)
		}
		if rest = rest[end:]; rest != "" {
			mark, rest = rest[:1], rest[1:]
		}
	}
	if strings.Contains(typed, fingerprintMark) && !IsFingerprint(k.Fingerprint) {
		k.Fingerprint, err = "", ErrCutOff
	}
	return k, err
}

// CanonicalCode is the code that people typed, or that is in the key they pasted,
// as [NewCode] wrote it.
func CanonicalCode(typed string) string {
	k, _ := ParseKey(typed) // the code is there in any case
	return k.Code
}
