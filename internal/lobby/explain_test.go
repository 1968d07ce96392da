package lobby

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/peer"
)

// TestUnreached checks that errors mention no call, socket or library, and say what to do.
func TestUnreached(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tt := range []struct {
		at   string
		err  error
		want string
	}{
		{"192.0.2.1:7777", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "no host answers at 192.0.2.1:7777: connection refused"},
		{"192.0.2.1:7777", dial(os.ErrDeadlineExceeded), "no host answers at 192.0.2.1:7777: no answers come back"},
		{"ann.example:7777", dial(&net.DNSError{Name: "ann.example", Err: "read udp 192.0.2.7:4->192.0.2.53:53: i/o timeout", IsTimeout: true}),
			"no host answers at ann.example:7777: ann.example: no name server answers"},
		{"tabomi:7777", dial(&net.DNSError{Name: "tabomi", Err: "no such host", IsNotFound: true}), "there's no host called tabomi"},
	} {
		err := Unreached(tt.at, tt.err)
		if err.Error() != tt.want || hint.Of(err) == "" {
			t.Errorf("%v: %v, hint %q; want %s", tt.err, err, hint.Of(err), tt.want)
		}
	}
	for _, at := range []string{"192.168.1.5:7777", "10.0.0.1:7777", "100.64.0.1:7777", "[fd00::1]:7777"} {
		err := Unreached(at, dial(os.ErrDeadlineExceeded))
		lines := strings.Join(hint.Lines(catalogue.InEnglish(), err), "\n")
		for _, want := range []string{"muster: no host answers at " + at + ": no answers come back\nhint: ",
			"an address of the host's own network", "\n--port-map ", "\n--at URL ", "\n--public-url URL "} {
			if !strings.Contains(lines, want) {
				t.Errorf("%q is missing in\n%s", want, lines)
			}
		}
	}
	if hint := hint.Of(Unreached("tabomi:7777",
		&net.DNSError{Name: "tabomi", Err: "no such host"})); !strings.HasSuffix(hint, "muster join --code TABOMI") {
		t.Errorf("a code in the place of a host: %s", hint)
	}
}

// TestGone checks that a player whose host has stopped is not told to look at firewalls.
func TestGone(t *testing.T) {
	gone := fmt.Errorf("%w: %w", peer.ErrGone, os.NewSyscallError("connect", syscall.ECONNREFUSED))
	err := Explain(gone, invite.Link{Host: "192.0.2.1:7777"})
	if want := "the host at 192.0.2.1:7777 is gone: Muster isn't running there any more"; err.Error() != want ||
		!strings.Contains(hint.Of(err), "if the night is over, you're done") {
		t.Errorf("%v, hint %q; want %s", err, hint.Of(err), want)
	}
}

// TestUnreadable checks that a player hears of releases that differ, whichever side cannot read the other's message.
func TestUnreadable(t *testing.T) {
	for want, err := range map[string]error{
		"malformed message: look: game":   fmt.Errorf("%w: look: game", wire.ErrMalformed),
		"report: bytes left over":         wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain("report: bytes left over")},
		"the first message must be hello": *wire.Refuse(wire.ReasonMalformed, "refused.no-hello"),
	} {
		got := strings.Join(hint.Lines(catalogue.InEnglish(), Explain(err, invite.Link{})), "\n")
		if want = "muster: " + want + "\nhint: use the same release of Muster on both sides"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDistrust(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{x509.HostnameError{}, "its certificate is for another name"},
		{x509.UnknownAuthorityError{}, "this machine doesn't know who signed its certificate"},
		{x509.CertificateInvalidError{Reason: x509.Expired}, "its certificate has expired, or a clock is wrong"},
		{errors.New("x509: too weak"), "too weak"},
	} {
		if got := english(distrust(tt.err)); got != tt.want {
			t.Errorf("%T: %s, want %s", tt.err, got, tt.want)
		}
	}
}
