package ingress

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookEvery is how often the files of a certificate are looked at, at most: once for
// many handshakes.
const lookEvery = 10 * time.Second

// renewed is a certificate that its files may replace while the host runs.
type renewed struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex // guards following
	pair   *tls.Certificate
	of     [2]time.Time // of the files that pair is from
	looked time.Time
}

// EncryptRenewed is Encrypt for a host that runs longer than a certificate: it shows
// a new one when the files have changed, and the one before as long as they make no
// sense together.
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

// lookAgain has the files looked at with the next question.
func (r *renewed) lookAgain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = time.Time{}
}

// Renew looks at the certificate's files at once, for a host that was told to.
func (in *Ingress) Renew() {
	if in.renew != nil {
		in.renew()
	}
}

// newest is the certificate to show now.
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
	if err != nil { // such as half of them written: they are looked at again
		r.log.Error("the new certificate is not taken; the one before stays", "error", err)
		return r.pair
	}
	r.pair, r.of = &pair, times
	r.log.Info("the certificate is a new one", "until", pair.Leaf.NotAfter)
	return r.pair
}

// times are when the files were written; the zero time for one that is not there.
func (r *renewed) times() (of [2]time.Time) {
	for i, name := range []string{r.cert, r.key} {
		if info, err := os.Stat(name); err == nil {
			of[i] = info.ModTime()
		}
	}
	return of
}
