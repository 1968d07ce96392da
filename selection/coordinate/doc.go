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
// A server's score f is what the group's rule makes of the players' RTTs
// ([selection.Objective]). Its value is y = log(f − b), at least leastAbove over
// the base b = f* − (betterBy + betterShare·f*), where f* is the lowest score so
// far: good servers are told apart, bad ones are all alike. A deviation may well be half
// of what it is so far; there the share is fairerShare. The values are Gaussian on the
// list's topology: a node has its parent's value and a deviation of variance τ²
// (posterior.go).
//
// Limits come before scores: each that is broken counts 10⁶ ms. As long as the best
// breaks one that might be kept, every second round climbs: f is then the highest of the
// RTTs, f* that limit, and all below goes for it in place of the score.
//
// # Estimator
//
// Servers of the group's own, which may be so much worse (selection.Criteria.Ours), are
// measured by everybody, and compete with others by scores that are so much lower; what
// their RTTs say of their neighbours stays.
//
// A candidate is an address that somebody measured. RTTs that are missing are
// predicted: the mean of what the player measured under the nearest ancestor, as
// far off as such predictions have been at that level (predictor.go). Those that
// stick out of the player's other RTTs in the AS are suspect, as if a full queue had
// held them up, and are predicted too; where they make a server look fairer, they do not
// count for it. The value's standard deviation is then that of the score if all
// predictions err the same way, over f − b. To a deviation what they have in common does
// not matter: there the share ownWay of each error is taken for the player's own.
// A guest who measures nothing (Options.Guests) has RTTs that follow from the players',
// and errors that follow from theirs.
//
// Bottom up, a node's children u, with means m(u) and precisions λ(u), make
//
//	m = Σ w·m(u) / Σ w,   λ = Σ w,   w = 1 / (1/λ(u) + τ²)
//	τ² = (usualWeight·usual(l) + S) / (usualWeight + n − 1)
//
// of n children that were observed and not guessed, S their sum of squares around
// the mean less what is their own error. usual(l) is the same of all nodes of the
// level, with priorSpread counting like priorWeight of them.
//
// Of many players each AS has a bad route for somebody. So a country's clean value
// is that of each player's lower median over its ASes, and its bound is what it
// might be if RTTs that only one player's route speaks for were those to the
// countries most like it (country.go).
//
// # Acquisition
//
// In the first round everybody measures a server of each country, or all servers if they
// are no more than a batch. After that,
// 16 to 64 worlds are drawn from the posterior, top down (Thompson 1933), and one
// player each is asked for the best addresses of each world, at most one where
// nothing is known; what cannot be among those is not drawn (world.go). If that is not
// hopeless, all are asked in the next round. An AS that nobody knows is drawn like
// another of its country (a smoothed bootstrap), or like its clean value, or where most
// of the AS stands. One world in four is bold: there it may be nearer than all n known
// ones, with chance 1/(n+1), and parts of an AS may stand elsewhere. Besides, players
// are asked for neighbours of what is
// suspect, and for other ASes of large countries and of those with a low bound; and if a
// deviation is looked for, one player for an address of every large part of the list that
// nobody knows, as the samples know little of it.
//
// Rounds may overlap (Options.Ahead): the next is handed out while answers to the last
// are on their way. What is asked for by then counts as known to come: of each part of
// the list that nobody knows one address is asked for, not one a round.
//
// # Stopping rule
//
// The regret bound is what 95 % of the last 24 bold worlds stay under, at least what
// the last five rounds gained, and the noise of two RTTs. It is of servers that keep no
// stricter limit than the best: whether one may is said beside it (Progress.Reach), and
// is unlikely once none of 95 % of the last 24 bold worlds that were drawn to climb has
// such a server. The search is done when that is so and it is worth no more asking
// (Options.Enough), when the budget is spent and no answer that is out may make another
// server the best, or after mostRounds. Another limit kept
// begins both counts anew. What some have measured, and others are to, is finished
// first if it may well be better by as much: the samples did not know of it.
//
// # Symbols
//
//	f, y, b      estimator.total, .value, .base   score, value, base, in ms (y: log)
//	f            estimator.figure                 what a round looks for the lowest of
//	f*           estimator.lowest, .best          lowest score; of those that suit
//	m, λ, τ²     estimate.mean, .precision, .spread
//	usual(l)     variances.usual                  τ² of a level
//	n, S         estimate.observed, .squares
//	bound        candidate.bound, countryStats.bound   optimistic bounds
//	value, off   candidate.value, .off            acquisition value and its deviation
//	worst        candidate.worst, .worstOff       highest RTT and its deviation
//
// # Where the numbers come from
//
// Fitted numbers are fitted again, and compared, on worlds that nothing was tuned
// on, by
//
//	go test ./selection/coordinate -run Fit -v -fit 3 [-fit-matrix FILE]
//
// Tuned ones were tried in whole searches (docs/experiments/group-search.md), and
// chosen ones say beside them why. On 3 worlds of four kinds and three groups each:
//
//	number                      origin    today                   the fit says
//	priorSpread, list to /24    fitted    .60 .35 .25 .20 .12     .79 .43 .12 .15 .07
//	priorError, ms              fitted    60 28 14 8 5            82 26 14 8 4
//	astrayPrior                 fitted    0.01                    0.04
//	nothingRTT, nothingError    chosen    150 ± 100 ms            127 ± 102
//	confidence                  chosen    0.95                    held in 98 of 100
//	suspectSD, suspectBy        chosen    one RTT in 70 is held up by a queue
//	weights of priors, shares of a round, margins, cleanShare: tuned
//
// Taken over as it is the fit finds servers that are 0.2 ms worse on average in 240
// searches, and takes 4 % more rounds.
package coordinate
