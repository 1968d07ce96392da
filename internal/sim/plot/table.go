package plot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/internal/sim"
	"muster/internal/term"
)

// Table is laid out like the papers' tables, with some figures that they lack. With hasExcess it
// shows how much farther the nearest servers found are than the nearest that exist.
func Table(rows []sim.Simulation, hasExcess bool) *term.Table {
	t := &term.Table{Columns: []term.Column{
		term.Left("PLACE"), term.Whole("STRATEGY"), term.Whole("AUTO-STOP"), term.Right("LISTED"), term.Right("CLUSTERS"), term.Right("INITIAL"),
		term.Right("PROBES"), term.Right("%"), term.Right("SECONDS"), term.Right("PLAYABLE"), term.Right("RECALL %"), term.Right("WORST %"),
		term.Right("10 AFTER"), term.Right("100 AFTER"), term.Right("EXCESS MS"),
	}, Spare: []string{"CLUSTERS", "INITIAL", "WORST %", "LISTED", "10 AFTER", "PLAYABLE", "100 AFTER", "AUTO-STOP",
		"SECONDS", "PROBES", "EXCESS MS"}}
	after := func(probes int) any { // the probes before an event, if it happened
		if probes == 0 {
			return term.None
		}
		return probes
	}
	for _, r := range rows {
		excess := ""
		if hasExcess {
			excess = tenths(r.ExcessMS)
		}
		place := strings.TrimSuffix(r.Data, ".csv")
		if r.Start != "" {
			place += ", " + string(r.Start)
		}
		t.Add(place, r.Strategy, r.AutoStop, r.Listed, r.Clusters, r.Calibration, r.Probes, tenths(r.Percent), tenths(r.Seconds), r.Playable,
			tenths(100*r.Recall), tenths(100*r.WorstRecall), after(r.First10), after(r.First100), excess)
	}
	return t
}

// GroupTable compares the ways for a group to find its server.
func GroupTable(rows []sim.GroupSimulation) *term.Table {
	t := &term.Table{Columns: []term.Column{
		term.Whole("METHOD"), term.Right("% A PLAYER"), term.Whole("FOUND"), term.Right("SCORE MS"), term.Right("OPTIMUM MS"),
		term.Right("REGRET MS"), term.Right("95 % WITHIN"), term.Right("ROUNDS"), term.Right("SECONDS"),
	}, Spare: []string{"OPTIMUM MS", "ROUNDS", "SECONDS", "95 % WITHIN", "SCORE MS", "FOUND"}}
	for _, r := range rows {
		found := fmt.Sprintf("%d of %d", r.FoundRuns, r.Runs)
		ms := []any{tenths(r.ScoreMS), tenths(r.OptimumMS), tenths(r.RegretMS), tenths(r.RegretP95MS)}
		switch r.FoundRuns {
		case r.Runs:
			found = "yes"
		case 0:
			found, ms = "no", []any{term.None, term.None, term.None, term.None}
		}
		t.Add(slices.Concat([]any{r.Method, tenths(r.Percent), found}, ms, []any{r.Rounds, tenths(r.Seconds)})...)
	}
	return t
}

// tenths formats a number with one digit behind the point.
func tenths(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
