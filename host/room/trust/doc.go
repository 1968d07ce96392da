// Package trust decides which players a choice believes. It finds players whose numbers contradict
// the others', and servers that lie about their distance. It leaves players out, with the reason,
// raises pings, and ignores some players' words about servers. It does not change its mind within a
// round: only the organiser can, see [Doubts.Vouch], and the next round.
//
// No single player decides for all, by a lie or by a bad line:
//
//   - [Doubts.Judge] compares the players' numbers with each other.
//   - [Doubts.Discredit] takes what players contradict most others about.
//   - [Doubts.Try] tells whether a choice hangs on a ping that one player alone has.
//   - [Doubts.Outvote] finds the few for whom nothing suits that suits all others.
//   - [Doubts.Disputed] and [Doubts.Overrule] are about the best servers that do not answer
//     one player.
//
// Nobody can tell which of two players is right, and three or more can do without a few: see few.
package trust
