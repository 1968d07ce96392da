// Package prober drives a [discovery.Plan] against the real network: one UDP
// socket per address family asks every server, however many there are, so that
// a home router sees one NAT mapping.
package prober

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"muster/discovery"
)

// What an Options field of 0 means.
const (
	DefaultRate     = 250
	DefaultInFlight = 32768
	DefaultRetries  = 2
	DefaultTimeout  = time.Second
)

// Options is how a [Prober] asks.
type Options struct {
	Protocol discovery.Protocol
	// Rate is the number of new probes per second; 0 is DefaultRate.
	Rate float64
	// InFlight is how many servers may be asked and neither answered nor given
	// up; 0 is DefaultInFlight.
	InFlight int
	// Retries is how often a query is repeated; negative is never, 0 is
	// DefaultRetries.
	Retries int
	// Timeout is the silence after a query that counts as no reply; 0 is
	// DefaultTimeout. Repeats are spaced by at least a second.
	Timeout time.Duration
	// LocalAddr is the source address. The zero Addr is any address of both
	// families; another one restricts the prober to its family.
	LocalAddr netip.Addr
	// Logger is told what goes wrong; nil is silence.
	Logger *slog.Logger
}

// Prober owns the sockets. Its methods may be called from several goroutines,
// but one Run at a time.
type Prober struct{}

// Stats counts what a [Prober] did in all its runs.
type Stats struct {
	PacketsSent, BytesSent         int
	PacketsReceived, BytesReceived int
	Retries                        int
	Duplicates                     int
	Strays                         int
	Malformed                      int
	Refused                        int
	Unreachable                    int
	SendErrors                     int
	InFlight, InFlightCap          int
}

// New opens the sockets and starts their readers.
func New(Options) (*Prober, error) { return nil, errors.ErrUnsupported }

// Close ends the readers and waits for them.
func (p *Prober) Close() error { return nil }

// LocalAddrs are the bound source addresses.
func (p *Prober) LocalAddrs() []netip.AddrPort { return nil }

// Run executes the plan over the list of servers.
func (p *Prober) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	return errors.ErrUnsupported
}

// Stats is safe at any time.
func (p *Prober) Stats() Stats { return Stats{} }
