package wire

import (
	"cmp"
	"slices"

	"muster/discovery"
	"muster/selection"
	"muster/selection/law"
)

// Form is what people may set in a room: GET /api/form. A reader leaves out a setting of a type that
// it does not know.
type Form struct {
	// Format is "muster.form/1".
	Format string `json:"format"`
	// Settings are in the order in which people read them.
	Settings []Field `json:"settings"`
}

// Field is a setting in the form.
type Field struct {
	// Key is the setting's name in JSON.
	Key string `json:"key"`
	// Type is game, rule, limits (a list), text, choice (one of Choices, of which the empty one is
	// unset), law (the same, or a muster.law/1 document), moves (a text with a word for each move),
	// number, count (a number that may be 0; null is unset), switch, decision (true, false or null),
	// time (in ms), link, webhook or password (texts of which the last two are shown to nobody), places
	// (a text with a place on each line) or servers (a list of texts).
	Type string `json:"type"`
	// Min and Max bound a number that is set, or each of a list's; for a time they are in ms. A text
	// has at most MaxLength letters, and a list at most MaxItems items.
	Min       int `json:"min,omitempty"`
	Max       int `json:"max,omitempty"`
	MaxLength int `json:"max_length,omitempty"`
	MaxItems  int `json:"max_items,omitempty"`
	// Unit is how people say a time or a limit: "ms", "s" or "min".
	Unit string `json:"unit,omitempty"`
	// Choices are all possible values, and Examples are some.
	Choices  []string `json:"choices,omitempty"`
	Examples []string `json:"examples,omitempty"`
	// Needs is the setting without which this one means nothing.
	Needs string `json:"needs,omitempty"`
	// Rare says that hardly anybody needs the setting.
	Rare bool `json:"rare,omitempty"`
	// Words begins the keys of the setting's words in the catalogue: WORDS.label, WORDS.unset for what
	// it is while it is unset, WORDS.set for a switch or decision that is true, WORDS.declined for a
	// decision that is false, and WORDS.CHOICE. A rule's words are rule.RULE.name and rule.RULE.hint.
	// It is empty if people set it only in programs, on the command line, or as a game's server.
	Words string `json:"words,omitempty"`
	// Set says who may set it, and when: "opening" is whoever opens a room, "page" is the organiser,
	// while the room lasts, and "whatif" is anybody with a say, after a choice, to see what would
	// change.
	Set []string `json:"set"`
}

// These constants say where a setting may be set; see [Field.Set].
const setOpening, setPage, setWhatIf = "opening", "page", "whatif"

// FormOf returns the form of a host whose rooms take so many players. One that is public has no field
// for announcements in players' networks, and one that posts nothing to webhooks has none for those.
func FormOf(players int, isPublic, posts bool) Form {
	form := Form{Format: "muster.form/1"}
	for _, row := range Table() {
		isIdle := isPublic && row.Key == AnnounceKey || !posts && (row.Key == WebhookKey || row.Key == NoLinkKey)
		if field := row.field(players); len(field.Set) > 0 && !isIdle {
			form.Settings = append(form.Settings, field)
		}
	}
	return form
}

// field returns the setting as the form of a host has it whose rooms take so many players.
func (row Setting) field(players int) Field {
	f := Field{
		Key: row.Key, Type: row.Type, Unit: row.Unit, Min: int(row.Min.Milliseconds()), Max: int(row.Max.Milliseconds()),
		MaxLength: row.Longest, Choices: row.Choices, Examples: row.Examples, Needs: row.Needs, Rare: row.Rare,
	}
	if row.OnPage || row.AtOpening {
		f.Words = "setting." + row.Key
	}
	if IsOpen(row) && (row.OnPage || row.Flag != "") || row.Key == serversKey {
		f.Set = append(f.Set, setOpening)
	}
	if row.OnPage {
		f.Set = append(f.Set, setPage)
	}
	if row.Supposed {
		f.Set = append(f.Set, setWhatIf)
	}
	kind := "text"
	switch row.Of(&Settings{}).(type) {
	case *selection.Rule:
		kind = "rule"
		for _, rule := range selection.Rules() {
			f.Choices = append(f.Choices, string(rule))
		}
	case *Limits:
		kind, f.MaxItems, f.Max, f.Unit = "limits", MaxLimits, int(MaxRTT.Milliseconds()), "ms"
	case *int:
		kind, f.Max = "number", players
	case **int:
		kind = "count"
	case *bool:
		kind = "switch"
	case *Decision:
		kind = "decision"
	case *discovery.Millis:
		kind = "time"
	case *Venues:
		kind, f.MaxItems = "places", MaxVenues
	case *Law:
		kind, f.Choices = "law", append([]string{""}, law.Names()...)
	case *string:
		if row.Choices != nil {
			kind = "choice"
		}
	}
	f.Type = cmp.Or(f.Type, kind)
	return f
}

// In returns the settings that are set on an occasion; see [Field.Set].
func (f Form) In(occasion string) []Field {
	return slices.DeleteFunc(slices.Clone(f.Settings), func(field Field) bool { return !slices.Contains(field.Set, occasion) })
}
