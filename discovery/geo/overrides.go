package geo

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"

	"muster/discovery"
)

// overrides are the places that the user has set. The zero value has none.
type overrides struct {
	places map[netip.Prefix]Place
	bits4  []int // the lengths of the IPv4 prefixes, longest first
	bits6  []int // the lengths of the IPv6 prefixes, longest first
}

// locate takes each field from the longest prefix that has it.
func (o *overrides) locate(addr netip.Addr) (place Place) {
	lengths := o.bits6
	if addr.Is4() {
		lengths = o.bits4
	}
	for _, bits := range lengths {
		prefix, _ := addr.Prefix(bits)
		place.fill(o.places[prefix])
	}
	return place
}

func (l *Locator) readOverrides(o Options) error {
	if o.Overrides == "" {
		return nil
	}
	f, err := os.Open(o.Overrides)
	if err != nil {
		return &FileError{Path: o.Overrides, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	l.overrides, err = parseOverrides(f)
	if err != nil {
		return &FileError{o.Overrides, err, "a line is prefix,country,asn: 192.0.2.0/24,DE,64496"}
	}
	return nil
}

// parseOverrides reads lines of prefix, country and AS number. Its errors begin with
// the line's number.
func parseOverrides(r io.Reader) (overrides, error) {
	lines := csv.NewReader(discovery.SkipBOM(r))
	lines.Comment, lines.FieldsPerRecord, lines.TrimLeadingSpace = '#', -1, true
	o := overrides{places: make(map[netip.Prefix]Place)}
	for first := true; ; first = false {
		record, err := lines.Read()
		if err == io.EOF {
			break
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) { // in the form of our own errors
			return overrides{}, fmt.Errorf("line %d: %w", broken.Line, broken.Err)
		}
		if err != nil {
			return overrides{}, err
		}
		if first && strings.EqualFold(record[0], "prefix") {
			continue
		}
		if err := o.add(record); err != nil {
			line, _ := lines.FieldPos(0)
			return overrides{}, fmt.Errorf("line %d: %w", line, err)
		}
	}
	for prefix := range o.places {
		lengths := &o.bits6
		if prefix.Addr().Is4() {
			lengths = &o.bits4
		}
		*lengths = append(*lengths, prefix.Bits())
	}
	for _, lengths := range []*[]int{&o.bits4, &o.bits6} {
		slices.SortFunc(*lengths, func(a, b int) int { return cmp.Compare(b, a) })
		*lengths = slices.Compact(*lengths)
	}
	return o, nil
}

func (o *overrides) add(record []string) error {
	const fields = 3 // prefix, country, asn
	if len(record) != fields {
		return fmt.Errorf("%d fields, not %d", len(record), fields)
	}
	for i := range record {
		record[i] = strings.TrimSpace(record[i])
	}
	prefix, err := parsePrefix(record[0])
	if err != nil {
		return err
	}
	if _, twice := o.places[prefix]; twice {
		return fmt.Errorf("%s for the second time", prefix)
	}
	o.places[prefix], err = parsePlace(record[1], record[2])
	return err
}

// parsePrefix reads a prefix, or an address as the prefix of this address alone.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%q is no prefix like 192.0.2.0/24 or 2001:db8::/32", text)
	}
	return prefix.Masked(), nil
}

func parsePlace(country, asn string) (place Place, err error) {
	place.Country = strings.ToUpper(country)
	if country != "" && !isCountry(place.Country) {
		return Place{}, fmt.Errorf("%q is no country code like DE", country)
	}
	if asn == "" {
		return place, nil
	}
	var ok bool
	if place.ASN, ok = discovery.ParseASN(asn); !ok || place.ASN == 0 {
		return Place{}, fmt.Errorf("%q is no AS number like 3320", asn)
	}
	return place, nil
}
