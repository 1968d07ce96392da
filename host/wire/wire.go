// Package wire is what host and peer say to each other.
//
//	peer                                 host
//	 │ ── hello ────────────────────────▶ │   version, code, name, token
//	 │ ◀──────────────── welcome, room ── │   or refused
//	 │ ── able ─────────────────────────▶ │   whether it can start the room's game
//	 │ ── bring ────────────────────────▶ │   servers that the player likes, if the player
//	 │                                    │   wants the room to have them
//	 │ ◀────────────────────────── look ─ │   what is on the player's own networks,
//	 │ ── near ─────────────────────────▶ │   if the host is not on them
//	 │ ◀──────────────── list, measure ── │   once the group is complete
//	 │ ── report, infos … done ─────────▶ │   as servers answer
//	 │ ◀────────────────────────── ask ── │   which to ask next, if the host coordinates
//	 │ ◀──────────────────── finalists ── │   the best few, once more
//	 │ ── verified ─────────────────────▶ │
//	 │ ◀─────────────────────── survey ── │   places where a server could be
//	 │ ── surveyed ─────────────────────▶ │
//	 │ ── say ──────────────────────────▶ │   votes, if people vote
//	 │ ◀─────────────── launch (room …) ─ │
//	 │ ── launched ─────────────────────▶ │   what came of it
//
// Fields and messages that a version does not know are passed over, so that later
// ones can add to it.
//
// Control messages are JSON text frames: {"type":"hello", …}. The server list,
// reports and infos are binary frames whose first byte is their kind. Of the room's
// [Snapshot] those sections are sent that have changed.
package wire

import (
	"encoding/json"
	"net/netip"
	"time"

	"muster/discovery"
)

// Version is the version of the conversation. Host and peer must speak the same.
const Version = 2

// Message is anything that host and peer say to each other.
type Message interface{ kind() string }

// Hello is a peer's first message.
type Hello struct {
	Version int    `json:"version"`
	Code    string `json:"code"`
	Name    string `json:"name"`
	// Key is the link key that stands beside the code in links, or empty.
	Key string `json:"key,omitempty"`
	// Token is the proof that the peer was in the room before. The first time it is one
	// that the peer has made, or empty: then the host makes one.
	Token string `json:"token,omitempty"`
	// As is what the peer's player has been known by before it played, if anything: the
	// ticket of a guest's page, or the organiser's secret.
	As string `json:"as,omitempty"`
	// Probes is where the peer asks servers from, if that is not simply where its
	// connection comes from.
	Probes Probes `json:"probes,omitempty"`
	// Program tells the running program from others that have the token, and Line counts
	// its connections, from 1: of two of one program the later counts, in whichever
	// order their hellos come.
	Program string `json:"program,omitempty"`
	Line    int    `json:"line,omitempty"`
	// Editions are what the player has of games, by their ids. What stands there without
	// an id is of the room's game, whichever that is, and then the others are what it
	// would be if the room's game was theirs.
	Editions Editions `json:"editions,omitempty"`
	// Asks: the peer asks its player at a terminal to vote, so that the others wait for
	// the player's word as they do for who has the page open.
	Asks bool `json:"asks,omitempty"`
	// Somewhere: the others are not to be told which country the player is in.
	Somewhere bool `json:"somewhere,omitempty"`
	// Beacon is the UDP port at which the peer's machine answers as a beacon does, 0 for
	// none. The player agrees that programs of others are told its address, as long as all
	// in the room agree to that.
	Beacon uint16 `json:"beacon,omitempty"`
	// Discreet is how many servers may see the player's address in a round, which the
	// peer itself holds; 0 is no bound. Whom it may not ask it says to be forbidden.
	Discreet int `json:"discreet,omitempty"`
}

// SearchBudget is how many servers a host that coordinates asks a player for in a round,
// unless people want more, and SearchFinalists how many it may have looked at besides.
const SearchBudget, SearchFinalists = 650, 8

// VoteBudget is how many servers more a player may be asked for while people vote, in rooms
// that may vote: the search goes on meanwhile.
const VoteBudget = 200

// LeastDiscreet is how few servers a player can do with: the finalists, and as many again.
const LeastDiscreet = 2 * SearchFinalists

// Editions are what a player has of games, by their ids.
type Editions map[string]discovery.Edition

// UnmarshalJSON passes over what is null.
func (e *Editions) UnmarshalJSON(data []byte) error {
	var said map[string]*discovery.Edition
	if err := json.Unmarshal(data, &said); err != nil {
		return err
	}
	*e = nil
	for game, edition := range said {
		if edition == nil {
			continue
		}
		if *e == nil {
			*e = Editions{}
		}
		(*e)[game] = *edition
	}
	return nil
}

// Seek asks a host at an address where the room's host may be by now whether it is that
// host, before hello: neither the code nor the token goes to whoever sits there.
type Seek struct {
	Version int `json:"version"`
	// Place names the peer's place in the room, and Nonce is to be proved with; see
	// [muster/host/access.Place].
	Place string `json:"place"`
	Nonce string `json:"nonce"`
}

// Found is the answer of the host that has the place.
type Found struct {
	Proof string `json:"proof"`
}

// Probes is where a peer asks servers from.
type Probes string

const (
	// ProbesAtHost: the host's own machine. It is believed on that machine only.
	ProbesAtHost Probes = "host"
	// ProbesElsewhere: another address than the connection's.
	ProbesElsewhere Probes = "elsewhere"
)

// Welcome lets a peer in.
type Welcome struct {
	Version int `json:"version"`
	// Name is the player's name in the room, cleaned.
	Name string `json:"name"`
	// Token brings the peer back to its place after a lost connection.
	Token string `json:"token"`
	// Page is the credential of the player's own pages, for the personal link.
	Page string `json:"page,omitempty"`
	// Epoch grows with each host that takes the room over, and each restart: who has
	// heard of a greater one obeys none that is less. So does that of a [Launch].
	Epoch uint64 `json:"epoch,omitempty"`
	// Hosts are other addresses of the host, in case this one is lost for good.
	Hosts []netip.AddrPort `json:"hosts,omitempty"`
}

// Refusal is why a peer or an action is turned away. Close follows.
type Refusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Link is where the right program is, for who has another version.
	Link string `json:"link,omitempty"`
}

// Reasons of a refusal.
const (
	ReasonVersion   = "version"    // host and peer differ in Version
	ReasonCode      = "code"       // no such room
	ReasonNameTaken = "name-taken" // someone else has the name
	ReasonName      = "name"       // no name at all
	ReasonFull      = "full"       // the room has all its players
	ReasonClosed    = "closed"     // the room was closed
	ReasonMalformed = "malformed"  // the message makes no sense
	ReasonSecret    = "secret"     // only the organiser may
	ReasonReplaced  = "replaced"   // the player came back on another connection
	ReasonLocked    = "locked"     // the organiser lets nobody new in
	ReasonRemoved   = "removed"    // the organiser has sent the player away
	ReasonAction    = "action"     // what was asked for makes no sense now
	ReasonOrigin    = "origin"     // another site's page asks, or by a name that is not the host's
	ReasonBusy      = "busy"       // too much is asked at once
	ReasonLimited   = "limited"    // too many wrong codes
	ReasonCrowded   = "crowded"    // a page without a seat gave way to another
	ReasonLeft      = "left"       // the player has left the room, by the page
	ReasonEnded     = "ended"      // the organiser has ended the night
	ReasonMoved     = "moved"      // another host has the room: come back at once
)

func (r Refusal) Error() string { return r.Message }

// Wait tells a client that its room has no host for the moment, and that it need do
// nothing. Peers and pages are told so by the host that they are connected to.
type Wait struct {
	Message string `json:"message,omitempty"`
}

// Again is what a peer says before it says everything again, on a connection on which it
// was welcomed before: another host has its room now.
type Again struct{}

// List is the server list that everyone in the room shares: all later messages
// name servers by their index in it.
type List struct {
	Round   int
	Servers []discovery.Server
}

// Measure asks a peer to run its discovery plan over the list.
type Measure struct {
	Round    int    `json:"round"`
	Game     string `json:"game"`
	Strategy string `json:"strategy"`
	// MaxRTT is the RTT over which a server is of no use, 0 for no limit.
	MaxRTT discovery.Millis `json:"max_rtt_ms"`
	Seed   uint64           `json:"seed"`
	// Known is how many results the host still has from this player. If it has
	// any, they follow as a report and need not be measured again.
	Known int `json:"known"`
	// Most is how many servers of the list the host asks this player for in the round at
	// most, looks included; 0 is the whole list. It may grow: then the host says so first.
	Most int `json:"most,omitempty"`
}

// Coordinated is the strategy of a room whose host says, round after round,
// which servers each player asks: the name stands in Measure beside those of
// the discovery plans.
const Coordinated = "coordinated"

// Ask has a peer ask these servers before any others. Servers that it knows, or
// is asking already, it passes over.
type Ask struct {
	Round   int   `json:"round"`
	Servers []int `json:"servers"`
	// Own is how many servers of its own choice the peer may ask after them,
	// besides what it was allowed before.
	Own int `json:"own,omitempty"`
	// Names are servers that lead: the peer says what they called themselves when it
	// measured them, if they did, and asks nobody.
	Names []int `json:"names,omitempty"`
}

// Report carries results in the order in which the probes ended: from peer to host
// as they come, and back when a peer returns. It may repeat what was said before.
type Report struct {
	Round int
	// First is the place of the first result among all of the player's.
	First int
	// Now is the sender's clock, of which the results' At are earlier readings.
	Now     time.Duration
	Results []discovery.Result
}

// Infos carries what servers say of themselves, by index. Peers leave out the
// names: only finalists need one.
type Infos struct {
	Round   int
	Servers []ServerInfo
}

// ServerInfo is what one server says of itself.
type ServerInfo struct {
	Server int
	Info   discovery.Info
}

// Done says that a peer's plan has come to its end.
type Done struct {
	Round int `json:"round"`
}

// Rests says that a peer asks nobody for a while: the player's router has room for few
// servers at a time, and has to forget some first. It is no silence, up to a bound.
type Rests struct {
	Round int              `json:"round"`
	For   discovery.Millis `json:"for_ms"`
}

// Late says by how much a peer's timers commonly ring late, because its machine is busy:
// what the peer measures may be too long by as much.
type Late struct {
	By discovery.Millis `json:"late_ms"`
}

// Finalists asks everyone to look at the best few again: free seats, RTT,
// jitter and loss, in spaced samples. Without servers it ends the look under way.
type Finalists struct {
	Round   int    `json:"round"`
	Game    string `json:"game"`
	Attempt int    `json:"attempt"`
	Servers []int  `json:"servers"`
	Samples int    `json:"samples"`
	// After is how long this player waits before the first sample, and Every the
	// time from one sample to the next, 0 for a second or so: players of a large
	// group take turns.
	After discovery.Millis `json:"after_ms,omitempty"`
	Every discovery.Millis `json:"every_ms,omitempty"`
	// Gap is how long a server of the game needs peace before it answers an address again,
	// 0 for a second or so, as the strictest do. Samples come no faster.
	Gap discovery.Millis `json:"gap_ms,omitempty"`
	// Most is that of [Measure] as it stands now; 0 says nothing.
	Most int `json:"most,omitempty"`
}

// Verified is what a peer found of the finalists.
type Verified struct {
	Round   int        `json:"round"`
	Attempt int        `json:"attempt"`
	Servers []Finalist `json:"servers"`
	// More: the look goes on, and this is what was found so far.
	More bool `json:"more,omitempty"`
}

// Finalist is one player's second look at a server.
type Finalist struct {
	Server int             `json:"server"`
	State  discovery.State `json:"state"`
	// RTTs are the samples that were answered, in ms.
	RTTs []float64 `json:"rtts_ms"`
	// Sent counts the samples, answered or not.
	Sent int             `json:"sent"`
	Info *discovery.Info `json:"info,omitempty"`
}

// Launch sends a player to the chosen server. It names the game and the server,
// never a command: that is the peer's own.
type Launch struct {
	Round int    `json:"round"`
	Game  string `json:"game"`
	// Address is where players connect to. QueryPort is where the server there is asked, if
	// that is another port: Steam's links take that one.
	Address   string `json:"address"`
	QueryPort uint16 `json:"query_port,omitempty"`
	Name      string `json:"name"`
	Password  string `json:"password,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	// Again is when the game was to be opened once more in the round, in milliseconds of the
	// host's clock: the player has asked for that on the page, there is a seat by now, or the
	// room goes elsewhere. It is 0 if it was not.
	Again int64 `json:"again,omitempty"`
}

// Say is what a player says of the choice at the terminal, as others do on the page.
type Say struct {
	Round int  `json:"round"`
	What  Word `json:"what"`
	// Addr is the server of the ballot that a vote or a veto is of; a vote for none takes
	// the last one back.
	Addr netip.AddrPort `json:"addr,omitzero"`
}

// Word is the kind of a [Say].
type Word string

// The words.
const (
	SayVote  Word = "vote"
	SayVeto  Word = "veto"
	SayReady Word = "ready"
	SayWait  Word = "wait" // not ready after all
	// In a standing room: of the next date, and of where the room was last.
	SayCome     Word = "come"
	SayNotCome  Word = "not-come"
	SayLiked    Word = "liked"
	SayDisliked Word = "disliked"
)

// Answer says why what a player said does not count.
type Answer struct {
	Message string `json:"message"`
}

// Look asks a peer which servers of a game are on its own networks, where the host is
// not.
type Look struct {
	Game string `json:"game"`
}

// Near answers [Look]. The others are told of these servers, and who has found one
// itself asks it.
type Near struct {
	Game    string       `json:"game"`
	Servers []NearServer `json:"servers"`
}

// NearServer is a server on a player's own network.
type NearServer struct {
	Addr netip.AddrPort `json:"addr"`
	Info discovery.Info `json:"info"`
}

// Bring tells of the servers of a game that a player likes, and of those that the player
// never wants to see. Each replaces what the player brought before.
type Bring struct {
	Game       string    `json:"game"`
	Favourites []Brought `json:"favourites,omitempty"`
	Hidden     []Brought `json:"hidden,omitempty"`
}

// Brought is a server that people have brought into a room.
type Brought struct {
	Addr netip.AddrPort `json:"addr"`
	Name string         `json:"name,omitempty"`
	// By are those who did, as the room tells.
	By []string `json:"by,omitempty"`
}

// Outside says by which UDP port of the player's router others elsewhere reach the beacon of
// [Hello], as soon as the router has said so, and again if it changes. It is a port of the
// address that the player comes from: no other can be named.
type Outside struct {
	Port uint16 `json:"port"`
}

// Able says whether a player's machine can start a game, as soon as the room is for that
// game, so that nobody finds out once the others are on the server.
type Able struct {
	Game string `json:"game"`
	// Why it cannot; empty if it can.
	Why string `json:"why,omitempty"`
	// TypesPassword: the game does not take the server's password from the player's
	// program, so the player types it.
	TypesPassword bool `json:"types_password,omitempty"`
}

// Launched says how far a player got.
type Launched struct {
	Round int         `json:"round"`
	State LaunchState `json:"state"`
	// Detail is why, if it failed.
	Detail string `json:"detail,omitempty"`
}

// LaunchState is how far a player's launch got.
type LaunchState string

// The states of a launch.
const (
	LaunchAsking   LaunchState = "asking"   // the player is being asked
	LaunchStarted  LaunchState = "launched" // the game was started
	LaunchDeclined LaunchState = "declined" // the player said no
	LaunchByHand   LaunchState = "by-hand"  // the player joins without Muster
	LaunchFailed   LaunchState = "failed"   // the game did not start
)

// Stage is where a room stands.
type Stage string

// The stages of a room, in their order.
const (
	Gathering Stage = "gathering"
	Listing   Stage = "listing"
	Measuring Stage = "measuring"
	// Refining: the host asks for the servers that could still win.
	Refining Stage = "refining"
	// Chosen: there is a ranking; everyone looks at the finalists again.
	Chosen    Stage = "chosen"
	Launching Stage = "launching"
	// Waiting: the best servers are full, and the room waits for seats.
	Waiting Stage = "waiting"
	// Failed: nothing suitable was found, or no list was to be had.
	Failed Stage = "failed"
)

// Note is a line of the room's log.
type Note struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

func (Hello) kind() string     { return "hello" }
func (Seek) kind() string      { return "seek" }
func (Found) kind() string     { return "found" }
func (Welcome) kind() string   { return "welcome" }
func (Refusal) kind() string   { return "refused" }
func (Wait) kind() string      { return "wait" }
func (Again) kind() string     { return "again" }
func (List) kind() string      { return "list" }
func (Measure) kind() string   { return "measure" }
func (Ask) kind() string       { return "ask" }
func (Report) kind() string    { return "report" }
func (Infos) kind() string     { return "infos" }
func (Done) kind() string      { return "done" }
func (Rests) kind() string     { return "rests" }
func (Late) kind() string      { return "late" }
func (Finalists) kind() string { return "finalists" }
func (Verified) kind() string  { return "verified" }
func (Launch) kind() string    { return "launch" }
func (Bring) kind() string     { return "bring" }
func (Able) kind() string      { return "able" }
func (Outside) kind() string   { return "outside" }
func (Launched) kind() string  { return "launched" }
func (Say) kind() string       { return "say" }
func (Answer) kind() string    { return "answer" }
func (Look) kind() string      { return "look" }
func (Near) kind() string      { return "near" }
func (Room) kind() string      { return "room" }
