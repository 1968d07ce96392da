package wire

import (
	"encoding/json"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
)

// Version is the version of the protocol. Host and peer must have the same one.
const Version = 2

// Message is anything that host and peer send each other.
type Message interface{ kind() string }

// Hello is a peer's first message.
type Hello struct {
	Version int    `json:"version"`
	Code    string `json:"code"`
	Name    string `json:"name"`
	// Key is the link key that stands beside the code in links, or empty.
	Key string `json:"key,omitempty"`
	// Token proves that the peer was in the room before. The first time the peer makes one itself,
	// or leaves it empty; then the host makes one.
	Token string `json:"token,omitempty"`
	// As is what the room has known the player by before they had a program: the ticket of a
	// guest's page, or the organiser's secret.
	As string `json:"as,omitempty"`
	// Probes says where the peer's probes come from, if not from the address of its connection.
	Probes Probes `json:"probes,omitempty"`
	// Program tells the running program from others with the same token. Line counts the program's
	// connections, from 1. The later one of two connections counts, in whichever order their hellos
	// come.
	Program string `json:"program,omitempty"`
	Line    int    `json:"line,omitempty"`
	// Editions are the player's editions of games, by the games' ids. The edition without an id is
	// that of the room's game, whichever that is. The others are for the case that the room changes
	// to their game.
	Editions Editions `json:"editions,omitempty"`
	// Inflates says that the peer reads packed messages, see [Packer].
	Inflates bool `json:"inflates,omitempty"`
	// Asks says that the peer asks its player to vote at a terminal. Then the others wait for this
	// player as they do for people who have the page open.
	Asks bool `json:"asks,omitempty"`
	// Somewhere says that the others must not see which country the player is in.
	Somewhere bool `json:"somewhere,omitempty"`
	// Beacon is the UDP port at which the peer's machine answers like a beacon, 0 for none. The
	// player agrees that others' programs learn its address, as long as all in the room agree.
	Beacon uint16 `json:"beacon,omitempty"`
	// Discreet is how many servers may see the player's address in a round; 0 is no bound. The peer
	// itself keeps to it, and reports servers over the bound as forbidden.
	Discreet int `json:"discreet,omitempty"`
	// Side is the side of a match that the player wants to be on; see [Settings.Match]. A player who
	// is on a side, or was set on one, keeps it.
	Side Side `json:"side,omitempty"`
	// Browser says that the peer is a page in a browser, which measures places and no game servers.
	Browser bool `json:"browser,omitempty"`
}

// SearchBudget is how many servers a coordinating host asks a player for in a round, unless people
// want more. SearchFinalists is how many more the player may look at.
const SearchBudget, SearchFinalists = 650, 8

// VoteBudget is how many more servers a player may be asked for while people vote, because the
// search goes on meanwhile.
const VoteBudget = 200

// MinDiscreet is the smallest number of servers that a player can do with: the finalists, and as
// many again.
const MinDiscreet = 2 * SearchFinalists

// Editions are a player's editions of games, by the games' ids.
type Editions map[string]discovery.Edition

// UnmarshalJSON ignores null.
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

// Seek asks a host whether it is the room's host. A peer sends it before hello when it looks for
// its host at another address. So a stranger at that address gets neither the code nor the token.
type Seek struct {
	Version int `json:"version"`
	// Place names the peer's place in the room, and the host proves itself with Nonce; see
	// [muster/host/access.Place].
	Place string `json:"place"`
	Nonce string `json:"nonce"`
}

// Found is the answer of the host that has the place.
type Found struct {
	Proof string `json:"proof"`
}

// Probes says where a peer's probes come from.
type Probes string

const (
	// ProbesAtHost is the host's own machine. The host believes it only there.
	ProbesAtHost Probes = "host"
	// ProbesElsewhere is an address other than the connection's.
	ProbesElsewhere Probes = "elsewhere"
)

// Welcome admits a peer.
type Welcome struct {
	Version int `json:"version"`
	// Name is the player's name in the room, cleaned.
	Name string `json:"name"`
	// Token brings the peer back to its place after a lost connection.
	Token string `json:"token"`
	// Page is the credential of the player's own pages, for the personal link.
	Page string `json:"page,omitempty"`
	// Epoch grows with each host that takes the room over, and with each restart. A peer that has
	// seen a greater epoch ignores smaller ones. This also holds for the epoch of a [Launch].
	Epoch uint64 `json:"epoch,omitempty"`
	// Hosts are other addresses of the host, in case this one is lost.
	Hosts []netip.AddrPort `json:"hosts,omitempty"`
}

// Again is what a peer sends before it repeats everything on a connection that had already welcomed
// it, because another host has its room now.
type Again struct{}

// List is the server list that everyone in the room shares. All later messages name servers by
// their index in it.
type List struct {
	Round   int
	Servers []discovery.Server
}

// Measure asks a peer to run its discovery plan over the list.
type Measure struct {
	Round    int    `json:"round"`
	Game     string `json:"game"`
	Strategy string `json:"strategy"`
	// MaxRTT is the RTT above which the group cannot use a server, 0 for no limit.
	MaxRTT discovery.Millis `json:"max_rtt_ms"`
	Seed   uint64           `json:"seed"`
	// Known is how many of this player's results the host still has. They follow as a report, and
	// the player need not measure them again.
	Known int `json:"known"`
	// Max is the most servers of the list that the host may ask this player for in the round,
	// looks included; 0 is the whole list. It may grow, and then the host says so first.
	Max int `json:"most,omitempty"`
}

// Coordinated is the strategy of a room whose host tells each player which servers to ask, round
// after round. Its name stands in Measure as those of the discovery plans do.
const Coordinated = "coordinated"

// Ask makes a peer ask these servers before any others. The peer skips servers that it knows or is
// already asking.
type Ask struct {
	Round   int   `json:"round"`
	Servers []int `json:"servers"`
	// Own is how many servers of its own choice the peer may then ask, on top of earlier
	// permission.
	Own int `json:"own,omitempty"`
	// Names are servers that lead. The peer reports the names that it saw when it measured them,
	// and asks no server for this.
	Names []int `json:"names,omitempty"`
	// Only makes the peer forget earlier requests that it has not yet carried out.
	Only bool `json:"only,omitempty"`
}

// Report carries results in the order of their probes' ends. The peer sends them as they come, and
// the host sends them back when a peer returns. It may repeat earlier results.
type Report struct {
	Round int
	// First is the place of the first result among all of the player's.
	First int
	// Now is the sender's clock. The results' At are earlier readings of the same clock.
	Now     time.Duration
	Results []discovery.Result
}

// Infos carries what servers say about themselves, by index. Peers leave out names, because only
// finalists need one.
type Infos struct {
	Round   int
	Servers []ServerInfo
}

// ServerInfo is what one server says about itself.
type ServerInfo struct {
	Server int
	Info   discovery.Info
}

// Done says that a peer's plan has ended.
type Done struct {
	Round int `json:"round"`
}

// Rests says that a peer pauses its queries. The player's router remembers few servers at a time,
// and must forget some first. Up to a bound the host does not take this for silence.
type Rests struct {
	Round int              `json:"round"`
	For   discovery.Millis `json:"for_ms"`
}

// Late says how late a peer's timers usually fire because its machine is busy. The peer's RTTs may
// be too long by this time.
type Late struct {
	By discovery.Millis `json:"late_ms"`
}

// Finalists asks everyone to look at the best few servers again: free seats, RTT, jitter and loss,
// in spaced samples. Without servers it ends the current look.
type Finalists struct {
	Round   int    `json:"round"`
	Game    string `json:"game"`
	Attempt int    `json:"attempt"`
	Servers []int  `json:"servers"`
	Samples int    `json:"samples"`
	// After is how long this player waits before the first sample. Every is the time between two
	// samples, 0 for about a second. Players of a large group take turns.
	After discovery.Millis `json:"after_ms,omitempty"`
	Every discovery.Millis `json:"every_ms,omitempty"`
	// Gap is how long a server of the game must be left alone before it answers an address again. 0
	// is about a second, as for the strictest servers. Samples come no faster.
	Gap discovery.Millis `json:"gap_ms,omitempty"`
	// Max is the current value of the same field in [Measure]; 0 changes nothing.
	Max int `json:"most,omitempty"`
}

// Verified is a peer's result for the finalists.
type Verified struct {
	Round   int        `json:"round"`
	Attempt int        `json:"attempt"`
	Servers []Finalist `json:"servers"`
	// More says that the look goes on, and that this is the result so far.
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

// Launch sends a player to the chosen server. It names the game and the server, but never a
// command, which only the peer knows.
type Launch struct {
	Round int    `json:"round"`
	Game  string `json:"game"`
	// Address is where players connect to. QueryPort is the server's port for queries, if it
	// differs; Steam's links use it.
	Address   string `json:"address"`
	QueryPort uint16 `json:"query_port,omitempty"`
	Name      string `json:"name"`
	Password  string `json:"password,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	// Again is when the game should last be opened once more in the round, in milliseconds of the
	// room's own clock; 0 if never. The player has asked for it on the page, a seat has become free, or
	// the room goes elsewhere.
	Again int64 `json:"again,omitempty"`
}

// Say is a player's answer at the terminal, as others give theirs on the page.
type Say struct {
	Round int  `json:"round"`
	What  Word `json:"what"`
	// Addr is the server of the ballot for a vote or a veto. A vote for none takes the last one
	// back.
	Addr hostport.AddrPort `json:"addr,omitzero"`
	// Number is the number of the turn in a match which a captain's move is for; see [Turn]. The move is
	// about the server at Addr, or about Map.
	Number int    `json:"number,omitempty"`
	Map    string `json:"map,omitempty"`
	// Answer is the player's answer to the proposal to move on to Addr, empty to take it back.
	Answer MoveAnswer `json:"answer,omitempty"`
}

// Word is the kind of a [Say].
type Word string

// These are the words.
const (
	SayVote  Word = "vote"
	SayVeto  Word = "veto"
	SayReady Word = "ready"
	SayWait  Word = "wait" // no longer ready
	SayMove  Word = "move" // a captain's ban or pick in a match
	// SayMoveOn answers the proposal to move on to another server.
	SayMoveOn Word = "moveon"
	// In a standing room these are about the next date, and about where the room was last.
	SayCome     Word = "come"
	SayNotCome  Word = "not-come"
	SayLiked    Word = "liked"
	SayDisliked Word = "disliked"
)

// Look asks a peer which servers of a game are on its own networks, which the host cannot see.
type Look struct {
	Game string `json:"game"`
	// At are servers that the host, or programs in other private networks, have found. The peer asks
	// them, too, and reports those that answer.
	At []netip.AddrPort `json:"at,omitempty"`
}

// Near answers [Look]. The host tells the others about these servers, but each peer asks only those
// that it has found itself, or that have answered it.
type Near struct {
	Game    string       `json:"game"`
	Servers []NearServer `json:"servers"`
}

// NearServer is a server on a player's own network.
type NearServer struct {
	Addr netip.AddrPort `json:"addr"`
	Info discovery.Info `json:"info"`
}

// Bring names the servers of a game that a player likes, and those that the player never wants to
// see. Each replaces the player's earlier ones.
type Bring struct {
	Game       string    `json:"game"`
	Favourites []Brought `json:"favourites,omitempty"`
	Hidden     []Brought `json:"hidden,omitempty"`
}

// Brought is a server that people have brought into a room.
type Brought struct {
	Addr hostport.AddrPort `json:"addr"`
	Name string            `json:"name,omitempty"`
	// By names the people who brought it, as the room tells.
	By []string `json:"by,omitempty"`
}

// Outside says at which UDP port of the player's router others reach the beacon of [Hello]. The
// peer sends it as soon as the router has said so, and again if the port changes. The port belongs
// to the address that the player comes from; no other address can be named.
type Outside struct {
	Port uint16 `json:"port"`
}

// Able says whether a player's machine can start a game. The peer sends it as soon as the room is
// for that game, so that nobody learns of a problem when the others are already on the server.
type Able struct {
	Game string `json:"game"`
	// Why says why the computer cannot; it is empty if it can.
	Why sentence.Sentence `json:"why,omitzero"`
	// TypesPassword says that the game does not take the server's password from the player's
	// program, so the player types it.
	TypesPassword bool `json:"types_password,omitempty"`
	// Delays says that the program can hold the game's packets; see [Delay].
	Delays bool `json:"delays,omitempty"`
}

// Launched says how far a player got.
type Launched struct {
	Round int         `json:"round"`
	State LaunchState `json:"state"`
	// Detail says why, if it failed.
	Detail sentence.Sentence `json:"detail,omitzero"`
}

// LaunchState is how far a player's launch got.
type LaunchState string

// These are the states of a launch.
const (
	LaunchAsking   LaunchState = "asking"   // the player is being asked
	LaunchStarted  LaunchState = "launched" // the game was started
	LaunchDeclined LaunchState = "declined" // the player said no
	LaunchByHand   LaunchState = "by-hand"  // the player joins without Muster
	LaunchFailed   LaunchState = "failed"   // the game did not start
)

// Stage is where a room stands.
type Stage string

// These are the stages of a room, in their order.
const (
	Gathering Stage = "gathering"
	Listing   Stage = "listing"
	Measuring Stage = "measuring"
	// Refining means that the host asks for the servers that could still win.
	Refining Stage = "refining"
	// Chosen means that there is a ranking, and everyone looks at the finalists again.
	Chosen    Stage = "chosen"
	Launching Stage = "launching"
	// Waiting means that the best servers are full, and the room waits for seats.
	Waiting Stage = "waiting"
	// Failed means that the room found nothing suitable, or got no list.
	Failed Stage = "failed"
)

// Note is a line of the room's log.
type Note struct {
	At time.Time `json:"at"`
	sentence.Sentence
}

// String returns the note in English.
func (n Note) String() string { return catalogue.InEnglish().Say(n.Sentence) }

// UnmarshalJSON reads the time and the sentence together.
func (n *Note) UnmarshalJSON(data []byte) error {
	type fields sentence.Sentence // without its method
	read := struct {
		At time.Time `json:"at"`
		fields
	}{n.At, fields(n.Sentence)}
	err := json.Unmarshal(data, &read)
	n.At, n.Sentence = read.At, sentence.Sentence(read.fields)
	return err
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
