package topology

import "net/netip"

// Block is a range of addresses whatever the countries and ASes that they are said
// to be in: a /16 (IPv6 /32), or a /8 (/20) with /16s in it. All of a tree's are
// counted from 0, a /8 before those in it.
type Block int32

// NoBlock is what a node has that is not of level [Prefix16], and what a /8 lies in.
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

// Blocks is how many blocks there are.
func (t *Tree) Blocks() int { return len(t.within) }

// Block is the /16 of a node of level [Prefix16], which other nodes may have too, or
// [NoBlock] if it is of another level.
func (t *Tree) Block(n Node) Block { return t.block[n] }

// Within is the /8 that a /16 lies in, of a /8 [NoBlock].
func (t *Tree) Within(b Block) Block { return t.within[b] }
