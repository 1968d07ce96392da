package ingress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"muster/internal/hint"
)

// ACME says how to get certificates from an authority (RFC 8555). The authority connects to port 443 of each name to
// check that it leads here (TLS-ALPN-01, RFC 8737).
type ACME struct {
	// Names are the certificates' names. The operator has accepted the authority's terms.
	Names   []string
	Accepts bool
	// Directory is the authority's URL; empty means Let's Encrypt's. CA is a file with the certificate that signs the
	// directory's own; empty trusts the system's authorities.
	Directory, CA string
	// Email receives the authority's warnings. If it is empty, the authority gets no address. Cache
	// is the folder for the account and the certificates.
	Email, Cache string
}

// authorityWait bounds one answer of the authority.
const authorityWait = 30 * time.Second

// EncryptByACME makes the host use certificates from an authority, and renew them. Call get once the host listens. It
// requests the first certificates, so that the first visitor neither waits nor discovers a problem, and returns when
// ctx ends.
func (in *Ingress) EncryptByACME(ctx context.Context, a ACME, log *slog.Logger) (get func(), err error) {
	if err := os.MkdirAll(a.Cache, 0o700); err != nil {
		return nil, hint.NoFolder("certificates", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, fmt.Errorf("cannot read the ACME directory's authority: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate", a.CA)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	client := &acme.Client{DirectoryURL: a.Directory, HTTPClient: &http.Client{Transport: bounded{ctx, transport}, Timeout: authorityWait}}
	if a.Directory == "" {
		client.DirectoryURL = autocert.DefaultACMEDirectory
	}
	manager := &autocert.Manager{
		Prompt: func(string) bool { return a.Accepts }, Cache: autocert.DirCache(a.Cache), HostPolicy: autocert.HostWhitelist(a.Names...),
		Client: client, Email: a.Email,
	}
	in.certificate, in.protocols = manager.GetCertificate, []string{acme.ALPNProto}
	get = func() {
		for _, name := range a.Names {
			pair, err := manager.GetCertificate(&tls.ClientHelloInfo{
				ServerName:       name,
				SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
				SupportedCurves:  []tls.CurveID{tls.CurveP256},
				CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			})
			switch {
			case ctx.Err() != nil:
			case err != nil:
				log.Error("no certificate; each visitor has it tried again", "error",
					hint.With(err, "does the name lead to this machine, and port 443 to this program?"))
			default:
				log.Info("there is a certificate", "name", name, "until", pair.Leaf.NotAfter)
			}
		}
	}
	return get, nil
}

// bounded stops sending requests once a context has ended.
type bounded struct {
	ctx  context.Context
	next http.RoundTripper
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.ctx.Err() != nil {
		return nil, errors.New("ingress: the host ends")
	}
	ctx, cancel := context.WithCancel(r.Context())
	context.AfterFunc(b.ctx, cancel)
	return b.next.RoundTrip(r.WithContext(ctx))
}
