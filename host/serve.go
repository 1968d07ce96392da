package host

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"sync"
	"time"

	"muster/host/admission"
	"muster/host/pressure"
)

// Serve serves a listener until stop is called, by TLS if encryption is not nil. stop waits for the
// end. If serving ends earlier, Serve calls failed.
func (h *Host) Serve(listener net.Listener, encryption *tls.Config, failed func(error)) (stop func()) {
	listener = admission.Listen(h.metrics.Listening(listener), h.config.Proxies, boundsOf(h.config, h.door.pressed))
	if encryption != nil {
		listener = tls.NewListener(listener, encryption)
	}
	server := newServer(h.Handler())
	server.ErrorLog = log.New(anonymous{slog.NewLogLogger(h.config.Logger.Handler(), slog.LevelDebug).Writer()}, "", 0)
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
	return func() {
		server.Close()
		work.Wait()
	}
}

// boundsOf returns the bounds of connections and pages, which note where what gives way came from.
func boundsOf(c Config, pressed *pressure.Table) admission.Bounds {
	b := admission.BoundsOf(c.Files)
	b.Bit = func(limit pressure.Limit, from netip.Addr) { pressed.Note(limit, from, c.Clock.Now()) }
	return b
}

// newServer returns a server that closes strangers' idle connections. Otherwise someone without a
// code could use up the machine. WebSockets have their own time limits.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadTimeout: 10 * time.Second,
		MaxHeaderBytes: 16 << 10,        // enough for a browser's, with other programs' cookies under the same name
		WriteTimeout:   time.Minute,     // ample for the page over a slow line
		IdleTimeout:    3 * time.Minute, // longer than a reverse proxy's, which would otherwise use a connection that was just closed
	}
}

// anonymous removes callers' addresses from a server's log, because its reader may be one of the
// players.
type anonymous struct{ io.Writer }

var (
	callers = regexp.MustCompile(`\b(from|serving) \S+:\d+\b`)
	// addresses matches texts that may be addresses, with or without a port.
	addresses = regexp.MustCompile(`\[?[0-9a-fA-F.:]{2,}(%[0-9a-zA-Z.-]+)?(\](:[0-9]+)?)?`)
)

func (d anonymous) Write(line []byte) (int, error) {
	text := addresses.ReplaceAllFunc(callers.ReplaceAll(line, []byte("$1 somebody")), func(word []byte) []byte {
		addr := bytes.TrimRight(word, ":.")
		_, port := netip.ParseAddrPort(string(addr))
		_, alone := netip.ParseAddr(string(bytes.Trim(addr, "[]")))
		if port != nil && alone != nil {
			return word
		}
		return append([]byte("somebody"), word[len(addr):]...)
	})
	if _, err := d.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(line), nil
}
