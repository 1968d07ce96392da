package geo

import (
	_ "embed"
	"strings"

	"muster/discovery/geo/internal/ranges"
)

// The tables that Muster carries; data/README.md says what is in them.
var (
	//go:embed data/country.gz
	countryTable string
	//go:embed data/asn.gz
	asnTable string
)

func decodeCountries() (*ranges.Table[string], error) {
	return ranges.Decode(strings.NewReader(countryTable), ranges.CountryCode)
}

func decodeOrigins() (*ranges.Table[uint32], error) {
	return ranges.Decode(strings.NewReader(asnTable), func(asn uint32) uint32 { return asn })
}

// addCarried lists the tables among the sources.
func (l *Locator) addCarried(Options) error {
	for _, table := range []string{countryTable, asnTable} {
		h, err := ranges.ReadHeader(strings.NewReader(table))
		if err != nil {
			return err
		}
		l.sources = append(l.sources, Source{Field: Field(h.Name), Name: h.Source, Built: h.Built})
	}
	return nil
}
