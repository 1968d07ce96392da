package host

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleConnections checks that the host closes idle connections.
func TestIdleConnections(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: host\r\n\r\n"
	for name, test := range map[string]struct {
		says  string
		reads int // how many bytes the host sends
	}{
		"says nothing":             {"", 0},
		"stops within the header":  {get[:10], 0},
		"asks for nothing more":    {get, 100},
		"stops within the body":    {"POST / HTTP/1.1\r\nHost: host\r\nContent-Length: 100\r\n\r\n", 0},
		"does not read the answer": {get, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					w.Write(bytes.Repeat([]byte("page"), 25))
				}))
				ours, theirs := net.Pipe()
				done := make(chan struct{})
				server.ConnState = func(_ net.Conn, s http.ConnState) {
					if s == http.StateClosed {
						close(done)
					}
				}
				go server.Serve(&single{conn: ours, done: done})
				theirs.Write([]byte(test.says))
				io.ReadFull(theirs, make([]byte, test.reads))
				began := time.Now()
				select {
				case <-done:
				case <-time.After(time.Hour):
					t.Errorf("the connection is still open after %v", time.Since(began))
				}
				theirs.Close()
				server.Close()
			})
		})
	}
}

// TestLongHeader checks that the host refuses headers longer than any browser sends.
func TestLongHeader(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.NotFoundHandler())
	go server.Serve(listener)
	defer server.Close()
	for length, want := range map[int]int{8 << 10: http.StatusNotFound, 32 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		request, err := http.NewRequest("GET", "http://"+listener.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", strings.Repeat("x", length))
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a header of %d bytes is answered %s, want %d", length, response.Status, want)
		}
	}
}

// single is a listener with one connection.
type single struct {
	conn net.Conn
	done chan struct{}
}

func (s *single) Accept() (net.Conn, error) {
	if conn := s.conn; conn != nil {
		s.conn = nil
		return conn, nil
	}
	<-s.done
	return nil, http.ErrServerClosed
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.TCPAddr{} }

func TestAnonymous(t *testing.T) {
	for line, want := range map[string]string{
		"http: TLS handshake error from 198.51.100.7:5555: EOF\n":  "http: TLS handshake error from somebody: EOF\n",
		"http: TLS handshake error from [2001:db8::7]:5555: EOF\n": "http: TLS handshake error from somebody: EOF\n",
		"http: TLS handshake error from 198.51.100.7:5555: read tcp 192.0.2.1:7777->198.51.100.7:5555: read: " +
			"connection reset by peer\n": "http: TLS handshake error from somebody: read tcp somebody->somebody: read: connection reset by peer\n",
		"write tcp [2001:db8::1]:7777->[fe80::7%eth0]:5555: broken pipe": "write tcp somebody->somebody: broken pipe",
		"x509: certificate is valid for 198.51.100.7, 2001:db8::7, not":  "x509: certificate is valid for somebody, somebody, not",
		"http: panic serving 198.51.100.7:5555: runtime error\n":         "http: panic serving somebody: runtime error\n",
		"http: response.Write on hijacked connection from net.go:1\n":    "http: response.Write on hijacked connection from somebody\n",
		"http: Accept error: too many open files; retrying in 5ms\n":     "http: Accept error: too many open files; retrying in 5ms\n",
	} {
		var out bytes.Buffer
		if n, err := (anonymous{&out}).Write([]byte(line)); n != len(line) || err != nil || out.String() != want {
			t.Errorf("%q, %d, %v; want %q", out.String(), n, err, want)
		}
	}
}
