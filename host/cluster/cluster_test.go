package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startNATS starts a server in this process; tune may change its options.
func startNATS(t testing.TB, tune ...func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()}
	for _, f := range tune {
		f(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// join opens a cluster as a node.
func join(t testing.TB, url, node string) *Cluster {
	t.Helper()
	c, err := Open(t.Context(), Config{URL: url, Node: node})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestOpenRefuses: who cannot be part of a cluster hears why, and what to do.
func TestOpenRefuses(t *testing.T) {
	users := startNATS(t, func(o *server.Options) { o.Username, o.Password = "ann", "secret" })
	for _, tt := range []struct {
		name   string
		config Config
		want   error
	}{
		{"no name", Config{URL: users.ClientURL()}, ErrNode},
		{"a name that is none", Config{URL: users.ClientURL(), Node: "a.b"}, ErrNode},
		{"no URL", Config{Node: "a"}, ErrURL},
		{"nobody there", Config{URL: "nats://127.0.0.1:1", Node: "a"}, ErrUnreachable},
		{"no password", Config{URL: users.ClientURL(), Node: "a"}, ErrCredentials},
		{"no such credentials", Config{URL: users.ClientURL(), Credentials: "/nowhere", Node: "a"}, ErrCredentials},
		{"no such CA", Config{URL: users.ClientURL(), CA: "/nowhere", Node: "a"}, ErrCertificate},
	} {
		_, err := Open(context.Background(), tt.config)
		var said *Error
		if !errors.Is(err, tt.want) || !errors.As(err, &said) || said.Hint() == "" {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
