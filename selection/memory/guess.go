package memory

import (
	"math"

	"muster/discovery/countries"
	"muster/discovery/plan/topology"
)

// Guess returns vague forecasts for a player in a country of whom nothing is remembered: for the countries of
// a list, in the order of the tree. They say what usually lies between two countries. Their errors are
// large, and their own. It is nil if the player's country is not known.
func Guess(tree *topology.Tree, country string) (forecasts []Forecast) {
	var nodes []topology.Node
	var to []string
	for node := topology.Root + 1; int(node) < tree.Nodes(); node = tree.End(node) {
		nodes, to = append(nodes, node), append(to, tree.List()[tree.Servers(node)[0]].Country)
	}
	for i, w := range countries.Ways(country, to) {
		if w.MS > 0 {
			forecasts = append(forecasts, Forecast{Node: nodes[i], MS: w.MS, SD: math.Hypot(w.Off, w.Spread), Error: w.Off, IsVague: true})
		}
	}
	return forecasts
}
