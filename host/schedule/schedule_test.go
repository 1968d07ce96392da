package schedule

import (
	"strings"
	"testing"
	"time"

	"muster/internal/catalogue"
)

func TestNext(t *testing.T) {
	for _, test := range []struct{ schedule, after, want string }{
		{"fri 20:00 Europe/Berlin", "2026-11-22T12:00:00Z", "2026-11-27T20:00:00+01:00"},
		{"fri 20:00 Europe/Berlin", "2026-11-27T18:59:59Z", "2026-11-27T20:00:00+01:00"},
		{"fri 20:00 Europe/Berlin", "2026-11-27T19:00:00Z", "2026-12-04T20:00:00+01:00"},
		{"tue,fri 20:00 Europe/Berlin", "2026-11-27T19:00:00Z", "2026-12-01T20:00:00+01:00"},
		{"Friday 20:00 Europe/Berlin", "2026-11-22T12:00:00Z", "2026-11-27T20:00:00+01:00"},
		// The clock goes forward on 29 March and back on 25 October: 20:00 stays 20:00.
		{"sun 20:00 Europe/Berlin", "2026-03-22T20:00:00Z", "2026-03-29T20:00:00+02:00"},
		{"sun 20:00 Europe/Berlin", "2026-10-18T20:00:00Z", "2026-10-25T20:00:00+01:00"},
		// 02:30 does not exist on 29 March, and comes twice on 25 October.
		{"sun 02:30 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T03:30:00+02:00"},
		{"sun 02:30 Europe/Berlin", "2026-03-29T01:30:00Z", "2026-04-05T02:30:00+02:00"},
		{"sun 02:30 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00"},
		{"sun 02:30 Europe/Berlin", "2026-10-25T00:30:00Z", "2026-11-01T02:30:00+01:00"}, // not again an hour later
		{"sun 02:00 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00"},
		{"sun 03:00 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T03:00:00+01:00"},
		{"sun 02:15 Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-04T02:45:00+11:00"}, // half an hour forward
		{"sun 01:45 Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-05T01:45:00+11:00"}, // it comes twice
		// The ends of the day.
		{"fri 00:00 Pacific/Kiritimati", "2026-11-26T09:59:59Z", "2026-11-27T00:00:00+14:00"},
		{"fri 23:59 Pacific/Kiritimati", "2026-11-27T10:00:00Z", "2026-12-04T23:59:00+14:00"},
		{"fri 23:59 Etc/GMT+12", "2026-11-28T11:58:00Z", "2026-11-27T23:59:00-12:00"},
		{"fri 00:00 Etc/GMT+12", "2026-11-27T11:59:59Z", "2026-11-27T00:00:00-12:00"},
		{"fri 20:00 Etc/GMT-14", "2026-11-27T05:59:59Z", "2026-11-27T20:00:00+14:00"},
		{"fri 12:00 Pacific/Apia", "2011-12-26T00:00:00Z", "2011-12-31T12:00:00+14:00"}, // that week had no Friday there
		// One date, and none.
		{"2026-11-27 20:00 Europe/Berlin", "2026-11-22T12:00:00Z", "2026-11-27T20:00:00+01:00"},
		{"2026-11-27 20:00 Europe/Berlin", "2026-11-27T19:00:00Z", ""},
		{"2028-02-29 20:00 UTC", "2026-11-27T19:00:00Z", "2028-02-29T20:00:00Z"},
		{"whenever", "2026-11-27T19:00:00Z", ""},
	} {
		s, err := Parse(test.schedule, "")
		if err != nil {
			t.Errorf("%s: %v", test.schedule, err)
			continue
		}
		after, err := time.Parse(time.RFC3339, test.after)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if next := s.Next(after); !next.IsZero() {
			got = next.Format(time.RFC3339)
		}
		if got != test.want {
			t.Errorf("%s after %s: %s, want %s", test.schedule, test.after, got, test.want)
		}
	}
}

// TestNextGoesOn walks through years of dates in zones with odd clocks. Each date follows the one
// before, on its day, and none is left out.
func TestNextGoesOn(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca",
		"America/Santiago", "Pacific/Kiritimati", "Etc/GMT+12"} {
		for _, clock := range []string{"00:00", "00:30", "02:30", "20:00", "23:59"} {
			s, err := Parse("fri "+clock, zone)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			for range 5 * 52 {
				next := s.Next(at)
				if next.Weekday() != time.Friday || !next.After(at) || next.Sub(at) > 8*24*time.Hour {
					t.Fatalf("%v after %v: %v", s, at, next)
				}
				at = next
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, home, want, wrong string }{
		{"fri 20:00", "Europe/Berlin", "fri 20:00 Europe/Berlin", ""},
		{" sunday,FRI,fri  7:05 ", "UTC", "fri,sun 07:05 UTC", ""},
		{"fri 20:00 America/New_York", "Europe/Berlin", "fri 20:00 America/New_York", ""},
		{"2026-11-27 20:00", "Europe/Berlin", "2026-11-27 20:00 Europe/Berlin", ""},
		{"Whenever", "", "whenever", ""},
		{"fri 20:00", "", "", "a time zone is missing"},
		{"fri 20:00 Local", "", "", "a time zone is missing"},
		{"fri 20:00 localtime", "", "", "a time zone is missing"},
		{"fri 20:00", "posixrules", "", "a time zone is missing"},
		{"fri 20:00 posix/Europe/Berlin", "", "fri 20:00 Europe/Berlin", ""},
		{"fri 20:00 right/Europe/Berlin", "", "fri 20:00 Europe/Berlin", ""},
		{"fri 20:00 Europe/Atlantis", "", "", "no time zone is called"},
		{"fri 20:00 ../../etc/passwd", "", "", "no time zone is called"},
		{"fri 24:00", "UTC", "", "say such as"},
		{"f 20:00", "UTC", "", "say such as"},
		{"fri", "UTC", "", "say such as"},
		{"fri 8", "UTC", "", "say such as"}, // of the morning, or of the evening
		{"fri 13pm", "UTC", "", "say such as"},
		{"fri 8pm 9pm", "UTC", "", "say such as"},
		{"fry 20:00", "UTC", "", "say such as"},
		{"tomorrow 20:00", "UTC", "", "say such as"},
		{"7/2/2027 20:00", "UTC", "", "say such as"}, // July, or February
		{"thu 2027-07-02 20:00", "UTC", "", "say such as"},
		{"2 July 20:00", "UTC", "", "say such as"},
		{"mon - 20:00", "UTC", "", "say such as"},
		{"", "UTC", "", "say such as"},
		{"2026-02-30 20:00", "UTC", "", "say such as"},
		{"9999-12-31 23:00 America/New_York", "", "", "say such as"}, // the year 10000 in UTC
		{"fri 20:00 UTC and more", "UTC", "", "say such as"},
		{strings.Repeat("fri,", 100) + "fri 20:00", "UTC", "", "say such as"},
	} {
		s, err := Parse(test.text, test.home)
		switch {
		case test.wrong == "" && (err != nil || s.String() != test.want):
			t.Errorf("%q: %v, %v; want %s", test.text, s, err, test.want)
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("%q: %v, want %s", test.text, err, test.wrong)
		}
	}
}

// TestParseSpoken checks what people write.
func TestParseSpoken(t *testing.T) {
	const home = "Europe/Berlin"
	for text, want := range map[string]string{
		"fri 8pm":                                    "fri 20:00 Europe/Berlin",
		"8pm":                                        "mon,tue,wed,thu,fri,sat,sun 20:00 Europe/Berlin",
		"daily 20:00":                                "mon,tue,wed,thu,fri,sat,sun 20:00 Europe/Berlin",
		"every day at 8 pm":                          "mon,tue,wed,thu,fri,sat,sun 20:00 Europe/Berlin",
		"fri, sat 20:00":                             "fri,sat 20:00 Europe/Berlin",
		"Fridays and Saturdays at 8:30 p.m.":         "fri,sat 20:30 Europe/Berlin",
		"tue/thu 20h30":                              "tue,thu 20:30 Europe/Berlin",
		"20 Uhr fri":                                 "fri 20:00 Europe/Berlin",
		"mon-thu 20.00":                              "mon,tue,wed,thu 20:00 Europe/Berlin",
		"sat - mon 12am":                             "mon,sat,sun 00:00 Europe/Berlin",
		"weekdays 12pm":                              "mon,tue,wed,thu,fri 12:00 Europe/Berlin",
		"weekends at noon":                           "sat,sun 12:00 Europe/Berlin",
		"weds, thurs nights 11PM":                    "wed,thu 23:00 Europe/Berlin",
		"2027-07-02 20:00 EST":                       "2027-07-02 20:00 America/New_York",
		"2027-07-02T20:00":                           "2027-07-02 20:00 Europe/Berlin",
		"2027-07-02T20:00:00Z":                       "2027-07-02 20:00 UTC",
		"2027-07-02T20:00+05:30":                     "2027-07-02 20:00 UTC+5:30",
		"2.7.2027 20 Uhr":                            "2027-07-02 20:00 Europe/Berlin",
		"Friday, 2nd of July 2027, 8pm":              "2027-07-02 20:00 Europe/Berlin",
		"July 2, 2027 at 8pm ET":                     "2027-07-02 20:00 America/New_York",
		"fri 20:00 Eastern Standard Time":            "fri 20:00 America/New_York",
		"fri 20:00 PDT":                              "fri 20:00 America/Los_Angeles",
		"fri 20:00 CEST":                             "fri 20:00 CET",
		"fri 20:00 gmt":                              "fri 20:00 UTC",
		"fri 20:00 UTC+2":                            "fri 20:00 UTC+2",
		"fri 20:00 GMT -3":                           "fri 20:00 UTC-3",
		"fri 20:00 europe/london":                    "fri 20:00 Europe/London",
		"fri 20:00 New York":                         "fri 20:00 America/New_York",
		"fri 20:00 Tokyo time":                       "fri 20:00 Asia/Tokyo",
		"fri 8pm (America/New_York)":                 "fri 20:00 America/New_York",
		"fri 8pm JST (America/New_York)":             "fri 20:00 Asia/Tokyo",
		"every Tuesday and Friday at 20:00 (UTC+2)":  "tue,fri 20:00 UTC+2",
		"on Friday, 27 November 2026 at 20:00 (UTC)": "2026-11-27 20:00 UTC",
		"whenever (Europe/Berlin)":                   "whenever",
	} {
		if s, err := Parse(text, home); err != nil || s.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, s, err, want)
		}
	}
	for name, want := range map[string]string{
		"IST": "Asia/Kolkata, Asia/Jerusalem, Europe/Dublin", "cst": "America/Chicago, Asia/Shanghai, America/Havana",
	} {
		if _, err := Parse("fri 8pm "+name, home); err == nil || !strings.Contains(err.Error(), "say one of "+want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpokenZones checks that every zone that a name may mean is one that machines know.
func TestSpokenZones(t *testing.T) {
	for name, zones := range spoken {
		for _, zone := range zones {
			if s, err := Parse("fri 20:00 "+zone, ""); err != nil || s.String() != "fri 20:00 "+zone {
				t.Errorf("%s: %s is %v, %v", name, zone, s, err)
			}
		}
	}
}

// TestWords checks that a schedule says when the group meets.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"fri 20:00 Europe/Berlin":               "every Friday at 20:00 (Europe/Berlin)",
		"sun,tue 08:05 UTC":                     "every Tuesday and Sunday at 08:05 (UTC)",
		"mon,tue,wed 20:00 UTC":                 "every Monday, Tuesday and Wednesday at 20:00 (UTC)",
		"mon,tue,wed,thu,fri,sat,sun 20:00 UTC": "every day at 20:00 (UTC)",
		"2026-11-27 20:00 America/New_York":     "on Friday, 27 November 2026 at 20:00 (America/New_York)",
		Whenever:                                "whenever we like",
	} {
		if s, err := Parse(text, ""); err != nil || catalogue.InEnglish().Say(s.Words()) != "we meet "+want {
			t.Errorf("%s is %v, %v; want %q", text, s.Words(), err, want)
		}
	}
}

// FuzzParse checks that a schedule is written as it is read, and that its next date lies in the
// future.
func FuzzParse(f *testing.F) {
	f.Add("tue,fri 20:00 Europe/Berlin", int64(1795000000))
	f.Add("2026-11-27 20:00 UTC", int64(0))
	f.Add("whenever", int64(-1))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := Parse(text, "Europe/Berlin")
		if err != nil {
			return
		}
		again, err := Parse(s.String(), "")
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q is %v, which is %v, %v", text, s, again, err)
		}
		const most = 253402300800 // the year 10000
		after := time.Unix(unix%most, 0)
		if next := s.Next(after); !next.IsZero() && !next.After(after) {
			t.Fatalf("%v after %v: %v", s, after, next)
		}
	})
}

// TestIsOver checks that a date that has passed is over, but not on the same evening.
func TestIsOver(t *testing.T) {
	eight := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		text string
		now  time.Time
		want bool
	}{
		{"2026-11-27 20:00 UTC", eight.Add(-time.Hour), false},
		{"2026-11-27 20:00 UTC", eight.Add(3 * time.Hour), false},
		{"2026-11-27 20:00 UTC", eight.Add(25 * time.Hour), true},
		{"fri 20:00 UTC", eight.Add(25 * time.Hour), false},
		{"whenever", eight, false},
	} {
		s, err := Parse(test.text, "")
		if err != nil || s.IsOver(test.now) != test.want {
			t.Errorf("%q is over at %v: %v, %v", test.text, test.now, s.IsOver(test.now), err)
		}
	}
}
