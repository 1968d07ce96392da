package fleet

import (
	"fmt"
	"net/netip"
	"slices"
	"sort"
)

// A fleet lives in 127.0.0.0/8, and the servers of a world all over the internet. Folding keeps the
// prefixes that strategies cluster by, where there is room:
//
//	127.  B  .  L  .  H
//	      │     │     └ 1…255: the address, in its order within the leaf
//	      │     └ leaf: one /24 of the world
//	      └ block: one /16 of the world
//
// Different addresses stay different. Addresses that share a /24 or a /16 in the world share it on
// loopback. The reverse holds for /24s if the blocks have room for all of them, or else for the
// next longest prefix that fits. It holds for /16s if there are no more of them than blocks.
// Otherwise neighbours in the numbering, which are often neighbours on the map, share a block, as
// few as possible. A /8 has no counterpart.
//
// 127.0/16 is left to the machine's own services, players sit in 127.200/13, and 127.255/16 holds
// the broadcast address.

const (
	// These are the lengths of the prefixes that become blocks and leaves, for IPv4. Those of IPv6
	// are twice as long.
	blockBits = 16
	leafBits  = 24
	// maxHosts is how many addresses a leaf holds, and maxLeaves how many leaves a block holds.
	maxHosts  = 255
	maxLeaves = 256
)

// blocks returns the second bytes that servers' addresses may have.
func blocks() []byte {
	var free []byte
	for b := 1; b < 255; b++ {
		if !seatsPrefix.Contains(netip.AddrFrom4([4]byte{127, byte(b)})) {
			free = append(free, byte(b))
		}
	}
	return free
}

// foldAddrs gives each address of a world its loopback address.
func foldAddrs(addrs []netip.Addr) (map[netip.Addr]netip.Addr, error) {
	sorted := slices.Clone(addrs)
	slices.SortFunc(sorted, netip.Addr.Compare)
	sorted = slices.Compact(sorted)
	for bits := leafBits; bits > blockBits; bits-- {
		var networks [][][]netip.Addr // by leaf
		for _, network := range sharing(sorted, blockBits) {
			networks = append(networks, sharing(network, bits))
		}
		if folded, ok := fold(networks); ok {
			return folded, nil
		}
	}
	return nil, fmt.Errorf("fleet: %d addresses are too many, or too crowded, for 127.0.0.0/8", len(sorted))
}

// sharing cuts sorted addresses into runs that share a prefix: of that many bits for IPv4, of twice
// as many for IPv6.
func sharing(sorted []netip.Addr, bits int) [][]netip.Addr {
	var runs [][]netip.Addr
	for len(sorted) > 0 {
		own := bits
		if sorted[0].Is6() {
			own *= 2
		}
		prefix, _ := sorted[0].Prefix(own)
		n := 1
		for n < len(sorted) && prefix.Contains(sorted[n]) {
			n++
		}
		runs, sorted = append(runs, sorted[:n]), sorted[n:]
	}
	return runs
}

// fold lays networks of leaves into the blocks, in their order.
func fold(networks [][][]netip.Addr) (map[netip.Addr]netip.Addr, bool) {
	free := blocks()
	most := sort.Search(maxLeaves+1, func(n int) bool { return blocksFor(networks, n) <= len(free) })
	if most > maxLeaves {
		return nil, false
	}
	folded := map[netip.Addr]netip.Addr{}
	block, used := 0, 0
	for _, leaves := range networks {
		if used > 0 && used+len(leaves) > most {
			block, used = block+1, 0
		}
		for _, leaf := range leaves {
			if len(leaf) > maxHosts {
				return nil, false
			}
			for i, addr := range leaf {
				folded[addr] = netip.AddrFrom4([4]byte{127, free[block], byte(used), byte(i + 1)})
			}
			used++
		}
	}
	return folded, true
}

// blocksFor returns how many blocks the networks need if no shared block has more than most leaves.
func blocksFor(networks [][][]netip.Addr, most int) int {
	n, used := 0, most
	for _, leaves := range networks {
		if n == 0 || used+len(leaves) > most {
			n, used = n+1, 0
		}
		used += len(leaves)
	}
	return n
}
