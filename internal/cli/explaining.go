package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/gorilla/websocket"

	"muster/peer"
)

// explain adds what to do about a room that cannot be played in.
func explain(err error, to invitation) error {
	var doubt *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, peer.ErrNothingSuitable):
		return errNothing
	case errors.Is(err, peer.ErrCertificate):
		return hinted(fmt.Errorf("the host at %s shows another certificate than the link says", to.host),
			"somebody may be in between: ask the organiser for the link again, on another way than this network")
	case errors.As(err, &plain) && to.pin != "":
		return hinted(fmt.Errorf("what answers at %s does not encrypt, and the link says that the host does", to.host),
			"somebody may be in between, or the host was started without --tls: ask the organiser for the link again")
	case errors.As(err, &plain):
		return hinted(fmt.Errorf("what answers at %s does not encrypt", to.host), "take the whole link that muster host printed: does it begin with http://?")
	case errors.As(err, &doubt):
		return hinted(fmt.Errorf("nobody vouches for the host at %s: %s", to.host, distrust(doubt.Err)),
			"take the whole link: what follows the code is the fingerprint of the host's certificate")
	case errors.Is(err, peer.ErrEncrypted):
		return hinted(fmt.Errorf("the host at %s encrypts, and the link does not say so", to.host),
			"take the whole link that muster host printed: it begins with https://")
	case errors.Is(err, peer.ErrProxyAlone):
		return hinted(fmt.Errorf("a proxy answers at %s, but no host behind it", to.host), "ask the organiser: is muster host running there?")
	case errors.Is(err, websocket.ErrBadHandshake):
		return hinted(fmt.Errorf("what answers at %s is no muster host", to.host), "is the port right? muster host prints the whole link")
	case errors.Is(err, peer.ErrUnreachable):
		return unreached(to.host, err)
	}
	return err
}

// distrust is why a certificate does not hold.
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

// mayBeCode tells a room's code from most names of hosts.
var mayBeCode = regexp.MustCompile(`^[[:alpha:]]{6}$`)

// unreached says that nobody takes a connection at an address, or several, and
// what that means.
func unreached(at string, err error) error {
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	switch host, _, _ := net.SplitHostPort(at); {
	case errors.As(err, &name) && mayBeCode.MatchString(host):
		return hinted(fmt.Errorf("no host is called %s", host), "if that is a room's code, say: muster join --code "+strings.ToUpper(host))
	case errors.As(err, &name):
	case errors.As(err, &timeout) && timeout.Timeout():
		return hinted(fmt.Errorf("no host answers at %s: nothing comes back", at),
			"does a firewall there let TCP through to muster? is the address the right one, and on a network that this machine is on?")
	}
	return hinted(fmt.Errorf("no host answers at %s: %w", at, reason(err)),
		"is muster host running there, are address and port right, does a firewall let TCP through?")
}
