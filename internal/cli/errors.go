package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/peer"
)

// usage is an error in how the command was called.
type usage struct{ error }

func usageError(err error) error      { return &usage{err} }
func usagef(f string, a ...any) error { return &usage{fmt.Errorf(f, a...)} }
func (u *usage) Unwrap() error        { return u.error }

// errNothing says that nothing suitable was found.
var errNothing = errors.New("nothing suitable found")

// explain adds what to do about a room that cannot be played in.
func explain(err error, to invite.Link) error {
	var doubt *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, peer.ErrNothingSuitable):
		return errNothing
	case errors.Is(err, peer.ErrCertificate):
		return hint.With(fmt.Errorf("the host at %s shows another certificate than the link says", to.Host),
			"somebody may be in between: ask the organiser for the link again, on another way than this network")
	case errors.As(err, &plain) && to.Pin != "":
		return hint.With(fmt.Errorf("what answers at %s does not encrypt, and the link says that the host does", to.Host),
			"somebody may be in between, or the host was started without --tls: ask the organiser for the link again")
	case errors.As(err, &plain):
		return hint.With(fmt.Errorf("what answers at %s does not encrypt", to.Host), "take the whole link that muster host printed: does it begin with http://?")
	case errors.As(err, &doubt):
		return hint.With(fmt.Errorf("nobody vouches for the host at %s: %s", to.Host, distrust(doubt.Err)),
			"take the whole link: what follows the code is the fingerprint of the host's certificate")
	case errors.Is(err, peer.ErrEncrypted):
		return hint.With(fmt.Errorf("the host at %s encrypts, and the link does not say so", to.Host),
			"take the whole link that muster host printed: it begins with https://")
	case errors.Is(err, peer.ErrGone):
		return hint.With(fmt.Errorf("the host at %s is gone: muster runs there no more", to.Host),
			"if the night is over, nothing has to be done; if not, the organiser starts muster host again, and the same line brings you back to your place")
	case errors.Is(err, peer.ErrProxyAlone):
		return hint.With(fmt.Errorf("a proxy answers at %s, but no host behind it", to.Host), "ask the organiser: is muster host running there?")
	case errors.Is(err, peer.ErrMisnamed):
		name, _, _ := net.SplitHostPort(to.Host)
		return hint.With(fmt.Errorf("the host at %s does not go by that name", to.Host),
			fmt.Sprintf("take the link that muster host printed, or have the organiser start it with --host-name %s", name))
	case errors.Is(err, websocket.ErrBadHandshake):
		return hint.With(fmt.Errorf("what answers at %s is no muster host", to.Host), "is the port right? muster host prints the whole link")
	case errors.Is(err, peer.ErrUnreachable):
		return unreached(to.Host, err)
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

// mayBeCode matches what looks like a code rather than the name of a host.
var mayBeCode = regexp.MustCompile(`^[[:alpha:]]{6}$`)

// unreached says that nobody takes a connection at an address, or several, and
// what that means.
func unreached(at string, err error) error {
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
		return hint.With(fmt.Errorf("no host is called %s", host), "if that is a room's code, say: muster join --code "+strings.ToUpper(host))
	case errors.As(err, &name):
	case errors.As(err, &timeout) && timeout.Timeout():
		return hint.With(fmt.Errorf("no host answers at %s: nothing comes back", at),
			"does a firewall there let TCP through to muster? is the address the right one, and on a network that this machine is on?")
	}
	return hint.With(fmt.Errorf("no host answers at %s: %w", at, hint.Reason(err)),
		"is muster host running there, are address and port right, does a firewall let TCP through?")
}

// elsewhere says what helps a player whose link leads into another's own network.
func elsewhere(at netip.Addr) string {
	return fmt.Sprintf(`%v is an address of the host's own network. If you are on it: is muster host running there, does a firewall let TCP through?
If you are elsewhere, three ways help whoever holds the room to let you in:
--port-map asks their router to let you in
--at URL opens the room on a public host
--public-url URL if a tunnel or an address of their own leads there`, at)
}

// warn says what could not be had while the rest could: the first of it, as a list
// can have thousands of warnings.
func (p *program) warn(warnings ...error) {
	const most = 5
	for _, w := range warnings[:min(most, len(warnings))] {
		p.screen.Say("muster: warning: %s", hint.Plain(discovery.CleanText(w.Error())))
	}
	if more := len(warnings) - most; more > 0 {
		p.screen.Say("muster: warning: %d more like these", more)
	}
}

// logger writes warnings and, if the user asked for it, what goes on inside.
func (p *program) logger() *slog.Logger {
	if p.verbose {
		return slog.New(slog.NewTextHandler(p.screen.Writer, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(plainLog{w: p.screen.Writer})
}

// plainLog writes warnings for people: what is wrong, why, and the particulars.
type plainLog struct {
	w     io.Writer
	attrs []slog.Attr
}

func (p plainLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (p plainLog) Handle(_ context.Context, r slog.Record) error {
	var why string
	var facts []string
	tell := func(a slog.Attr) bool {
		if err, is := a.Value.Any().(error); is {
			why = ": " + hint.Plain(hint.Reason(err).Error())
		} else {
			facts = append(facts, fmt.Sprintf("%s %v", a.Key, a.Value))
		}
		return true
	}
	for _, a := range p.attrs {
		tell(a)
	}
	r.Attrs(tell)
	text := "muster: warning: " + discovery.CleanText(hint.Plain(r.Message)+why)
	if len(facts) > 0 {
		text += " " + discovery.CleanText("("+strings.Join(facts, ", ")+")")
	}
	_, err := fmt.Fprintln(p.w, text)
	return err
}

func (p plainLog) WithAttrs(more []slog.Attr) slog.Handler {
	p.attrs = append(slices.Clip(p.attrs), more...)
	return p
}

func (p plainLog) WithGroup(string) slog.Handler { return p }
