package handout

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// TestGivings checks that one network does not take everything that is given at a time.
func TestGivings(t *testing.T) {
	for name, c := range map[string]struct {
		from func(i int) string
		most int
		// other is an address that is still served afterwards.
		other string
	}{
		"one address":            {func(int) string { return "198.51.100.7" }, 2, "198.51.100.8"},
		"a household's /64":      {func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }, 2, "2001:db8:0:1::1"},
		"a /24":                  {func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }, 4, "198.51.101.1"},
		"a /48":                  {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 4, "2001:db8:1::1"},
		"a /16":                  {func(i int) string { return fmt.Sprintf("198.51.%d.1", i) }, 8, "198.52.0.1"},
		"a /32":                  {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, 8, "2001:db9::1"},
		"IPv4 as IPv6":           {func(int) string { return "::ffff:198.51.100.7" }, 2, "198.51.100.8"},
		"the host's own network": {func(i int) string { return fmt.Sprintf("192.168.1.%d", i) }, atOnce, ""},
		"a tunnel's end":         {func(int) string { return "127.0.0.1" }, atOnce, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var g givings
			var done []func()
			for i := range 64 {
				if d, isOwn := g.begin(netip.MustParseAddr(c.from(i))); d != nil {
					done = append(done, d)
				} else if isOwn != (c.most < atOnce) {
					t.Fatalf("it is its own network's doing: %v", isOwn)
				}
			}
			if len(done) != c.most {
				t.Errorf("%d are given at a time, want %d", len(done), c.most)
			}
			if c.other != "" {
				d, _ := g.begin(netip.MustParseAddr(c.other))
				if d == nil {
					t.Fatalf("%s gets none", c.other)
				}
				d()
			}
			for _, d := range done {
				d()
			}
			if g.all != 0 || len(g.by) != 0 {
				t.Errorf("%d are counted for %d networks after all are done", g.all, len(g.by))
			}
		})
	}
}

// TestSlowReaders checks that a reader who is too slow is cut, even after a fast start, and that a poor but sufficient
// line gets all of the program.
func TestSlowReaders(t *testing.T) {
	content := bytes.Repeat([]byte("muster "), 3_000_000/7)
	for name, c := range map[string]struct {
		fast  int // bytes read at once
		rate  int // bytes a second after that
		whole bool
		// latest is when the reader must be cut.
		latest time.Duration
	}{
		"nothing":                     {0, 0, false, grace + 2*time.Second},
		"half the least":              {0, minRate / 2, false, 2*grace + 5*time.Second},
		"a fifth more than the least": {0, minRate * 6 / 5, true, 0},
		"most of it, then nothing":    {2_500_000, 0, false, grace + 2*time.Second},
		"most of it, then a trickle":  {2_000_000, 1000, false, grace + 5*time.Second},
		"at once":                     {len(content), 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				arrivals := make(oneLine, 1)
				arrivals <- ours
				given := make(chan time.Duration, 1)
				server := &http.Server{WriteTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					began := time.Now()
					http.ServeContent(steadily(w), r, "", time.Time{}, bytes.NewReader(content))
					given <- time.Since(began)
				})}
				go server.Serve(arrivals)
				defer server.Close()
				fmt.Fprint(theirs, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
				reply, err := http.ReadResponse(bufio.NewReaderSize(theirs, 512), nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.CopyN(io.Discard, reply.Body, int64(c.fast))
				for err == nil && got < int64(len(content)) && c.rate > 0 {
					time.Sleep(100 * time.Millisecond)
					var n int64
					n, err = io.CopyN(io.Discard, reply.Body, min(int64(c.rate/10), int64(len(content))-got))
					got += n
				}
				took := <-given
				theirs.Close()
				if whole := got == int64(len(content)); whole != c.whole {
					t.Errorf("%d of %d bytes were given: %v", got, len(content), err)
				}
				if !c.whole && (took > c.latest || errors.Is(err, io.EOF)) {
					t.Errorf("the reader was cut after %v, want %v at most", took, c.latest)
				}
			})
		})
	}
}

// oneLine is a listener that accepts one connection.
type oneLine chan net.Conn

func (l oneLine) Accept() (net.Conn, error) {
	conn, open := <-l
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l oneLine) Close() error   { close(l); return nil }
func (l oneLine) Addr() net.Addr { return &net.TCPAddr{} }
