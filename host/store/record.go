package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// A record says what a room was when it was saved:
//
//	┌────────┬─────┬───────────────┬────────────────┬─────┬──────┐
//	│ opener │ sum │ length of key │ length of rest │ key │ rest │   rest: head, a line of JSON, and data
//	└────────┴─────┴───────────────┴────────────────┴─────┴──────┘
//	    8      16          2               4
//
// The sum is of the opener and all that follows, so that no change in a record goes
// unnoticed. The opener, whose first byte is in no text, shows where the next one begins after one
// that is damaged; its last is the version. Numbers are big endian. All versions have
// sum and lengths at these places, so that a record of a later one is told from damage.
const (
	opening    = "\xf5muster"
	version    = 2
	opener     = opening + string(rune(version))
	sumLength  = 16 // of SHA-256, cut: it is to find damage, not forgery
	afterSum   = len(opener) + sumLength
	afterSizes = afterSum + 2 + 4
)

// blobMark is what the keys of blobs begin with, before the hash: no code does.
const blobMark = "#"

// head is what a store knows of a record.
type head struct {
	Epoch uint64 `json:"epoch,omitempty"`
	ID    string `json:"id,omitempty"`
	// Claimed says that the record is a claim and no more: the room is as saved before.
	Claimed bool `json:"claimed,omitempty"`
	// Over is when the room of a tombstone ended, and Kept when a blob was wanted last.
	Over time.Time `json:"over,omitzero"`
	Kept time.Time `json:"kept,omitzero"`
}

// record is what stands in the file, and how long it is there.
type record struct {
	key    string
	head   head
	data   []byte
	length int
}

// span is where a record stands in the file.
type span struct{ start, length int64 }

func appendRecord(b []byte, key string, h head, data []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	rest := len(line) + 1 + len(data)
	if len(key) > math.MaxUint16 || rest > math.MaxUint32 {
		return nil, fmt.Errorf("store: a room of %d bytes is too long", len(data))
	}
	record := make([]byte, afterSum, afterSizes+len(key)+rest)
	copy(record, opener)
	record = binary.BigEndian.AppendUint16(record, uint16(len(key)))
	record = binary.BigEndian.AppendUint32(record, uint32(rest))
	record = append(append(append(append(record, key...), line...), '\n'), data...)
	copy(record[len(opener):], sumOf(record))
	return append(b, record...), nil
}

func sumOf(record []byte) []byte {
	hash := sha256.New()
	hash.Write(record[:len(opener)])
	hash.Write(record[afterSum:])
	return hash.Sum(nil)[:sumLength]
}

// parse reads the record that data begins with; its length is 0 if there is no whole one
// of this version. Newer reports whether there is a whole one of a later version.
func parse(data []byte) (r record, newer bool) {
	if len(data) < afterSizes || string(data[:len(opening)]) != opening {
		return record{}, false
	}
	keyLength := int(binary.BigEndian.Uint16(data[afterSum:]))
	whole := int64(afterSizes+keyLength) + int64(binary.BigEndian.Uint32(data[afterSum+2:]))
	if whole > int64(len(data)) {
		return record{}, false
	}
	data = data[:whole]
	if !bytes.Equal(sumOf(data), data[len(opener):afterSum]) {
		return record{}, false
	}
	if v := data[len(opening)]; v != version {
		return record{}, v > version
	}
	line, rest, split := bytes.Cut(data[afterSizes+keyLength:], []byte{'\n'})
	if !split || json.Unmarshal(line, &r.head) != nil {
		return record{}, false
	}
	r.key, r.data, r.length = string(data[afterSizes:afterSizes+keyLength]), rest, int(whole)
	return r, false
}

// scan finds the whole records of a file in their order, and counts the bytes that
// are in none. Newer reports whether a later version wrote some of them.
func scan(data []byte, found func(r record, at span)) (damaged int, newer bool) {
	for at := 0; at < len(data); {
		r, isNewer := parse(data[at:])
		newer = newer || isNewer
		if r.length > 0 {
			found(r, span{int64(at), int64(r.length)})
			at += r.length
			continue
		}
		next := len(data)
		if i := bytes.Index(data[at+1:], []byte(opening)); i >= 0 {
			next = at + 1 + i
		}
		damaged += next - at
		at = next
	}
	return damaged, newer
}
