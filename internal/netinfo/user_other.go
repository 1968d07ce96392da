//go:build !linux

package netinfo

import "net"

// IsOwnUser reports whether a connection from client to server, both on this machine, is of
// a program of the user's who runs this one, as far as this system says: here it does not,
// and everybody is taken for the user.
func IsOwnUser(client, server net.Addr) bool { return true }
