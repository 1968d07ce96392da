package memory

import (
	"iter"

	"muster/discovery/plan/topology"
)

// Parts yields the parts of a list down to a level, in the order of its tree.
func Parts(tree *topology.Tree, to topology.Level) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for node := topology.Root + 1; int(node) < tree.Nodes(); node++ {
			if tree.Level(node) > to {
				continue
			}
			if part, known := partOf(tree, node); known && !yield(part) {
				return
			}
		}
	}
}
