package cli

import (
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/geo"
)

// locating are the flags that say how a server's country and origin AS are
// found; without any the tables in the binary do.
type locating struct{ options geo.Options }

func (l *locating) bind(flags *pflag.FlagSet) {
	flags.StringVar(&l.options.CountryDB, "country-db", "", "country database, `FILE.mmdb` (default: the built-in table)")
	flags.StringVar(&l.options.ASDB, "as-db", "", "origin AS database, `FILE.mmdb` (default: the built-in table)")
	flags.StringVar(&l.options.Overrides, "geo-overrides", "", "your own places, `FILE` with lines prefix,country,asn")
}

// annotate tells servers their country and origin AS where the list does not.
func (l *locating) annotate(servers []discovery.Server) error {
	locator, err := geo.Open(l.options)
	if err != nil {
		return err
	}
	locator.Annotate(servers)
	return locator.Close()
}
