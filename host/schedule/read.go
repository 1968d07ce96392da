package schedule

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// longest bounds a text, in bytes: all days in words, and the longest name of a zone.
	longest = 150
	// firstYear and lastYear bound dates, so that JSON can express the time in every zone.
	firstYear, lastYear = 2000, 9000
)

var errForm = errors.New(`say such as "fri 20:00", "tue,fri 8pm Europe/Berlin", "daily 20:00", "2026-11-27 20:00" or "whenever"`)

var (
	// zoneAside is a zone in brackets at the end, as Words writes it.
	zoneAside = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)
	// instant is a date and a time as programs write them.
	instant = regexp.MustCompile(`(?i)\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::00)?`)
	// halfOfDay is what may stand apart from the hour before it.
	halfOfDay = regexp.MustCompile(`(?i)(\d)\s+([ap]m\b|[ap]\.m\.|uhr\b|h\b)`)
	clock     = regexp.MustCompile(`^(\d{1,2})(?:[:.h](\d\d))?(am|pm|a\.m\.|p\.m\.|uhr|h)?$`)
	ofYear    = regexp.MustCompile(`^(\d{4})[-/.](\d\d?)[-/.](\d\d?)$`)
	ofDay     = regexp.MustCompile(`^(\d\d?)\.(\d\d?)\.(\d{4})$`)
	ordinal   = regexp.MustCompile(`^(\d{1,2})(st|nd|rd|th)?$`)
	number    = regexp.MustCompile(`^\d{4}$`)
)

// fillers are words that change nothing.
var fillers = []string{"", "every", "each", "on", "at", "and", "&", "+", "the", "of", "from", "weekly", "evening", "evenings",
	"night", "nights", "um", "time", "standard", "daylight", "summer", "local"}

// Parse reads a schedule. home is the time zone for a text that names none. A text may name that
// zone itself, in brackets at its end.
func Parse(text, home string) (Schedule, error) {
	if len(text) > longest {
		return Schedule{}, errForm
	}
	text = strings.TrimSpace(text)
	if aside := zoneAside.FindStringSubmatch(text); aside != nil {
		text, home = aside[1], strings.ReplaceAll(aside[2], " ", "_")
	}
	if strings.EqualFold(text, Whenever) {
		return Schedule{}, nil
	}
	text = halfOfDay.ReplaceAllString(instant.ReplaceAllString(text, "$1 $2 "), "$1$2")
	var r reader
	for _, word := range strings.Fields(strings.ReplaceAll(text, ",", " ")) {
		r.take(word)
	}
	return r.schedule(home)
}

// reader is what the words of a text have said so far.
type reader struct {
	days             []time.Weekday
	isRange          bool // the next day ends a range that the last one begins
	year, day        int
	month            time.Month
	hour, minute     int
	hasTime, isWrong bool
	zone             []string
}

// take reads a word. Words that are nothing else belong to the zone.
func (r *reader) take(word string) {
	low := strings.ToLower(word)
	switch {
	case slices.Contains(fillers, low):
	case len(r.days) > 0 && slices.Contains([]string{"-", "–", "to", "through", "till", "until"}, low):
		r.isRange = true
	case r.takeDays(low), r.takeDate(low), r.takeTime(low):
	default:
		r.zone = append(r.zone, word)
	}
}

// takeDays reads days of the week: "fri", "Fridays", "mon-thu", "tue/fri", "weekend", "daily".
func (r *reader) takeDays(word string) bool {
	if days := daysOf(word); len(days) > 0 {
		if r.isRange {
			days = span(r.days[len(r.days)-1], days[0])
		}
		r.days, r.isRange = append(r.days, days...), false
		return true
	}
	if first, last, is := cutRange(word); is {
		r.days = append(r.days, span(first, last)...)
		return true
	}
	var days []time.Weekday
	for _, part := range strings.FieldsFunc(word, func(c rune) bool { return strings.ContainsRune("/&+", c) }) {
		one := daysOf(part)
		if len(one) == 0 {
			return false
		}
		days = append(days, one...)
	}
	r.days = append(r.days, days...)
	return len(days) > 0
}

// daysOf returns the days that a word means, if it means any. A name may be cut after its third
// letter.
func daysOf(word string) []time.Weekday {
	switch word {
	case "daily", "nightly", "day", "days", "everyday":
		return span(time.Monday, time.Sunday)
	case "weekday", "weekdays", "workday", "workdays":
		return span(time.Monday, time.Friday)
	case "weekend", "weekends":
		return span(time.Saturday, time.Sunday)
	}
	for day := range time.Weekday(len(weekdays)) {
		name := strings.ToLower(day.String()) + "s"
		if one := strings.TrimSuffix(word, "."); len(one) > 2 && (strings.HasPrefix(name, one) || one == name[:3]+"s") {
			return []time.Weekday{day}
		}
	}
	return nil
}

// cutRange returns the ends of "mon-thu".
func cutRange(word string) (first, last time.Weekday, is bool) {
	before, after, _ := strings.Cut(strings.ReplaceAll(word, "–", "-"), "-")
	from, to := daysOf(before), daysOf(after)
	if len(from) != 1 || len(to) != 1 {
		return 0, 0, false
	}
	return from[0], to[0], true
}

func span(first, last time.Weekday) (days []time.Weekday) {
	for day := first; ; day = (day + 1) % time.Weekday(len(weekdays)) {
		if days = append(days, day); day == last {
			return days
		}
	}
}

// takeDate reads a date or a part of one: "2026-11-27", "27.11.2026", "27 November 2026". Which number
// of "7/2/2027" is the month depends on the country, so it is refused.
func (r *reader) takeDate(word string) bool {
	if d := ofYear.FindStringSubmatch(word); d != nil {
		r.setDate(d[1], d[2], d[3])
		return true
	}
	if d := ofDay.FindStringSubmatch(word); d != nil {
		r.setDate(d[3], d[2], d[1])
		return true
	}
	for month := time.January; month <= time.December; month++ {
		name := strings.ToLower(month.String())
		if one := strings.TrimSuffix(word, "."); len(one) > 2 && (strings.HasPrefix(name, one) || one == "sept" && month == time.September) {
			r.isWrong = r.isWrong || r.month != 0
			r.month = month
			return true
		}
	}
	if d := ordinal.FindStringSubmatch(word); d != nil && r.day == 0 {
		r.day, _ = strconv.Atoi(d[1])
		return true
	}
	if number.MatchString(word) && r.year == 0 {
		r.year, _ = strconv.Atoi(word)
		return true
	}
	return false
}

func (r *reader) setDate(year, month, day string) {
	r.isWrong = r.isWrong || r.year != 0 || r.month != 0 || r.day != 0
	r.year, _ = strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	r.month = time.Month(m)
	r.day, _ = strconv.Atoi(day)
}

// takeTime reads a time of the day: "20:00", "8pm", "8.30 p.m.", "20h30", "20 Uhr", "noon".
func (r *reader) takeTime(word string) bool {
	if word == "noon" {
		word = "12:00"
	}
	at := clock.FindStringSubmatch(word)
	if at == nil || at[2] == "" && at[3] == "" {
		return false
	}
	r.isWrong = r.isWrong || r.hasTime
	r.hasTime = true
	r.hour, _ = strconv.Atoi(at[1])
	r.minute, _ = strconv.Atoi(cmp.Or(at[2], "0"))
	if half := at[3]; half != "" && (half[0] == 'a' || half[0] == 'p') {
		r.isWrong = r.isWrong || r.hour < 1 || r.hour > 12
		r.hour %= 12
		if half[0] == 'p' {
			r.hour += 12
		}
	}
	r.isWrong = r.isWrong || r.hour > 23 || r.minute > 59
	return true
}

// schedule returns the schedule that the words have described. A time without a day means every day.
func (r *reader) schedule(home string) (s Schedule, err error) {
	hasDate := r.year != 0 || r.month != 0 || r.day != 0
	date := time.Date(r.year, r.month, r.day, 0, 0, 0, 0, time.UTC)
	switch {
	case r.isWrong, r.isRange, !r.hasTime:
		return Schedule{}, errForm
	case hasDate && (r.year < firstYear || r.year > lastYear || date.Month() != r.month || date.Day() != r.day):
		return Schedule{}, errForm
	case hasDate && len(r.days) > 0 && !slices.Equal(r.days, []time.Weekday{date.Weekday()}):
		return Schedule{}, errForm
	}
	if s.zone, err = zoneOf(r.zone, home); err != nil {
		if !hasDate && len(r.days) == 0 && len(r.zone) > 0 { // it may be a day that is spelt wrong
			err = errForm
		}
		return Schedule{}, err
	}
	s.hour, s.minute = r.hour, r.minute
	if hasDate {
		s.date = civil{r.year, r.month, r.day}
		return s, nil
	}
	if s.days = r.days; len(s.days) == 0 {
		s.days = span(time.Monday, time.Sunday)
	}
	slices.SortFunc(s.days, func(a, b time.Weekday) int { return cmp.Compare(fromMonday(a), fromMonday(b)) })
	s.days = slices.Compact(s.days)
	return s, nil
}
