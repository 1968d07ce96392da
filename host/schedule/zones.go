package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ErrNoZone is the error for a text without a time zone.
var ErrNoZone = errors.New(`a time zone is missing: say its name, such as "fri 20:00 Europe/Berlin"`)

// UnknownZoneError is the name of a time zone that does not exist.
type UnknownZoneError string

func (name UnknownZoneError) Error() string {
	return fmt.Sprintf("no time zone is called %q: say such as Europe/Berlin or America/New_York", string(name))
}

// AmbiguousZoneError is a name that different places use for different times.
type AmbiguousZoneError struct {
	Name string
	// Zones are the zones that the name may mean, the most likely one first.
	Zones []string
}

func (e AmbiguousZoneError) Error() string {
	return fmt.Sprintf("%s can be the time of several places: say one of %s", e.Name, strings.Join(e.Zones, ", "))
}

// spoken are the names that people use for the time of a place, in summer and in winter. Whoever says
// "20:00 EST" for a date in July means 20:00 by New York's clock, where it is EDT by then. With more
// than one zone the name is ambiguous: one of the places has no summer time, or is far away.
var spoken = map[string][]string{
	"z": {"UTC"}, "utc": {"UTC"}, "gmt": {"UTC"}, "zulu": {"UTC"},
	"et": {"America/New_York"}, "est": {"America/New_York"}, "edt": {"America/New_York"}, "eastern": {"America/New_York"},
	"ct": {"America/Chicago"}, "cdt": {"America/Chicago"}, "central": {"America/Chicago"},
	"mt": {"America/Denver"}, "mdt": {"America/Denver"}, "mountain": {"America/Denver"},
	"pt": {"America/Los_Angeles"}, "pst": {"America/Los_Angeles"}, "pdt": {"America/Los_Angeles"}, "pacific": {"America/Los_Angeles"},
	"akst": {"America/Anchorage"}, "akdt": {"America/Anchorage"}, "hst": {"Pacific/Honolulu"}, "adt": {"America/Halifax"},
	"nst": {"America/St_Johns"}, "ndt": {"America/St_Johns"},
	"brt": {"America/Sao_Paulo"}, "art": {"America/Argentina/Buenos_Aires"}, "clt": {"America/Santiago"}, "clst": {"America/Santiago"},
	"wet": {"WET"}, "west": {"WET"}, "cet": {"CET"}, "cest": {"CET"}, "mez": {"CET"}, "mesz": {"CET"}, "eet": {"EET"}, "eest": {"EET"},
	"western_european": {"WET"}, "central_european": {"CET"}, "eastern_european": {"EET"}, "british": {"Europe/London"},
	"bst": {"Europe/London"}, "msk": {"Europe/Moscow"}, "trt": {"Europe/Istanbul"}, "sast": {"Africa/Johannesburg"},
	"pkt": {"Asia/Karachi"}, "ict": {"Asia/Bangkok"}, "wib": {"Asia/Jakarta"}, "sgt": {"Asia/Singapore"}, "hkt": {"Asia/Hong_Kong"},
	"pht": {"Asia/Manila"}, "jst": {"Asia/Tokyo"}, "kst": {"Asia/Seoul"}, "awst": {"Australia/Perth"},
	"aedt": {"Australia/Sydney"}, "acdt": {"Australia/Adelaide"},
	"nzt": {"Pacific/Auckland"}, "nzst": {"Pacific/Auckland"}, "nzdt": {"Pacific/Auckland"},

	"ist":  {"Asia/Kolkata", "Asia/Jerusalem", "Europe/Dublin"},
	"cst":  {"America/Chicago", "Asia/Shanghai", "America/Havana"},
	"mst":  {"America/Denver", "America/Phoenix"},
	"ast":  {"America/Halifax", "America/Puerto_Rico", "Asia/Riyadh"},
	"aest": {"Australia/Sydney", "Australia/Brisbane"},
	"acst": {"Australia/Adelaide", "Australia/Darwin"},
	"gst":  {"Asia/Dubai", "Atlantic/South_Georgia"},
	"amt":  {"America/Manaus", "Asia/Yerevan"},
	"wst":  {"Australia/Perth", "Pacific/Apia"},
	"sst":  {"Pacific/Pago_Pago", "Asia/Singapore"},
}

// regions are where the cities of the table of time zones lie.
var regions = []string{"Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic", "Indian"}

// fromUTC is a time by its distance from UTC. Such a zone has no summer time.
var fromUTC = regexp.MustCompile(`(?i)^(?:UTC|GMT)?_?([+−-])(\d{1,2})(?::?(\d\d))?$`)

// furthest is the greatest distance of any place's clock from UTC.
const furthest = 14 * time.Hour

// zoneOf returns the zone of its words: a name of the table of time zones, an abbreviation, a city, or
// a distance from UTC; without words, the zone called home.
func zoneOf(words []string, home string) (*time.Location, error) {
	name := strings.Join(words, "_")
	name = cmp.Or(name, home)
	for _, table := range []string{"posix/", "right/"} { // some machines have these, and others do not
		name = strings.TrimPrefix(name, table)
	}
	if slices.Contains([]string{"", "local", "localtime", "posixrules"}, strings.ToLower(name)) { // these differ between machines
		return nil, ErrNoZone
	}
	if zone, is := zoneByOffset(name); is {
		return zone, nil
	}
	if zones := spoken[strings.ToLower(name)]; len(zones) > 1 {
		return nil, AmbiguousZoneError{strings.ToUpper(name), zones}
	} else if len(zones) == 1 {
		name = zones[0]
	}
	tries := []string{name, titled(name)}
	if !strings.Contains(name, "/") {
		for _, region := range regions {
			tries = append(tries, region+"/"+titled(name))
		}
	}
	for _, try := range tries {
		if zone, err := time.LoadLocation(try); err == nil {
			return zone, nil
		}
	}
	return nil, UnknownZoneError(strings.ReplaceAll(name, "_", " "))
}

// zoneByOffset returns the zone of a distance from UTC, such as UTC+2 or +05:30.
func zoneByOffset(text string) (zone *time.Location, is bool) {
	at := fromUTC.FindStringSubmatch(text)
	if at == nil {
		return nil, false
	}
	hours, _ := strconv.Atoi(at[2])
	minutes, _ := strconv.Atoi(at[3])
	distance := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	switch {
	case distance > furthest || minutes > 59:
		return nil, false
	case distance == 0:
		return time.UTC, true
	}
	sign := "+"
	if at[1] != sign {
		sign, distance = "-", -distance
	}
	name := fmt.Sprintf("UTC%s%d", sign, hours)
	if minutes > 0 {
		name += fmt.Sprintf(":%02d", minutes)
	}
	return time.FixedZone(name, int(distance/time.Second)), true
}

// titled returns a name as the table of time zones writes most of them.
func titled(name string) string {
	begins := true
	return strings.Map(func(c rune) rune {
		if begins {
			c = unicode.ToUpper(c)
		} else {
			c = unicode.ToLower(c)
		}
		begins = strings.ContainsRune("/_-", c)
		return c
	}, name)
}
