package prober

import "sync/atomic"

// Stats counts what a [Prober] did in all its runs. Bytes are of UDP payload.
type Stats struct {
	PacketsSent, BytesSent         int
	PacketsReceived, BytesReceived int
	// Retries are queries that were repeated after a silence.
	Retries int
	// Challenges are queries repeated because the server wanted its challenge
	// back.
	Challenges int
	// Duplicates are replies that had come already.
	Duplicates int
	// Strays are datagrams nobody had asked for: from a foreign address, with a
	// foreign nonce, late for an earlier run, or ICMP errors about queries that
	// are not ours.
	Strays int
	// Malformed are datagrams that the protocol does not allow.
	Malformed int
	// Refused are servers that an ICMP error told to be closed.
	Refused int
	// Unreachable are servers that were lost because no packet could be sent to
	// them: no route, no socket of their family, denied by a local rule.
	Unreachable int
	// SendErrors are failed writes, those that were repeated included.
	SendErrors int
	// InFlight is how many servers are asked and neither answered nor given up,
	// InFlightCap how many may be at present.
	InFlight, InFlightCap int
}

// counters are written by Run's goroutine and read by any.
type counters struct {
	packetsSent, bytesSent         atomic.Int64
	packetsReceived, bytesReceived atomic.Int64
	retries, challenges            atomic.Int64
	duplicates, strays, malformed  atomic.Int64
	refused, unreachable           atomic.Int64
	sendErrors                     atomic.Int64
	inFlight, cap                  atomic.Int64
}

func (c *counters) stats() Stats {
	return Stats{
		PacketsSent:     int(c.packetsSent.Load()),
		BytesSent:       int(c.bytesSent.Load()),
		PacketsReceived: int(c.packetsReceived.Load()),
		BytesReceived:   int(c.bytesReceived.Load()),
		Retries:         int(c.retries.Load()),
		Challenges:      int(c.challenges.Load()),
		Duplicates:      int(c.duplicates.Load()),
		Strays:          int(c.strays.Load()),
		Malformed:       int(c.malformed.Load()),
		Refused:         int(c.refused.Load()),
		Unreachable:     int(c.unreachable.Load()),
		SendErrors:      int(c.sendErrors.Load()),
		InFlight:        int(c.inFlight.Load()),
		InFlightCap:     int(c.cap.Load()),
	}
}
