package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base32"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A link carries 128 bits of the digest, in 26 letters: they are out of reach for
// whoever looks for a second certificate that has the same.
const (
	fingerprintSize   = 16
	fingerprintLength = 26
)

// Fingerprint is what stands for a host's certificate in a link: the first 128
// bits of the SHA-256 of its DER form, in 26 letters and digits.
func Fingerprint(der []byte) string {
	digest := sha256.Sum256(der)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(digest[:fingerprintSize])
}

// IsFingerprint reports whether a text may be a fingerprint.
func IsFingerprint(s string) bool {
	return len(s) == fingerprintLength && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

const (
	// certificateLife is how long a certificate of our own is good for. Peers pin
	// it, so that a new one breaks every link that was handed out.
	certificateLife = 10 * 365 * 24 * time.Hour
	// clockSlack is by how much friends' clocks may be slow.
	clockSlack = 24 * time.Hour
	// serialBits are positive and within the 20 bytes of RFC 5280, section 4.1.2.2.
	serialBits = 127
)

// OwnCertificate returns the host's own certificate, kept with its key in a file. The
// first start makes it, and so does one after it has expired. Nobody vouches for
// it: whoever connects compares its fingerprint with that in the link.
func OwnCertificate(file string, now time.Time) (tls.Certificate, error) {
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		pair, err := tls.X509KeyPair(text, text)
		if err != nil {
			return pair, fmt.Errorf("access: %s holds no certificate with its key", file)
		}
		if !now.After(pair.Leaf.NotAfter) {
			return pair, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return tls.Certificate{}, fmt.Errorf("access: certificate not read: %w", err)
	}
	if text, err = newCertificate(now); err != nil {
		return tls.Certificate{}, fmt.Errorf("access: no certificate: %w", err)
	}
	if err := writeWhole(file, text); err != nil {
		return tls.Certificate{}, fmt.Errorf("access: certificate not kept: %w", err)
	}
	return tls.X509KeyPair(text, text)
}

// writeWhole writes a file that only its owner may read, all of it or nothing.
func writeWhole(file string, text []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(file), ".certificate-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(text)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), file)
	}
	if err != nil {
		os.Remove(draft.Name())
	}
	return err
}

// newCertificate is a certificate that signs itself, and its key, in PEM. It
// says nothing of the machine: any name in it could be read by anybody.
func newCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "muster"},
		DNSNames:     []string{"muster.invalid"},
		NotBefore:    now.Add(-clockSlack),
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}
