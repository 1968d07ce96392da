// Command addresses makes the tables that discovery/geo embeds, from lists that may be
// redistributed:
//
//	Tor's countries (tor-geoipdb) ───────────────┬──────► country.gz
//	                                             ▼
//	the newest list of ASes ──► gaps are filled ──► asn.gz
//	an older list of ASes ──────────┘
//	their names ─────────────────────────────────────────► names.gz
//
// It writes nothing if a table differs more from the present one than a few months can explain.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/discovery/geo/ranges"
)

const (
	// These are the tables' own names.
	tableOfCountries, tableOfASes, tableOfNames = "country", "asn", "names"
	// named is how many ASes have a name in the tables, those with the most IPv4 addresses. Of
	// 91,000 ASes they have 94 % of the addresses, and a fifteenth of the bytes.
	named = 5000
)

// sources are the files that tables are made from.
type sources struct {
	// countries are Tor's lists, of IPv4 and of IPv6.
	countries [2]string
	// newest and older are lists of origin ASes.
	newest, older []string
	// later is a list that is later than the newest, to judge the rule. Without one, the tables are
	// written.
	later []string
	// date is the date of the newest list, which does not contain it.
	date time.Time
	// credit names the list's author and licence.
	credit string
}

func main() {
	var s sources
	flag.StringVar(&s.countries[0], "geoip", "/usr/share/tor/geoip", "`file` of Tor's IPv4 ranges")
	flag.StringVar(&s.countries[1], "geoip6", "/usr/share/tor/geoip6", "`file` of Tor's IPv6 ranges")
	newest := flag.String("as", "", "`files` of the newest list of ASes, with commas in between")
	older := flag.String("older", "", "`files` of an older list, for what is missing in the newest; the table that is there will do")
	later := flag.String("judge", "", "`files` of a list later than the newest: write no table, and tell how often it says the same")
	date := flag.String("as-date", "", "the newest list's `date`, such as 2026-06-17, unless it says it itself")
	flag.StringVar(&s.credit, "as-credit", "", "who made the newest list, and under which licence")
	most := flag.Float64("most", 0.05, "`share` of what the last tables know that may be otherwise")
	out := flag.String("out", "data", "`folder` for the tables, with the last ones")
	flag.Parse()
	split := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	s.newest, s.older = split(*newest), split(*older)
	s.later = split(*later)
	var err error
	if *date != "" {
		s.date, err = time.Parse(time.DateOnly, *date)
	}
	if err = cmp.Or(err, s.generate(*out, *most)); err != nil {
		fmt.Fprintln(os.Stderr, "addresses:", err)
		os.Exit(1)
	}
}

// generate makes both tables, or none.
func (s sources) generate(out string, most float64) error {
	spans, built, err := readTorFiles(s.countries[:]...)
	if err != nil {
		return err
	}
	countries := flatten(spans)
	country, err := s.table(ranges.Header{
		Name:   tableOfCountries,
		Source: "IPFire Location, from Debian's tor-geoipdb, CC BY-SA 4.0",
		Built:  built,
	}, countries, out, most)
	if err != nil {
		return err
	}
	names := make(map[uint32]string)
	newest, built, err := readAll(s.newest, names)
	if err != nil {
		return err
	}
	older, _, err := readAll(s.older, nil)
	if err != nil {
		return err
	}
	if !s.date.IsZero() {
		built = s.date
	}
	origins, fates := settle(newest, older, countries)
	if len(s.later) > 0 {
		later, _, err := readAll(s.later, nil)
		fmt.Print(judged(newest, older, origins, later))
		return err
	}
	fmt.Print(fates)
	asn, err := s.table(ranges.Header{Name: tableOfASes, Source: s.credit, Built: built}, origins, out, most)
	if err != nil {
		return err
	}
	var called bytes.Buffer
	if err := ranges.EncodeNames(&called, ranges.Header{Name: tableOfNames, Source: s.credit, Built: built},
		largest(origins, names, named)); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(out, tableOfNames+".gz"), called.Bytes(), 0o644),
		os.WriteFile(filepath.Join(out, tableOfCountries+".gz"), country, 0o644),
		os.WriteFile(filepath.Join(out, tableOfASes+".gz"), asn, 0o644),
	)
}

// readAll reads the files of one list, and adds the names of its ASes to names.
func readAll(paths []string, names map[uint32]string) (steps []ranges.Step, built time.Time, err error) {
	var all []span
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, built, err
		}
		spans, made, err := readOrigins(f, names)
		f.Close()
		if err != nil {
			return nil, built, fmt.Errorf("%s: %w", path, err)
		}
		all, built = append(all, spans...), made
	}
	return flatten(all), built, nil
}

// readTorFiles reads both lists. The table is as old as the older one.
func readTorFiles(paths ...string) (all []span, built time.Time, err error) {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, built, err
		}
		spans, made, err := readTor(f)
		f.Close()
		if err != nil {
			return nil, built, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, spans...)
		if built.IsZero() || made.Before(built) {
			built = made
		}
	}
	return all, built, nil
}

// table returns a table in its file format, unless it differs too much from the last one.
func (s sources) table(h ranges.Header, steps []ranges.Step, folder string, most float64) ([]byte, error) {
	if len(steps) == 0 || h.Built.IsZero() || h.Source == "" {
		return nil, fmt.Errorf("the source of %s has no ranges, no date or no credit", h.Name)
	}
	switch last, err := os.ReadFile(filepath.Join(folder, h.Name+".gz")); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		before, err := ranges.Steps(bytes.NewReader(last))
		if err == nil {
			err = tooDifferent(steps, before, most)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	var table bytes.Buffer
	if err := ranges.Encode(&table, h, steps); err != nil {
		return nil, err
	}
	fmt.Printf("%s: %d ranges of %s, %d bytes\n", h.Name, len(steps), h.Built.Format(time.DateOnly), table.Len())
	return table.Bytes(), nil
}
