// Package coordinate finds the group's best server though nobody measured
// everything: round after round it says which servers each player should still
// ask, and how much better a server could yet be found. It is pure; whoever
// drives it carries questions and answers.
//
//	players' results ─▶ Observe ─▶ candidates ─▶ posterior: a value for every
//	                                   │         address, and how uncertain it is
//	Next ◀─ questions ◀─ samples ◀─────┼───────────────┘
//	Progress, Hidden ◀─────────────────┘
//
// # Model
//
// A candidate is an address and what each player measured of it. Its score S is
// the group's objective of the RTTs, and 10⁶ ms for each limit that they break. Its
// value is
//
//	v = ln max(S − b, 0.5 ms),   b = S* − (3 ms + 3 % of S*)
//
// with the incumbent's score S*: it tells good servers apart and takes no notice of
// how bad bad ones are. Values of all addresses are a Gaussian model on the list's
// topology: a node's is its parent's and a deviation of N(0, τ²), with a τ for each
// level, and for each node where enough of its children were observed. A child in
// a hundred or so is astray: like another part of its AS or country.
//
// # Estimator
//
// Precisions add up from the leaves, means follow them (posterior.go, gather). τ²
// of a level is what the squares of its nodes' children leave once the noise of the
// children is taken out, with a prior of priorWeight nodes; that of a node the same,
// with usualWeight of its level's (learn).
//
// A missing RTT is predicted as the mean of what that player measured at the nearest
// ancestor, and is as far off as such predictions were on that level so far
// (predictor.go). Such a candidate's value is off by as much as if all of its
// predictions err the same way (estimator.go, judge). What is guessed so says
// nothing of τ. An RTT over its relatives' by 3.3 standard deviations and 15 ms is
// suspect: it counts as not measured in v, and the optimistic bound has the
// relatives' in its place.
//
// # Acquisition
//
// In a round (acquisition.go) everybody measures a server of each unknown country
// first; candidates that one player found and that are not hopeless (4 standard
// deviations) are finished by all; players with a suspect RTT ask a neighbour; large
// or doubtful countries have another AS measured (country.go). Then at least 16
// worlds are drawn from the posterior (Thompson 1933), and one player each, who was
// asked least, asks for the best addresses of each. An unknown AS is drawn from the
// known ones of its country, a smoothed bootstrap (Silverman 1986). Every fourth
// world is bold: there an AS is nearer than all n known ones of its country with
// probability 1/(n+1), and a block may be astray.
//
// # Stopping rule
//
// The regret bound (progress.go) is what 95 % of the last 24 bold worlds stay under
// with S* − min S, at least the gain of the last five rounds, and at least the noise
// of a packet pair. The search ends when it is at most Options.Enough, after 8
// rounds (3 for players who had measured before) at the earliest, when the budget is
// spent, or after 20 rounds.
//
// # Symbols
//
//	S, S*     candidate.score, estimator.best      score; the incumbent's
//	b         estimator.base                       what values are counted from
//	v         estimator.value, candidate.value     acquisition value
//	τ²        variances.usual, estimate.spread     variance of children: level, node
//	astray    variances.astray                     share of children that are elsewhere
//	n         countryStats, posterior.known        known ASes of a country
//	bound     Progress.RegretBound                 how much better a server may be
//
// # Where the numbers come from
//
// Fitted ones are fitted again, and compared, on worlds that nothing was tuned on, by
//
//	go test ./selection/coordinate -run Fit -v -fit 3 [-fit-matrix FILE]
//
// Tuned ones trade questions for regret in whole evenings: TestSweep in internal/sim
// and docs/experiments/group-search.md. On nine synthetic worlds (-fit 1):
//
//	number                          origin               the fit says
//	priorSpread, from the list      fitted: measured     0.78, 0.47, 0.10, 0.16, 0.11
//	  0.6, 0.35, 0.25, 0.2, 0.12    and synthetic
//	priorError, in ms, from the     fitted               81, 27, 13, 9, 5
//	  list 60, 28, 14, 8, 5
//	astrayPrior 0.01                chosen: databases    0.05, 0.03, 0.03
//	                                of places are good
//	nothingRTT 150 ± 100 ms         chosen               122 ± 87
//	priorWeight, usualWeight, …     tuned
//	margin 3 ms + 3 %, batch, bold  tuned
//	650 servers, 20 rounds          chosen: 2 % of a long list; what people wait for
//
// Both priors give way within a few rounds to what a search itself sees. Whether the
// fit would be better was not measured.
package coordinate
