package web_test

import (
	"os"
	"regexp"
	"testing"
)

// TestPlaces compares the map's table of countries with the one for estimating pings. Both have
// where the people of a country live, and how far from there, from the same source.
func TestPlaces(t *testing.T) {
	const place = `(-?\d+\.\d -?\d+\.\d \d+)`
	read := func(file, row string) map[string]string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		places := map[string]string{}
		for _, found := range regexp.MustCompile(`(?m)(?:^|,\s*)`+row).FindAllStringSubmatch(string(data), -1) {
			if _, twice := places[found[1]]; twice {
				t.Errorf("%s has %s twice", file, found[1])
			}
			places[found[1]] = found[2]
		}
		return places
	}
	const ofMap, ofPings = "static/map/places.js", "../discovery/countries/centres.txt"
	drawn, estimated := read(ofMap, `([A-Z]{2}) \d{3} `+place), read(ofPings, `([A-Z]{2}) `+place)
	if len(estimated) < 240 {
		t.Fatalf("%s has %d countries", ofPings, len(estimated))
	}
	for country, at := range estimated {
		if drawn[country] != at {
			t.Errorf("%s: %q in %s, %q in %s", country, at, ofPings, drawn[country], ofMap)
		}
	}
	for country, at := range drawn {
		if estimated[country] == "" {
			t.Errorf("%s: %q in %s alone", country, at, ofMap)
		}
	}
}
