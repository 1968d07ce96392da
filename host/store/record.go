package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// A record is a room at the time of a save:
//
//	┌────────┬─────┬───────────────┬────────────────┬─────┬──────┐
//	│ opener │ sum │ length of key │ length of rest │ key │ rest │   rest: head, a line of JSON, and data
//	└────────┴─────┴───────────────┴────────────────┴─────┴──────┘
//	    8      16          2               4
//
// The sum covers the opener and all that follows, so no change in a record goes unnoticed. The
// opener's first byte occurs in no text, so the opener shows where the next record begins after a
// damaged one. Its last byte is the version. Numbers are big endian. All versions have the sum and
// the lengths at these places, so a later version's record does not look like damage.
const (
	opening    = "\xf5muster"
	version    = 2
	opener     = opening + string(rune(version))
	sumLength  = 16 // of SHA-256, cut: it detects damage, not forgery
	afterSum   = len(opener) + sumLength
	afterSizes = afterSum + 2 + 4
)

// blobMark begins the keys of blobs, before the hash; no code begins with it.
const blobMark = "#"

// head is the part of a record that the store keeps in memory.
type head struct {
	Epoch uint64 `json:"epoch,omitempty"`
	ID    string `json:"id,omitempty"`
	// Claimed marks a record that is only a claim; the room's data is in an earlier one.
	Claimed bool `json:"claimed,omitempty"`
	// Over is when a tombstone's room ended, and Kept when a blob was last used.
	Over time.Time `json:"over,omitzero"`
	Kept time.Time `json:"kept,omitzero"`
}

// record is the content of a record, with its length in the file and the place where its data
// begins.
type record struct {
	key            string
	head           head
	length, dataAt int64
}

// span is the place of a record in the file.
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

// bufferLength is how much of a file is in memory while it is read; a key and a head fit into it.
const bufferLength = 256 << 10

// scanner finds records in a file, in one pass.
type scanner struct {
	file     io.ReaderAt
	at, size int64
	in       *bufio.Reader
}

func newScanner(file io.ReaderAt, size int64) *scanner {
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, size), int(min(size, bufferLength)))
	return &scanner{file: file, size: size, in: in}
}

func (s *scanner) seek(at int64) {
	if s.at != at {
		s.in.Reset(io.NewSectionReader(s.file, at, s.size-at))
		s.at = at
	}
}

// peek returns up to length of the next bytes, limited by the buffer and the file.
func (s *scanner) peek(length int64) ([]byte, error) {
	data, err := s.in.Peek(int(min(length, bufferLength, s.size-s.at)))
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the file has become shorter
	}
	return data, err
}

func (s *scanner) skip(length int) {
	s.in.Discard(length) // cannot fail: the buffer has them
	s.at += int64(length)
}

// record reads the record at a place. Its length is 0 if there is no whole record of this version.
// newer reports whether there is a whole one of a later version.
func (s *scanner) record(at int64) (r record, newer bool, err error) {
	s.seek(at)
	data, err := s.peek(int64(afterSizes))
	if err != nil || len(data) < afterSizes || string(data[:len(opening)]) != opening {
		return record{}, false, err
	}
	keyEnd := afterSizes + int(binary.BigEndian.Uint16(data[afterSum:]))
	length := int64(keyEnd) + int64(binary.BigEndian.Uint32(data[afterSum+2:]))
	if length > s.size-at {
		return record{}, false, nil
	}
	if data, err = s.peek(length); err != nil {
		return record{}, false, err
	}
	version, sum := data[len(opening)], [sumLength]byte(data[len(opener):])
	line, _, hasLine := bytes.Cut(data[keyEnd:], []byte{'\n'})
	hasLine = hasLine && json.Unmarshal(line, &r.head) == nil
	r.key, r.length, r.dataAt = string(data[afterSizes:keyEnd]), length, int64(keyEnd+len(line)+1)
	hash := sha256.New()
	hash.Write(data[:len(opener)])
	s.skip(afterSum)
	for s.at < at+length {
		part, err := s.peek(at + length - s.at)
		if err != nil {
			return record{}, false, err
		}
		hash.Write(part)
		s.skip(len(part))
	}
	switch isWhole := bytes.Equal(hash.Sum(nil)[:sumLength], sum[:]); {
	case isWhole && version == opener[len(opening)] && hasLine:
		return r, false, nil
	default:
		return record{}, isWhole && version > opener[len(opening)], nil
	}
}

// next returns where the next record may begin, from a place on.
func (s *scanner) next(at int64) (int64, error) {
	for s.seek(at); s.at < s.size; {
		data, err := s.peek(bufferLength)
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(data, []byte(opening)); i >= 0 {
			return s.at + int64(i), nil
		}
		s.skip(max(1, len(data)-len(opening)+1))
	}
	return s.size, nil
}

// scan finds the whole records of a file in order, and counts the bytes outside them. newer reports
// whether a later version wrote some of them.
func scan(file io.ReaderAt, size int64, found func(record, span)) (damaged int64, newer bool, err error) {
	s := newScanner(file, size)
	for at := int64(0); at < size; {
		r, isNewer, err := s.record(at)
		if err != nil {
			return damaged, newer, err
		}
		newer = newer || isNewer
		if r.length > 0 {
			found(r, span{at, r.length})
			at += r.length
			continue
		}
		next, err := s.next(at + 1)
		if err != nil {
			return damaged, newer, err
		}
		damaged += next - at
		at = next
	}
	return damaged, newer, nil
}

// readRecord reads a record, and fails unless it is as it was written.
func readRecord(file io.ReaderAt, at span) (raw []byte, r record, err error) {
	raw = make([]byte, at.length)
	if _, err := file.ReadAt(raw, at.start); err != nil {
		return nil, r, fmt.Errorf("store: %w", err)
	}
	if r, _, err = newScanner(bytes.NewReader(raw), at.length).record(0); err == nil && r.length != at.length {
		err = errors.New("store: a record is damaged")
	}
	return raw, r, err
}
