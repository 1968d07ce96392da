package netinfo

import (
	"net"
	"net/http"
)

// IsOwnRequest reports whether a request on this machine comes from a program of this user.
func IsOwnRequest(r *http.Request) bool {
	client, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	server, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return err == nil && is && IsOwnUser(client, server)
}
