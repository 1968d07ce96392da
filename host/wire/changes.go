package wire

import (
	"reflect"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/schedule"
	"muster/selection"
)

// Changes says which settings differ from the earlier ones, in players' words and without secrets.
// It leaves out settings that people neither see nor decide.
func (s Settings) Changes(before Settings) (sentences []sentence.Sentence) {
	if wanted := s.Wanted(); wanted != before.Wanted() {
		sentences = append(sentences, sentence.Of("room.wants", "wanted", wanted))
	}
	if s.Name != before.Name && s.Name != "" {
		sentences = append(sentences, sentence.Of("room.called", "name", s.Name))
	}
	if s.Every != before.Every {
		sentences = append(sentences, staying(before.Every, s.Every))
	}
	var set []sentence.Sentence
	for _, row := range Table() {
		one := before
		was, is := reflect.ValueOf(row.Of(&one)).Elem(), reflect.ValueOf(row.Of(&s)).Elem()
		if !row.OnPage || row.Of(&s) == &s.Every || reflect.DeepEqual(was.Interface(), is.Interface()) {
			continue
		}
		if was.Set(is); one.Wanted() == before.Wanted() { // otherwise an earlier sentence says it
			set = append(set, sentence.Of("room.set-to", "setting", row.says("label"), "value", row.value(&s)))
		}
	}
	if len(set) > 0 {
		sentences = append(sentences, sentence.Of("room.set", "settings", set))
	}
	return sentences
}

// staying says what a new schedule means for a room.
func staying(before, now string) sentence.Sentence {
	meeting, _ := schedule.Parse(now, "") // cannot fail: the room has accepted it
	switch {
	case now == "":
		return sentence.Of("room.ends-with-night")
	case before == "":
		return sentence.Of("room.kept", "meet", meeting.Words())
	}
	return sentence.Of("room.meets", "meet", meeting.Words())
}

// says returns the words that the catalogue has for the setting: its label, what it is when unset,
// set or declined, or how it is told among what the organiser wants.
func (row Setting) says(what string, pairs ...any) sentence.Sentence {
	return sentence.Of("setting."+row.Key+"."+what, pairs...)
}

// value returns the setting's value in the page's words: a sentence, a text, a number or a list of
// texts.
func (row Setting) value(s *Settings) any {
	what := "unset"
	switch value := row.Of(s).(type) {
	case *bool:
		if *value {
			what = "set"
		}
	case *Decision:
		switch *value {
		case Yes:
			what = "set"
		case No:
			what = "declined"
		}
	case *int:
		if *value != 0 {
			return *value
		}
	case **int:
		if *value != nil {
			return **value
		}
	case *selection.Rule:
		if *value != "" {
			return sentence.Of("rule." + string(*value) + ".name")
		}
	case *discovery.Millis:
		if *value != 0 {
			return spoken(time.Duration(*value))
		}
	case *Venues:
		var names []string
		for _, venue := range *value {
			names = append(names, venue.Name)
		}
		if len(names) > 0 {
			return names
		}
	case *Law:
		if !value.IsZero() {
			return value.League
		}
	case *string:
		switch {
		case *value == "":
		case row.Key == voiceKey:
			return Voice(*value)
		case row.Key == WebhookKey:
			return WebhookOf(*value)
		case row.Choices != nil:
			return row.says(*value)
		default:
			return *value
		}
	}
	return row.says(what)
}
