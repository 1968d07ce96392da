package main

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"muster/discovery/geo/internal/ranges"
)

// dateLine precedes the date in the head of both sources.
const dateLine = "# Generated: "

// readTor reads Tor's countries, IPv4 (`16777216,16777471,AU`) or IPv6
// (`2001:200::,2001:200:134:ffff:ffff:ffff:ffff:ffff,JP`), and when they were
// made.
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

// torAddr reads an address, which for IPv4 is written as one number.
func torAddr(text string) (netip.Addr, error) {
	if strings.Contains(text, ":") {
		return netip.ParseAddr(text)
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), err
}

// readDump reads the origin ASes out of the text that `location dump` writes:
// blocks of `key: value` lines, of which those that begin with a net matter. A
// net without an AS is part of the one around it.
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
	if s, ok := spanOf(network.Addr(), lastOf(network), uint32(number)); ok {
		origins = append(origins, s)
	}
	return origins, nil
}

// eachLine calls do with every line; its errors get the line's number.
func eachLine(r io.Reader, do func(line string) error) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if err := do(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// notCountries are codes that the sources use and that name no country of today:
// regions, states that are gone, and slips.
const notCountries = " ?? AB AN AP CS EU OS SU UN XD ZZ "

// country is the ISO 3166-1 code that a source's code means, or empty.
func country(code string) string {
	switch {
	case code == "UK":
		return "GB"
	case len(code) != 2 || strings.Contains(notCountries, " "+code+" "):
		return ""
	}
	return code
}
