package discovery

import (
	"errors"
	"net/netip"
)

// Nonce marks one query, so that its reply differs from forged, stale and repeated
// ones.
type Nonce uint64

// Protocol queries one kind of server and reads its replies. It turns bytes into bytes and keeps no
// state. Its methods may be called from several goroutines.
type Protocol interface {
	// AppendQuery appends the datagram that asks a server about itself. The challenge
	// is the one in the server's last reply, empty at first.
	AppendQuery(b []byte, nonce Nonce, challenge []byte) []byte
	// Parse reads the datagrams that came from one server since the query, in the order
	// of their arrival. It keeps none of them.
	Parse(datagrams [][]byte) (Reply, error)
}

// Reply is what a server's datagrams mean.
type Reply struct {
	// Nonce is the nonce of the answered query, if Echoed.
	Nonce Nonce
	// NonceBits is how many low bits of the nonce the protocol returns; 0 is all of
	// them. The other bits of Nonce are 0.
	NonceBits int
	// Echoed reports whether the protocol returns the nonce. The reply then counts only
	// if the nonce is one of ours. Otherwise only the sender's address identifies it.
	Echoed bool
	// Challenge must be part of a repeated query before the server tells more. The
	// reply that carries it is a valid RTT sample.
	Challenge []byte
	// Incomplete reports that more datagrams belong to this reply.
	Incomplete bool
	// Info is nil if the reply is a challenge or incomplete. It is empty if the
	// protocol tells only that the server is there.
	Info *Info
	// Farewell is a datagram that the protocol expects after the answer and does not
	// answer itself. Most protocols have none.
	Farewell []byte
}

// Answers reports whether the reply belongs to a query with this nonce.
func (r Reply) Answers(nonce Nonce) bool {
	whole := ^Nonce(0)
	if r.NonceBits > 0 {
		whole >>= max(0, 64-r.NonceBits)
	}
	return r.Nonce == nonce&whole
}

// Aside is a [Protocol] whose servers answer queries at another port than players
// connect to. Lists have the players' port.
type Aside interface {
	Protocol
	// QueryPort returns the port to query for a server whose players use this one.
	QueryPort(port uint16) uint16
}

// Packed is a [Protocol] whose servers may compress their replies. Unpacking a reply costs the
// reader far more than packing it costs the sender. So the reader unpacks only a few replies from
// one server.
type Packed interface {
	Protocol
	// Unpacks reports whether Parse unpacks one of these datagrams. It never unpacks
	// more than one.
	Unpacks(datagrams [][]byte) bool
}

// Announced is a [Protocol] whose servers announce themselves on a local network time
// and again.
type Announced interface {
	Protocol
	// Group returns the multicast address of the announcements.
	Group() netip.AddrPort
	// ParseAnnouncement reads such a datagram: the sender's port for players, and its
	// Info.
	ParseAnnouncement(datagram []byte) (port uint16, info Info, err error)
}

// Stream is a [Protocol] whose servers are asked over TCP, each over a connection of
// its own. The RTT is measured with the connection's first two packets.
//
// The greeting and the first query go out at once. Another query follows as long as the
// last reply has a challenge, even if it has an Info. Parse gets all bytes since the
// connection began as one datagram. Without greeting and query, a server that accepts
// the connection counts as there.
//
// If a query's nonce comes back much later than the connection took, a machine nearer
// than the server accepts its connections. The RTT is then that of this query.
type Stream interface {
	Protocol
	// AppendGreeting appends the first bytes to send to the server at an address, or
	// under a name; see discovery/hostport.
	AppendGreeting(b []byte, to netip.AddrPort) []byte
}

// Lister asks one kind of master for its list of servers: bytes in, bytes out, no state.
type Lister interface {
	// AppendListQuery appends the datagram that asks for the list.
	AppendListQuery(b []byte) []byte
	// ParseList reads one datagram of a list, and yields its servers: each one's address,
	// or none for a master that is a server itself, and what the list says about it, or
	// nil. End is the master's mark for its last datagram. A master that refuses is an
	// error of its own; all others wrap [ErrMalformed]. Servers before an error count.
	ParseList(b []byte, yield func(at netip.AddrPort, info *Info)) (end bool, err error)
	// Repeats reports whether a second question may bring what was lost of the first
	// list. Otherwise it follows only if no list came.
	Repeats() bool
}

// ErrMalformed is wrapped by every error of a parser: the bytes break the protocol.
var ErrMalformed = errors.New("malformed")
