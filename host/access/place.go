package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
)

// proofLength is how much of a SHA-256 a place and a proof are, in bytes: as long as
// the token is random.
const proofLength = 16

// Place names the place in a room that a token opens, to whoever knows the token, and
// tells nobody anything of it.
func Place(token string) string { return Proof(token, "the place of a player") }

// Proof shows whoever made up the nonce that one knows the token, too. What a place is
// made of is no nonce: those are of [NewSecret].
func Proof(token, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(nonce))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)[:proofLength])
}

// Proves reports whether a proof is that of a token and a nonce.
func Proves(proof, token, nonce string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(proof), []byte(Proof(token, nonce))) == 1
}
