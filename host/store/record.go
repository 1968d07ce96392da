package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// A record says what a room was when it was saved:
//
//	┌────────┬─────┬────────────────┬────────────────┬──────┬──────┐
//	│ opener │ sum │ length of code │ length of data │ code │ data │
//	└────────┴─────┴────────────────┴────────────────┴──────┴──────┘
//	    8      16          2                4
//
// The sum is of all that follows it, so that no change in a record goes unnoticed. The
// opener, whose first byte is in no text, shows where the next one begins after one
// that is damaged; its last is the version. Numbers are big endian.
const (
	opener     = "\xf5muster\x01"
	sumLength  = 16 // of SHA-256, cut: it is to find damage, not forgery
	afterSum   = len(opener) + sumLength
	afterSizes = afterSum + 2 + 4
)

// span is where a record stands in the file.
type span struct{ start, length int64 }

func recordLength(code string, data int) int64 { return int64(afterSizes + len(code) + data) }

func appendRecord(b []byte, code string, data []byte) ([]byte, error) {
	if len(code) > math.MaxUint16 || len(data) > math.MaxUint32 {
		return nil, fmt.Errorf("store: a room of %d bytes is too long", len(data))
	}
	record := make([]byte, afterSum, recordLength(code, len(data)))
	copy(record, opener)
	record = binary.BigEndian.AppendUint16(record, uint16(len(code)))
	record = binary.BigEndian.AppendUint32(record, uint32(len(data)))
	record = append(append(record, code...), data...)
	sum := sha256.Sum256(record[afterSum:])
	copy(record[len(opener):afterSum], sum[:])
	return append(b, record...), nil
}

// parse reads the record that data begins with; its length is 0 if there is no whole one.
func parse(data []byte) (code string, value []byte, length int) {
	if len(data) < afterSizes || string(data[:len(opener)]) != opener {
		return "", nil, 0
	}
	codeLength := int(binary.BigEndian.Uint16(data[afterSum:]))
	whole := int64(afterSizes+codeLength) + int64(binary.BigEndian.Uint32(data[afterSum+2:]))
	if whole > int64(len(data)) {
		return "", nil, 0
	}
	record := data[:whole]
	if sum := sha256.Sum256(record[afterSum:]); !bytes.Equal(sum[:sumLength], record[len(opener):afterSum]) {
		return "", nil, 0
	}
	return string(record[afterSizes : afterSizes+codeLength]), record[afterSizes+codeLength:], int(whole)
}

// scan finds the whole records of a file in their order, and counts the bytes that
// are in none.
func scan(data []byte, found func(code string, at span)) (damaged int) {
	for at := 0; at < len(data); {
		if code, _, length := parse(data[at:]); length > 0 {
			found(code, span{int64(at), int64(length)})
			at += length
			continue
		}
		next := len(data)
		if i := bytes.Index(data[at+1:], []byte(opener)); i >= 0 {
			next = at + 1 + i
		}
		damaged += next - at
		at = next
	}
	return damaged
}
