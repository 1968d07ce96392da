package wire

import (
	"slices"
	"time"

	"muster/selection"
)

// ServiceFormat names the form of [Service].
const ServiceFormat = "muster.service/1"

// Service says which rooms can be opened on a host.
type Service struct {
	Format string `json:"format"`
	// Version is the host's version of Muster. Commit and Date say what it was built from.
	Version string    `json:"version"`
	Commit  string    `json:"commit,omitempty"`
	Date    time.Time `json:"date,omitzero"`
	// Games are the games that rooms may be for.
	Games []OpenGame `json:"games"`
	// MaxPlayers is how many players one room takes, and MaxServers how many servers its own list may
	// have.
	MaxPlayers int `json:"max_players"`
	MaxServers int `json:"max_servers"`
	// Places is how many places the host knows, for rooms that look for a place and name none.
	Places int `json:"places,omitempty"`
	// Beacon is the UDP port of the host's name at which it answers as muster beacon does, so that pages and
	// programs measure how far it is; 0 is none.
	Beacon uint16 `json:"beacon,omitempty"`
}

// OpenGame is a game for which strangers may open a room.
type OpenGame struct {
	Game
	// Aliases are what else people call the game.
	Aliases []string `json:"aliases,omitempty"`
	// By is the game's rule, unless the organiser chooses another. Listed says that somebody lists
	// the game's servers; for other games the organiser must bring a list.
	By     selection.Rule `json:"by"`
	Listed bool           `json:"listed"`
	// Steam says that a list needs a key for Steam's Web API, or favourites there.
	Steam bool `json:"steam,omitempty"`
	// OtherNumber says that the text which found the game has another number in it, so that it may mean
	// another game: Chivalry 2 is no Chivalry.
	OtherNumber bool `json:"other_number,omitempty"`
}

// IsOpen reports whether a stranger who opens a room may set a row of the table. An own list of
// servers has a way of its own.
func IsOpen(row Setting) bool {
	return !slices.Contains([]string{"open", "most", serversKey, "league"}, row.Key)
}

// Opened is the answer to the opener of a room.
type Opened struct {
	// Code is the room's code, which people say aloud.
	Code string `json:"code"`
	// Link takes friends into the room. OrganiserLink is the organiser's own: the text behind the last
	// dot is the organiser's secret, the credential for all that the organiser does.
	Link          string `json:"link"`
	OrganiserLink string `json:"organiser_link"`
	// Go takes a browser to the game server once the room has launched, and admits nobody to the room.
	Go string `json:"go"`
}

// Supply is an organiser's own list for a room that is open.
type Supply struct {
	// Game is the id of the room's game.
	Game string `json:"game"`
	// Servers are the list, a server each, by address and port.
	Servers []string `json:"servers"`
}
