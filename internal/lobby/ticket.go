package lobby

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/host/access"
	"muster/internal/netinfo"
)

// isOwnUser reports whether a request on this machine comes from the user's own programs.
func isOwnUser(r *http.Request) bool {
	client, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	server, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return err == nil && is && netinfo.IsOwnUser(client, server)
}

// ticketTime is how long a browser may take to open the page.
const ticketTime = 5 * time.Minute

// Ticket returns a link on this machine that takes the user's first browser to a page. Every user
// here can read the browser's command line, and the page's own link holds a secret.
func Ticket(ctx context.Context, personal string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return personal[:strings.LastIndexByte(personal, '.')]
	}
	path := "/open/" + access.NewSecret()
	used := make(chan struct{})
	once := sync.OnceFunc(func() { close(used) })
	server := &http.Server{ReadTimeout: ticketTime, Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		isFirst := false
		select {
		case <-used:
		default:
			isFirst = r.URL.Path == path && r.Host == listener.Addr().String() && isOwnUser(r)
		}
		if !isFirst {
			http.NotFound(w, r)
			return
		}
		once()
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, personal, http.StatusSeeOther)
	})}
	go server.Serve(listener) // until it is closed below
	go func() {
		select {
		case <-used:
			wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			server.Shutdown(wait) // lets the answer out
		case <-time.After(ticketTime):
		case <-ctx.Done():
		}
		server.Close()
	}()
	return "http://" + listener.Addr().String() + path
}
