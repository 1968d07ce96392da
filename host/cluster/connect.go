package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Error says why a host cannot join a cluster and what to do about it. Is compares it with one of
// the errors below.
type Error struct {
	Kind error
	text string
	hint string
}

func (e *Error) Error() string { return "cluster: " + e.text }
func (e *Error) Unwrap() error { return e.Kind }

// Hint says what to do about it.
func (e *Error) Hint() string { return e.hint }

// These errors keep a host out of a cluster.
var (
	ErrURL         = errors.New("cluster: no URL of a NATS server")
	ErrUnreachable = errors.New("cluster: NATS cannot be reached")
	ErrCredentials = errors.New("cluster: NATS does not take the credentials")
	ErrCertificate = errors.New("cluster: the certificate of NATS is not trusted")
	ErrNode        = errors.New("cluster: no name for a node")
	ErrNodeTaken   = errors.New("cluster: the node's name is another living host's")
	ErrNoJetStream = errors.New("cluster: NATS has no JetStream")
	ErrReplicas    = errors.New("cluster: too many replicas")
	ErrShape       = errors.New("cluster: a stream is not as this program needs it")
	ErrNewer       = errors.New("cluster: the cluster is of a newer version")
)

const (
	// connectWait is how long a single server may take to answer. The client waits for once to twice
	// reconnectWait before it asks the same servers again. That is short, because rooms pause
	// meanwhile and nothing can be sent.
	connectWait   = 1500 * time.Millisecond
	reconnectWait = 200 * time.Millisecond
	// pingEvery and pingsLost decide when the client gives up a silent connection. It does so soon
	// after the lease stops being trusted, and then tries another server.
	pingEvery = time.Second
	pingsLost = 2
)

// nodeName matches names that stand in a subject unchanged.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// NodeName turns any text, such as a machine's name, into a name for a node.
func NodeName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && nodeName.MatchString(string(r)) {
			return r
		}
		return '-'
	}, text)
	return name[:min(len(name), 64)]
}

// pause returns how long to wait after so many rounds in which no server answered.
func (c Config) pause(rounds int) time.Duration {
	return reconnectWait + apart(reconnectWait, c.Node, rounds)
}

// apart returns a time below a limit, which differs between hosts and between what they wait for. So
// they do not come back all at once, no two timers that one event has set fire together, and a
// simulation can repeat it.
func apart(limit time.Duration, of ...any) time.Duration {
	h := fnv.New32a()
	fmt.Fprint(h, of...)
	return time.Duration(h.Sum32()) % limit
}

// connect returns a connection to one of the servers. A lost connection is made again, however long
// that takes, and reconnected is called each time. What is published meanwhile fails at once:
// nothing waits in a buffer until it is no longer true.
func connect(ctx context.Context, config Config, reconnected func()) (*nats.Conn, error) {
	if !nodeName.MatchString(config.Node) {
		return nil, &Error{ErrNode, fmt.Sprintf("%q cannot name a node", config.Node), "give --node up to 64 letters, digits, - and _"}
	}
	log := config.Logger
	options := []nats.Option{
		nats.Name("muster " + config.Node), nats.Timeout(connectWait),
		nats.MaxReconnects(-1), nats.CustomReconnectDelay(config.pause), nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsLost),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // otherwise this host is leaving
				log.Warn("NATS is away", "error", err)
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			log.Info("NATS is back", "server", conn.ConnectedServerName())
			reconnected()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "error", err) }),
	}
	if file := config.Credentials; file != "" {
		if _, err := os.ReadFile(file); err != nil {
			return nil, &Error{ErrCredentials, fmt.Sprintf("cannot read the credentials: %v", err), "check the file that --nats-credentials names"}
		}
		options = append(options, nats.UserCredentials(file))
	}
	if file := config.CA; file != "" {
		pem, err := os.ReadFile(file)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s has no certificate", file)
		}
		if err != nil {
			return nil, &Error{ErrCertificate, fmt.Sprintf("cannot read the CA: %v", err),
				"check the file that --nats-ca names: certificates as PEM"}
		}
		options = append(options, nats.RootCAs(file))
	}
	if config.Dial != nil {
		options = append(options, nats.SetCustomDialer(dialer(config.Dial)), nats.DontRandomize())
	}
	type result struct {
		conn *nats.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() { // nats.Connect takes no context; it ends after connectWait for each server
		conn, err := nats.Connect(config.URL, options...)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, connectError(config.URL, r.err)
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// dialer makes a function what the client takes.
type dialer func(network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// connectError says why there is no connection, nil if there is one.
func connectError(urls string, err error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var parse *url.Error
	switch {
	case err == nil:
		return nil
	case urls == "":
		return &Error{ErrURL, "no NATS server is named", "give --nats nats://HOST:4222"}
	case errors.As(err, &parse):
		return &Error{ErrURL, fmt.Sprintf("%q is no URL of NATS servers: %v", parse.URL, parse.Err),
			"write it like nats://HOST:4222, several with commas between them"}
	case errors.As(err, &authority):
		return &Error{ErrCertificate, "the certificate of NATS is signed by nobody known here", "give its CA's file with --nats-ca"}
	case errors.As(err, &name), errors.As(err, &invalid):
		return &Error{ErrCertificate, fmt.Sprintf("the certificate of NATS does not fit: %v", err),
			"call the server by a name in its certificate"}
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired), strings.Contains(err.Error(), "credentials"), strings.Contains(err.Error(), "nkey"):
		return &Error{ErrCredentials, fmt.Sprintf("NATS does not let this host in: %v", withoutPrefix(err)),
			"check --nats-credentials, or the user and password in the URL"}
	case errors.Is(err, nats.ErrSecureConnRequired):
		return &Error{ErrCertificate, "NATS wants TLS", "write tls:// in the URL, and give its CA's file with --nats-ca if it is your own"}
	case errors.Is(err, nats.ErrSecureConnWanted):
		return &Error{ErrCertificate, "NATS speaks no TLS there", "write nats:// in the URL, or turn on TLS at the server"}
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{ErrUnreachable, "no NATS server answers", "check the address, and that nats-server runs"}
	}
	return &Error{ErrUnreachable, fmt.Sprintf("NATS cannot be reached: %v", withoutPrefix(err)), "check --nats: nats://HOST:4222"}
}

// withoutPrefix returns an error's text without the library's name before it.
func withoutPrefix(err error) string { return strings.TrimPrefix(err.Error(), "nats: ") }
