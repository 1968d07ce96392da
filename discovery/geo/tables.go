package geo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"muster/discovery"
	"muster/discovery/geo/ranges"
)

// MaxTable bounds a table, in bytes: three times as much as today's largest.
const MaxTable = 4 << 20

// ownNumber is the value of a number in the table of ASes: the number itself.
func ownNumber(asn uint32) uint32 { return asn }

// CheckTable reads a whole table like those that Muster carries, and describes it. Its
// errors wrap [discovery.ErrMalformed].
func CheckTable(table []byte) (Source, error) {
	s, err := sourceOf(bytes.NewReader(table))
	if err != nil {
		return Source{}, err
	}
	switch s.Field {
	case Country:
		_, err = ranges.Decode(bytes.NewReader(table), ranges.CountryCode)
	case ASN:
		_, err = ranges.Decode(bytes.NewReader(table), ownNumber)
	case Names:
		_, err = ranges.DecodeNames(bytes.NewReader(table))
	default:
		err = fmt.Errorf("geo: a table of %.20q", s.Field)
	}
	return s, err
}

// Carried returns the tables that Muster carries, including the one of names.
func Carried() (all []Source, err error) {
	for _, table := range []string{countryTable, asnTable, namesTable} {
		s, err := sourceOf(strings.NewReader(table))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// TableFile returns the name of a table's file in the folder of [Options].Tables.
func TableFile(f Field) string { return string(f) + ".gz" }

// Trouble names the tables in the folder of [Options].Tables that cannot serve, or is
// nil. The carried tables serve instead.
func (l *Locator) Trouble() error { return l.trouble }

// sourceOf returns a table's description of itself.
func sourceOf(table io.Reader) (Source, error) {
	h, err := ranges.ReadHeader(table)
	return Source{Field: Field(h.Name), Name: discovery.CleanText(h.Source), Built: h.Built, table: true}, err
}

// openTables chooses the newer of what Muster carries and of what the user has fetched.
func (l *Locator) openTables(o Options) error {
	var countries, origins Source
	var err1, err2, err3 error
	l.countries, countries, err1 = newer(l, o.Tables, countryTable, func(r io.Reader) (*ranges.Table[string], error) {
		return ranges.Decode(r, ranges.CountryCode)
	})
	l.origins, origins, err2 = newer(l, o.Tables, asnTable, func(r io.Reader) (*ranges.Table[uint32], error) { return ranges.Decode(r, ownNumber) })
	l.names, _, err3 = newer(l, o.Tables, namesTable, ranges.DecodeNames)
	l.sources = append(l.sources, countries, origins)
	return cmp.Or(err1, err2, err3)
}

// newer returns the folder's table if it is newer and whole, and else the carried one.
func newer[T any](l *Locator, folder, carried string, decode func(io.Reader) (T, error)) (func() (T, error), Source, error) {
	source, err := sourceOf(strings.NewReader(carried))
	if err != nil {
		return nil, source, err
	}
	if folder != "" {
		path := filepath.Join(folder, TableFile(source.Field))
		table, fetched, err := readTable(path, source, decode)
		if err == nil {
			return func() (T, error) { return table, nil }, fetched, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotNewer) {
			l.trouble = errors.Join(l.trouble, &FileError{path, err, "muster geo --update fetches it again, muster geo --forget takes it away"})
		}
	}
	return sync.OnceValues(func() (T, error) { return decode(strings.NewReader(carried)) }), source, nil
}

var errNotNewer = errors.New("it is not newer than the table that Muster carries")

// readTable reads a table from a file, if it is newer than another.
func readTable[T any](path string, than Source, decode func(io.Reader) (T, error)) (table T, s Source, err error) {
	f, err := os.Open(path)
	if err != nil {
		return table, s, err
	}
	defer f.Close()
	packed, err := io.ReadAll(io.LimitReader(f, MaxTable+1))
	if err != nil {
		return table, s, err
	}
	s, err = sourceOf(bytes.NewReader(packed))
	switch {
	case err != nil:
	case len(packed) > MaxTable:
		err = fmt.Errorf("more than %d MB", MaxTable>>20)
	case s.Field != than.Field:
		err = fmt.Errorf("a table of %.20q, not of %s", s.Field, than.Field)
	case !s.Built.After(than.Built):
		err = errNotNewer
	default:
		s.Path = path
		table, err = decode(bytes.NewReader(packed))
	}
	return table, s, err
}
