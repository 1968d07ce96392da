// Package launch knows which players can start the game, and how far each is on the way to the game
// server.
//
//	To ─▶ For, once a player ─▶ the player's program ─▶ Heard ─▶ Way
//	                                   ▲
//	Reopen, Again ─────────────────────┘
//
// Programs take a player to one server a round. They open the game again only if the launch has a
// time that is new to them; see [Roll.Again].
package launch

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// Progress says how far a player has got on the way to the server.
type Progress struct {
	State  wire.LaunchState  `json:"launch,omitempty"`
	Detail sentence.Sentence `json:"detail,omitzero"`
	// Again is when the player's game last had to be opened once more.
	Again roomtime.Time `json:"again,omitzero"`
}

// Roll has the ways of a round's players. Its zero value has nobody on the way.
type Roll struct {
	state State
	// able says whether players' computers can start a game. Programs say this again whenever they
	// come, so it is not saved.
	able map[people.ID]wire.Able
}

// State is the saved state of a roll: how far players have got.
type State map[people.ID]Progress

// State returns the state, to save or restore it.
func (r *Roll) State() *State { return &r.state }

// Validate returns the first fault of a saved roll of these players, or nil.
func (s State) Validate(players []people.ID) error {
	for player := range s {
		if !slices.Contains(players, player) {
			return fmt.Errorf("%q is on the way, who is no player", player)
		}
	}
	return nil
}

// WithoutList returns the roll of a round that has lost its list: nobody is on the way.
func (s State) WithoutList() (left State) {
	for player, w := range s {
		left.set(player, Progress{Again: w.Again})
	}
	return left
}

func (s *State) set(player people.ID, w Progress) {
	switch {
	case w == (Progress{}):
		delete(*s, player)
		return
	case *s == nil:
		*s = State{}
	}
	(*s)[player] = w
}

// To returns the launch to a server of a round, for players who connect as everyone does.
func To(round int, s wire.Settings, servers *selection.Servers, server int) wire.Launch {
	connect := servers.Connect(server)
	return wire.Launch{
		Round: round, Game: s.Game, Address: hostport.Text(connect), QueryPort: queryPort(servers.List[server].Addr, connect),
		Name: servers.Called(server), Password: s.Password,
	}
}

// queryPort returns the port for questions to a server, 0 if it is the port to connect to.
func queryPort(asked, connect netip.AddrPort) uint16 {
	if asked.Port() == connect.Port() {
		return 0
	}
	return asked.Port()
}

// For returns a launch for one player, with the address that the player connects to and the one
// that the program asks. Beside is the server's address on a network that the player shares with
// it, invalid if there is none.
func (r *Roll) For(player people.ID, to wire.Launch, connect, asked, beside netip.AddrPort) wire.Launch {
	if beside.IsValid() {
		connect, asked = netip.AddrPortFrom(beside.Addr(), connect.Port()), beside
	}
	to.Address, to.QueryPort = hostport.Text(connect), queryPort(asked, connect)
	if again := r.state[player].Again; !again.IsZero() {
		to.Again = time.Duration(again).Milliseconds()
	}
	return to
}

// Progress returns how far a player has got.
func (r *Roll) Progress(player people.ID) Progress { return r.state[player] }

// Awaits reports whether a player's program has yet to report on the launch.
func (r *Roll) Awaits(player people.ID) bool {
	state := r.state[player].State
	return state == "" || state == wire.LaunchAsking
}

// Heard notes how far a player has got on the way to a game. It returns the news for the others, or
// nothing.
func (r *Roll) Heard(player people.ID, m wire.Launched, game string) (note sentence.Sentence) {
	w := r.state[player]
	if m.State == w.State && m.Detail == w.Detail {
		return note
	}
	w.State, w.Detail = m.State, m.Detail
	r.state.set(player, w)
	switch w.State {
	case wire.LaunchStarted:
		note = sentence.Of("room.on-the-way", "player", player)
	case wire.LaunchDeclined:
		note = sentence.Of("room.stays-behind", "player", player)
	case wire.LaunchByHand:
		note = sentence.Of("room.by-hand", "player", player)
	case wire.LaunchFailed:
		note = sentence.Of("room.could-not-start", "player", player, "game", game, "why", w.Detail)
	}
	return note
}

// Reopen opens a player's game once more because it did not start, or was closed. Sent says that
// the room has sent everyone to a server.
func (r *Roll) Reopen(by people.Person, sent bool, now roomtime.Time) error {
	switch {
	case !by.IsPlayer:
		return errors.New("only who has a program running can have the game opened")
	case !sent:
		return errors.New("nobody is on the way just now")
	case !by.IsHere:
		return errors.New("your program is away: start it again, and it goes there by itself")
	case r.state[by.ID].State == wire.LaunchAsking:
		return errors.New("your program asks already: say yes there")
	}
	r.Again(now, by.ID)
	return nil
}

// Again opens the games of players once more. A program ignores a time that is no later than the
// one it had, so this one is later.
func (r *Roll) Again(now roomtime.Time, players ...people.ID) {
	for _, player := range players {
		w := r.state[player]
		if w.Again = w.Again.Add(time.Millisecond); w.Again.Before(now) {
			w.Again = now
		}
		r.state.set(player, w)
	}
}

// Restart forgets how far some players have got, or all players if there are none, because they go
// elsewhere now.
func (r *Roll) Restart(players ...people.ID) {
	for player, w := range r.state {
		if len(players) > 0 && !slices.Contains(players, player) {
			continue
		}
		w.State, w.Detail = "", sentence.Sentence{}
		r.state.set(player, w)
	}
}

// Able notes whether a player's computer can start a game. It returns the news for the others, or
// nothing.
func (r *Roll) Able(player people.ID, m wire.Able, s wire.Settings) (note sentence.Sentence) {
	before := r.able[player]
	if r.able == nil {
		r.able = map[people.ID]wire.Able{}
	}
	if r.able[player] = m; m != before && !m.Why.IsZero() && m.Game == s.Game {
		note = sentence.Of("room.cannot-start", "player", player, "game", s.GameName(), "why", m.Why)
	}
	return note
}

// Can returns whether a player's computer can start a game. IsKnown says that the program told us.
func (r *Roll) Can(player people.ID, game string) (able wire.Able, isKnown bool) {
	able = r.able[player]
	return able, able.Game == game
}

// Next returns the roll of the next round.
func (r *Roll) Next() Roll { return Roll{able: r.able} }

// Leave forgets a player who no longer plays here.
func (r *Roll) Leave(player people.ID) {
	delete(r.state, player)
	delete(r.able, player)
}
