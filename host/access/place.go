package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
)

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
