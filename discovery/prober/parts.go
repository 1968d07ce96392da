package prober

// A reply in several datagrams is kept until it is whole, within these bounds.
const (
	maxParts      = 64
	maxPartsBytes = 64 << 10
	// maxAllParts bounds what all servers together can make us keep.
	maxAllParts = 4 << 20
)

// parts are the datagrams of one server's incomplete reply.
type parts struct {
	first     arrival // of the first one: the RTT is that of a packet pair
	datagrams [][]byte
	bytes     int
}

// partsBudget is what all incomplete replies hold together.
type partsBudget struct{ bytes int }

// keep copies a datagram of an incomplete reply. It says no where a bound is
// met; the reply then stays incomplete, and silence does the rest.
func (b *partsBudget) keep(p *probe, body []byte, at arrival) bool {
	if p.parts == nil {
		p.parts = &parts{first: at}
	}
	s := p.parts
	if len(s.datagrams) == maxParts || s.bytes+len(body) > maxPartsBytes || b.bytes+len(body) > maxAllParts {
		return false
	}
	s.datagrams = append(s.datagrams, append([]byte(nil), body...))
	s.bytes += len(body)
	b.bytes += len(body)
	return true
}

// drop forgets a server's incomplete reply.
func (b *partsBudget) drop(p *probe) {
	if p.parts != nil {
		b.bytes -= p.parts.bytes
		p.parts = nil
	}
}
