package adaptive

import (
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// Constants and tables for the fit to compare.
var (
	LikelihoodAt = likelihoodAt
	Likelihoods  = likelihoods
	FarSharpness = 1.4 // see the package's documentation
	Fitted       = map[string]float64{
		"rootShare": rootShare, "delayedShare": delayedShare, "answersPrior": answersPrior,
		"allShiftSD": allShiftSD, "allSlopeSD": allSlopeSD, "depthShiftSD": depthShiftSD, "depthSlopeSD": depthSlopeSD,
	}
)

// Column returns the column of an RTT in the likelihood table.
func Column(rtt, limit time.Duration) float64 {
	return float64(rtt-limit) / float64(limit+lineMargin)
}

// Line is a calibrator's correction: the shift, and the slopes where little and where
// much is expected.
type Line struct{ Shift, Small, Large float64 }

// Lines returns the lines of a finished plan, of all servers and by depth.
func Lines(p discovery.Plan) (all Line, byDepth []Line) {
	c := p.(*plan).estimator.calibrator
	for _, l := range c.depths {
		byDepth = append(byDepth, Line{l.shift, l.small, l.large})
	}
	return Line{c.all.shift, c.all.small, c.all.large}, byDepth
}

// LevelNames are the names in the table.
var LevelNames = [topology.Levels]string{"list", "country", "AS", "/16", "/24", "address"}
