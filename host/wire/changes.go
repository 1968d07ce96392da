package wire

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/schedule"
)

// Changes returns sentences about the settings that differ from those before, in players' words and
// without secrets. It leaves out settings that people neither see nor decide.
func (s Settings) Changes(before Settings) (sentences []string) {
	if s.String() != before.String() {
		sentences = append(sentences, "the organiser wants "+s.String())
	}
	if s.Name != before.Name && s.Name != "" {
		sentences = append(sentences, "the room is called "+s.Name+" now")
	}
	if s.Every != before.Every {
		sentences = append(sentences, staying(before.Every, s.Every))
	}
	var set []string
	for _, row := range Table() {
		one := before
		was, is := reflect.ValueOf(row.Of(&one)).Elem(), reflect.ValueOf(row.Of(&s)).Elem()
		if row.Label == "" || row.Of(&s) == &s.Every || reflect.DeepEqual(was.Interface(), is.Interface()) {
			continue
		}
		if was.Set(is); one.String() == before.String() { // otherwise an earlier sentence says it
			set = append(set, fmt.Sprintf("“%s” to “%s”", row.title(), row.value(&s)))
		}
	}
	if len(set) > 0 {
		sentences = append(sentences, "the organiser has set "+strings.Join(set, ", "))
	}
	return sentences
}

// staying says what a new schedule means for a room.
func staying(before, now string) string {
	meeting, _ := schedule.Parse(now, "") // cannot fail: the room has accepted it
	switch {
	case now == "":
		return "the room ends with the night now: the organiser keeps it for no other"
	case before == "":
		return "the organiser keeps the room when the night ends: we meet " + meeting.Words()
	}
	return "the organiser has moved our evenings: we meet " + meeting.Words()
}

// title returns the page's name for the setting, without the unit of its field.
func (row Setting) title() string { return strings.TrimSuffix(row.Label, ", "+row.Unit) }

// value returns the setting's value in the page's words.
func (row Setting) value(s *Settings) (words string) {
	is := false
	switch value := row.Of(s).(type) {
	case *bool:
		is = *value
	case *Decision:
		if is = *value == Yes; *value == No {
			return row.Declined
		}
	case *discovery.Millis:
		if is = *value != 0; is {
			words = spoken(time.Duration(*value))
		}
	case *Venues:
		var names []string
		for _, venue := range *value {
			names = append(names, venue.Name)
		}
		words, is = strings.Join(names, ", "), len(names) > 0
	case *string:
		words, is = *value, *value != ""
		switch row.Key {
		case voiceKey:
			words = Voice(*value)
		case WebhookKey:
			words = WebhookOf(*value)
		}
	}
	switch {
	case !is:
		return row.Unset
	case words == "":
		return row.Set
	}
	return words
}
