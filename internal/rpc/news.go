package rpc

import (
	"encoding/json"

	"muster/discovery/report"
	"muster/host/wire"
	"muster/internal/rpc/jsonrpc"
)

// The notifications. Each holds what a launcher misses if it does not read.

// Room has the newest state of a room.
type Room struct {
	Room int `json:"room" doc:"the room's number in this program"`
	// Document is in the form of the HTTP API. The method state has what this leaves out.
	Document wire.Document `json:"document" doc:"the room, as GET /api/rooms/CODE describes it: PROTOCOL.md"`
	// Missed counts the states that this state has replaced before they could be written.
	Missed int `json:"missed,omitempty" doc:"how many states before this one were left out, because nobody read them"`
}

// After counts the states that nobody has read.
func (n Room) After(older jsonrpc.News) jsonrpc.News {
	n.Missed += older.(Room).Missed + 1
	return n
}

// Launch asks the launcher to take its player to a server.
type Launch struct {
	Room      int    `json:"room" doc:"the room's number"`
	Launch    int    `json:"launch" doc:"the launch's number, for confirm"`
	Round     int    `json:"round" doc:"the room's round"`
	Game      string `json:"game" doc:"the game's ID"`
	Address   string `json:"address" doc:"where players connect to"`
	QueryPort uint16 `json:"query_port,omitempty" doc:"the server's port for queries, if it is another one; Steam's links want it"`
	Name      string `json:"name" doc:"what the server is called"`
	Password  string `json:"password,omitempty" doc:"the server's password"`
	Doubt     string `json:"doubt,omitempty" doc:"why the player should be asked first, whatever they agreed to before"`
}

// After replaces an older launch, which is out of date.
func (n Launch) After(jsonrpc.News) jsonrpc.News { return n }

// Progress says how far the player's own measuring is.
type Progress struct {
	Room     int `json:"room" doc:"the room's number"`
	Asked    int `json:"asked" doc:"how many servers this program has asked"`
	Answered int `json:"answered" doc:"how many of these have answered"`
	Listed   int `json:"listed" doc:"how many servers the list has"`
}

// After replaces older progress.
func (n Progress) After(jsonrpc.News) jsonrpc.News { return n }

// Connection says whether the room's host is there.
type Connection struct {
	Room      int    `json:"room" doc:"the room's number"`
	Connected bool   `json:"connected" doc:"whether the program is connected to the room's host"`
	Why       string `json:"why,omitempty" doc:"why it is not"`
	Gone      bool   `json:"gone,omitempty" doc:"the machine answers, and no host runs there any more"`
	RetryMS   int64  `json:"retry_ms,omitempty" doc:"when the program tries again, in milliseconds from now"`
}

// After replaces an older state.
func (n Connection) After(jsonrpc.News) jsonrpc.News { return n }

// maxTexts is how many lines are kept for a launcher that does not read.
const maxTexts = 100

// Say has the lines that a terminal would print for people.
type Say struct {
	Room  int      `json:"room" doc:"the room's number"`
	Texts []string `json:"texts" doc:"lines for people"`
	Lost  int      `json:"lost,omitempty" doc:"how many lines before these were left out, because nobody read them"`
}

// After adds to the older lines, and keeps the newest.
func (n Say) After(older jsonrpc.News) jsonrpc.News {
	before := older.(Say)
	all := append(before.Texts, n.Texts...)
	lost := max(0, len(all)-maxTexts)
	n.Texts, n.Lost = all[lost:], before.Lost+n.Lost+lost
	return n
}

// Closed says that this program is in a room no more.
type Closed struct {
	Room  int            `json:"room" doc:"the room's number, which is free again"`
	Error *jsonrpc.Error `json:"error,omitempty" doc:"what went wrong, unless the person left or the session ended"`
}

// After replaces an older end, which there is not.
func (n Closed) After(jsonrpc.News) jsonrpc.News { return n }

// maxFound is how many servers are kept for a launcher that does not read. The result of discover
// has them all.
const maxFound = 200

// Found has servers that were asked, and how far discover is.
type Found struct {
	Request  json.RawMessage      `json:"request" doc:"the ID of the call of discover"`
	Listed   int                  `json:"listed" doc:"how many servers the list has"`
	Asked    int                  `json:"asked" doc:"how many were asked so far"`
	Answered int                  `json:"answered" doc:"how many of these have answered"`
	Servers  []report.Measurement `json:"servers" doc:"those that answered since the last news, as in muster.report/1"`
	Lost     int                  `json:"lost,omitempty" doc:"how many servers were left out, because nobody read them; the result has them"`
}

// After adds to the older servers, and keeps the newest.
func (n Found) After(older jsonrpc.News) jsonrpc.News {
	before := older.(Found)
	all := append(before.Servers, n.Servers...)
	lost := max(0, len(all)-maxFound)
	n.Servers, n.Lost = all[lost:], before.Lost+n.Lost+lost
	return n
}
