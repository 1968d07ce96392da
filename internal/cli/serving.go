package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"muster/host"
)

// listen opens the port at which players and browsers arrive.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, hinted(fmt.Errorf("cannot listen on %s: %w", address, reason(err)),
			"is another muster host running there? choose another address with --listen, such as --listen :7778")
	}
	return listener, nil
}

// serve answers for the rooms until stop is called, which waits for the end. It
// tells failed if it ends earlier.
func (p *program) serve(listener net.Listener, rooms *host.Host, failed func(error)) (stop func()) {
	server := &http.Server{
		Handler: rooms.Handler(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(p.logHandler(), slog.LevelDebug),
	}
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
