package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/peer/player"
)

// stayConnected connects again and again, with growing pauses. It returns why it stopped.
func (s *session) stayConnected() error {
	var lastSeen, goneSince time.Time // when we last saw the host; since when its machine has answered without it
	pause := s.options.pace.firstPause
	at := Place{s.options.URL, s.options.TLS}
	for {
		welcomed, err := s.connect(at, false)
		if !welcomed && !lastSeen.IsZero() && s.options.Clock.Since(lastSeen) > s.options.pace.seekAfter {
			for _, elsewhere := range s.elsewhere(at) {
				if welcomed, _ = s.connect(elsewhere, true); welcomed {
					at = elsewhere // the host stays there from now on
					break
				}
			}
		}
		now := s.options.Clock.Now() // one moment for all that follows from this attempt, however slow this machine is
		if welcomed {
			pause = s.options.pace.firstPause
		}
		if welcomed || isPassing(err) {
			lastSeen = now
		}
		switch {
		case welcomed || !isGone(err):
			goneSince = time.Time{}
		case goneSince.IsZero():
			goneSince = now
		}
		patience := s.options.pace.giveUp
		s.do(func() {
			if s.player.IsFinishing() {
				patience = s.options.pace.lastWord
			}
		})
		switch {
		case s.ctx.Err() != nil:
			return context.Cause(s.ctx)
		case errors.Is(err, wire.ErrMalformed), errors.Is(err, ErrCertificate):
			return err // the next attempt would end the same way
		case lastSeen.IsZero(), now.Sub(lastSeen) > patience:
			return fmt.Errorf("%w at %s: %w", ErrUnreachable, s.options.URL, err)
		case !goneSince.IsZero() && now.Sub(goneSince) > s.options.pace.gone:
			return fmt.Errorf("%w, at %s: %w", ErrGone, s.options.URL, err)
		}
		rest := pause
		if welcomed && hasMoved(err) {
			rest = time.Duration(s.options.Random.Int64N(int64(movedWithin * pause))) // spread the players, who would otherwise all reconnect at once
		}
		lost := Disconnected{Err: err, Retry: rest, Gone: !goneSince.IsZero()}
		s.post(func() { s.tell(lost) })
		select {
		case <-s.options.Clock.After(rest):
		case <-s.ctx.Done():
		}
		pause = min(2*pause, s.options.pace.lastPause)
	}
}

// elsewhere returns where the host may be if it has left its address: the address the player first came to, the
// addresses the host announced, and those a search finds.
func (s *session) elsewhere(was Place) []Place {
	places := []Place{{s.options.URL, s.options.TLS}}
	var told []netip.AddrPort
	s.do(func() { told = s.player.Hosts() })
	for _, addr := range told {
		// A certificate signed by an authority names a host, not an address.
		if u, err := url.Parse(s.options.URL); err == nil && (u.Scheme == "ws" || s.options.TLS != nil) {
			u.Host = addr.String()
			places = append(places, Place{u.String(), s.options.TLS})
		}
	}
	if s.options.Seek != nil {
		places = append(places, s.options.Seek(s.ctx)...)
	}
	return slices.DeleteFunc(places, func(p Place) bool { return p.URL == was.URL })
}

// errNotHere says that something else runs where the host might have been.
var errNotHere = errors.New("peer: the host is not there")

// connect holds one connection until it ends, and reports whether the host let the player in. A
// host found by a search must prove its identity. If its certificate is no proof, the host must
// show that it knows the player's token. The peer does not send the token.
func (s *session) connect(at Place, sought bool) (welcomed bool, err error) {
	timeout := dialTimeout
	if sought {
		timeout = seekTimeout
	}
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	s.lines++
	line := s.lines
	ws, err := s.dial(ctx, at)
	if err != nil {
		return false, err
	}
	c := conn.New(ws, conn.AtPeer)
	hello := func() {
		s.conn = c
		s.step(player.Connected{Line: line, Host: s.options.hostAddr(ws.NetConn())})
	}
	isProved, token, nonce := !sought || at.TLS != nil, "", access.NewSecret()
	if isProved {
		s.post(hello)
	} else {
		s.do(func() { token = s.player.Token() })
		c.Send(wire.Seek{Version: wire.Version, Place: access.Place(token), Nonce: nonce})
		defer time.AfterFunc(seekTimeout, func() {
			s.post(func() {
				if s.conn != c || !s.player.IsIn() {
					c.Close(errNotHere)
				}
			})
		}).Stop()
	}
	err = c.Run(s.ctx, func(m wire.Message) error {
		if !isProved {
			found, is := m.(wire.Found)
			if isProved = is && access.Proves(found.Proof, token, nonce); !isProved {
				return errNotHere
			}
			s.post(hello)
			return nil
		}
		_, is := m.(wire.Welcome)
		welcomed = welcomed || is
		err := s.obey(m)
		if is && err == nil {
			s.post(func() { s.tell(s.reached(ws.NetConn())) })
		}
		return err
	})
	s.post(func() {
		s.conn = nil
		s.step(player.Lost{})
	})
	return welcomed, err
}

// obey passes a message to the session's goroutine and waits until it is handled. A message that cannot be handled ends
// the peer, because a new connection would bring it again.
func (s *session) obey(m wire.Message) error {
	done := make(chan error, 1)
	s.post(func() { done <- s.hear(m) })
	select {
	case err := <-done:
		if err != nil && !isPassing(err) {
			s.leave(err)
		}
		return err
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// movedWithin bounds the random wait after a host hands the room over. It counts first pauses, and
// means a second in all.
const movedWithin = 4

// isPassing reports whether the refusal is temporary: too many wrong codes came from this address, the host cannot
// store anything just now, or another host has the room.
func isPassing(err error) bool {
	var refusal wire.Refusal
	return errors.Is(err, player.ErrOutdated) ||
		errors.As(err, &refusal) && slices.Contains([]string{wire.ReasonLimited, wire.ReasonBusy, wire.ReasonMoved}, refusal.Reason)
}

func hasMoved(err error) bool {
	var refusal wire.Refusal
	return errors.As(err, &refusal) && refusal.Reason == wire.ReasonMoved
}

// refusedOnWindows is Windows' ECONNREFUSED, whose number differs from Go's constant there.
const refusedOnWindows = syscall.Errno(10061)

// isGone reports whether the machine, or a proxy in front of it, answers that the host is not running. Then both our
// own network and that machine work.
func isGone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, refusedOnWindows) || errors.Is(err, ErrProxyAlone)
}

// whyNot explains why a connection failed. A host that speaks TLS and a proxy without its host have errors of their
// own.
func whyNot(err error, answer *http.Response) error {
	if !errors.Is(err, websocket.ErrBadHandshake) {
		return err
	}
	if to, err := answer.Location(); err == nil && answer.StatusCode/100 == 3 && to.Host != "" {
		return &Elsewhere{To: &url.URL{Scheme: to.Scheme, Host: to.Host}}
	}
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrProxyAlone
	case http.StatusMisdirectedRequest:
		return ErrMisnamed
	case http.StatusBadRequest:
		text, _ := io.ReadAll(answer.Body) // the library keeps only the first kilobyte
		if bytes.Contains(text, []byte("HTTPS")) {
			return ErrEncrypted
		}
	}
	return err
}

// hostAddr returns the host's address. A host at one of our own addresses is on this machine, so it counts as loopback.
func hostAddr(conn net.Conn) netip.Addr {
	of := func(a net.Addr) netip.Addr {
		at, _ := netip.ParseAddrPort(a.String()) // cannot fail: it is a TCP connection
		return at.Addr().Unmap().WithZone("")
	}
	if host := of(conn.RemoteAddr()); host != of(conn.LocalAddr()) {
		return host
	}
	return netip.IPv6Loopback()
}

// reached returns where the host at the other end of a connection is.
func (s *session) reached(at net.Conn) Reached {
	to, _ := netip.ParseAddrPort(at.RemoteAddr().String()) // cannot fail: it is a TCP connection
	r := Reached{At: netip.AddrPortFrom(s.options.hostAddr(at), to.Port())}
	if encrypted, is := at.(*tls.Conn); is {
		r.Fingerprint = access.Fingerprint(encrypted.ConnectionState().PeerCertificates[0].Raw)
	}
	return r
}

// ErrCertificate says that the host shows another certificate than the one in the link. Either somebody intercepts the
// connection, or the host has lost its certificate.
var ErrCertificate = errors.New("peer: the host's certificate is not the one in the link")

// Pinned returns the TLS configuration for a host whose link carries a fingerprint. It accepts exactly that certificate
// and ignores its name and signer (RFC 7469 calls this pinning).
func Pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection checks instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || access.Fingerprint(s.PeerCertificates[0].Raw) != fingerprint {
				return ErrCertificate
			}
			return nil
		},
	}
}
