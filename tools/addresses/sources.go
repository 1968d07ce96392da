package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/geo/ranges"
)

// dateLine precedes the date in the head of both sources.
const dateLine = "# Generated: "

// readTor reads Tor's countries, IPv4 (`16777216,16777471,AU`) or IPv6
// (`2001:200::,2001:200:134:ffff:ffff:ffff:ffff:ffff,JP`), and their date.
func readTor(r io.Reader) (countries []span, built time.Time, err error) {
	err = eachLine(r, func(line string) (err error) {
		if date, ok := strings.CutPrefix(line, dateLine); ok {
			built, err = time.Parse(time.RFC1123, date)
		} else if line != "" && line[0] != '#' {
			countries, err = appendTor(countries, line)
		}
		return err
	})
	return countries, built, err
}

func appendTor(countries []span, line string) ([]span, error) {
	fields := strings.Split(line, ",")
	if len(fields) != 3 {
		return nil, fmt.Errorf("%q is not first,last,country", line)
	}
	first, err := torAddr(fields[0])
	if err != nil {
		return nil, err
	}
	last, err := torAddr(fields[1])
	if err != nil {
		return nil, err
	}
	code := country(fields[2])
	if s, ok := spanOf(first, last, ranges.CountryNumber(code)); ok && code != "" {
		countries = append(countries, s)
	}
	return countries, nil
}

// torAddr reads an address, which for IPv4 may be written as one number.
func torAddr(text string) (netip.Addr, error) {
	if strings.ContainsAny(text, ":.") {
		return netip.ParseAddr(text)
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), err
}

// readOrigins reads the origin ASes of a list, gzipped or not. It tells the form by the first line:
// a text of `location dump`, a table of ours, or one range a line. Ranges have commas as in
// ip-location-db (`1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."`) or tabs as in iptoasn.com. They are
// read as if they were nested, so that their order does not matter. Only the first form has a date.
//
// The second and third form have names of the ASes in their last column, which are added to names
// unless it is nil.
func readOrigins(r io.Reader, names map[uint32]string) (origins []span, built time.Time, err error) {
	text := bufio.NewReader(r)
	if magic, _ := text.Peek(len(gzipMagic)); string(magic) == gzipMagic {
		packed, err := io.ReadAll(text)
		if err != nil {
			return nil, built, err
		}
		if h, err := ranges.ReadHeader(bytes.NewReader(packed)); err == nil && h.Name == tableOfASes {
			origins, err = readTable(packed)
			return origins, h.Built, err
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, built, err
		}
		text = bufio.NewReader(z)
	}
	start, _ := text.Peek(1)
	if string(start) == "#" {
		return readDump(text)
	}
	rows := csv.NewReader(text)
	rows.FieldsPerRecord, rows.ReuseRecord, rows.LazyQuotes = -1, true, true
	if line, _ := text.Peek(longestRange); bytes.ContainsRune(line, '\t') {
		rows.Comma = '\t'
	}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return origins, built, nil
		}
		if err == nil {
			origins, err = appendRange(origins, row, names)
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, built, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

const (
	gzipMagic = "\x1f\x8b"
	// longestRange, in bytes, is more than two addresses and a number take, and less than any
	// useful file has.
	longestRange = 40
)

// appendRange adds the first address, the last and the AS of a row that may end in its name.
func appendRange(origins []span, row []string, names map[uint32]string) ([]span, error) {
	const fields = 3
	if len(row) < fields {
		return nil, fmt.Errorf("%q is not first, last, AS", row)
	}
	first, err1 := torAddr(row[0])
	last, err2 := torAddr(row[1])
	number, err3 := strconv.ParseUint(row[2], 10, 32)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if first.Is4() != last.Is4() || last.Less(first) {
		return nil, fmt.Errorf("%v does not come before %v", first, last)
	}
	if s, ok := spanOf(first, last, uint32(number)); ok && isOrigin(uint32(number)) {
		origins = append(origins, s)
		if name := discovery.CleanText(row[len(row)-1]); names != nil && len(row) > fields && name != "" {
			names[uint32(number)] = name
		}
	}
	return origins, nil
}

// readTable reads a table from an earlier run.
func readTable(packed []byte) (all []span, err error) {
	steps, err := ranges.Steps(bytes.NewReader(packed))
	for i, s := range steps {
		last := ^uint64(0)
		if i+1 < len(steps) {
			last = steps[i+1].Start - 1
		}
		if s.Number != 0 {
			all = append(all, span{s.Start, last, s.Number})
		}
	}
	return all, err
}

// reserved are the numbers that no AS on the Internet has, first and last (IANA's registry of
// special-purpose AS numbers, and its blocks that no registry has yet).
var reserved = [...][2]uint32{{0, 0}, {23456, 23456}, {64496, 131071}, {4200000000, 4294967295}}

// isOrigin reports whether an AS of that number can announce anything.
func isOrigin(asn uint32) bool {
	for _, block := range reserved {
		if block[0] <= asn && asn <= block[1] {
			return false
		}
	}
	return true
}

// readDump reads the origin ASes from the text that `location dump` writes. It has blocks of `key:
// value` lines, and those that begin with a net matter. A net without an AS is part of the one
// around it.
func readDump(r io.Reader) (origins []span, built time.Time, err error) {
	var network netip.Prefix
	err = eachLine(r, func(line string) (err error) {
		if date, ok := strings.CutPrefix(line, dateLine); ok {
			built, err = time.Parse(time.RFC1123, date)
			return err
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case key == "": // between two blocks
			network = netip.Prefix{}
		case key == "net":
			network, err = netip.ParsePrefix(value)
		case key == "aut-num" && network.IsValid():
			origins, err = appendOrigin(origins, network, value)
		}
		return err
	})
	return origins, built, err
}

func appendOrigin(origins []span, network netip.Prefix, asn string) ([]span, error) {
	number, err := strconv.ParseUint(asn, 10, 32)
	if err != nil {
		return nil, err
	}
	if s, ok := spanOf(network.Addr(), lastOf(network), uint32(number)); ok && isOrigin(uint32(number)) {
		origins = append(origins, s)
	}
	return origins, nil
}

// eachLine calls do for every line, and adds the line's number to its errors.
func eachLine(r io.Reader, do func(line string) error) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if err := do(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// notCountries are the sources' codes that name no country of today: regions, former states, and
// slips.
const notCountries = " ?? AB AN AP CS EU OS SU UN XD ZZ "

// country returns the ISO 3166-1 code that a source's code means, or an empty one.
func country(code string) string {
	switch {
	case code == "UK":
		return "GB"
	case len(code) != 2 || strings.Contains(notCountries, " "+code+" "):
		return ""
	}
	return code
}
