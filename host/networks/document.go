package networks

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"
)

// header begins a document. The rest is:
//
//	gone │ origins │ (country[2] │ AS │ cells │ (kind[1] │ country[2] │ AS │ prefix[0, 2, 4] │ mean │ spread │ count │ hour) …) … │ CRC-32[4]
//
// Numbers are variable in length, RTTs in steps of 0.1 ms, hours since 1970. Origins and cells are in
// order, so a memory has one document. It has no trial, and so no hash of a room or a network.
const header = "muster.networks/1\n"

const (
	// minRow and minCell are the smallest sizes of a row and a cell, in bytes.
	minRow, minCell = 4, 8
	sumLength       = 4
)

// The errors of documents.
var (
	ErrDamaged = errors.New("networks: the document is damaged")
	ErrNewer   = errors.New("networks: written by a newer Muster")
)

// Document is a memory in its kept form, without trials.
type Document struct {
	rows map[origin]row
	gone uint32
}

// Append appends the memory's document to b.
func (m *Memory) Append(b []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	begin := len(b)
	b = append(b, header...)
	b = binary.AppendUvarint(b, uint64(m.gone))
	b = binary.AppendUvarint(b, uint64(len(m.rows)))
	for _, o := range m.origins() {
		b = binary.BigEndian.AppendUint16(b, o.country)
		b = binary.AppendUvarint(b, uint64(o.asn))
		b = binary.AppendUvarint(b, uint64(len(m.rows[o])))
		for _, c := range m.rows[o] {
			b = append(b, byte(c.kind))
			b = binary.BigEndian.AppendUint16(b, c.country)
			b = binary.AppendUvarint(b, uint64(c.asn))
			switch c.kind {
			case ofPrefix4:
				b = binary.BigEndian.AppendUint16(b, uint16(c.prefix>>16))
			case ofPrefix6:
				b = binary.BigEndian.AppendUint32(b, c.prefix)
			}
			for _, n := range []uint64{uint64(c.ms), uint64(c.spread), uint64(c.count), uint64(c.seen)} {
				b = binary.AppendUvarint(b, n)
			}
		}
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[begin:]))
}

// Parse reads a document.
func Parse(b []byte) (d Document, err error) {
	name, version := header[:len(header)-2], header[len(header)-2:]
	switch {
	case len(b) < len(header) || string(b[:len(name)]) != name:
		return d, ErrDamaged
	case string(b[len(name):len(header)]) != version:
		return d, ErrNewer
	case len(b) < len(header)+sumLength, crc32.ChecksumIEEE(b[:len(b)-sumLength]) != binary.BigEndian.Uint32(b[len(b)-sumLength:]):
		return d, ErrDamaged
	}
	r := reader{b: b[len(header) : len(b)-sumLength]}
	d = Document{rows: map[origin]row{}, gone: uint32(r.upTo(math.MaxUint32))}
	last, left := origin{}, MaxCells
	for range r.upTo(uint64(len(r.b) / minRow)) {
		o := origin{country: r.country(), asn: uint32(r.upTo(math.MaxUint32))}
		cells := make(row, r.upTo(uint64(min(left, len(r.b)/minCell))))
		for i := range cells {
			if cells[i] = r.cell(d.gone); i > 0 && cells[i-1].part.compare(cells[i].part) >= 0 {
				r.isDamaged = true
			}
		}
		if last.compare(o) >= 0 || len(cells) == 0 {
			r.isDamaged = true
		}
		if r.isDamaged {
			return Document{}, ErrDamaged
		}
		d.rows[o], last, left = cells, o, left-len(cells)
	}
	if r.isDamaged || len(r.b) > 0 {
		return Document{}, ErrDamaged
	}
	return d, nil
}

// reader reads the numbers of a document. After damage it reads zeros.
type reader struct {
	b         []byte
	isDamaged bool
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.isDamaged, r.b = true, nil
		return make([]byte, n)
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

// upTo reads a number in its shortest form.
func (r *reader) upTo(most uint64) uint64 {
	n, length := binary.Uvarint(r.b)
	if length <= 0 || n > most || length > 1 && r.b[length-1] == 0 {
		r.isDamaged, r.b = true, nil
		return 0
	}
	r.b = r.b[length:]
	return n
}

func (r *reader) country() uint16 {
	code, known := packedCountry(string(r.take(2)))
	r.isDamaged = r.isDamaged || !known
	return code
}

// cell reads a cell, which was learnt no earlier than an hour.
func (r *reader) cell(from uint32) (c cell) {
	c.kind = kind(r.take(1)[0])
	c.country, c.asn = r.country(), uint32(r.upTo(math.MaxUint32))
	switch c.kind {
	case ofPrefix4:
		c.prefix = uint32(binary.BigEndian.Uint16(r.take(2))) << 16
	case ofPrefix6:
		c.prefix = binary.BigEndian.Uint32(r.take(4))
	}
	c.ms, c.spread = uint16(r.upTo(math.MaxUint16)), uint16(r.upTo(math.MaxUint16))
	c.count, c.seen = uint8(r.upTo(math.MaxUint8)), uint32(r.upTo(math.MaxUint32))
	r.isDamaged = r.isDamaged || !c.isSound() || c.ms == 0 || c.count == 0 || c.seen < from
	return c
}

// Merge takes the cells of a document that are newer than the memory's own. The order of documents
// makes no difference, and neither does a document that comes twice, unless the memory is full. Cells
// of the far past and the future are not taken.
func (m *Memory) Merge(d Document, now time.Time) {
	at := hours(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(d.gone)
	for _, o := range sorted(d.rows) {
		for _, c := range d.rows[o] {
			if c.seen < m.gone || c.seen > at+1 || isPast(c.seen, at, forgotten) {
				continue
			}
			r := m.rows[o]
			if i, is := r.find(c.part); !is || r[i].compareNews(c) < 0 {
				m.put(o, c)
			}
		}
	}
}

// compareNews orders cells of the same part. The last one counts.
func (c cell) compareNews(to cell) int {
	return cmp.Or(cmp.Compare(c.seen, to.seen), cmp.Compare(c.count, to.count), cmp.Compare(c.ms, to.ms), cmp.Compare(c.spread, to.spread))
}

func sorted(rows map[origin]row) []origin { return (&Memory{rows: rows}).origins() }

// String says how much a document has.
func (d Document) String() string {
	n := 0
	for _, r := range d.rows {
		n += len(r)
	}
	return fmt.Sprintf("%d cells of %d networks", n, len(d.rows))
}

// Forgetting returns a document that makes every memory forget what it has learnt up to the end of
// the hour.
func Forgetting(now time.Time) []byte {
	m := New([32]byte{})
	m.Forget(now)
	return m.Append(nil)
}

func (m *Memory) expire(now uint32) {
	isOld := func(c cell) bool { return isPast(c.seen, now, forgotten) }
	for _, r := range m.rows {
		if slices.ContainsFunc(r, isOld) {
			m.drop(isOld)
			return
		}
	}
}

// Expire drops the cells and trials whose time is over.
func (m *Memory) Expire(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := hours(now)
	m.expire(at)
	for key, t := range m.trials {
		if isPast(t.begun, at, trialLife) {
			delete(m.trials, key)
		}
	}
}
