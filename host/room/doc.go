// Package room is one group's gathering as a pure machine: it gathers the
// players, merges what they measure, chooses the server and sends everyone there.
// It opens no socket, reads no clock and starts no goroutine.
//
// Its abilities are parts, the packages below this one. Each has a State of its own, which stands
// in the saved room, is told values and returns values. Package facts tells what several parts know.
// Packages probing, decision, captains and waiting read that, and write few parts of their own; what
// else follows they return. The room routes inputs to them and carries out what they return. A phase
// decides by their answers which phase is next:
//
//	gathering    ─▶ listing, surveying
//	listing      ─▶ measuring, coordinating, failed
//	measuring    ─▶ surveying, verifying, waiting, failed
//	coordinating ─▶ verifying, failed
//	surveying    ─▶ placed, failed
//	verifying    ─▶ voting, countdown, banning, waiting, launching, failed
//	voting       ─▶ coordinating, verifying, countdown, waiting
//	countdown    ─▶ coordinating, voting, launching
//	banning      ─▶ verifying, launching
//	waiting      ─▶ verifying, launching, failed
//	launching    ─▶ listing, voting, waiting
//	placed       ─▶ listing, surveying
//	failed       ─▶ listing, coordinating, verifying, waiting
//
// The table is drawn from the scenarios in testdata, which show each transition. Listing
// ends in measuring or coordinating by the room's strategy; after failed and launching the
// next round lists again. More servers are asked for from voting or failed; any phase
// without enough seats may wait for some.
//
// The one way in is [Room.Step]: something that happened, and when. The one way
// out is what Step returns: an ordered list of things to do. The driver of a room
// (the host over real sockets, the simulator and the fuzzer in virtual time) does
// them in that order and one after the other:
//
//   - [Save] keeps the room: take [Room.Save] and put it into stable storage. It
//     comes first if a Step must not be lost (somebody gets a place, the phase or the
//     round changes), so that a crash undoes nothing that people have been told. A
//     driver whose disk fails says so, tries again, and goes on: the session counts
//     more than the memory of it. A driver that shares its store with other hosts, and
//     cannot know whether the room is still its own, waits, and then gives [Waited].
//   - [Admit] binds the connection whose hello was the input to a player; an
//     older one of that player is replaced.
//   - [Publish] shows everybody the newest [Room.Snapshot] before what follows:
//     people read why before they are sent somewhere. Otherwise a driver publishes
//     as often as it likes.
//   - [Send] gives a message to one player, or to all, if they are connected. The
//     others hear what matters when they come back.
//   - [Dismiss] ends a player's connection.
//   - [Fetch] asks for the server list. The answer is a [Listed], whenever it comes.
//   - [Plan] asks for the processor time of one round of the search. The answer is a
//     [Turn], as soon as the driver has some. All else goes on meanwhile.
//   - [Announce] tells people who are not here, where the group talks. Nothing waits for it.
//   - [Answer] answers the page that gave an [Order].
//
// Call Step with a [Tick] a few times a second from the time on that
// [Room.Next] says; nothing else makes time pass. A Room is not safe for concurrent use.
package room
