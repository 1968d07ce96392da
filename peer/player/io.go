package player

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Input is something that happens to a player's program.
type Input interface{ isInput() }

// Connected: a connection to the host is made, the program's so many-th. Host is where the
// host is.
type Connected struct {
	Line int
	Host netip.Addr
}

// Hear: the host says something.
type Hear struct{ Message wire.Message }

// Lost: the connection is over.
type Lost struct{}

// Tick: time passes. Queued is how many messages wait for the line, and Outside the port of
// the player's router by which others reach the beacon, 0 for none.
type Tick struct {
	Queued  int
	Outside uint16
}

// Say: the player says something of the choice.
type Say struct{ Say wire.Say }

// Seen: results of a [Run]. At of each is the time since [Run.Began].
type Seen struct {
	Task    int
	Results []discovery.Result
}

// Ran: a [Run] has ended, and Seen has brought all its results. One that was stopped, or
// whose patience ended, has no error.
type Ran struct {
	Task int
	Err  error
}

// Resting: the prober asks nobody for so long.
type Resting struct {
	For    time.Duration
	Queued int
}

// Progressed: how far a [Launch] got.
type Progressed struct {
	Task   int
	State  wire.LaunchState
	Detail string
}

// Launched: nothing more comes of a [Launch].
type Launched struct{ Task int }

// Tried: the answer to [Try].
type Tried struct {
	Task int
	Able wire.Able
}

// Brought: the answer to [Collect].
type Brought struct {
	Task  int
	Bring wire.Bring
}

// Found: the answer to [LookAround].
type Found struct {
	Game    string
	Servers []wire.NearServer
}

func (Connected) isInput()  {}
func (Hear) isInput()       {}
func (Lost) isInput()       {}
func (Tick) isInput()       {}
func (Say) isInput()        {}
func (Seen) isInput()       {}
func (Ran) isInput()        {}
func (Resting) isInput()    {}
func (Progressed) isInput() {}
func (Launched) isInput()   {}
func (Tried) isInput()      {}
func (Brought) isInput()    {}
func (Found) isInput()      {}

// Output is something that a player's program wants done.
type Output interface{ isOutput() }

// Send: tell the host something.
type Send struct{ Message wire.Message }

// Tell: show the player something.
type Tell struct{ Event Event }

// Warn: log something that somebody may want to change.
type Warn struct {
	Text string
	Args []any
}

// Keep: keep the token over a restart of the program.
type Keep struct{ Token string }

// Drop: end the connection. The program cannot act on what the host said.
type Drop struct{ Err error }

// Leave: end the program.
type Leave struct{ Err error }

// Run: ask servers, and answer with [Seen] and [Ran]. Runs take turns at the prober.
type Run struct {
	Task    int
	Game    string // or the protocol of places
	Servers []discovery.Server
	Plan    discovery.Plan
	// Exposure counts the servers that the plan names; see [Run.Watched].
	Exposure *discovery.Exposure
	// IsPlaces: these are places where a server could be. [Release] says when their
	// prober has done its work.
	IsPlaces bool
	// Among is how many players ask the same servers.
	Among int
	// Patience is how long the run may take, its wait for a turn included; 0 is for ever.
	Patience time.Duration
	Began    time.Time
}

// Watched returns the run's plan as an executor has to follow it. Of servers that must not
// be asked seen hears at once.
func (r Run) Watched(seen func(discovery.Result)) discovery.Plan {
	if r.IsPlaces {
		return r.Exposure.WatchPlaces(r.Plan, r.Servers, seen)
	}
	return r.Exposure.Watch(r.Plan, r.Servers, seen)
}

// Release: close the prober for places of a protocol.
type Release struct{ Protocol string }

// Launch: take the player to a server, and answer with [Progressed] and [Launched]. A doubt
// is why nothing should be started unasked, in a sentence.
type Launch struct {
	Task   int
	Launch wire.Launch
	Doubt  string
}

// Try: find out whether this machine can start a game.
type Try struct {
	Task int
	Game string
}

// Collect: find out what the player brings into the room.
type Collect struct {
	Task int
	Game string
}

// LookAround: look for servers of a game on the networks of this machine.
type LookAround struct {
	Task int
	Game string
}

// Stop: cut a task short. It is answered all the same.
type Stop struct{ Task int }

func (Send) isOutput()       {}
func (Tell) isOutput()       {}
func (Warn) isOutput()       {}
func (Keep) isOutput()       {}
func (Drop) isOutput()       {}
func (Leave) isOutput()      {}
func (Run) isOutput()        {}
func (Release) isOutput()    {}
func (Launch) isOutput()     {}
func (Try) isOutput()        {}
func (Collect) isOutput()    {}
func (LookAround) isOutput() {}
func (Stop) isOutput()       {}

// Event is something the player's screen may show.
type Event interface{ isEvent() }

// Joined: the host let the player in, under this name. Page is what makes the room's
// link the player's own.
type Joined struct{ Name, Page string }

// RoomChanged: the newest state of the room.
type RoomChanged struct{ Room wire.Snapshot }

// Progress: how far the player's own measuring is.
type Progress struct{ Probed, Answered, Listed int }

// Exposing: so many servers of the list may see the player's address in this round, 0 for
// all, as the host says.
type Exposing struct{ Most, Listed int }

// ExposingPlaces: so many places where a server could be will have seen the player's address
// in this round.
type ExposingPlaces struct{ Places int }

// Shown: who has seen the player's address in this round, which is about to be over.
type Shown struct{ discovery.Exposed }

// Disconnected: the connection broke, the next attempt comes after Retry. Gone: the host
// runs no more where it was.
type Disconnected struct {
	Err   error
	Retry time.Duration
	Gone  bool
}

// Waiting: the room has no host for a while, the connection stays.
type Waiting struct{ Message string }

// Answered: why what the player said does not count.
type Answered struct{ Message string }

func (Joined) isEvent()         {}
func (Answered) isEvent()       {}
func (Waiting) isEvent()        {}
func (RoomChanged) isEvent()    {}
func (Progress) isEvent()       {}
func (Exposing) isEvent()       {}
func (ExposingPlaces) isEvent() {}
func (Shown) isEvent()          {}
func (Disconnected) isEvent()   {}
