// Package launch knows which players can start the game, and how far each is on the way to the game
// server.
//
//	To ─▶ For, of each ─▶ the player's program ─▶ Heard ─▶ Way
//	                              ▲
//	Reopen, Again ────────────────┘
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
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// Way says how far a player has got.
type Way struct {
	State  wire.LaunchState  `json:"launch,omitempty"`
	Detail sentence.Sentence `json:"detail,omitzero"`
	// Again is when the player's game last had to be opened once more.
	Again roomtime.Time `json:"again,omitzero"`
}

// Roll has the ways of a round's players. Its zero value has nobody on the way.
type Roll struct {
	state State
	// able says whether players' computers can start a game. Their programs say it again whenever
	// they come, so it is not saved.
	able map[string]wire.Able
}

// State is what a saved room keeps of a roll: how far players have got, by name.
type State map[string]Way

// State returns the state, for a room that is saved or restored.
func (r *Roll) State() *State { return &r.state }

// Validate returns what is wrong with a saved roll of these players, or nil.
func (s State) Validate(players []string) error {
	for name := range s {
		if !slices.Contains(players, name) {
			return fmt.Errorf("%q is on the way, who is no player", name)
		}
	}
	return nil
}

// WithoutList returns the roll of a round that has lost its list: nobody is on the way.
func (s State) WithoutList() (left State) {
	for name, w := range s {
		left.set(name, Way{Again: w.Again})
	}
	return left
}

func (s *State) set(name string, w Way) {
	switch {
	case w == (Way{}):
		delete(*s, name)
		return
	case *s == nil:
		*s = State{}
	}
	(*s)[name] = w
}

// To returns the launch to a server of a round, for players who know nothing else of it.
func To(round int, s wire.Settings, servers *selection.Servers, server int) wire.Launch {
	connect := servers.Connect(server)
	return wire.Launch{
		Round: round, Game: s.Game, Address: hostport.Text(connect), QueryPort: queryPort(servers.List[server].Addr, connect),
		Name: servers.Called(server), Password: s.Password,
	}
}

// queryPort returns the port for questions to a server, 0 if players connect to the same.
func queryPort(asked, connect netip.AddrPort) uint16 {
	if asked.Port() == connect.Port() {
		return 0
	}
	return asked.Port()
}

// For returns a launch for one player, with the address that the player connects to and the one
// that the program asks. Beside is the server's address on a network that the player shares with
// it, invalid if there is none.
func (r *Roll) For(name string, to wire.Launch, connect, asked, beside netip.AddrPort) wire.Launch {
	if beside.IsValid() {
		connect, asked = netip.AddrPortFrom(beside.Addr(), connect.Port()), beside
	}
	to.Address, to.QueryPort = hostport.Text(connect), queryPort(asked, connect)
	if again := r.state[name].Again; !again.IsZero() {
		to.Again = time.Duration(again).Milliseconds()
	}
	return to
}

// Way returns how far a player has got.
func (r *Roll) Way(name string) Way { return r.state[name] }

// Awaits reports whether a player's program has yet to report on the launch.
func (r *Roll) Awaits(name string) bool {
	state := r.state[name].State
	return state == "" || state == wire.LaunchAsking
}

// Heard takes how far a player has got on the way to a game. It returns the news for the others, or
// nothing.
func (r *Roll) Heard(name string, m wire.Launched, game string) (note sentence.Sentence) {
	w := r.state[name]
	if m.State == w.State && m.Detail == w.Detail {
		return note
	}
	w.State, w.Detail = m.State, m.Detail
	r.state.set(name, w)
	switch w.State {
	case wire.LaunchStarted:
		note = sentence.Of("room.on-the-way", "player", name)
	case wire.LaunchDeclined:
		note = sentence.Of("room.stays-behind", "player", name)
	case wire.LaunchByHand:
		note = sentence.Of("room.by-hand", "player", name)
	case wire.LaunchFailed:
		note = sentence.Of("room.could-not-start", "player", name, "game", game, "why", w.Detail)
	}
	return note
}

// Asker is somebody who asks to open the game once more.
type Asker struct {
	Name string
	// Plays says that the asker is a player. Here says that the player's program is connected.
	Plays, Here bool
}

// Reopen opens a player's game once more because it did not start, or was closed. Sent says that
// the room has sent everyone to a server.
func (r *Roll) Reopen(by Asker, sent bool, now roomtime.Time) error {
	switch {
	case !by.Plays:
		return errors.New("only who has a program running can have the game opened")
	case !sent:
		return errors.New("nobody is on the way just now")
	case !by.Here:
		return errors.New("your program is away: start it again, and it goes there by itself")
	case r.state[by.Name].State == wire.LaunchAsking:
		return errors.New("your program asks already: say yes there")
	}
	r.Again(now, by.Name)
	return nil
}

// Again opens the games of players once more. A program ignores a time that is no later than the
// one it had, so this one is later.
func (r *Roll) Again(now roomtime.Time, names ...string) {
	for _, name := range names {
		w := r.state[name]
		if w.Again = w.Again.Add(time.Millisecond); w.Again.Before(now) {
			w.Again = now
		}
		r.state.set(name, w)
	}
}

// Restart forgets how far players have got, or all players if none is named, because they go
// elsewhere now.
func (r *Roll) Restart(names ...string) {
	for name, w := range r.state {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		w.State, w.Detail = "", sentence.Sentence{}
		r.state.set(name, w)
	}
}

// Able takes whether a player's computer can start a game. It returns the news for the others, or
// nothing.
func (r *Roll) Able(name string, m wire.Able, s wire.Settings) (note sentence.Sentence) {
	before := r.able[name]
	if r.able == nil {
		r.able = map[string]wire.Able{}
	}
	if r.able[name] = m; m != before && !m.Why.IsZero() && m.Game == s.Game {
		note = sentence.Of("room.cannot-start", "player", name, "game", s.GameName(), "why", m.Why)
	}
	return note
}

// Can returns whether a player's computer can start a game, if the player's program has said.
func (r *Roll) Can(name, game string) (able wire.Able, isKnown bool) {
	able = r.able[name]
	return able, able.Game == game
}

// Next returns the roll of the next round.
func (r *Roll) Next() Roll { return Roll{able: r.able} }

// Rename gives a player another name.
func (r *Roll) Rename(from, to string) {
	if w, has := r.state[from]; has {
		delete(r.state, from)
		r.state[to] = w
	}
	if a, has := r.able[from]; has {
		delete(r.able, from)
		r.able[to] = a
	}
}

// Leave forgets a player who no longer plays here.
func (r *Roll) Leave(name string) {
	delete(r.state, name)
	delete(r.able, name)
}
