// Package between carries connections between the hosts that share a store.
//
//	host a ── Dial("b") ──▶ TLS 1.3, both show a certificate ──▶ Listener of b ── http.Server
//	       ◀── a beat a second, on a connection of its own ────▶ is answered by package between
//
// Each host makes a key and a certificate when it starts, and keeps them in memory. Its lease
// says where it listens and which certificate it has: its door. A host takes connections of
// hosts whose certificate stands in a lease, and of nobody else; it speaks to a host only if
// that shows the certificate of its lease. So whoever may write leases is a host, as they may
// write rooms, and no key has to be handed out, kept or changed.
//
// TCP does not notice for minutes that a machine is gone. So each host asks each other one
// every second whether it lives, and ends all connections that it has made there if no answer
// comes: those who need them look where their room is by then.
package between

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	// answerTime is how long a host may take to answer a beat before it is asked once more, on
	// a new connection; then it counts as gone. With beatEvery, that is 3 to 4 s after the last
	// answer: about when its lease ends.
	answerTime = 1500 * time.Millisecond
	beatEvery  = time.Second
	// handshakeTime is how long somebody may take to show a certificate, and handshakesAtOnce
	// how many may be about it: more are turned away.
	handshakeTime    = 5 * time.Second
	handshakesAtOnce = 512
	// backlog is how many connections may wait for Accept.
	backlog = 1024
)

// What a connection is for, as TLS negotiates it.
const (
	carries = "muster"
	beats   = "muster-beat"
)

var (
	errNobody   = errors.New("between: no living host of this name")
	errStranger = errors.New("between: the certificate is not that of the host's lease")
)

// Mesh is what one host has to do with the others. Any goroutine may use it.
type Mesh struct {
	node        string
	log         *slog.Logger
	listener    net.Listener
	certificate tls.Certificate
	sessions    tls.ClientSessionCache
	accepted    chan net.Conn
	ctx         context.Context
	cancel      context.CancelFunc
	work        sync.WaitGroup

	mu         sync.Mutex // guards following
	doors      func() map[string]string
	neighbours map[string]*neighbour
	incoming   map[net.Conn]bool
	unheard    chan struct{} // closed when nobody accepts any more
}

// New takes other hosts' connections from a listener, which ends with the mesh. Until Join
// nobody is another host.
func New(listener net.Listener, node string, log *slog.Logger) (*Mesh, error) {
	certificate, err := newCertificate()
	if err != nil {
		return nil, fmt.Errorf("between: no certificate: %w", err)
	}
	m := &Mesh{
		node: node, log: log, listener: listener, certificate: certificate,
		sessions: tls.NewLRUClientSessionCache(0), accepted: make(chan net.Conn, backlog),
		doors:      func() map[string]string { return nil },
		neighbours: map[string]*neighbour{}, incoming: map[net.Conn]bool{}, unheard: make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.work.Go(m.listen)
	return m, nil
}

// newCertificate makes a key, and a certificate that says nothing but that key.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// Door returns what the host's lease says of how others reach it: an address, and the
// certificate's hash. A host that listens on all addresses is reached at the one that is
// seen of it.
func (m *Mesh) Door(seen net.IP) string {
	host, port, _ := net.SplitHostPort(m.listener.Addr().String()) // a listener's address
	if ip := net.ParseIP(host); ip.IsUnspecified() && seen != nil {
		host = seen.String()
	}
	return net.JoinHostPort(host, port) + " " + fingerprint(m.certificate.Certificate[0])
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Join makes the hosts whose doors a function returns the other hosts. It returns at once.
func (m *Mesh) Join(doors func() map[string]string) {
	m.mu.Lock()
	m.doors = doors
	m.mu.Unlock()
	m.work.Go(m.look)
}

// listed returns the doors of all living hosts.
func (m *Mesh) listed() map[string]string {
	m.mu.Lock()
	doors := m.doors
	m.mu.Unlock()
	return doors()
}

// Dial connects to a host by its name, this one's own too.
func (m *Mesh) Dial(ctx context.Context, node string) (net.Conn, error) {
	door := m.listed()[node]
	if node == m.node {
		door = m.Door(nil)
	}
	if door == "" {
		return nil, errNobody
	}
	conn, err := m.dial(ctx, node, door, carries)
	if err != nil {
		return nil, err
	}
	return m.keep(node, door, conn), conn.SetDeadline(time.Time{})
}

// dial connects to the host behind a door, which has looked at this one's certificate when
// dial returns: in TLS 1.3 the client is done before that.
func (m *Mesh) dial(ctx context.Context, node, door, what string) (*tls.Conn, error) {
	address, key, _ := strings.Cut(door, " ")
	dialer := tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate}, NextProtos: []string{what},
		ServerName: node, ClientSessionCache: m.sessions,
		InsecureSkipVerify: true, // in favour of what follows
		VerifyConnection:   func(s tls.ConnectionState) error { return shows(s, key) },
	}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("between: %s at %s: %w", node, address, err)
	}
	if err := said(conn.(*tls.Conn)); err != nil {
		conn.(*tls.Conn).NetConn().Close()
		return nil, fmt.Errorf("between: %s at %s does not take this host: %w", node, address, err)
	}
	return conn.(*tls.Conn), nil
}

// shows is an error unless the other end has shown the certificate of one of the hashes.
func shows(s tls.ConnectionState, keys ...string) error {
	if len(s.PeerCertificates) > 0 {
		shown := []byte(fingerprint(s.PeerCertificates[0].Raw))
		for _, key := range keys {
			if subtle.ConstantTimeCompare(shown, []byte(key)) == 1 {
				return nil
			}
		}
	}
	return errStranger
}

// listen takes what comes until the mesh ends.
func (m *Mesh) listen() {
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate}, NextProtos: []string{carries, beats},
		ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(s tls.ConnectionState) error {
			keys := []string{fingerprint(m.certificate.Certificate[0])}
			for _, door := range m.listed() {
				_, key, _ := strings.Cut(door, " ")
				keys = append(keys, key)
			}
			return shows(s, keys...)
		},
	}
	free := make(chan struct{}, handshakesAtOnce)
	for {
		conn, err := m.listener.Accept()
		switch {
		case m.ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return
		case err != nil: // too many open files, mostly
			m.log.Warn("no connections from other hosts just now", "error", err)
			pause(m.ctx, beatEvery)
			continue
		}
		select {
		case free <- struct{}{}:
			m.work.Go(func() { m.meet(tls.Server(conn, config), func() { <-free }) })
		default:
			conn.Close()
		}
	}
}

// meet hears what a connection is for, from whoever shows that they are another host.
func (m *Mesh) meet(conn *tls.Conn, met func()) {
	ctx, cancel := context.WithTimeout(m.ctx, handshakeTime)
	defer cancel()
	err := conn.HandshakeContext(ctx)
	if err == nil {
		err = echo(conn, time.Now().Add(handshakeTime))
	}
	met()
	if err != nil {
		conn.NetConn().Close()
		return
	}
	if conn.ConnectionState().NegotiatedProtocol == beats {
		m.answer(conn)
		return
	}
	c := &incoming{conn, m}
	conn.SetDeadline(time.Time{}) // fails only if it is closed
	m.mu.Lock()
	defer m.mu.Unlock()
	m.incoming[conn] = true
	select {
	case <-m.unheard:
	case <-m.ctx.Done():
	default:
		select {
		case m.accepted <- c:
			return
		default: // more than anybody accepts
		}
	}
	delete(m.incoming, conn)
	conn.NetConn().Close()
}

// incoming is a connection that another host has made.
type incoming struct {
	net.Conn // hidden: net/http is not to ask it about TLS
	mesh     *Mesh
}

// Close ends the connection without TLS's good-bye, which waits for a reader.
func (c *incoming) Close() error {
	c.mesh.mu.Lock()
	delete(c.mesh.incoming, c.Conn)
	c.mesh.mu.Unlock()
	return c.Conn.(*tls.Conn).NetConn().Close()
}

// Listener returns where connections of other hosts come in.
func (m *Mesh) Listener() net.Listener { return accepting{m} }

type accepting struct{ *Mesh }

func (a accepting) Addr() net.Addr { return a.listener.Addr() }

func (a accepting) Accept() (net.Conn, error) {
	select {
	case c := <-a.accepted:
		return c, nil
	case <-a.unheard:
	case <-a.ctx.Done():
	}
	return nil, net.ErrClosed
}

// Close takes no connections any more; those that were made stay.
func (a accepting) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.unheard:
	default:
		close(a.unheard)
	}
	return nil
}

// Close ends all connections, and the listener.
func (m *Mesh) Close() error {
	m.cancel()
	m.listener.Close()
	m.mu.Lock()
	for conn := range m.incoming {
		conn.(*tls.Conn).NetConn().Close()
	}
	for _, n := range m.neighbours {
		n.end()
	}
	m.mu.Unlock()
	m.work.Wait()
	return nil
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
