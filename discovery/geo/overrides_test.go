package geo

import (
	"strings"
	"testing"
)

// FuzzOverrides checks that an accepted file of overrides places every address without
// a panic, and only in valid countries and ASes.
func FuzzOverrides(f *testing.F) {
	f.Add("prefix,country,asn\n192.0.2.0/24,DE,64496\n2001:db8::/32,,AS1\n")
	f.Add("# x\n::ffff:192.0.2.1,de,\n0.0.0.0/0,,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseOverrides(strings.NewReader(text))
		if err != nil {
			return
		}
		for prefix := range o.places {
			place := o.locate(prefix.Addr())
			if place.Country != "" && !isCountry(place.Country) {
				t.Errorf("%q places %v in %q", text, prefix, place.Country)
			}
			if own := o.places[prefix]; prefix.IsSingleIP() && own.ASN != 0 && own.ASN != place.ASN {
				t.Errorf("%q: %v is placed in AS %d, not in its own %d", text, prefix, place.ASN, own.ASN)
			}
		}
	})
}
