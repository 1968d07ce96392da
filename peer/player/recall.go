package player

import (
	"muster/discovery/plan/topology"
	"muster/host/wire"
	"muster/selection/memory"
)

// recall is what the program remembers of the RTTs of earlier sessions. The host forecasts by it.
type recall struct {
	cells []memory.Cell
	kept  int // results of the current round that it has
}

// say sends the memory to the host.
func (r *recall) say(p *port) {
	if len(r.cells) > 0 {
		p.send(wire.Memory{Cells: r.cells})
	}
}

// keep adds the results of a round that ends, or that has led to a launch.
func (r *recall) keep(p *port, of *round) {
	if of == nil || of.answered <= r.kept {
		return
	}
	if session := memory.Of(topology.New(of.servers), of.results, p.now); len(session) > 0 {
		r.cells = memory.After(r.cells, session, p.now)
		p.do(Remember{r.cells})
	}
	r.kept = of.answered
}
