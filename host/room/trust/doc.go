// Package trust decides which players a choice believes. It finds players whose numbers contradict
// the others', and servers that lie about their distance. It leaves players out and says why,
// raises pings, and ignores some players' reports about servers. Its decisions last for the round,
// unless the organiser vouches for a player; see [Doubts.Vouch].
//
// No single player decides for all, by a lie or by a bad line:
//
//   - [Doubts.Judge] compares the players' numbers with each other.
//   - [Doubts.Discredit] ignores reports that contradict most others.
//   - [Doubts.Try] tells whether a choice hangs on a ping that one player alone has.
//   - [Doubts.Outvote] finds the few players because of whom no server suits everyone.
//   - [Doubts.Disputed] and [Doubts.Overrule] are about the best servers that do not answer
//     one player.
//
// Nobody can tell which of two players is right. A larger group can leave some players out: the
// function few says how many.
package trust
