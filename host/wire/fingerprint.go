package wire

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// fingerprintSize is how much of the digest a link carries: 128 bits are out of
// reach for whoever looks for a second certificate that has the same.
const fingerprintSize = 16

// FingerprintLength is how many letters a fingerprint has.
const FingerprintLength = 26

// Fingerprint is what stands for a host's certificate in a link: the first 128
// bits of the SHA-256 of its DER form, in 26 letters and digits.
func Fingerprint(der []byte) string {
	digest := sha256.Sum256(der)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(digest[:fingerprintSize])
}

// IsFingerprint tells what may be a fingerprint from what cannot.
func IsFingerprint(s string) bool {
	return len(s) == FingerprintLength && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
