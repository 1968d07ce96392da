package cli

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"sync"
	"syscall"
	"time"

	"muster/host"
)

// checkListen refuses what is no address to listen on.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return hinted(usagef("--listen: %q is no ADDRESS:PORT", address), "say --listen :7778, or --listen 192.0.2.1:7778 for one address of this machine")
	}
	return nil
}

// listen opens the port at which players and browsers arrive.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, hinted(fmt.Errorf("cannot listen on %s: %w", address, reason(err)), listenHint(err))
	}
	return listener, nil
}

// listenHint is what to do about an address that cannot be had.
func listenHint(err error) string {
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &name):
		return "is that an address of this machine? --listen :7777 takes all that it has"
	case errors.Is(err, syscall.EACCES):
		return "low ports are the administrator's: choose one over 1023, such as --listen :7778"
	}
	return "is another muster host running there? choose another address with --listen, such as --listen :7778"
}

// discreet takes callers' addresses out of what a server logs: whoever reads it
// may play along.
type discreet struct{ io.Writer }

var callers = regexp.MustCompile(`\b(from|serving) \S+:\d+\b`)

func (d discreet) Write(line []byte) (int, error) {
	if _, err := d.Writer.Write(callers.ReplaceAll(line, []byte("$1 somebody"))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// newServer keeps no stranger's connection that does nothing: without a code one
// could take all that the machine can hold. WebSockets have patience of their own.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute,     // ample for the page over a slow line
		IdleTimeout:  3 * time.Minute, // longer than a reverse proxy's: it would use a connection that just closes
	}
}

// serve answers for the rooms until stop is called, which waits for the end. It
// tells failed if it ends earlier.
func (p *program) serve(listener net.Listener, rooms *host.Host, failed func(error)) (stop func()) {
	server := newServer(rooms.Handler())
	server.ErrorLog = log.New(discreet{slog.NewLogLogger(p.logHandler(), slog.LevelDebug).Writer()}, "", 0)
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed(fmt.Errorf("the host stopped serving: %w", reason(err)))
		}
	})
	return func() {
		server.Close()
		work.Wait()
	}
}
