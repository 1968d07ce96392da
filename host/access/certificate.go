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

// A link carries 128 bits of the digest, in 26 letters. Nobody can search for a second certificate
// with the same 128 bits.
const (
	fingerprintSize   = 16
	fingerprintLength = 26
)

// Fingerprint returns the text by which a link names a host's certificate: the first 128 bits of
// the SHA-256 of its DER form, in 26 letters and digits.
func Fingerprint(der []byte) string {
	digest := sha256.Sum256(der)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(digest[:fingerprintSize])
}

// IsFingerprint reports whether a text has the form of a fingerprint.
func IsFingerprint(s string) bool {
	return len(s) == fingerprintLength && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

const (
	// certificateLife is how long the host's own certificate is valid. Peers pin the certificate,
	// so a new certificate breaks every link that was handed out.
	certificateLife = 10 * 365 * 24 * time.Hour
	// clockSlack is how far a player's clock may lag.
	clockSlack = 24 * time.Hour
	// serialBits keeps serial numbers positive and within the 20 bytes of RFC 5280, section
	// 4.1.2.2.
	serialBits = 127
)

// OwnCertificate returns the host's own certificate, which is kept with its key in a file. It makes
// one at the first start and after the old one has expired. No authority signs it: clients compare
// its fingerprint with the one in the link.
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

// writeWhole writes a file that only its owner may read. It writes all of the file or nothing.
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

// newCertificate returns a self-signed certificate and its key, in PEM. The certificate does not
// name the machine, because anybody can read it.
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
