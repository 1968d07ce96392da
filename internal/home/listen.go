package home

import (
	"crypto/rand"
	"net"
	"strconv"

	"muster/internal/invite"
)

// DefaultPort is Home's port unless another program has it. A fixed port matters because browsers
// store permissions, such as notifications, by address and port.
const DefaultPort = "7776"

// Listen opens loopback at a port or, if that is taken, at another.
func Listen(port string) (net.Listener, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return net.Listen("tcp4", "127.0.0.1:0")
	}
	return listener, nil
}

// morePorts is how many ports after the usual one are tried for a room.
const morePorts = 10

// freeListen returns where a room on this machine listens: the usual port, or the next free one.
func freeListen() string {
	usual, _ := strconv.Atoi(invite.DefaultPort) // it is a number
	for port := usual; port < usual+morePorts; port++ {
		address := ":" + strconv.Itoa(port)
		if probe, err := net.Listen("tcp", address); err == nil {
			probe.Close()
			return address
		}
	}
	return ":0"
}

// secret returns a text that nobody can guess.
func secret() string { return rand.Text() }
