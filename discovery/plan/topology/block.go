package topology

import "net/netip"

// Block is a range of addresses across countries and ASes: a /16 (IPv6 /32), or a /8
// (/20) with /16s in it. The blocks of a tree count from 0, each /8 before its /16s.
type Block int32

// NoBlock is the block of a node that is not of level [Prefix16], and what a /8 is
// within.
const NoBlock Block = -1

// findBlocks joins the nodes of each /16 across countries and ASes.
func (t *Tree) findBlocks() {
	index := make(map[netip.Prefix]Block)
	find := func(p netip.Prefix, within Block) Block {
		b, known := index[p]
		if !known {
			b = Block(len(t.within))
			index[p], t.within = b, append(t.within, within)
		}
		return b
	}
	t.block = make([]Block, len(t.level))
	for n, l := range t.level {
		t.block[n] = NoBlock
		if l == Prefix16 {
			addr := t.servers[t.order[t.first[n]]].Addr.Addr()
			t.block[n] = find(l.Prefix(addr), find(Country.Prefix(addr), NoBlock))
		}
	}
}

// Blocks returns the number of blocks.
func (t *Tree) Blocks() int { return len(t.within) }

// Block returns the /16 of a node of level [Prefix16], or [NoBlock] for another level.
// Other nodes may share the /16.
func (t *Tree) Block(n Node) Block { return t.block[n] }

// Within returns the /8 of a /16, or [NoBlock] for a /8.
func (t *Tree) Within(b Block) Block { return t.within[b] }
