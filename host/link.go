package host

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"rsc.io/qr"

	"muster/host/access"
)

// link is the room's link as friends can use it: at the host's public URL, or on
// the address that the page was opened at, or on the host's own if that was this
// machine's.
func (h *Host) link(r *http.Request, code string) string {
	key := access.Key{Code: code}
	if r.TLS != nil {
		key.Fingerprint = h.config.Fingerprint
	}
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/", Fragment: key.String()}
	if r.TLS != nil || h.isForwardedTLS(r) {
		u.Scheme = "https"
	}
	switch public := h.config.PublicURL; {
	case public != nil:
		u.Scheme, u.Host = public.Scheme, public.Host
	case h.config.Address != "" && isLoopback(r.Host):
		u.Host = h.config.Address
	}
	return u.String()
}

// isForwardedTLS tells that a proxy of ours was asked over TLS.
func (h *Host) isForwardedTLS(r *http.Request) bool {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && isProxy(socket.Addr().Unmap(), h.config.Proxies) && r.Header.Get("X-Forwarded-Proto") == "https"
}

func isLoopback(hostport string) bool {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = hostport
	}
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}

// serveQR draws the room's link for phones.
func (h *Host) serveQR(w http.ResponseWriter, r *http.Request) {
	a := h.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	code, err := qr.Encode(h.link(r, a.code), qr.M)
	if err != nil {
		http.Error(w, "the link is too long for a QR code", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(drawQR(code))
}

// drawQR draws dark on light whatever the page's colours: phones want that.
func drawQR(code *qr.Code) []byte {
	const margin = 2
	var b bytes.Buffer
	side := code.Size + 2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><rect width="100%%" height="100%%" fill="#fff"/><path fill="#000" d="`, side, side)
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+margin, y+margin)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.Bytes()
}
