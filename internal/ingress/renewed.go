package ingress

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookEvery is the shortest time between two checks of a certificate's files, however many handshakes there are.
const lookEvery = 10 * time.Second

// renewed is a certificate that its files may replace while the host runs.
type renewed struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex // guards the fields below
	pair   *tls.Certificate
	of     [2]time.Time // when the files of pair were written
	looked time.Time
}

// EncryptRenewed does the same as Encrypt for a host that outlives a certificate. It uses a new
// certificate when the files have changed, and keeps the old one while they do not fit together.
func (in *Ingress) EncryptRenewed(cert, key string, log *slog.Logger) error {
	if err := in.Encrypt(cert, key); err != nil {
		return err
	}
	r := &renewed{cert: cert, key: key, log: log, pair: in.pair, looked: time.Now()}
	r.of = r.times()
	in.renew = func() { r.lookAgain(); r.newest(time.Now()) }
	in.certificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.newest(time.Now()), nil }
	return nil
}

// lookAgain makes the next handshake check the files.
func (r *renewed) lookAgain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = time.Time{}
}

// Renew checks the certificate's files at once, when the host is told to.
func (in *Ingress) Renew() {
	if in.renew != nil {
		in.renew()
	}
}

// newest returns the certificate to use now.
func (r *renewed) newest(now time.Time) *tls.Certificate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.looked) < lookEvery {
		return r.pair
	}
	r.looked = now
	times := r.times()
	if times == r.of {
		return r.pair
	}
	pair, err := tls.LoadX509KeyPair(r.cert, r.key)
	if err != nil { // for example, only half is written; check again later
		r.log.Error("the new certificate is not taken; the one before stays", "error", err)
		return r.pair
	}
	r.pair, r.of = &pair, times
	r.log.Info("the certificate is a new one", "until", pair.Leaf.NotAfter)
	return r.pair
}

// times returns when the files were written, the zero time for a missing file.
func (r *renewed) times() (of [2]time.Time) {
	for i, name := range []string{r.cert, r.key} {
		if info, err := os.Stat(name); err == nil {
			of[i] = info.ModTime()
		}
	}
	return of
}
