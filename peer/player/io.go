package player

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection/memory"
)

// Input is something that happens to a player's program.
type Input interface{ isInput() }

// Connected says that a connection to the host is open. Line numbers the program's connections. Host is the host's
// address.
type Connected struct {
	Line int
	Host netip.Addr
}

// Hear carries a message from the host.
type Hear struct{ Message wire.Message }

// Lost says that the connection has ended.
type Lost struct{}

// Tick says that time passes. Queued is how many messages wait to be sent. Outside is the router's port that forwards
// to the beacon, 0 for none.
type Tick struct {
	Queued  int
	Outside uint16
}

// Say carries what the player says about the choice.
type Say struct{ Say wire.Say }

// Seen carries results of a [Run]. Each result's At counts from [Run.Began].
type Seen struct {
	Task    int
	Results []discovery.Result
}

// Ran says that a [Run] has ended and Seen has delivered all its results. A run that was stopped, or that ran out of
// patience, has no error.
type Ran struct {
	Task int
	Err  error
}

// Resting says how long the prober pauses.
type Resting struct {
	For    time.Duration
	Queued int
}

// Progressed says how far a [Launch] got.
type Progressed struct {
	Task   int
	State  wire.LaunchState
	Detail sentence.Sentence
}

// Launched says that a [Launch] has ended.
type Launched struct{ Task int }

// Tried answers [Try].
type Tried struct {
	Task int
	Able wire.Able
}

// Brought is the answer to [Collect]: what the player brings to the room.
type Brought struct {
	Task  int
	Bring wire.Bring
}

// Consented answers [AskConsent].
type Consented struct {
	Task int
	Yes  bool
}

// Found answers [LookAround].
type Found struct {
	Game    string
	Servers []wire.NearServer
}

// StatusTold answers [AskStatus]. Pings are nil if the server has told nothing.
type StatusTold struct {
	Task  int
	Pings map[string]time.Duration
}

// OthersAnswered answers [AskOthers] with the servers that have answered.
type OthersAnswered struct{ Servers []wire.NearServer }

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
func (Consented) isInput()  {}
func (Found) isInput()      {}

func (StatusTold) isInput() {}

func (OthersAnswered) isInput() {}

// Output is something that the machine asks its shell to do.
type Output interface{ isOutput() }

// Send passes a message to the host.
type Send struct{ Message wire.Message }

// Tell shows the player an event.
type Tell struct{ Event Event }

// Warn logs a problem that somebody may want to fix.
type Warn struct {
	Text string
	Args []any
}

// Keep saves the token for the next start of the program.
type Keep struct{ Token string }

// Remember saves what the program remembers for its next start.
type Remember struct{ Cells []memory.Cell }

// Drop ends the connection, because the machine cannot act on what the host said.
type Drop struct{ Err error }

// Leave ends the program.
type Leave struct{ Err error }

// Run probes servers. The shell answers with [Seen] and [Ran]. Runs take turns at the prober.
type Run struct {
	Task    int
	Game    string // or the protocol, for places
	Servers []discovery.Server
	Plan    discovery.Plan
	// Exposure counts the servers that the plan names; see [Run.Watched].
	Exposure *discovery.Exposure
	// IsPlaces marks candidate places instead of servers. [Release] says when their prober can close.
	IsPlaces bool
	// MinReach is the least reach of the addresses that the names of servers may lead to.
	MinReach discovery.Reach
	// Among is how many players probe the same servers.
	Among int
	// Patience bounds the run, including its wait for a turn. 0 is unbounded.
	Patience time.Duration
	Began    time.Time
}

// Watched returns the run's plan in the form that an executor must follow. For servers that must not be asked, it calls
// seen at once.
func (r Run) Watched(seen func(discovery.Result)) discovery.Plan {
	if r.IsPlaces {
		return r.Exposure.WatchPlaces(r.Plan, r.Servers, seen)
	}
	return r.Exposure.Watch(r.Plan, r.Servers, seen)
}

// Release closes the prober for places of a protocol.
type Release struct{ Protocol string }

// Launch takes the player to a server. The shell answers with [Progressed] and [Launched]. Doubt, if not empty, is a
// sentence on why the shell should ask the player first.
type Launch struct {
	Task   int
	Launch wire.Launch
	Doubt  sentence.Sentence
}

// Hold changes how long the shell holds the packets of the player's game; 0 ends it. It comes before the launch
// to which it belongs, and while the game runs.
type Hold struct{ For time.Duration }

// AskStatus asks the server of a launch for its players' pings. The shell answers with [StatusTold].
type AskStatus struct {
	Task   int
	Launch wire.Launch
	// MinReach is as in [Run].
	MinReach discovery.Reach
}

// Try finds out whether this machine can start a game.
type Try struct {
	Task int
	Game string
}

// Collect finds out what the player brings into the room.
type Collect struct {
	Task int
	Game string
}

// AskConsent asks the player whether machines of providers may see their address. Places are the first of them.
type AskConsent struct {
	Task   int
	Places wire.Venues
}

// LookAround searches this machine's networks for servers of a game.
type LookAround struct {
	Task int
	Game string
}

// AskOthers asks servers of a game on other private networks.
type AskOthers struct {
	Task    int
	Game    string
	Servers []netip.AddrPort
}

// Stop ends a task early. The shell still answers the task.
type Stop struct{ Task int }

func (Send) isOutput()       {}
func (Tell) isOutput()       {}
func (Warn) isOutput()       {}
func (Keep) isOutput()       {}
func (Remember) isOutput()   {}
func (Drop) isOutput()       {}
func (Leave) isOutput()      {}
func (Run) isOutput()        {}
func (Release) isOutput()    {}
func (Launch) isOutput()     {}
func (Hold) isOutput()       {}
func (AskStatus) isOutput()  {}
func (Try) isOutput()        {}
func (Collect) isOutput()    {}
func (AskConsent) isOutput() {}
func (LookAround) isOutput() {}
func (AskOthers) isOutput()  {}
func (Stop) isOutput()       {}

// Event is something that the player's screen may show.
type Event interface{ isEvent() }

// Reached says where the host that let the player in is. At is the address and port of the connection. It is loopback
// if that is this machine. Fingerprint identifies the certificate that the host has shown. It is empty without TLS.
type Reached struct {
	At          netip.AddrPort
	Fingerprint string
}

// Joined says that the host let the player in under this name. Page turns the room's link into the player's own.
type Joined struct{ Name, Page string }

// RoomChanged carries the newest state of the room.
type RoomChanged struct{ Room wire.Snapshot }

// Progress says how far the player's own measuring is.
type Progress struct{ Probed, Answered, Listed int }

// Exposing says how many servers of the list may see the player's address in this round, according
// to the host. A number of 0 means all of them.
type Exposing struct{ Max, Listed int }

// ExposingPlaces says how many candidate places will have seen the player's address in this round.
type ExposingPlaces struct{ Places int }

// Shown says who has seen the player's address in the round that is about to end.
type Shown struct{ discovery.Exposed }

// Disconnected says that the connection broke. The next attempt follows after Retry. Gone says that the host no longer
// runs where it was.
type Disconnected struct {
	Err   error
	Retry time.Duration
	Gone  bool
}

// Waiting says that the room has no host for a while. The connection stays open.
type Waiting struct{ Says sentence.Sentence }

// Answered says why the player's word does not count.
type Answered struct{ Says sentence.Sentence }

func (Reached) isEvent()        {}
func (Joined) isEvent()         {}
func (Answered) isEvent()       {}
func (Waiting) isEvent()        {}
func (RoomChanged) isEvent()    {}
func (Progress) isEvent()       {}
func (Exposing) isEvent()       {}
func (ExposingPlaces) isEvent() {}
func (Shown) isEvent()          {}
func (Disconnected) isEvent()   {}
