package geo

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"strings"

	"github.com/oschwald/geoip2-golang/v2"
)

// FileError explains why one of the user's files cannot serve.
type FileError struct {
	Path string
	Err  error
	hint string
}

func (e *FileError) Error() string { return fmt.Sprintf("geo: %s: %v", e.Path, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

// Hint returns advice on how to solve it, or "".
func (e *FileError) Hint() string { return e.hint }

// kind is the use for which a database is opened.
type kind struct {
	field Field
	// lookup asks a reader for the field. Each database is tried once after opening,
	// because one of the wrong kind opens well and fails only at a lookup.
	lookup func(*geoip2.Reader, netip.Addr) error
	hint   string
}

var countryKind = kind{
	field:  Country,
	lookup: func(r *geoip2.Reader, a netip.Addr) error { _, err := r.Country(a); return err },
	hint:   "countries are in GeoLite2-Country, GeoLite2-City, DBIP-Country-Lite and DBIP-City-Lite; an ASN file goes with --as-db",
}

var asKind = kind{
	field:  ASN,
	lookup: func(r *geoip2.Reader, a netip.Addr) error { _, err := r.ASN(a); return err },
	hint:   "AS numbers are in GeoLite2-ASN and DBIP-ASN-Lite; a country or city file goes with --country-db",
}

// database is one of the user's databases. A nil database knows nothing.
type database struct{ reader *geoip2.Reader }

func (l *Locator) openDatabases(o Options) (err error) {
	if l.countryDB, err = l.openDatabase(o.CountryDB, countryKind); err != nil {
		return err
	}
	l.asDB, err = l.openDatabase(o.ASDB, asKind)
	return err
}

func (l *Locator) openDatabase(path string, k kind) (*database, error) {
	if path == "" {
		return nil, nil
	}
	reader, err := geoip2.Open(path)
	if err == nil {
		err = k.lookup(reader, netip.AddrFrom4([4]byte{1, 1, 1, 1}))
	}
	if err != nil {
		if reader != nil { // of an unknown type
			reader.Close()
		}
		return nil, openError(path, err, k)
	}
	meta := reader.Metadata()
	l.sources = append(l.sources, Source{Field: k.field, Name: meta.DatabaseType, Path: path, Built: meta.BuildTime().UTC()})
	return &database{reader}, nil
}

// openError distinguishes a database of the wrong kind from a file that is no database.
func openError(path string, err error, k kind) error {
	var unknown geoip2.UnknownDatabaseTypeError
	var wrong geoip2.InvalidMethodError
	var file *os.PathError
	switch {
	case errors.As(err, &unknown):
		return &FileError{path, fmt.Errorf("a database of type %q tells no %s", unknown.DatabaseType, k.field), k.hint}
	case errors.As(err, &wrong):
		return &FileError{path, fmt.Errorf("a database of type %q tells no %s", wrong.DatabaseType, k.field), k.hint}
	case errors.As(err, &file):
		return &FileError{Path: path, Err: file.Err}
	}
	return &FileError{path, err, "a .mmdb file is wanted; downloads often come packed (.tar.gz, .gz) and have to be unpacked"}
}

// country returns the database's country, or "". An error in one record counts as no
// record.
func (d *database) country(addr netip.Addr) string {
	if d == nil {
		return ""
	}
	record, err := d.reader.Country(addr)
	if err != nil || !isCountry(record.Country.ISOCode) {
		return ""
	}
	return record.Country.ISOCode
}

// origin returns the database's AS number, or 0.
func (d *database) origin(addr netip.Addr) uint32 {
	if d == nil {
		return 0
	}
	record, err := d.reader.ASN(addr)
	if err != nil || record.AutonomousSystemNumber > math.MaxUint32 {
		return 0
	}
	return uint32(record.AutonomousSystemNumber)
}

// name returns the database's name of the AS, or "".
func (d *database) name(addr netip.Addr) string {
	if d == nil {
		return ""
	}
	record, err := d.reader.ASN(addr)
	if err != nil {
		return ""
	}
	return record.AutonomousSystemOrganization
}

func (d *database) close() error {
	if d == nil {
		return nil
	}
	return d.reader.Close()
}

// isCountry reports whether code has the form of an ISO 3166-1 alpha-2 code and is not
// ZZ. Databases use ZZ for an unknown country.
func isCountry(code string) bool {
	return len(code) == 2 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && code != "ZZ"
}
