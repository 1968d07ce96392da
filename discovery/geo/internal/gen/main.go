// Command gen makes the tables that discovery/geo carries with it, out of what
// Debian ships:
//
//	/usr/share/tor/geoip, geoip6 (tor-geoipdb) ──► country.gz
//	location dump (location, libloc-database)  ──► asn.gz
//
// Both come from the IPFire project. Tor's lists are years newer but have only
// countries.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/discovery/geo/internal/ranges"
)

func main() {
	v4 := flag.String("geoip", "/usr/share/tor/geoip", "`file` of Tor's IPv4 ranges")
	v6 := flag.String("geoip6", "/usr/share/tor/geoip6", "`file` of Tor's IPv6 ranges")
	out := flag.String("out", "data", "`folder` for the tables")
	flag.Parse()
	if err := generate(*v4, *v6, os.Stdin, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(v4, v6 string, dump io.Reader, out string) error {
	countries, built, err := readTorFiles(v4, v6)
	if err != nil {
		return err
	}
	header := ranges.Header{
		Name:   "country",
		Source: "IPFire Location, from Debian's tor-geoipdb, CC BY-SA 4.0",
		Built:  built,
	}
	if err := write(out, header, countries); err != nil {
		return err
	}
	origins, built, err := readDump(dump)
	if err != nil {
		return fmt.Errorf("location dump: %w", err)
	}
	header = ranges.Header{
		Name:   "asn",
		Source: "IPFire Location, from Debian's libloc-database, CC BY-SA 4.0",
		Built:  built,
	}
	return write(out, header, origins)
}

// readTorFiles reads both lists; the table is as old as the older one.
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

func write(folder string, h ranges.Header, spans []span) error {
	if len(spans) == 0 || h.Built.IsZero() {
		return fmt.Errorf("the source of %s has no ranges or no date", h.Name)
	}
	var table bytes.Buffer
	steps := flatten(spans)
	if err := ranges.Encode(&table, h, steps); err != nil {
		return err
	}
	fmt.Printf("%s: %d ranges of %s, %d bytes\n", h.Name, len(steps), h.Built.Format(time.DateOnly), table.Len())
	return os.WriteFile(filepath.Join(folder, h.Name+".gz"), table.Bytes(), 0o644)
}
