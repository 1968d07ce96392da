// Package schedule says when a group meets, by the clock of a time zone: on some days of the week,
// on one date, or whenever it likes.
//
//	"fri 20:00 Europe/Berlin"         every Friday
//	"tue,fri 20:00 Europe/Berlin"     every Tuesday and Friday
//	"2026-11-27 20:00 Europe/Berlin"  on that date alone
//	"whenever"                        no date
//
// A schedule keeps the zone's name, because a place changes its clock twice a year and by law.
// 20:00 stays 20:00 there, but at another moment.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a table of time zones, such as Windows

	"muster/discovery/sentence"
)

// Whenever is the text of a schedule without a date.
const Whenever = "whenever"

// Schedule is when a group meets. Its zero value has no date.
type Schedule struct {
	// days are days of the week, in order from Monday; there are none if date is set.
	days         []time.Weekday
	date         civil
	hour, minute int
	zone         *time.Location
}

// civil is a day of the calendar.
type civil struct {
	year  int
	month time.Month
	day   int
}

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

const (
	// longest bounds a schedule's text, in bytes: all days, and the longest name of a zone.
	longest = 100
	// firstYear and lastYear bound dates, so that JSON can express the time in every zone.
	firstYear, lastYear = 2000, 9000
)

var errForm = errors.New(`say such as "fri 20:00", "tue,fri 20:00 Europe/Berlin", "2026-11-27 20:00" or "whenever"`)

// ErrNoZone is the error for a text without a time zone.
var ErrNoZone = errors.New(`a time zone is missing: say its name, such as "fri 20:00 Europe/Berlin"`)

// UnknownZoneError is the name of a time zone that does not exist.
type UnknownZoneError string

func (name UnknownZoneError) Error() string {
	return fmt.Sprintf("no time zone is called %q: say such as Europe/Berlin or America/New_York", string(name))
}

// Parse reads a schedule. home is the time zone for a text that names none.
func Parse(text, home string) (Schedule, error) {
	if len(text) > longest {
		return Schedule{}, errForm
	}
	words := strings.Fields(text)
	if len(words) == 1 && strings.EqualFold(words[0], Whenever) {
		return Schedule{}, nil
	}
	if len(words) < 2 || len(words) > 3 {
		return Schedule{}, errForm
	}
	var s Schedule
	if date, err := time.Parse(time.DateOnly, words[0]); err == nil {
		if date.Year() < firstYear || date.Year() > lastYear {
			return Schedule{}, errForm
		}
		s.date.year, s.date.month, s.date.day = date.Date()
	} else {
		for _, word := range strings.Split(strings.ToLower(words[0]), ",") {
			at := slices.IndexFunc(weekdays, func(day string) bool { return len(word) >= len(day) && strings.HasPrefix(dayOf(day).string(), word) })
			if at < 0 {
				return Schedule{}, errForm
			}
			if day := dayOf(weekdays[at]).Weekday; !slices.Contains(s.days, day) {
				s.days = append(s.days, day)
			}
		}
		slices.SortFunc(s.days, func(a, b time.Weekday) int { return cmp.Compare(fromMonday(a), fromMonday(b)) })
	}
	clock, err := time.Parse("15:04", words[1])
	if err != nil {
		return Schedule{}, errForm
	}
	s.hour, s.minute = clock.Hour(), clock.Minute()
	name := home
	if len(words) == 3 {
		name = words[2]
	}
	for _, table := range []string{"posix/", "right/"} { // some machines have these, and others do not
		name = strings.TrimPrefix(name, table)
	}
	if slices.Contains([]string{"", "Local", "localtime", "posixrules"}, name) { // these differ between machines
		return Schedule{}, ErrNoZone
	}
	if s.zone, err = time.LoadLocation(name); err != nil {
		return Schedule{}, UnknownZoneError(name)
	}
	return s, nil
}

// weekday is a day by its number, and by the first letters of its name.
type weekday struct{ time.Weekday }

func dayOf(short string) weekday {
	return weekday{time.Weekday((slices.Index(weekdays, short) + 1) % len(weekdays))}
}

func (d weekday) string() string { return strings.ToLower(d.String()) }

func fromMonday(d time.Weekday) int { return (int(d) + 6) % len(weekdays) }

// String returns the text that Parse reads.
func (s Schedule) String() string {
	if s.zone == nil {
		return Whenever
	}
	when := fmt.Sprintf("%04d-%02d-%02d", s.date.year, s.date.month, s.date.day)
	if len(s.days) > 0 {
		var names []string
		for _, day := range s.days {
			names = append(names, weekdays[fromMonday(day)])
		}
		when = strings.Join(names, ",")
	}
	return fmt.Sprintf("%s %02d:%02d %v", when, s.hour, s.minute, s.zone)
}

// Words says when the group meets.
func (s Schedule) Words() sentence.Sentence {
	if s.zone == nil {
		return sentence.Of("room.we-meet-whenever")
	}
	at, zone := fmt.Sprintf("%02d:%02d", s.hour, s.minute), s.zone.String()
	switch {
	case len(s.days) == len(weekdays):
		return sentence.Of("room.we-meet-daily", "time", at, "zone", zone)
	case len(s.days) > 0:
		var days []sentence.Sentence
		for _, day := range s.days {
			days = append(days, nameOf(day))
		}
		return sentence.Of("room.we-meet-every", "days", days, "time", at, "zone", zone)
	}
	date := time.Date(s.date.year, s.date.month, s.date.day, 0, 0, 0, 0, time.UTC)
	return sentence.Of("room.we-meet-on", "date", sentence.Of("date.day-of-year", "weekday", nameOf(date.Weekday()),
		"day", s.date.day, "month", sentence.Of("date.month."+strconv.Itoa(int(s.date.month))), "year", strconv.Itoa(s.date.year)),
		"time", at, "zone", zone)
}

// nameOf names a day of the week.
func nameOf(day time.Weekday) sentence.Sentence {
	return sentence.Of("date.weekday." + strconv.Itoa(int(day)))
}

// Next returns the first date after a moment, in the schedule's zone; zero if there is none. If the
// clock skips the time, Next uses the clock before the change, which gives a later time. If the
// time comes twice, the first one counts.
func (s Schedule) Next(after time.Time) time.Time {
	if s.zone == nil {
		return time.Time{}
	}
	if len(s.days) == 0 {
		if at := s.at(s.date); at.After(after) {
			return at
		}
		return time.Time{}
	}
	year, month, day := after.In(s.zone).Date()
	for ahead := -1; ahead <= 2*len(weekdays); ahead++ { // one skipped day of a zone fits in between
		date := time.Date(year, month, day+ahead, 0, 0, 0, 0, time.UTC)
		if !slices.Contains(s.days, date.Weekday()) {
			continue
		}
		y, m, d := date.Date()
		if at := s.at(civil{y, m, d}); at.After(after) {
			return at
		}
	}
	return time.Time{}
}

// restartsFor is how long Parse accepts a date that has passed. The session goes on, and an
// organiser who restarts the host types the same line.
const restartsFor = 24 * time.Hour

// IsOver reports whether a schedule with a date has no further date.
func (s Schedule) IsOver(now time.Time) bool {
	return s.zone != nil && s.Next(now.Add(-restartsFor)).IsZero()
}

// ErrOver is the error for a schedule in the past.
var ErrOver = errors.New("that was in the past")

// In returns a moment by the clock of the schedule's zone.
func (s Schedule) In(at time.Time) time.Time {
	if s.zone == nil {
		return at
	}
	return at.In(s.zone)
}

// at returns when the clock shows the schedule's time on a day.
func (s Schedule) at(day civil) time.Time {
	shown := time.Date(day.year, day.month, day.day, s.hour, s.minute, 0, 0, time.UTC)
	var first time.Time
	before := 0
	for i, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // the clock changes at most once in between
		_, offset := shown.Add(near).In(s.zone).Zone()
		at := shown.Add(-time.Duration(offset) * time.Second).In(s.zone)
		if i == 0 {
			before = offset
		}
		if _, is := at.Zone(); is == offset && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() { // the clock skips it
		first = shown.Add(-time.Duration(before) * time.Second).In(s.zone)
	}
	return first
}
