package discovery

import (
	"errors"
	"net/netip"
)

// Nonce marks one query, so that its reply can be told from forged, stale and
// repeated ones.
type Nonce uint64

// Protocol is how servers of a kind are queried and understood: bytes in, bytes
// out, no state. Its methods may be called from several goroutines.
type Protocol interface {
	// AppendQuery appends the datagram that asks a server about itself. The
	// challenge is what the server's last reply demanded, empty at first.
	AppendQuery(b []byte, nonce Nonce, challenge []byte) []byte
	// Parse reads the datagrams that came from one server since the query, in
	// the order of their arrival. It keeps none of them.
	Parse(datagrams [][]byte) (Reply, error)
}

// Reply is what a server's datagrams mean.
type Reply struct {
	// Nonce is the nonce of the query that is answered, if Echoed.
	Nonce Nonce
	// NonceBits is how many of the nonce's low bits the protocol returns, the others
	// being 0 in Nonce; 0 is all of them.
	NonceBits int
	// Echoed: the protocol returns the nonce, so the reply counts only if the
	// nonce is one of ours. Without it the sender's address must do.
	Echoed bool
	// Challenge is what the server wants to see in a repeated query before it
	// tells more. The reply that carries it is a valid RTT sample.
	Challenge []byte
	// Incomplete: more datagrams belong to this reply.
	Incomplete bool
	// Info is nil if the reply is a challenge or incomplete, and empty if the protocol
	// tells no more than that the server is there.
	Info *Info
	// Farewell is a datagram that politeness wants sent once the server has answered,
	// and that is not answered; mostly there is none.
	Farewell []byte
}

// Answers reports whether the reply, which returns a nonce, belongs to a query that
// carried this one.
func (r Reply) Answers(nonce Nonce) bool {
	whole := ^Nonce(0)
	if r.NonceBits > 0 {
		whole >>= max(0, 64-r.NonceBits)
	}
	return r.Nonce == nonce&whole
}

// Aside is a [Protocol] whose servers are asked at another port than players connect
// to. Lists name the players' port.
type Aside interface {
	Protocol
	// QueryPort is where the server that players reach at a port is asked.
	QueryPort(port uint16) uint16
}

// Packed is a [Protocol] whose servers may pack their replies. A packed reply costs
// the reader far more than the sender, so the reader unpacks only a few from one
// server.
type Packed interface {
	Protocol
	// Unpacks reports whether Parse unpacks one of these datagrams. It never unpacks
	// more than one.
	Unpacks(datagrams [][]byte) bool
}

// Announced is a [Protocol] whose servers tell everybody on a local network time and again
// that they are there.
type Announced interface {
	Protocol
	// Group is the multicast address that they tell it to.
	Group() netip.AddrPort
	// ParseAnnouncement reads such a datagram: the port at which its sender lets players
	// in, and what it says besides.
	ParseAnnouncement(datagram []byte) (port uint16, info Info, err error)
}

// Stream is a [Protocol] whose servers are asked over TCP, each over a connection of its
// own. The RTT is that of the connection's first two packets, and its words are what
// follows: the greeting and the first query at once, and then another query for as long
// as the last reply has a challenge, even if it has an Info. Parse gets all that came
// since the connection began as one datagram. If there is neither greeting nor query,
// the server is there if it takes the connection.
//
// If a query's nonce comes back much later than the connection took, somebody nearer
// than the server takes its connections, and the RTT is that of this query.
type Stream interface {
	Protocol
	// AppendGreeting appends what is said first to the server at an address.
	AppendGreeting(b []byte, to netip.AddrPort) []byte
}

// ErrMalformed is wrapped by every error of a parser: the bytes are not what
// the protocol allows.
var ErrMalformed = errors.New("malformed")
