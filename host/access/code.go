// Package access decides who may enter a room. It has room codes, links, players' tokens, the
// organiser's secret and the host's own certificate, and it limits how many wrong codes callers may
// try.
package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"math/big"
	"strings"
)

// Players say a code over a headset, so it consists of syllables: one of 14 consonants and one of 4
// vowels. Letters that sound or look alike are left out.
const (
	codeConsonants = "BDFGHKLMNPRSTV"
	codeVowels     = "AEIO"
	// codeSyllables is the length of a code on a host with few rooms: 56⁴ are 9,834,496 codes.
	codeSyllables = 4
	// codesByRoom is how many codes there must be for each room of a host. A guess then hits one of
	// many rooms about as rarely as a single one, and the arithmetic of [Guard] holds for every
	// host. A host of 4 rooms says five syllables. A host of 221 says six, which are enough for
	// 12,000 rooms.
	codesByRoom = 2_500_000
	// codesByPublicRoom is the same for hosts where anybody may open a room, and guessers have
	// years. A host of 6 rooms says six syllables. A host of 308 says seven, which are enough for
	// 17,000 rooms. See docs/codes.md.
	codesByPublicRoom = 100_000_000
)

// NewCode draws a room's code for a host that already holds the given number of rooms.
func NewCode(rooms int) string { return newCode(rooms, codesByRoom) }

// NewPublicCode draws a room's code for public hosts that already hold the given number of rooms.
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

// IsCode reports whether a text is a code as [NewCode] draws them, of any length.
func IsCode(text string) bool {
	for i := range len(text) {
		if letters := [...]string{codeConsonants, codeVowels}[i%2]; !strings.Contains(letters, text[i:i+1]) {
			return false
		}
	}
	return len(text) >= 2*codeSyllables && len(text)%2 == 0
}

// linkKeyLength is how many letters of [rand.Text] a room's link key has, 5 bits each. 80 bits are
// out of reach for guessers at any rate, and short enough for a small QR code.
const linkKeyLength = 16

// NewLinkKey draws the key that links to a room carry beside its code. The host admits callers with
// the key however busy guessers keep it.
func NewLinkKey() string { return rand.Text()[:linkKeyLength] }

// PublicID returns the name of a room in logs and other public places. It is a hash of 80 bits of
// the link key: it reveals neither the key nor the room's code.
func PublicID(linkKey string) string {
	if linkKey == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("the public id of the room of " + linkKey))
	return base32.StdEncoding.EncodeToString(sum[:publicIDBytes])
}

// publicIDBytes is the length of a public id. Link keys have the same length.
const publicIDBytes = 10

// NewSecret draws a player's token or an organiser's secret of at least 128 bits.
func NewSecret() string { return rand.Text() }

// Key is the part of a link after its #: the room's code, its link key, the fingerprint of the
// host's own certificate if there is one, and in a personal link the owner's credential. A code
// that people say has only the code.
type Key struct{ Code, Link, Fingerprint, Secret string }

// These separators stand before the link key, the fingerprint and the credential.
const (
	linkMark        = "_"
	fingerprintMark = "~"
	secretMark      = "."
)

// String returns the key as it stands in a link: CODE_KEY~FINGERPRINT.SECRET.
func (k Key) String() string {
	s := k.Code
	for _, part := range []struct{ mark, text string }{{linkMark, k.Link}, {fingerprintMark, k.Fingerprint}, {secretMark, k.Secret}} {
		if part.text != "" {
			s += part.mark + part.text
		}
	}
	return s
}

// ErrCutOff is the error for a key that ends within its fingerprint.
var ErrCutOff = errors.New("access: the fingerprint is cut off")

// ParseKey reads a key as people paste it, with its parts in any order, or a code as they type it.
// If the key is cut off, it returns the parts that are whole.
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

// CanonicalCode returns the code that people typed, or the code of the key that they pasted, as
// [NewCode] wrote it.
func CanonicalCode(typed string) string {
	k, _ := ParseKey(typed) // ParseKey returns the code even with an error
	return k.Code
}

// proofLength is how many bytes of a SHA-256 a place and a proof have: as many as the token has
// random ones.
const proofLength = 16

// Place returns a name for the place in a room that a token opens. Only holders of the token can
// compute it, and the name does not reveal the token.
func Place(token string) string { return Proof(token, "the place of a player") }

// Proof shows the author of a nonce that the sender knows the token, too. Nonces come from
// [NewSecret], so none equals the text that [Place] uses.
func Proof(token, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(nonce))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)[:proofLength])
}

// Proves reports whether a proof belongs to a token and a nonce.
func Proves(proof, token, nonce string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(proof), []byte(Proof(token, nonce))) == 1
}
