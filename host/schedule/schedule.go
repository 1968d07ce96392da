// Package schedule is when a group meets: on some days of the week, on one date, or when
// it likes, by the clock of a time zone.
//
//	"fri 20:00 Europe/Berlin"         every Friday
//	"tue,fri 20:00 Europe/Berlin"     every Tuesday and Friday
//	"2026-11-27 20:00 Europe/Berlin"  that evening alone
//	"whenever"                        no date
//
// The zone is kept by its name, as the clock of a place is changed twice a year and by
// law: 20:00 stays 20:00 there, and is another moment.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a table of time zones, which Windows is
)

// Whenever is the text of a schedule without a date.
const Whenever = "whenever"

// Schedule is when a group meets. Its zero value has no date.
type Schedule struct {
	// days are those of the week, in order from Monday; none if date is one.
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
	// firstYear and lastYear bound dates: in no zone has one a year that JSON's times lack.
	firstYear, lastYear = 2000, 9000
)

var errForm = errors.New(`say such as "fri 20:00", "tue,fri 20:00 Europe/Berlin", "2026-11-27 20:00" or "whenever"`)

// Parse reads a schedule. Home is the name of the time zone for a text that names none.
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
	for _, table := range []string{"posix/", "right/"} { // which some machines have besides, and others do not
		name = strings.TrimPrefix(name, table)
	}
	if slices.Contains([]string{"", "Local", "localtime", "posixrules"}, name) { // which are others on each machine
		return Schedule{}, errors.New(`a time zone is missing: say its name, such as "fri 20:00 Europe/Berlin"`)
	}
	if s.zone, err = time.LoadLocation(name); err != nil {
		return Schedule{}, fmt.Errorf("no time zone is called %q: say such as Europe/Berlin or America/New_York", name)
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

// String is the text that Parse reads.
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

// Words are when the group meets, in a sentence that goes on from "we meet".
func (s Schedule) Words() string {
	if s.zone == nil {
		return "whenever we like"
	}
	when := "on " + time.Date(s.date.year, s.date.month, s.date.day, 0, 0, 0, 0, time.UTC).Format("Monday, 2 January 2006")
	var names []string
	for _, day := range s.days {
		names = append(names, day.String())
	}
	switch last := len(names) - 1; {
	case len(names) == len(weekdays):
		when = "every day"
	case last > 0:
		when = "every " + strings.Join(names[:last], ", ") + " and " + names[last]
	case last == 0:
		when = "every " + names[0]
	}
	return fmt.Sprintf("%s at %02d:%02d (%v)", when, s.hour, s.minute, s.zone)
}

// Next is the first date after a moment, in the schedule's zone; zero if there is none.
// A time that the clock leaves out is by the clock before it was put forward, which is as
// much later; of one that comes twice it is the first.
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
	for ahead := -1; ahead <= 2*len(weekdays); ahead++ { // a day that a zone leaves out lies between, at most
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

// restartsFor is for how long a date that has passed may still be given: an evening goes on,
// and whoever starts the host again types the same line.
const restartsFor = 24 * time.Hour

// IsOver reports whether there is no date any more, of a schedule that had one.
func (s Schedule) IsOver(now time.Time) bool {
	return s.zone != nil && s.Next(now.Add(-restartsFor)).IsZero()
}

// ErrOver is why a schedule is refused that is over.
var ErrOver = errors.New("that was in the past")

// In is a moment by the clock of the schedule's zone.
func (s Schedule) In(at time.Time) time.Time {
	if s.zone == nil {
		return at
	}
	return at.In(s.zone)
}

// at is when the clock shows the schedule's time on a day.
func (s Schedule) at(day civil) time.Time {
	shown := time.Date(day.year, day.month, day.day, s.hour, s.minute, 0, 0, time.UTC)
	var first time.Time
	before := 0
	for i, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // the clock is changed once between
		_, offset := shown.Add(near).In(s.zone).Zone()
		at := shown.Add(-time.Duration(offset) * time.Second).In(s.zone)
		if i == 0 {
			before = offset
		}
		if _, is := at.Zone(); is == offset && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() { // no clock ever shows it
		first = shown.Add(-time.Duration(before) * time.Second).In(s.zone)
	}
	return first
}
