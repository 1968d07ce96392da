// Package checkup finds everything that would keep a public host from starting. It changes nothing and
// sends nothing.
package checkup

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/host/cluster"
	"muster/internal/hint"
	"muster/internal/publichost"
)

// endsSoon is how long before its end a certificate is worth a warning.
const endsSoon = 14 * 24 * time.Hour

// Find returns all that would keep a host with these settings from starting now. Settings that make no
// sense are usage errors; the others are about the machine: files, rights, ports and dates.
func Find(s *publichost.Settings, now time.Time) (faults []error) {
	faults = append(faults, s.Faults()...)
	faults = append(faults, certificate(s, now)...)
	faults = append(faults, nats(s)...)
	faults = append(faults, folders(s)...)
	return append(faults, ports(s)...)
}

// Doubts returns what works, and is probably not meant.
func Doubts(s *publichost.Settings, now time.Time) (doubts []error) {
	if leaf, err := leafOf(s.Cert, s.Key); err == nil && leaf != nil && now.Before(leaf.NotAfter) && leaf.NotAfter.Sub(now) < endsSoon {
		doubts = append(doubts, fmt.Errorf("--tls-cert %s ends on %s: renew it before", s.Cert, leaf.NotAfter.UTC().Format(time.DateOnly)))
	}
	for _, secret := range []struct{ flag, file string }{
		{"tls-key", s.Key}, {"nats-credentials", s.Cluster.Credentials}, {"leagues", s.Leagues},
	} {
		if info, err := os.Stat(secret.file); err == nil && isForOthers(info.Mode()) {
			doubts = append(doubts, fmt.Errorf("--%s %s can be read by every user of this machine: chmod 600 %[2]s", secret.flag, secret.file))
		}
	}
	if isRunning(s) {
		doubts = append(doubts, errors.New("the host runs with these rooms now, so its ports are taken: they will be free when it ends"))
	}
	return doubts
}

// certificate checks the certificate's files, its dates, and the name by which people reach the host.
func certificate(s *publichost.Settings, now time.Time) (faults []error) {
	add := func(advice, format string, args ...any) {
		faults = append(faults, hint.With(fmt.Errorf(format, args...), advice))
	}
	leaf, err := leafOf(s.Cert, s.Key)
	switch {
	case err != nil:
		add("it takes a certificate and its key as PEM, as an authority gives them", "--tls-cert, --tls-key: %w", err)
	case leaf == nil:
	case now.After(leaf.NotAfter):
		add("renew it: no browser takes it", "--tls-cert %s ended on %s", s.Cert, leaf.NotAfter.UTC().Format(time.DateOnly))
	case now.Before(leaf.NotBefore):
		add("is this machine's clock right?", "--tls-cert %s begins on %s", s.Cert, leaf.NotBefore.UTC().Format(time.DateTime+" UTC"))
	case s.Ingress.Public != nil && s.Ingress.Public.Scheme == "https" && leaf.VerifyHostname(s.Ingress.Public.Hostname()) != nil:
		names := strings.Join(append(leaf.DNSNames, addresses(leaf.IPAddresses)...), ", ")
		add("browsers refuse it: get one for that name, or say the certificate's name",
			"--tls-cert %s is for %s, and not for --public-url %s", s.Cert, names, s.Ingress.Public.Hostname())
	}
	for _, authority := range []struct{ flag, file string }{{"acme-ca", s.ACME.CA}, {"nats-ca", s.Cluster.CA}} {
		if authority.file == "" {
			continue
		}
		text, err := os.ReadFile(authority.file)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(text) {
			err = errors.New("there is no certificate in it")
		}
		if err != nil {
			add("it takes the authority's certificate as PEM", "--%s %s: %w", authority.flag, authority.file, hint.Reason(err))
		}
	}
	if d, err := url.Parse(s.ACME.Directory); s.ACME.Directory != "" && (err != nil || d.Scheme != "https" || d.Host == "") {
		add("it is such as https://acme.example/directory", "--acme-directory %q is no URL of an authority", s.ACME.Directory)
	}
	return faults
}

func addresses(ips []net.IP) (texts []string) {
	for _, ip := range ips {
		texts = append(texts, ip.String())
	}
	return texts
}

// leafOf returns the certificate in a file, nil without a file.
func leafOf(cert, key string) (*x509.Certificate, error) {
	if cert == "" || key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		if unread, is := errors.AsType[*fs.PathError](err); is {
			return nil, fmt.Errorf("cannot read %s: %w", unread.Path, unread.Err)
		}
		return nil, fmt.Errorf("%s and %s: %s", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return x509.ParseCertificate(pair.Certificate[0])
}

// nats checks how the host would reach NATS.
func nats(s *publichost.Settings) (faults []error) {
	if s.Cluster.URL == "" {
		return nil
	}
	add := func(fault error, advice string) { faults = append(faults, hint.With(fault, advice)) }
	for _, text := range strings.Split(s.Cluster.URL, ",") {
		if why := natsURL(strings.TrimSpace(text)); why != "" {
			add(hint.Usagef("--nats: %s", why), "it is such as nats://10.0.0.1:4222, several with commas between them")
		}
	}
	if s.Cluster.Node != "" && cluster.NodeName(s.Cluster.Node) != s.Cluster.Node {
		add(hint.Usagef("--node %q cannot name a host", s.Cluster.Node), "give it up to 64 letters, digits, - and _")
	}
	if file := s.Cluster.Credentials; file != "" {
		text, err := os.ReadFile(file)
		if block, _ := pem.Decode(text); err == nil && block == nil && !bytes.Contains(text, []byte("BEGIN NATS USER JWT")) {
			err = errors.New("it has no line BEGIN NATS USER JWT")
		}
		if err != nil {
			add(fmt.Errorf("--nats-credentials %s: %w", file, hint.Reason(err)), "it takes the file that nsc makes: nsc generate creds")
		}
	}
	return faults
}

// natsURL says why a text is not a URL of a NATS server. It shows no password.
func natsURL(text string) string {
	if !strings.Contains(text, "://") {
		text = "nats://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "one of the URLs cannot be read"
	}
	port, wrong := strconv.Atoi(u.Port())
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
		return fmt.Sprintf("%s:// is no scheme of NATS", u.Scheme)
	case u.Hostname() == "":
		return "one of the URLs has no host"
	case u.Port() != "" && (wrong != nil || port < 1 || port > 65535):
		return fmt.Sprintf("%s is no port", u.Port())
	}
	return ""
}

// folders checks that the host may write where it keeps things.
func folders(s *publichost.Settings) (faults []error) {
	rooms := s.Places().Rooms
	for _, place := range []struct{ flag, folder string }{{"store", filepath.Dir(rooms)}, {"acme-cache", s.ACME.Cache}} {
		if place.folder == "" || place.flag == "store" && s.Cluster.URL != "" {
			continue
		}
		if folder, err := writable(place.folder); err != nil {
			faults = append(faults, hint.With(fmt.Errorf("--%s: cannot write to %s: %w", place.flag, folder, hint.Reason(err)),
				"give the folder to the user who runs the host, or name another"))
		}
	}
	if s.Cluster.URL != "" || len(faults) > 0 {
		return faults
	}
	if file, err := os.OpenFile(rooms, os.O_RDWR, 0); err == nil {
		file.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		faults = append(faults, hint.With(fmt.Errorf("--store %s: %w", rooms, hint.Reason(err)), "give the file to the user who runs the host"))
	}
	return faults
}

// writable checks the folder, or the nearest one above it that exists and in which it would be made.
func writable(folder string) (nearest string, err error) {
	folder, err = filepath.Abs(folder)
	for err == nil {
		info, missing := os.Stat(folder)
		switch above := filepath.Dir(folder); {
		case errors.Is(missing, fs.ErrNotExist) && above != folder:
			folder = above
			continue
		case missing != nil:
			return folder, missing
		case !info.IsDir():
			return folder, syscall.ENOTDIR
		}
		return folder, mayWrite(folder)
	}
	return folder, err
}

// ports checks that the host could listen, unless it runs already.
func ports(s *publichost.Settings) (faults []error) {
	if isRunning(s) {
		return nil
	}
	listens := []struct{ flag, at string }{{"listen", s.Listen}}
	if s.Cluster.URL != "" {
		listens = append(listens, struct{ flag, at string }{"cluster-listen", s.Between})
	}
	for _, l := range listens {
		if _, _, err := net.SplitHostPort(l.at); err != nil {
			continue // which is a fault of the settings
		}
		listener, err := net.Listen("tcp", l.at)
		if err == nil {
			listener.Close()
			continue
		}
		advice := "say another address of this machine, or another port"
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			advice = "end the program that listens there (ss -ltnp shows it), or say another port"
		case errors.Is(err, fs.ErrPermission):
			advice = "ports below 1024 need CAP_NET_BIND_SERVICE, as docs/serve/muster.service gives it"
		}
		faults = append(faults, hint.With(fmt.Errorf("--%s %s: %w", l.flag, l.at, hint.Reason(err)), advice))
	}
	return faults
}

// isRunning reports whether a host with these rooms runs on this machine: then it listens for operators
// where its file says.
func isRunning(s *publichost.Settings) bool {
	at, err := os.ReadFile(s.Places().Door)
	if err != nil {
		return false
	}
	listener, err := net.Listen("tcp", strings.TrimSpace(string(at)))
	if err == nil {
		listener.Close()
	}
	return errors.Is(err, syscall.EADDRINUSE)
}
