package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
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

// stayConnected connects again and again, with growing pauses, and returns why
// it stopped.
func (s *session) stayConnected() error {
	var lastSeen, goneSince time.Time // the host, by us; and the first of the answers that it runs no more
	pause := s.options.pace.firstPause
	at := Place{s.options.URL, s.options.TLS}
	for {
		welcomed, err := s.connect(at, false)
		if !welcomed && !lastSeen.IsZero() && time.Since(lastSeen) > s.options.pace.seekAfter {
			for _, elsewhere := range s.elsewhere(at) {
				if welcomed, _ = s.connect(elsewhere, true); welcomed {
					at = elsewhere // and is found there from now on
					break
				}
			}
		}
		if welcomed {
			pause = s.options.pace.firstPause
		}
		if welcomed || isPassing(err) {
			lastSeen = time.Now()
		}
		switch {
		case welcomed || !isGone(err):
			goneSince = time.Time{}
		case goneSince.IsZero():
			goneSince = time.Now()
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
			return err // it would happen again
		case lastSeen.IsZero(), time.Since(lastSeen) > patience:
			return fmt.Errorf("%w at %s: %w", ErrUnreachable, s.options.URL, err)
		case !goneSince.IsZero() && time.Since(goneSince) > s.options.pace.gone:
			return fmt.Errorf("%w, at %s: %w", ErrGone, s.options.URL, err)
		}
		rest := pause
		if welcomed && hasMoved(err) {
			rest = rand.N(movedWithin * pause) // or all who were there would come together
		}
		lost := Disconnected{Err: err, Retry: rest, Gone: !goneSince.IsZero()}
		s.post(func() { s.tell(lost) })
		select {
		case <-time.After(rest):
		case <-s.ctx.Done():
		}
		pause = min(2*pause, s.options.pace.lastPause)
	}
}

// elsewhere is where the host may be, if it no longer is where it was: where the player
// came first, at addresses that it told, and where a search finds hosts.
func (s *session) elsewhere(was Place) []Place {
	places := []Place{{s.options.URL, s.options.TLS}}
	var told []netip.AddrPort
	s.do(func() { told = s.player.Hosts() })
	for _, addr := range told {
		// A certificate that others signed holds for a name, and for no address.
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

// errNotHere says that somebody else is where the host might have been.
var errNotHere = errors.New("peer: the host is not there")

// connect holds one connection until it ends, and reports whether the host let
// the player in. A host that is sought has to prove first that it is the one, if its
// certificate does not: it has to know the token, which it is not told.
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
		return s.obey(m)
	})
	s.post(func() {
		s.conn = nil
		s.step(player.Lost{})
	})
	return welcomed, err
}

// obey has the session's goroutine act on a message, and waits until it has. What
// it cannot act on ends the peer: a new connection would bring it again.
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

// movedWithin is by how many first pauses at most those wait whose host hands the room
// over: a second.
const movedWithin = 4

// isPassing reports whether a host only says that it is not the time: others have tried
// too many codes from here, it can keep nothing just now, or another has the room.
func isPassing(err error) bool {
	var refusal wire.Refusal
	return errors.Is(err, player.ErrOutdated) ||
		errors.As(err, &refusal) && slices.Contains([]string{wire.ReasonLimited, wire.ReasonBusy, wire.ReasonMoved}, refusal.Reason)
}

func hasMoved(err error) bool {
	var refusal wire.Refusal
	return errors.As(err, &refusal) && refusal.Reason == wire.ReasonMoved
}

// refusedOnWindows is what Windows calls ECONNREFUSED, which has another number in Go there.
const refusedOnWindows = syscall.Errno(10061)

// isGone reports whether a machine, or a proxy before it, answers that the host does not
// run: our own network, and that machine, are well.
func isGone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, refusedOnWindows) || errors.Is(err, ErrProxyAlone)
}

// whyNot is the error of a connection that was not made: a host that encrypts, and a
// proxy without its host, have their own.
func whyNot(err error, answer *http.Response) error {
	if !errors.Is(err, websocket.ErrBadHandshake) {
		return err
	}
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrProxyAlone
	case http.StatusMisdirectedRequest:
		return ErrMisnamed
	case http.StatusBadRequest:
		text, _ := io.ReadAll(answer.Body) // the first kilobyte, which is at hand
		if bytes.Contains(text, []byte("HTTPS")) {
			return ErrEncrypted
		}
	}
	return err
}

// hostAddr is where a connection's host is. One at our own address is on this
// machine, whichever of its addresses that is.
func hostAddr(conn net.Conn) netip.Addr {
	of := func(a net.Addr) netip.Addr {
		at, _ := netip.ParseAddrPort(a.String()) // of a TCP connection
		return at.Addr().Unmap().WithZone("")
	}
	if host := of(conn.RemoteAddr()); host != of(conn.LocalAddr()) {
		return host
	}
	return netip.IPv6Loopback()
}

// ErrCertificate says that the host shows another certificate than the link
// says: somebody is in between, or the host has lost its own.
var ErrCertificate = errors.New("peer: the host's certificate is not the one in the link")

// Pinned is how to connect to a host whose link carries a fingerprint. Neither
// the certificate's name nor who signed it counts, only that it is the very one
// (RFC 7469 calls that pinning).
func Pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // in favour of what follows
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || access.Fingerprint(s.PeerCertificates[0].Raw) != fingerprint {
				return ErrCertificate
			}
			return nil
		},
	}
}
