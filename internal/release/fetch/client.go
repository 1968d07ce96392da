package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"muster/discovery"
)

const (
	// connectTime bounds each of name lookup, connecting and encryption. On a LAN without internet,
	// somebody is waiting in front of the page.
	connectTime = 5 * time.Second
	// firstByte bounds the wait for the beginning of the answer.
	firstByte = 10 * time.Second
	// maxRedirects suffice for a forge's storage and a renamed project.
	maxRedirects = 5
)

var (
	errPrivate = errors.New("it leads into a private network, where no release is")
	errPlain   = errors.New("it leads from an encrypted place to one that is not")
	errEndless = errors.New("it leads from one place to the next without end")
	errStalled = errors.New("the release page stopped before it was whole")
)

// isLoopback reports whether a URL names this machine, without any resolver.
func isLoopback(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.Unmap().IsLoopback()
}

// newClient returns a client for the files of one release. It ignores the environment's proxies, because nobody here
// could check what a proxy dials.
func newClient(page string) (*http.Client, error) {
	first, err := url.Parse(page)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: connectTime, Control: func(_, address string, _ syscall.RawConn) error {
		if !isPublic(address) && (address != first.Host || !isLoopback(first)) {
			return errPrivate
		}
		return nil
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, connectTime) // includes the name lookup
				defer cancel()
				return dialer.DialContext(ctx, network, address)
			},
			TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: firstByte, MaxResponseHeaderBytes: 64 << 10,
			DisableCompression: true, // keep the signed bytes as they are
			ForceAttemptHTTP2:  true,
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			switch {
			case len(via) > maxRedirects:
				return errEndless
			case to.URL.Host == first.Host && to.URL.Scheme == first.Scheme:
				return nil
			case to.URL.Scheme != "https":
				return errPlain
			case to.URL.User != nil:
				return errors.New("it leads to a place with a password")
			}
			return nil
		},
	}, nil
}

func isPublic(address string) bool {
	to, err := netip.ParseAddrPort(address)
	return err == nil && (discovery.ReachOf(to.Addr()) == discovery.InternetReach || discovery.IsStandIn(to.Addr()))
}

// reason says why a download failed, without the URL, which may be long.
func reason(ctx context.Context, err error) error {
	var (
		inURL   *url.Error
		timeout net.Error
		name    *net.DNSError
		call    *net.OpError
	)
	away := func(why string) error { return fmt.Errorf("%w: %s", ErrAway, why) }
	switch {
	case errors.Is(context.Cause(ctx), errStalled), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errStalled
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &name):
		return away("nobody here knows where it is; is this machine on the internet?")
	case errors.As(err, &timeout) && timeout.Timeout():
		return away("it does not answer in time")
	case errors.As(err, &inURL):
		err = inURL.Err
	}
	if errors.As(err, &call) {
		return away(strings.TrimPrefix(call.Err.Error(), "connect: "))
	}
	return away(err.Error())
}
