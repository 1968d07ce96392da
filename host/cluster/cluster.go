// Package cluster keeps the rooms of many hosts in NATS JetStream, each owned by one
// host at a time.
package cluster

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/nats-io/nats.go"
)

// Config says where the cluster is, and who this host is in it.
type Config struct {
	// URL are the NATS servers, separated by commas: nats://, tls:// or wss://.
	URL string
	// Credentials is the file of credentials that the servers ask for, CA that of the
	// certificates which signed theirs; empty where there is none.
	Credentials, CA string
	// Node is this host's name in the cluster, which no other living host has.
	Node string
	// Replicas is on how many servers everything is kept; 0 stands for as many as there
	// are, three at most.
	Replicas int
	// Prefix begins all subjects, and the names of all streams; empty stands for muster.
	// Hosts of different prefixes know nothing of each other.
	Prefix string
	// Logger takes what operators may need to read; nil discards it.
	Logger *slog.Logger
}

// Cluster is this host's part in the hosts' common memory. Any goroutine may use it.
type Cluster struct {
	config Config
	log    *slog.Logger
	conn   *nats.Conn
}

// Open joins the cluster under the node's name.
func Open(ctx context.Context, config Config) (*Cluster, error) {
	config.Prefix = cmp.Or(config.Prefix, "muster")
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	conn, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Cluster{config: config, log: config.Logger, conn: conn}, nil
}

// Close leaves the cluster.
func (c *Cluster) Close() error {
	c.conn.Close()
	return nil
}
