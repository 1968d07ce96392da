package cluster

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"muster/host/store"
)

// A record is the newest message of a room's subject. Its header has all that the directory needs,
// and the directory never reads the rest:
//
//	muster.room.BAKODI ─▶ ┌ Muster-Room: {"v":1,"epoch":7,"owner":"a",…} ┐
//	                      │ the room, compressed                         │
//	                      └──────────────────────────────────────────────┘
//
// A room that is too large for a message consists of parts under subjects of their own. They are
// written before the record that names them.
type record struct {
	// Version is the version of the record and of its room's encoding. Hosts that know only lower
	// versions leave the room alone.
	Version int `json:"v"`
	// Epoch counts the claims to the room.
	Epoch uint64 `json:"epoch"`
	// Owner is the node that has the room, empty if any node may take it. Life tells its process
	// from others with the same name, and Claim tells its claims from each other.
	Owner string `json:"owner,omitempty"`
	Life  string `json:"life,omitempty"`
	Claim uint64 `json:"claim,omitempty"`
	// Last is the node that had the room last, if that node has released it.
	Last string `json:"last,omitempty"`
	// Heir is the node that may take the room first, if there is one.
	Heir string `json:"heir,omitempty"`
	// Write is the number of this write among the claim's writes.
	Write uint64 `json:"write,omitempty"`
	// ID is the room's public id.
	ID string `json:"id,omitempty"`
	// Over is set in a tombstone, which has none of the following fields.
	Over bool `json:"over,omitempty"`
	// Length is the saved room's length in bytes.
	Length int `json:"length,omitempty"`
	// Parts is how many parts the room has, 0 if it is in the message itself. Group is the token in
	// the parts' subjects.
	Parts int    `json:"parts,omitempty"`
	Group string `json:"group,omitempty"`
	// Sum is the hash of all parts together.
	Sum string `json:"sum,omitempty"`
}

const (
	// recordHeader is the message header that contains a record.
	recordHeader = "Muster-Room"
	// recordVersion is the newest version that this program knows.
	recordVersion = 1
	// maxRoom is how long a room may be, in bytes; 30,000 servers' infos take 2 MB.
	maxRoom = 64 << 20
	// maxParts is how many parts such a room may have if nothing in it compresses.
	maxParts = 1024
)

// errRecord is the error for a malformed record.
var errRecord = errors.New("cluster: malformed record")

// parseRecord reads a record's header. For a newer version it returns the fields that all versions
// have, with store.ErrNewer.
func parseRecord(text string) (record, error) {
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return record{}, errRecord
	}
	switch {
	case r.Version > recordVersion:
		return r, fmt.Errorf("cluster: a room of version %d: %w", r.Version, store.ErrNewer)
	case r.Version < 1, r.Owner != "" && !nodeName.MatchString(r.Owner), r.Last != "" && !nodeName.MatchString(r.Last),
		r.Heir != "" && !nodeName.MatchString(r.Heir),
		r.Length < 0 || r.Length > maxRoom, r.Parts < 0 || r.Parts > maxParts, (r.Parts == 0) != (r.Group == ""),
		r.Group != "" && !nodeName.MatchString(r.Group), r.Over && (r.Owner != "" || r.Parts != 0 || r.Length != 0):
		return record{}, errRecord
	}
	return r, nil
}

func (r record) header() nats.Header {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // cannot fail: numbers and strings
	}
	return nats.Header{recordHeader: {string(text)}}
}

// isSame reports whether two records come from the same write.
func (r record) isSame(other record) bool {
	return r.isOfClaim(other) && r.Write == other.Write
}

// isOfClaim reports whether the same claim wrote both records.
func (r record) isOfClaim(other record) bool {
	return r.Epoch == other.Epoch && r.Life == other.Life && r.Claim == other.Claim
}
