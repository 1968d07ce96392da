// Package between carries connections between the hosts that share a store.
//
//	host a ── Dial("b") ──▶ TLS 1.3, both show a certificate ──▶ Listener of b ── http.Server
//	       ◀── a beat a second, on a connection of its own ────▶ is answered by package between
//
// Each host makes a key and a certificate when it starts, and keeps them in memory. Its lease names
// its door: the address where it listens, and its certificate. A host accepts only connections with
// a certificate from some lease. It speaks to another host only if that host shows the certificate
// of its own lease. So the right to write leases makes a process a host, as it already lets it
// write rooms, and no key has to be handed out, kept or changed.
//
// TCP takes minutes to notice that a machine is gone. So each host sends each other host a beat
// every second. If no answer comes, it closes all its connections to that host, and their users
// look up where their room is by then.
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
	// answerTime is how long a host may take to answer a beat. Then it gets one more, on a new
	// connection, and after that it counts as gone. With beatEvery, that is 3 to 4 s after the last
	// answer: about when its lease ends.
	answerTime = 1500 * time.Millisecond
	beatEvery  = time.Second
	// handshakeTime is how long a client may take to show a certificate. handshakesAtOnce is how
	// many may do so at a time; the listener refuses more.
	handshakeTime    = 5 * time.Second
	handshakesAtOnce = 512
	// backlog is how many connections may wait for Accept.
	backlog = 1024
)

// These protocols say what a connection is for. TLS negotiates them.
const (
	carries = "muster"
	beats   = "muster-beat"
)

var (
	errNobody   = errors.New("between: no living host of this name")
	errStranger = errors.New("between: the certificate is not that of the host's lease")
)

// Mesh is one host's connections with the others. Any goroutine may use it.
type Mesh struct {
	// Reach connects to another host's address, over TCP unless it is set before Join.
	Reach func(ctx context.Context, network, address string) (net.Conn, error)

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
	unheard    chan struct{} // closed when Accept no longer takes connections
}

// New accepts other hosts' connections from a listener, and closes it with the mesh. It knows no
// other host until Join.
func New(listener net.Listener, node string, log *slog.Logger) (*Mesh, error) {
	certificate, err := newCertificate()
	if err != nil {
		return nil, fmt.Errorf("between: no certificate: %w", err)
	}
	m := &Mesh{
		node: node, log: log, listener: listener, certificate: certificate, Reach: new(net.Dialer).DialContext,
		sessions: tls.NewLRUClientSessionCache(0), accepted: make(chan net.Conn, backlog),
		doors:      func() map[string]string { return nil },
		neighbours: map[string]*neighbour{}, incoming: map[net.Conn]bool{}, unheard: make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.work.Go(m.listen)
	return m, nil
}

// newCertificate returns a new key with a certificate that contains nothing else.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// Door returns the text of this host's lease that tells others how to reach it: an address and the
// certificate's hash. A host that listens on all addresses gives the one at which it was seen.
func (m *Mesh) Door(seen net.IP) string {
	host, port, _ := net.SplitHostPort(m.listener.Addr().String()) // cannot fail for a listener's address
	if ip := net.ParseIP(host); ip.IsUnspecified() && seen != nil {
		host = seen.String()
	}
	return net.JoinHostPort(host, port) + " " + fingerprint(m.certificate.Certificate[0])
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Join gives the mesh the function that returns the doors of the living hosts. Join does not wait for it.
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

// Dial connects to a host by name, even to this one.
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

// dial connects to the host behind a door. It waits until that host has checked this one's
// certificate, because in TLS 1.3 the client is ready before that.
func (m *Mesh) dial(ctx context.Context, node, door, what string) (*tls.Conn, error) {
	address, key, _ := strings.Cut(door, " ")
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate}, NextProtos: []string{what},
		ServerName: node, ClientSessionCache: m.sessions,
		InsecureSkipVerify: true, // VerifyConnection checks the certificate instead
		VerifyConnection:   func(s tls.ConnectionState) error { return checkShown(s, key) },
	}
	line, err := m.Reach(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("between: %s at %s: %w", node, address, err)
	}
	conn := tls.Client(line, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		line.Close()
		return nil, fmt.Errorf("between: %s at %s: %w", node, address, err)
	}
	if err := exchange(conn); err != nil {
		line.Close()
		return nil, fmt.Errorf("between: %s at %s does not take this host: %w", node, address, err)
	}
	return conn, nil
}

// checkShown returns an error unless the other end has shown a certificate with one of the hashes.
func checkShown(s tls.ConnectionState, keys ...string) error {
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

// listen accepts connections until the mesh ends.
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
			return checkShown(s, keys...)
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
		case err != nil: // mostly too many open files
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

// meet checks that a client is another host, and reads what the connection is for.
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
	conn.SetDeadline(time.Time{}) // fails only for a closed connection
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
		default: // Accept is too slow
		}
	}
	delete(m.incoming, conn)
	conn.NetConn().Close()
}

// incoming is a connection that another host has made.
type incoming struct {
	net.Conn // hidden, so that net/http does not ask it about TLS
	mesh     *Mesh
}

// Close closes the connection without TLS's closing message, which would wait for a reader.
func (c *incoming) Close() error {
	c.mesh.mu.Lock()
	delete(c.mesh.incoming, c.Conn)
	c.mesh.mu.Unlock()
	return c.Conn.(*tls.Conn).NetConn().Close()
}

// Listener returns the listener for other hosts' connections.
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

// Close stops accepting connections. Accepted connections stay open.
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

// Close closes all connections and the listener.
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

// pause waits, and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
