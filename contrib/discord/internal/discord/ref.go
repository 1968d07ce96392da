package discord

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"strings"
)

// Verb is what a button does.
type Verb byte

// These are the buttons of cards.
const (
	Refresh  Verb = 'r'
	Start    Verb = 's'
	Organise Verb = 'o'
	Close    Verb = 'c'
)

const verbs = "rsoc"

// Ref is what a button says of its card's room. Everybody in the channel can read it, so that it has no more than the
// card's link, and the organiser's secret only sealed.
type Ref struct {
	// Language is the first part of the tag of the card's language: a card does not change it when another person
	// presses a button.
	Language string
	// Code and Key are the room's code and link key.
	Code, Key string
	// Sealed is the organiser's secret for the person who opened the room, empty if it does not fit.
	Sealed string
}

// maxButton is the longest id of a button that Discord takes.
const maxButton = 100

// Button returns the id of a button: its verb, and the parts of the ref with dots between them.
func (r Ref) Button(v Verb) string { return string(v) + r.text() }

func (r Ref) text() string {
	text := strings.Join([]string{r.Language, r.Code, r.Key, r.Sealed}, ".")
	if len(text) >= maxButton {
		text = strings.Join([]string{r.Language, r.Code, r.Key, ""}, ".")
	}
	return text
}

var errButton = errors.New("discord: a button that this program did not make")

// ParseButton reads the id of a button.
func ParseButton(id string) (Verb, Ref, error) {
	if id == "" || len(id) > maxButton || !strings.Contains(verbs, id[:1]) {
		return 0, Ref{}, errButton
	}
	parts := strings.Split(id[1:], ".")
	if len(parts) != 4 {
		return 0, Ref{}, errButton
	}
	for _, part := range parts {
		if part != "" && !isToken(part) {
			return 0, Ref{}, errButton
		}
	}
	return Verb(id[0]), Ref{parts[0], parts[1], parts[2], parts[3]}, nil
}

// Seal encrypts the organiser's secret of a room for one user. The result is empty for a secret
// that the host did not draw.
//
//	nonce  = HMAC-SHA-256(key, user, code, secret), its first 12 bytes
//	sealed = nonce, AES-256-GCM(key, nonce, secret; user, code)
//
// The same secret always gets the same nonce, and different secrets get different nonces. So no
// nonce is used twice, and the result needs no randomness.
func (c Config) Seal(user, code, secret string) string {
	packed, err := base32.StdEncoding.DecodeString(secret + padding)
	if err != nil || len(secret) != secretLetters {
		return ""
	}
	packed = packed[:secretBytes]
	box, about := c.box(user, code)
	sum := hmac.New(sha256.New, c.sealing[:])
	sum.Write(about)
	sum.Write(packed)
	nonce := sum.Sum(nil)[:box.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(box.Seal(nonce, nonce, packed, about))
}

// Unseal returns the secret, and false if it is sealed for another user, for another room or by another key.
func (c Config) Unseal(user, code, sealed string) (secret string, ok bool) {
	box, about := c.box(user, code)
	data, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(data) < box.NonceSize() {
		return "", false
	}
	packed, err := box.Open(nil, data[:box.NonceSize()], data[box.NonceSize():], about)
	if err != nil || len(packed) != secretBytes {
		return "", false
	}
	return base32.StdEncoding.EncodeToString(append(packed, 0, 0, 0))[:secretLetters], true
}

// A secret has 26 letters of base32, which are 130 bits in 17 bytes. With the padding they are whole groups of eight.
const (
	secretLetters, secretBytes = 26, 17
	padding                    = "AAAAAA"
)

// box returns the cipher, and what a sealed secret is about.
func (c Config) box(user, code string) (cipher.AEAD, []byte) {
	block, err := aes.NewCipher(c.sealing[:])
	if err != nil {
		panic(err) // only for another length of key
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for another length of block
	}
	return box, []byte(user + "\x00" + code)
}
