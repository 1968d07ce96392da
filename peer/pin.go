package peer

import (
	"crypto/tls"
	"errors"

	"muster/host/access"
)

// ErrCertificate says that the host shows another certificate than the link
// says: somebody is in between, or the host has lost its own.
var ErrCertificate = errors.New("peer: the host's certificate is not the one in the link")

// Pinned is how to connect to a host whose link carries a fingerprint. Neither
// the certificate's name nor who signed it counts, only that it is the very one
// (RFC 7469 calls that pinning).
func Pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // in favour of what follows
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || access.Fingerprint(s.PeerCertificates[0].Raw) != fingerprint {
				return ErrCertificate
			}
			return nil
		},
	}
}
