package lobby

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/peer"
)

// ErrNothing says that nothing suitable was found.
var ErrNothing = errors.New("nothing suitable found")

// Explain adds a hint on what to do if a room cannot be entered.
func Explain(err error, to invite.Link) error {
	var doubt *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, peer.ErrNothingSuitable):
		return ErrNothing
	case errors.Is(err, peer.ErrCertificate):
		return hint.With(fmt.Errorf("the host at %s shows another certificate than the link says", to.Host),
			"somebody may be in between: ask the organiser for the link again, on another way than this network")
	case errors.As(err, &plain) && to.Pin != "":
		return hint.With(fmt.Errorf("what answers at %s does not encrypt, and the link says that the host does", to.Host),
			"somebody may be in between, or the host was started without --tls: ask the organiser for the link again")
	case errors.As(err, &plain):
		return hint.With(fmt.Errorf("what answers at %s does not encrypt", to.Host),
			"take the whole link that muster host printed: does it begin with http://?")
	case errors.As(err, &doubt):
		return hint.With(fmt.Errorf("nobody vouches for the host at %s: %s", to.Host, distrust(doubt.Err)),
			"take the whole link: what follows the code is the fingerprint of the host's certificate")
	case errors.Is(err, peer.ErrEncrypted):
		return hint.With(fmt.Errorf("the host at %s encrypts, and the link does not say so", to.Host),
			"take the whole link that muster host printed: it begins with https://")
	case errors.Is(err, peer.ErrGone):
		return hint.With(fmt.Errorf("the host at %s is gone: muster runs there no more", to.Host),
			"if the night is over, nothing has to be done; if not, the organiser starts muster host again, and "+
				"the same line brings you back to your place")
	case errors.Is(err, peer.ErrProxyAlone):
		return hint.With(fmt.Errorf("a proxy answers at %s, but no host behind it", to.Host),
			"ask the organiser: is muster host running there?")
	case errors.Is(err, peer.ErrMisnamed):
		name, _, _ := net.SplitHostPort(to.Host)
		return hint.With(fmt.Errorf("the host at %s does not go by that name", to.Host),
			fmt.Sprintf("take the link that muster host printed, or have the organiser start it with --host-name %s", name))
	case errors.Is(err, websocket.ErrBadHandshake):
		return hint.With(fmt.Errorf("what answers at %s is no muster host", to.Host),
			"is the port right? muster host prints the whole link")
	case errors.Is(err, peer.ErrUnreachable):
		return Unreached(to.Host, err)
	}
	return err
}

// distrust returns why a certificate is not trusted.
func distrust(err error) string {
	var (
		name    x509.HostnameError
		signer  x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "its certificate is for another name"
	case errors.As(err, &signer):
		return "this machine knows nobody who signed its certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or a clock is wrong"
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}

// mayBeCode matches text that looks like a code rather than a host's name.
var mayBeCode = regexp.MustCompile(`^[[:alpha:]]{6}$`)

// Unreached says that nothing accepts connections at one or more addresses, and what that means.
func Unreached(at string, err error) error {
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	if addr, bad := netip.ParseAddrPort(at); bad == nil && discovery.ReachOf(addr.Addr()) == discovery.NetworkReach {
		why := hint.Reason(err).Error()
		if errors.As(err, &timeout) && timeout.Timeout() {
			why = "nothing comes back"
		}
		return hint.With(fmt.Errorf("no host answers at %s: %s", at, why), elsewhere(addr.Addr()))
	}
	switch host, _, _ := net.SplitHostPort(at); {
	case errors.As(err, &name) && mayBeCode.MatchString(host):
		return hint.With(fmt.Errorf("no host is called %s", host), "if that is a room's code, say: muster "+
			"join --code "+strings.ToUpper(host))
	case errors.As(err, &name):
	case errors.As(err, &timeout) && timeout.Timeout():
		return hint.With(fmt.Errorf("no host answers at %s: nothing comes back", at),
			"does a firewall there let TCP through to muster? is the address the right one, and on a network "+
				"that this machine is on?")
	}
	return hint.With(fmt.Errorf("no host answers at %s: %w", at, hint.Reason(err)),
		"is muster host running there, are address and port right, does a firewall let TCP through?")
}

// elsewhere returns the hint for a player whose link leads into somebody else's private network.
func elsewhere(at netip.Addr) string {
	return fmt.Sprintf("%v is an address of the host's own network. If you are on it: "+
		"is muster host running there, does a firewall let TCP through?\n"+
		`If you are elsewhere, three ways help whoever holds the room to let you in:
--port-map asks their router to let you in
--at URL opens the room on a public host
--public-url URL if a tunnel or an address of their own leads there`, at)
}

// ExplainAt adds a hint on what to do if a public host opens no room.
func ExplainAt(err error, base *url.URL) error {
	const here = "--here opens the room on this machine"
	var (
		refusal wire.Refusal
		moved   *Moved
		trouble *Trouble
		doubt   *tls.CertificateVerificationError
		plain   tls.RecordHeaderError
		failed  *url.Error
		timeout interface{ Timeout() bool }
		name    *net.DNSError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), hint.Of(err) != "":
		return err
	case errors.As(err, &refusal):
		return hint.With(refusal, here)
	case errors.As(err, &moved):
		return hint.With(fmt.Errorf("%s leads to %s", base, moved.To), fmt.Sprintf("if you trust that host, say --at %s",
			moved.To))
	case errors.Is(err, ErrNotPublic):
		return hint.With(fmt.Errorf("the host at %s opens no rooms for others", base),
			"it is somebody's own, or of an older release: rooms are opened where muster serve runs; "+here)
	case errors.Is(err, ErrNotMuster):
		return hint.With(fmt.Errorf("what answers at %s is no public muster host", base),
			"is the address right? In a browser such a host shows how to open a room; "+here)
	case errors.As(err, &trouble) && trouble.Status >= 500:
		return hint.With(fmt.Errorf("the host at %s is out of order: %d %s", base, trouble.Status,
			http.StatusText(trouble.Status)), "try again in a while; "+here)
	case errors.As(err, &trouble):
		return hint.With(fmt.Errorf("what answers at %s is no public muster host: %d %s", base, trouble.Status,
			http.StatusText(trouble.Status)), "is the address right, and is it http:// or https://? "+here)
	case errors.As(err, &doubt):
		return hint.With(fmt.Errorf("nobody vouches for the host at %s: %s", base, distrust(doubt.Err)),
			"is the address right? If it is, whoever runs that host has to renew the certificate; "+here)
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return hint.With(fmt.Errorf("what answers at %s does not encrypt", base), "is it http://, and the port right? "+here)
	case errors.As(err, &name):
		return hint.With(fmt.Errorf("no host answers at %s: %w", base, hint.Reason(err)),
			"is the name spelt right, and is this machine on the internet? "+here)
	case errors.As(err, &failed) && errors.As(err, &timeout) && timeout.Timeout():
		return hint.With(fmt.Errorf("no host answers at %s: nothing comes back", base),
			"is the address right, and is this machine on the internet? "+here)
	case errors.As(err, &failed):
		return hint.With(fmt.Errorf("no host answers at %s: %w", base, hint.Reason(err)),
			"is the address right, and is this machine on the internet? "+here)
	}
	return err
}
