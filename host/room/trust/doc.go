// Package trust decides whom a choice believes. It finds players whose numbers fit nobody
// else's, and servers that lie about how far they are. It says who is left out and why, which
// pings count as more than was reported, and whose word about servers does not count. It does
// not change its mind within a round: that is for the organiser, see [Doubts.Vouch], and for
// the next round.
//
// No single player decides for all, whether lying or behind a bad line:
//
//   - [Doubts.Judge] compares the players' numbers with each other.
//   - [Doubts.Discredit] takes what players contradict most others about.
//   - [Doubts.Try] tells whether a choice hangs on a ping that one player alone has.
//   - [Doubts.Outvote] finds the few for whom nothing suits that suits all others.
//   - [Doubts.Disputed] and [Doubts.Overrule] are about the best servers that do not answer
//     one player.
//
// Of two players nobody can tell who is right, and three or more can do without a few: see
// few.
package trust
