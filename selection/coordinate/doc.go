// Package coordinate finds the group's best server without measuring every server with every player.
// Round after round it says which servers each player should still probe, and how much better a
// server could yet be found. It is pure: its caller carries questions and answers.
//
//	players' results ─▶ Observe ─▶ candidates ─▶ posterior: a value for every
//	                                   │         address, and how uncertain it is
//	Next ◀─ questions ◀─ samples ◀─────┼───────────────┘
//	Progress, Hidden ◀─────────────────┘
//
// # Model
//
// A server's score f is what the group's rule makes of the players' RTTs ([selection.Objective]). For
// even sides it is the figure that orders servers, which includes a part of the mean.
// Its value is
//
//	y = log(max(f − b, minAbove)),   b = f* − (betterBy + betterShare·f*)
//
// over the base b, where f* is the lowest score so far. This tells good servers apart, while bad
// ones are all alike. If the score is a deviation the share is fairerShare, because half of the
// lowest deviation so far is possible. The values are Gaussian on the list's topology: a node has
// its parent's value plus a deviation of variance τ² (posterior.go).
//
// Limits come before scores: each broken limit adds 10⁶ ms. While the best server breaks a limit
// that another may keep, every second round climbs. In such a round f is the highest of the RTTs,
// f* is that limit, and everything below applies to them in place of the score. A rule with a limit of
// its own takes it from the servers that everybody has measured, so the best always keeps it.
//
// # Estimator
//
// Everybody measures the group's own servers, which may be worse by an allowance
// (selection.Criteria.Ours). They compete with scores that are lower by the allowance. The values
// of their neighbours follow from their RTTs without it.
//
// A candidate is an address that somebody measured. Missing RTTs are predicted by the mean of the
// player's RTTs under the nearest ancestor. The error is that of earlier predictions at that level
// (predictor.go). If a part differs from its surroundings for one player, it stands elsewhere, and the
// surroundings tell no other player's RTT to it: only the country does. RTTs that differ much from the
// player's other RTTs in the AS, or from what is remembered
// of the /24, are suspect, as if a full queue had held them up. They are predicted, too. Where suspect RTTs make a server look fairer,
// they do not count for it. The standard deviation of a value is that of the score if all
// predictions err the same way, over f − b. A deviation does not change with errors that the players
// have in common: there the share ownWay of each error counts as the player's own, along the rule's
// lean. That is how much the score grows with each RTT: by a player's distance from the mean, or by
// 1/n on the worse of two sides and −1/n on the better.
// A guest who measures nothing (Options.Guests) has RTTs that follow from the players', and errors
// that follow from theirs.
//
// Earlier sessions may forecast RTTs (Options.Remembered). A forecast counts by its precision, next to
// the mean of measured relatives. Its standard deviation grows with its errors in this session, which
// are learnt by player and level. From a factor of 2.5 on a level is not believed. If most of a player's
// forecasts in an AS fail, the search drops those for this AS, because routes change by AS. Where nobody
// has measured anything below a node, the forecasts for it are an observation (recall.go). If nobody
// remembers anything, vague forecasts from the players' countries stand in (guide.go).
//
// Bottom up, a node's children u, with means m(u) and precisions λ(u), make
//
//	m = Σ w·m(u) / Σ w,   λ = Σ w,   w = 1 / (1/λ(u) + τ²)
//	τ² = (usualWeight·usual(l) + S) / (usualWeight + n − 1)
//
// where n counts the children that were observed and not guessed. S is their sum of squares around
// the mean, less their own error. usual(l) is the same over all nodes of the level, and
// priorSpread counts like priorWeight of them.
//
// In a large group, each AS has a bad route for some player. So a country's clean value takes each
// player's lower median over its ASes. Some RTTs speak against a country by one player's route
// only. The country's bound is its value with these replaced by the player's RTTs to the countries
// most like it (country.go).
//
// # Acquisition
//
// In the first round everybody measures a server in each country, or all servers if they are no
// more than a batch. Each later round draws 16 to 64 worlds from the posterior, top down (Thompson
// 1933). It asks one player each for the best addresses of each world, at most one in each unknown
// part of the list. Nodes that cannot be among those are not drawn (world.go). If the answer is not
// hopeless, the next round asks everybody.
//
// An unknown AS is drawn like another of its country (a smoothed bootstrap), or like the country's
// clean value, or where most of the AS stands. One world in four is bold: there an unknown AS may be
// nearer than all n known ones, with chance 1/(n+1), and parts of an AS may stand elsewhere.
// Players are also asked for neighbours of suspect addresses, and for other ASes of large
// countries and of those with a low bound. If the score is a deviation, one player is also asked
// for an address in every large unknown part of the list, because the samples know little of it.
//
// Where forecasts tell of a country, the first round does not ask about it, and rounds are smaller.
// Instead, everybody asks about the parts with the best forecasts, and later about others that should
// be better than the best. Then a player is asked about each remembered AS that would win if this
// player's way to it alone were shorter, while that promises enough (verify.go). The chance that a way has
// moved follows from the memory's age and from the ways that were tested, most of all in that country. In
// bold worlds ways that nobody has tested move with it, so they count in the claim. Half of what is left of a
// round goes to parts of which nobody remembers anything, and that would win if they stand elsewhere than
// expected (unseen.go). The player whose way speaks most against such a part is asked first.
//
// The fewer forecasts fail, the fewer questions a player is asked, down to 120 besides those about shorter
// ways. A player
// without any counts like one whose forecasts all fail, and halves the trust at least. Once
// less than 0.7 of that trust is left, everybody measures a server in each country after all. So do
// searches that have found no server for everybody with 120 questions.
//
// Vague forecasts save 350 questions a player, or 250 where own bests count, unless a server may then still be
// better by 4 ms. A country that only they tell of is one unknown part of the list, whose value is drawn
// around the forecast.
//
// Rounds may overlap (Options.Ahead): the next is handed out while answers to the last are under
// way. Questions under way count as answers to come. So in each unknown part of the list one
// address is asked for in all, not one a round.
//
// # Stopping rule
//
// The regret bound is the gain that 95 % of the last 24 bold worlds stay under. It is at least the
// gain of the last five rounds, and at least the noise of two RTTs. It covers servers that keep no
// stricter limit than the best. Progress.Reach says whether a server may keep one. That is unlikely
// once 95 % of the last 24 bold worlds drawn in climbing rounds have no such server.
// The bound that is told (Progress.RegretBound) counts two thirds of the bold worlds' gain, because
// most of those servers are farther than drawn. Where deviations or extras decide, or a memory saves
// questions, it counts all.
//
// The search is done
//
//   - when a stricter limit is unlikely and the regret bound is worth no more questions
//     (Options.Enough),
//   - when the budget is spent and no answer under way may make another server the best,
//   - or after maxRounds.
//
// When the best keeps another limit, both counts begin again. Addresses that some players have
// measured and others should are finished first, if they may well be better by as much, because the
// samples did not know of them.
//
// # Symbols
//
//	f, y, b      estimator.total, .value, .base   score, value, base, in ms (y: log)
//	f            estimator.figure                 figure that a round minimises
//	f*           estimator.lowest, .best          lowest score; the same of servers that suit
//	m, λ, τ²     estimate.mean, .precision, .spread
//	usual(l)     variances.usual                  τ² of a level
//	n, S         estimate.observed, .squares
//	bound        candidate.bound, countryStats.bound   optimistic bounds
//	value, off   candidate.value, .off            acquisition value and its deviation
//	worst        candidate.worst, .worstOff       highest RTT and its deviation
//
// # Where the numbers come from
//
// This command fits the fitted numbers again and compares them, on worlds that nothing was tuned on:
//
//	go test ./selection/coordinate -run Fit -v -fit 3 [-fit-matrix FILE]
//
// Tuned numbers were tried in whole searches (bench/experiments/group-search.md). Chosen ones give
// the reason where they are declared. On 3 worlds of four kinds and three groups each:
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
// With the fit's numbers the search finds servers that are 0.2 ms worse on average in 240 searches,
// and takes 4 % more rounds.
package coordinate
