// Package moving proposes to people who play that they go on to a better server, because somebody
// has come or gone since theirs was chosen. It is told who is here and what is known, and returns
// questions for players' programs and proposals. Nobody is moved who did not say yes.
//
//	somebody comes or goes ─▶ Tick ─▶ questions ─▶ Heard ─┐
//	                           ▲                          │
//	                           └────── what is known ◀────┘
//	                           └─▶ a Proposal ─▶ Answer ─▶ one moves, now or after the map
//
// Programs ask seldom, and only while the room's people are not those that the server was chosen
// for. A program whose line is busy asks nobody: its game needs the line.
package moving

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/memory"
)

const (
	// lasts is how long a gain must have been there, for all who came and went meanwhile: who looks
	// in for a moment, or whose line drops, changes nothing.
	lasts = 3 * time.Minute
	// waits is how long a gain waits for those who are here to confirm it.
	waits = 5 * time.Minute
	// weighEvery is the time between two looks at what is known.
	weighEvery = 20 * time.Second
	// rests is the shortest time between two proposals. stands is how long none is taken back, and
	// ends how long it waits for answers.
	rests, stands, ends = time.Hour, 10 * time.Minute, 40 * time.Minute
	// prepares is how long before that programs begin to ask.
	prepares = 10 * time.Minute
)

// Watch follows the people of a launch. Its exported fields are saved.
type Watch struct {
	// Group are the players who are here, since the time Since. For are those that the server was
	// chosen for, or that have had a proposal.
	Group []people.ID   `json:"group,omitempty"`
	Since roomtime.Time `json:"since,omitzero"`
	For   []people.ID   `json:"for,omitempty"`
	// Last is when the newest proposal was made. Open is the one that waits for answers.
	Last roomtime.Time `json:"last,omitzero"`
	Open *Proposal     `json:"open,omitempty"`
	// Elsewhere are the players who are not on the room's server, with theirs.
	Elsewhere map[people.ID]int `json:"elsewhere,omitempty"`

	asking map[people.ID]*asking
	// suggested are the servers that are likely best. isNews says that they may be others now.
	suggested []int
	isNews    bool
	// hope is the server that has been better since hoped.
	hope         int
	hoped        roomtime.Time
	weighed, due roomtime.Time
}

// Proposal is the proposal to go to a server.
type Proposal struct {
	Better
	From int           `json:"from"`
	At   roomtime.Time `json:"at"`
	// Came and Gone are the people who have come and gone since the server was chosen.
	Came []people.ID `json:"came,omitempty"`
	Gone []people.ID `json:"gone,omitempty"`
	// Said are people's answers.
	Said map[people.ID]wire.MoveAnswer `json:"said,omitempty"`
}

// Scene is what the room knows just now.
type Scene struct {
	Now roomtime.Time
	// Here are the players who play and whose programs are here.
	Here []people.ID
	// Server is the server of everybody who is not [Watch.Elsewhere].
	Server int
	Tree   *topology.Tree
	// Basis returns the basis of a choice for players, who are its first columns. Forecasts returns
	// what is remembered of their RTTs, or usual; nil if nothing is known.
	Basis     func([]people.ID) selection.Basis
	Forecasts func([]people.ID) [][]memory.Forecast
}

// Begin returns the watch of a launch to a server that was chosen for some people.
func Begin(chosenFor []people.ID, s Scene) Watch {
	return Watch{For: chosenFor, Group: s.Here, Since: s.Now}
}

// Place returns where a player is, in a room at a server.
func (w *Watch) Place(player people.ID, server int) int {
	if at, is := w.Elsewhere[player]; is {
		return at
	}
	return server
}

// Event is what has become of a proposal in a Tick.
type Event int

// The events.
const (
	Nothing Event = iota
	Proposed
	// Withdrawn says that its gain is gone, Ended that nobody is left who may answer.
	Withdrawn
	Ended
)

// at returns the players of the scene who are on a server.
func (w *Watch) at(server int, s Scene) []people.ID {
	return people.Filtered(s.Here, func(player people.ID) bool { return w.Place(player, s.Server) == server })
}

// Tick lets time pass. It returns the questions that are due.
func (w *Watch) Tick(s Scene) (asks []Ask, event Event) {
	if group := w.at(s.Server, s); !slices.Equal(group, w.Group) {
		for _, player := range people.Without(group, w.Group...) {
			w.of(player).settle() // the room may be on another server now, and the player on another line
		}
		w.Group, w.Since, w.isNews, w.due = group, s.Now, true, s.Now
	}
	if w.isIdle() || s.Now.Before(w.due) {
		return nil, Nothing
	}
	if s.Now.Sub(w.weighed) >= weighEvery {
		before := w.weighed
		w.weighed = s.Now
		event = w.weigh(s, before)
	}
	if w.due = s.Now.Add(weighEvery); w.Open != nil {
		for _, player := range w.at(w.Open.From, s) {
			if w.Open.Said[player] == wire.MoveAfterMap && w.mayAsk(player, s.Now) && s.Now.Sub(w.of(player).quiet) >= mapEvery {
				asks = append(asks, w.ask(player, w.Open.From, s.Now))
			}
		}
		return asks, event
	}
	if s.Now.Sub(w.Last) < rests-prepares {
		return nil, event
	}
	table := s.Basis(w.Group).Table
	for column, player := range w.Group {
		if server := w.next(player, column, s, table); server >= 0 {
			asks, w.due = append(asks, w.ask(player, server, s.Now)), s.Now.Add(every/3)
		}
	}
	return asks, event
}

// isIdle reports whether there is nothing to weigh: the people are those whom the server was chosen
// for, or nobody else is here.
func (w *Watch) isIdle() bool {
	return w.Open == nil && (len(w.Group) < 2 || len(people.Without(w.Group, w.For...))+len(people.Without(w.For, w.Group...)) == 0)
}

// Next returns when the watch needs the time again, and whether it does.
func (w *Watch) Next(s Scene) (at roomtime.Time, is bool) {
	if !slices.Equal(w.at(s.Server, s), w.Group) {
		return s.Now, true
	}
	return w.due, !w.isIdle()
}

// weigh makes a proposal, or ends the open one. It weighed before at a moment.
func (w *Watch) weigh(s Scene, before roomtime.Time) Event {
	if o := w.Open; o != nil {
		isDone := !slices.ContainsFunc(w.at(o.From, s), func(player people.ID) bool { return o.Said[player] != wire.MoveNo })
		age := s.Now.Sub(o.At)
		if !isDone && age < ends && (age < stands || s.Server != o.From || isWorth(s.Basis(w.Group), o.From, o.Server)) {
			return Nothing
		}
		w.Open, w.For = nil, w.Group // there is none again until other people are here
		if isDone || age >= ends {
			return Ended
		}
		return Withdrawn
	}
	isWeighed := before.Sub(w.Last) >= rests-prepares && !w.isNews && w.hoped.IsZero()
	if s.Now.Sub(w.Last) < rests-prepares || isWeighed {
		return Nothing
	}
	basis := s.Basis(w.Group)
	if w.isNews {
		w.suggested, w.isNews = Suggest(basis, s.Tree, s.Forecasts(w.Group)), false
	}
	hope := -1
	if !w.hoped.IsZero() {
		hope = w.hope
	}
	better, is := Weigh(basis, s.Server, hope)
	switch {
	case !is:
		w.hoped = 0
	case better.Server != hope:
		w.hope, w.hoped = better.Server, s.Now
		for _, a := range w.asking {
			a.confirmed = [2]confirmed{}
		}
	case s.Now.Sub(w.hoped) >= lasts && s.Now.Sub(w.Last) >= rests && (w.isConfirmed() || s.Now.Sub(max(w.hoped, w.Since)) >= waits):
		w.Last, w.hoped = s.Now, 0
		w.Open = &Proposal{
			Better: better, From: s.Server, At: s.Now,
			Came: people.Without(w.Group, w.For...), Gone: people.Without(w.For, w.Group...),
		}
		return Proposed
	}
	return Nothing
}

// Answer takes a player's answer to the open proposal, and reports whether the player moves at once.
func (w *Watch) Answer(player people.ID, answer wire.MoveAnswer) (moves bool) {
	if w.due = 0; w.Open.Said == nil {
		w.Open.Said = map[people.ID]wire.MoveAnswer{}
	}
	if answer == "" {
		delete(w.Open.Said, player)
	} else if answer != wire.MoveNow {
		w.Open.Said[player] = answer
		w.of(player).plays = "" // the map of this moment is the one to end
	}
	return answer == wire.MoveNow
}

// Move notes that a player goes to the proposed server. It returns the room's server from now on:
// where most of the people are, or the old one.
func (w *Watch) Move(player people.ID, s Scene) (server int) {
	to, at := w.Open.Server, map[people.ID]int{}
	for _, one := range append(slices.Collect(maps.Keys(w.Elsewhere)), s.Here...) {
		at[one] = w.Place(one, s.Server)
	}
	at[player] = to
	delete(w.Open.Said, player)
	w.of(player).settle()
	server = s.Server
	if there := people.Filtered(s.Here, func(one people.ID) bool { return at[one] == to }); 2*len(there) > len(s.Here) {
		server = to
	}
	maps.DeleteFunc(at, func(_ people.ID, place int) bool { return place == server })
	w.Elsewhere, w.due = at, 0
	return server
}

// Validate returns the first fault of a saved watch, or nil. Listed is the length of the list.
func (w *Watch) Validate(listed int) error {
	servers := slices.Collect(maps.Values(w.Elsewhere))
	if w.Open != nil {
		servers = append(servers, w.Open.From, w.Open.Server)
	}
	for _, server := range servers {
		if server < 0 || server >= listed {
			return fmt.Errorf("a server %d of %d to move to", server, listed)
		}
	}
	return nil
}
