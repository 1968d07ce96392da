// Package adaptive is Muster's own plan. Every reply changes what it expects of all
// servers. It stops when hardly any near server can be left.
//
// # Model
//
// A server is near if its RTT is under the limit. The servers are the leaves of the
// list's topology: country, origin AS in it, /16, /24, address. A node has a share p of
// near servers, which is its parent's share and a deviation. This is a Pólya tree
// (Lavine 1992) whose urns take soft evidence: an RTT far under the limit says more
// about the neighbours than one just under it. The likelihood table (likelihood.go)
// says how much, by level.
//
// # Estimator
//
// Let e(x, l) be the table's likelihood at level l of an RTT that is x over the limit.
// A child c of a node has the mean of e over the replies under it, and the weight w(c)
// = min(1, replies): each child counts once, however many of its servers were asked.
// Top down (estimator.go),
//
//	m    = p(parent), of a country: the mean p of the regions that it reaches into
//	       of an AS: m + s·(mean of the AS in all countries − m)
//	       of a /16: m + t·(p of the same addresses, all labels − m)
//	p(n) = d + (1 − d) · (a·m + Σ w(c)·e(c)) / (a + Σ w(c))
//
// Suppose that a node has up to three replies, all far. Then d is the chance that all
// of them were delayed on their way. Its odds are m/(1−m) · delayedShare^replies.
//
// Regions have shares of the same form, and so have /8s and /16s across labels. t is
// the share of wrong labels. It is learnt from the first reply of each /16: which
// predicted it better, the AS or the neighbours by address (labels.go)? The likelier a
// /16 has a wrong label, the less its replies say about its AS.
//
// Most of a long list is never measured. In a /16 without measurements all addresses
// are alike. They form one stretch, and an estimate and a batch look at it once. Nodes
// with all servers asked are skipped.
//
// Memories of earlier visits count as replies do once a probe has confirmed them
// (recall.go).
//
// The table may not fit the network at hand. So the outcomes of the asked servers
// correct all expectations. The correction is a line over the log-odds with two slopes,
// one line for each of three depths of knowledge (calibrator.go, after Kull et al.
// 2017). The first servers do not count, because nothing was expected of them yet:
//
//	logit p' = shift + small · ln p - large · ln(1-p)
//
// # The player's own line
//
// Each reply of a /24 that replied long before shows whether the line has changed.
// The median of the last 21 differences, each of another /24, is the increase of all
// round trips. It is taken off the replies since then (shift.go). From then on the plan
// claims nothing.
//
// A download that runs from the start until after the search shows no difference. So if
// even the nearest server is far before the plan stops, its RTT is taken off all replies,
// but for what is usual. The plan goes on, and claims nothing.
//
// # Acquisition
//
// A batch (acquisition.go) takes three kinds of servers. It takes those with the
// highest p, over 0.25. It draws from what p could turn out to be (Thompson 1933), more
// widely the fewer children of the /24 are known. And it explores the nodes that could
// hide the most near servers: unasked servers · p / (asked + 1 + a).
//
// First of all the plan asks one server of each country. Before it stops, it asks
// several networks of each, and the largest /16s (survey.go). It asks more where the
// networks of a country differ so much that the others may be near (spread.go):
//
//	servers in unasked ASes · t4((limit − mean) / deviation) > what may be missed
//
// Mean and deviation are of the RTTs of the country's ASes. A few probes go to known
// networks, as witnesses of the player's own line (shift.go); the increase that they
// show is taken off replies. A search for the N nearest sets the limit a little under
// the N-th so far (nearest.go).
//
// # Stopping rule
//
// Near servers still expected (remaining.go):
//
//	R = Σ unasked · p' · P(answers)
//	V = Σ over blocks of R(block)² · (1 − p')/p'
//
// A block is a node without measurements: all of its servers are near or none is. The
// plan stops when R + 0.3 · min(√V, R) ≤ missing · (found + R), or when a few servers
// at most are left. The few are fewer while near ones still come. All probes under way
// must be back. R and V also make the claim of what was found: the claim is lower where
// only addresses are known.
//
// # Symbols
//
//	p, p'     node.p, stretch.p; correct   share of near servers; corrected
//	e, x, l   likelihood()                 soft evidence, distance to the limit, level
//	a         priorCountry, priorBelow, …  weight of the parent's share, in children
//	s         topology.Tree.Sibling        chance that a part of an AS is misplaced
//	t         labels.wrong                 share of labels that are wrong
//	d         node.delayed                 chance that far replies were delayed
//	w, Σ w·e  node.children                weights and evidence of the children
//	R, V      remaining.near, .variance    near servers left
//	missing   PlanOptions.Missing          share that may be missed
//
// # Where the numbers come from
//
// This command fits the fitted numbers again, and compares them with today's, on worlds
// that nobody tuned on:
//
//	go test ./discovery/plan/adaptive -run Fit -v -fit 3 [-fit-matrix FILE]
//
// Tuned ones trade probes for near servers found in whole runs: muster simulate and
// bench/experiments/near-ones-first.md. On 3 × 3 worlds of 13 places:
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
//	slopesSD, maxSmall        tuned: whole runs                   no fit
//	shift's window, witnesses  tuned: shifts of 50 ms, and none     no fit
//	loneliest, usualNearest    chosen: shifts of 50 ms, and none    no fit
//	priorWide                  tuned: Russia, from East Asia        no fit
//	blockServers, sureSDs      tuned: whole runs                    no fit
//	usualSpread, usualNetworks tuned: whole runs                   no fit
//	prior weights a            tuned
//	shares of a batch, stops   tuned
//
// The fit itself, with its far half sharpened, needs 0.9–1.7 points more probes than
// today's table for as many servers found (bench/experiments/adaptive-fit.md).
package adaptive
