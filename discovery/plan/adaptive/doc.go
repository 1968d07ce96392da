// Package adaptive is Muster's own plan: every reply moves what it expects of all
// servers, and it stops when hardly a near one can be left.
//
// # Model
//
// A server is near if its RTT is under the limit. The servers are the leaves of
// the list's topology: country, origin AS in it, /16, /24, address. A node has a
// share p of near servers, which is its parent's share and a deviation: a Pólya
// tree (Lavine 1992) whose urns take soft evidence, as an RTT far under the limit
// says more of the neighbours than one just under it. The likelihood table
// (likelihood.go) says how much, by level.
//
// # Estimator
//
// Let e(x, l) be the table's likelihood at level l of an RTT that is x over the
// limit. A child c of a node has the mean of e over the replies under it, and the
// weight w(c) = min(1, replies): children count once each, however many of their
// servers were asked. Top down (estimator.go),
//
//	m    = p(parent), of a country: p(its region)
//	       of an AS: m + s·(mean of the AS in all countries − m)
//	       of a /16: m + t·(p of all that has these addresses − m)
//	p(n) = d + (1 − d) · (a·m + Σ w(c)·e(c)) / (a + Σ w(c))
//
// d is the chance that up to three replies, all that is known of the node and all
// far, were held up on their way: its odds are m/(1−m) · delayedShare^replies.
// Regions, and /8s and /16s whatever their labels, have shares of the same form. t is
// the share of labels that are wrong, learnt from how well a /16's AS and its
// neighbours by address foretold its first reply (labels.go); what a /16 has says the
// less of its AS, the likelier it is a stray.
//
// Most of a long list is never measured. Of a /16 in which nothing was all addresses are
// alike: they are one stretch, which an estimate and a batch look at once, and nodes in
// which all was asked are passed over.
//
// What earlier visits left counts as replies do once a probe has confirmed it
// (recall.go).
//
// The table need not fit the network at hand. So what came of servers of which p
// was expected corrects all expectations by a line over the log-odds with two slopes,
// one for each of three depths of knowledge (calibrator.go, after Kull et al. 2017);
// what came of the first servers, asked before anything was expected, does not:
//
//	logit p' = shift + small · ln p - large · ln(1-p)
//
// # The player's own line
//
// Each reply of a /24 that replied long before bears witness: the median of the last
// 21 differences, each of another /24, is by how much all round trips became longer,
// and is taken off those since then (shift.go). From then on nothing is claimed.
//
// # Acquisition
//
// A batch (acquisition.go) takes the servers of the highest p, those over 0.25;
// draws from what p could turn out to be (Thompson 1933), as wide as few children
// of the /24 are known; and explores nodes where the most near servers could
// hide: unasked servers · p / (asked + 1 + a). One probe in sixteen asks for a witness
// of the player's own line. First of all it asks one server of
// each country, and before it stops several networks of each, and the largest /16s
// (survey.go). A few probes go to networks that are known, as witnesses of the
// player's own line (shift.go); what that adds to replies is taken off them. A search for the N
// nearest sets the limit a little under the N-th so far (nearest.go).
//
// # Stopping rule
//
// Near servers still expected (remaining.go):
//
//	R = Σ unasked · p' · P(answers)
//	V = Σ over blocks of R(block)² · (1 − p')/p'
//
// A block is a node in which nothing was measured: all of its servers are near or
// none is. The plan stops when R + 0.3 · min(√V, R) ≤ missing · (found + R), or
// when a few servers at most are left, fewer while near ones still come, and once all that is under way is back. R
// and V also make the claim of what was found: less is claimed where nothing but
// addresses is known.
//
// # Symbols
//
//	p, p'     node.p, stretch.p; correct   share of near servers; corrected
//	e, x, l   likelihood()                 soft evidence, distance to the limit, level
//	a         priorCountry, priorBelow, …  weight of the parent's share, in children
//	s         topology.Tree.Sibling        chance that a part of an AS is misplaced
//	t         labels.wrong                 share of labels that are wrong
//	d         node.delayed                 chance that far replies were held up
//	w, Σ w·e  node.children                weights and evidence of the children
//	R, V      remaining.near, .variance    near servers left
//	missing   PlanOptions.Missing          share that may be missed
//
// # Where the numbers come from
//
// Fitted numbers are fitted again, and compared, on worlds that nothing was tuned
// on, by
//
//	go test ./discovery/plan/adaptive -run Fit -v -fit 3 [-fit-matrix FILE]
//
// Tuned ones trade probes for near servers found in whole runs: muster simulate
// and docs/experiments/near-ones-first.md. On 3 × 3 worlds of 13 places:
//
//	number                     origin                              the fit says
//	likelihoods, near half     fitted: synthetic and PlanetLab     loses 3–13 millinats of
//	                           worlds                              46–499 a pair, by level
//	likelihoods, far half      fitted, then its log-odds times     fitted and not sharpened:
//	                           1.4: tuned                          2–4 points more probes
//	delayedShare 0.03          fitted, and twice again: tuned      0.008
//	answersPrior 0.85          chosen: lists are older than these  0.94
//	rootShare 0.3              chosen: most places are not Europe  0.63 at 200 ms
//	all…SD 1, 0.6              fitted, doubled: worlds are not     0.57, 0.29
//	depth…SD 0.3, 0.1          the internet                        0.09, 0.02
//	bounds of the claim        fitted: 95 of 100 runs              held in 97 of 100
//	these, and a, unlabelled   tuned: whole runs without labels     held in 96 of 100
//	firstOdds of labels        tuned: wrong, right and no labels    no fit
//	slopesSD, mostSmall        tuned: whole runs                   no fit
//	shift's window, witnesses  tuned: shifts of 50 ms, and none     no fit
//	blockServers, sureSDs      tuned: whole runs                    no fit
//	prior weights a            tuned
//	shares of a batch, stops   tuned
//
// Taken over as it is, with its far half sharpened, the fit needs 0.9–1.7 points
// more probes than today's table for as many servers found
// (docs/experiments/adaptive-fit.md).
package adaptive
