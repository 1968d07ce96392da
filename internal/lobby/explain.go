package lobby

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/peer"
)

// ErrNothing says that nothing suitable was found.
var ErrNothing error = hint.Say("term.nothing-suitable")

// Explain adds a hint on what to do if a room cannot be entered.
func Explain(err error, to invite.Link) error {
	var doubt *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var refusal wire.Refusal
	var elsewhere *peer.Elsewhere
	switch {
	case errors.Is(err, peer.ErrNothingSuitable):
		return ErrNothing
	case errors.Is(err, peer.ErrCertificate):
		return hint.Say("term.other-certificate", "host", to.Host).Advising("term.other-certificate-hint")
	case errors.As(err, &plain) && to.Pin != "":
		return hint.Say("term.unencrypted-though", "host", to.Host).Advising("term.unencrypted-though-hint", "flag", "--tls")
	case errors.As(err, &plain):
		return hint.Say("term.unencrypted", "host", to.Host).Advising("term.unencrypted-hint", "command", "muster host", "scheme", "http://")
	case errors.As(err, &doubt):
		return hint.Say("term.distrusted", "host", to.Host, "why", distrust(doubt.Err)).Advising("term.distrusted-hint")
	case errors.Is(err, peer.ErrEncrypted):
		return hint.Say("term.encrypts", "host", to.Host).Advising("term.unencrypted-hint", "command", "muster host", "scheme", "https://")
	case errors.Is(err, peer.ErrGone):
		return hint.Say("term.gone", "host", to.Host).Advising("term.gone-hint", "command", "muster host")
	case errors.Is(err, peer.ErrProxyAlone):
		return hint.Say("term.proxy-alone", "host", to.Host).Advising("term.running-hint", "command", "muster host")
	case errors.Is(err, peer.ErrMisnamed):
		name, _, _ := net.SplitHostPort(to.Host)
		return hint.Say("term.misnamed", "host", to.Host).
			Advising("term.misnamed-hint", "command", "muster host", "flag", "--host-name "+name)
	case errors.As(err, &elsewhere):
		return redirected(to, elsewhere.To)
	case errors.Is(err, websocket.ErrBadHandshake):
		return hint.Say("term.no-host", "host", to.Host).Advising("term.no-host-hint", "command", "muster host")
	case errors.Is(err, peer.ErrUnreachable):
		return Unreached(to.Host, err)
	case errors.Is(err, wire.ErrMalformed), errors.As(err, &refusal) && refusal.Reason == wire.ReasonMalformed:
		// One side cannot read what the other has sent, most likely because it is an older release.
		return hint.Brief(err).Advising("refused.version-hint")
	}
	return err
}

// redirected says that a room's address redirects to another host, and how to join there.
func redirected(room invite.Link, to *url.URL) error {
	at := discovery.CleanText(to.String())
	there, err := invite.Parse(at+"/#"+room.Code, "")
	if err != nil {
		return hint.Say("term.no-host", "host", room.Host).Advising("term.no-host-hint", "command", "muster host")
	}
	there.Key, there.Secret, there.Side = room.Key, room.Secret, room.Side
	return hint.Say("term.leads-to", "host", room.Host, "to", at).
		Advising("term.leads-to-hint", "line", "muster join "+there.Personal(there.Secret))
}

// distrust returns why a certificate is not trusted.
func distrust(err error) sentence.Sentence {
	var (
		name    x509.HostnameError
		signer  x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return sentence.Of("term.certificate-name")
	case errors.As(err, &signer):
		return sentence.Of("term.certificate-signer")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return sentence.Of("term.certificate-expired")
	}
	return sentence.Plain(strings.TrimPrefix(err.Error(), "x509: "))
}

// mayBeCode matches text that looks like a code rather than a host's name.
var mayBeCode = regexp.MustCompile(`^[[:alpha:]]{6}$`)

// Unreached says that nothing accepts connections at one or more addresses, and what that means.
func Unreached(at string, err error) error {
	var name *net.DNSError
	if addr, bad := netip.ParseAddrPort(at); bad == nil && discovery.ReachOf(addr.Addr()) == discovery.NetworkReach {
		return hint.Say("term.no-answer", "host", at, "why", whyNoAnswer(err)).Advising("term.elsewhere-hint", "address", addr.Addr(),
			"command", "muster host", "router", "--port-map", "at", "--at URL", "public", "--public-url URL")
	}
	if host, _, _ := net.SplitHostPort(at); errors.As(err, &name) && mayBeCode.MatchString(host) {
		return hint.Say("term.no-such-host", "host", host).
			Advising("term.no-such-host-hint", "command", "muster join --code "+strings.ToUpper(host))
	}
	return hint.Say("term.no-answer", "host", at, "why", whyNoAnswer(err)).
		Advising("term.running-hint", "command", "muster host")
}

// unrouted says that nothing accepts connections at the address of a room that others announce.
func unrouted(at string, err error) error {
	return hint.Say("term.no-answer", "host", at, "why", whyNoAnswer(err)).
		Advising("term.no-route-hint", "address", at, "at", "--at URL", "command", "muster doctor")
}

// whyNoAnswer returns why nothing answers at an address. A name server's silence has its own words.
func whyNoAnswer(err error) error {
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	if !errors.As(err, &name) && errors.As(err, &timeout) && timeout.Timeout() {
		return hint.Say("term.nothing-back")
	}
	return hint.Reason(err)
}

// ExplainAt adds a hint on what to do if a public host opens no room.
func ExplainAt(err error, base *url.URL) error {
	const here = "--here"
	var (
		refusal wire.Refusal
		moved   *Moved
		trouble *Trouble
		doubt   *tls.CertificateVerificationError
		plain   tls.RecordHeaderError
		failed  *url.Error
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), hint.Of(err) != "":
		return err
	case errors.As(err, &refusal):
		return hint.Brief(refusal).Advising("term.here-hint", "here", here)
	case errors.As(err, &moved):
		return hint.Say("term.leads-to", "host", base, "to", moved.To).Advising("term.leads-to-hint", "line", "--at "+moved.To)
	case errors.Is(err, ErrNotPublic):
		return hint.Say("term.not-public", "host", base).
			Advising("term.not-public-hint", "command", "muster serve", "here", here)
	case errors.Is(err, ErrNotMuster):
		return hint.Say("term.no-public-host", "host", base).Advising("term.no-public-host-hint", "here", here)
	case errors.As(err, &trouble) && trouble.Status >= 500:
		return hint.Say("term.out-of-order", "host", base, "status", trouble.status()).
			Advising("term.out-of-order-hint", "here", here)
	case errors.As(err, &trouble):
		return hint.Say("term.no-public-host-status", "host", base, "status", trouble.status()).
			Advising("term.no-public-host-hint", "here", here)
	case errors.As(err, &doubt):
		return hint.Say("term.distrusted", "host", base, "why", distrust(doubt.Err)).
			Advising("term.renew-hint", "here", here)
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return hint.Say("term.unencrypted", "host", base).Advising("term.scheme-hint", "http", "http://", "here", here)
	case errors.As(err, &failed):
		return hint.Say("term.no-answer", "host", base, "why", whyNoAnswer(err)).Advising("term.internet-hint", "here", here)
	}
	return err
}
