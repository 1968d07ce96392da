package cluster

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"muster/host/store"
)

// A record is the newest message of a room's subject. What stands in its header is
// enough for the directory, which never sees the rest:
//
//	muster.room.BAKODI ─▶ ┌ Muster-Room: {"v":1,"epoch":7,"owner":"a",…} ┐
//	                      │ the room, compressed                         │
//	                      └──────────────────────────────────────────────┘
//
// A room that is larger than a message may be lies in parts under subjects of their
// own, which were written before the record that names them.
type record struct {
	// Version is that of the record and of how its room is packed. Whoever knows only
	// lower ones leaves the room alone.
	Version int `json:"v"`
	// Epoch counts the claims to the room.
	Epoch uint64 `json:"epoch"`
	// Owner is the node that has the room, empty if any may have it; Life tells its
	// process from others of the same name, and Claim its claims from each other.
	Owner string `json:"owner,omitempty"`
	Life  string `json:"life,omitempty"`
	Claim uint64 `json:"claim,omitempty"`
	// Last is the node that had the room last, where that one has given it free.
	Last string `json:"last,omitempty"`
	// Heir is the node that is to take the room before any other, where one is.
	Heir string `json:"heir,omitempty"`
	// Write counts the writes of the claim.
	Write uint64 `json:"write,omitempty"`
	// ID is the room's public id.
	ID string `json:"id,omitempty"`
	// Over is set in a tombstone, which has none of the following.
	Over bool `json:"over,omitempty"`
	// Length is the room's in bytes as it was saved.
	Length int `json:"length,omitempty"`
	// Parts is how many parts it lies in, 0 if it is in the message itself, and Group
	// the token of their subjects.
	Parts int    `json:"parts,omitempty"`
	Group string `json:"group,omitempty"`
	// Sum is the hash of the parts, put together.
	Sum string `json:"sum,omitempty"`
}

const (
	// recordHeader is the message header that has a record.
	recordHeader = "Muster-Room"
	// recordVersion is the newest that this program knows.
	recordVersion = 1
	// maxRoom is how long a room may be, in bytes: 30,000 servers' infos take 2 MB.
	maxRoom = 64 << 20
	// maxParts is how many parts such a room may have when nothing in it compresses.
	maxParts = 1024
)

// errRecord is the error of a record that makes no sense.
var errRecord = errors.New("cluster: malformed record")

// parseRecord reads a record's header. Of a newer version it returns what all versions
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
		panic(err) // numbers and strings
	}
	return nats.Header{recordHeader: {string(text)}}
}

// isSame reports whether two records were one write.
func (r record) isSame(other record) bool {
	return r.isOfClaim(other) && r.Write == other.Write
}

// isOfClaim reports whether two records were written by one claim.
func (r record) isOfClaim(other record) bool {
	return r.Epoch == other.Epoch && r.Life == other.Life && r.Claim == other.Claim
}
