package prober

import (
	"net/netip"

	"muster/discovery"
)

// targets knows, for the length of a run, which listed server is where.
type targets struct {
	at      []netip.AddrPort       // by index in the list
	first   map[netip.AddrPort]int // the first entry with this address
	states  []target               // by index of such first entries
	doubles map[int]*double        // addresses that are listed more than once
	free    []*probe
}

// target is what happens to one address.
type target struct {
	probe *probe // nil: not yet, or no longer, under way
	done  bool
}

// double is an address with several entries in the list. It is asked once, and
// what came of it holds for all that the plan names.
type double struct {
	result  discovery.Result
	waiting []discovery.Result // entries named while it is under way
}

func newTargets(servers []discovery.Server) *targets {
	t := &targets{
		at:      make([]netip.AddrPort, len(servers)),
		first:   make(map[netip.AddrPort]int, len(servers)),
		states:  make([]target, len(servers)),
		doubles: map[int]*double{},
	}
	for i, server := range servers {
		addr := discovery.Canonical(server.Addr)
		t.at[i] = addr
		if first, listed := t.first[addr]; listed {
			t.doubles[first] = &double{}
		} else {
			t.first[addr] = i
		}
	}
	return t
}

// slab is how many probes are allocated at once.
const slab = 128

// begin puts a server under way.
func (t *targets) begin(result discovery.Result, index int) *probe {
	if len(t.free) == 0 {
		probes := make([]probe, slab)
		for i := range probes {
			t.free = append(t.free, &probes[i])
		}
	}
	last := len(t.free) - 1
	p := t.free[last]
	t.free = t.free[:last]
	p.begin(result, index)
	t.states[index].probe = p
	return p
}

// end takes a server off the way. The probe is used again: whoever remembers it
// must compare its generation.
func (t *targets) end(p *probe) {
	t.states[p.target] = target{done: true}
	p.gen++
	t.free = append(t.free, p)
}
