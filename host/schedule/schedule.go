// Package schedule says when a group meets, by the clock of a time zone: on some days of the week,
// on one date, or whenever it likes.
//
//	"fri 20:00 Europe/Berlin"         every Friday
//	"tue,fri 20:00 Europe/Berlin"     every Tuesday and Friday
//	"2026-11-27 20:00 Europe/Berlin"  on that date alone
//	"whenever"                        no date
//
// Parse takes these forms, and others that people write: "Fridays at 8pm EST", "daily 20:00".
//
// A schedule keeps the zone's name, because a place changes its clock twice a year and by law.
// 20:00 stays 20:00 there, but at another moment.
package schedule

import (
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
