package wire

import (
	"muster/discovery"
	"muster/selection"
)

// Field is a setting in the page's form.
type Field struct {
	// Key is the setting's name in JSON. The page says the setting by the words that the catalogue
	// has for it: setting.KEY.label, what it is while it is unset, what a switch or a decision is
	// when set, and what a decision is when declined.
	Key string `json:"key"`
	// Kind is game, rule, limits, text, words, number, count, switch, decision, time, link, webhook or
	// places. A count may be 0, and is null while it is unset.
	// Unit is how people say a time: "ms", "s" or "min". In JSON a time is in milliseconds.
	Kind string `json:"kind"`
	Unit string `json:"unit,omitempty"`
	// Words are the values of a setting of the kind words; the empty one is unset. The catalogue
	// says a word by setting.KEY.WORD.
	Words []string `json:"words,omitempty"`
	// Rare says that hardly anybody needs the setting.
	Rare bool `json:"rare,omitempty"`
}

// Form returns the form with which the organiser changes settings on the page.
func Form() []Field {
	var form []Field
	for _, row := range Table() {
		if !OnPage(row) {
			continue
		}
		f := Field{
			Key:  row.Key,
			Kind: "text",
			Rare: row.Rare,
			Unit: row.Unit,
		}
		switch row.Of(&Settings{}).(type) {
		case *selection.Rule:
			f.Kind = "rule"
		case *Limits:
			f.Kind = "limits"
		case *int:
			f.Kind = "number"
		case **int:
			f.Kind = "count"
		case *bool:
			f.Kind = "switch"
		case *Decision:
			f.Kind = "decision"
		case *discovery.Millis:
			f.Kind = "time"
		case *Venues:
			f.Kind = "places"
		}
		switch row.Key {
		case "game":
			f.Kind = "game"
		case voiceKey:
			f.Kind = "link"
		case WebhookKey:
			f.Kind = "webhook"
		}
		if row.Words != nil {
			f.Kind, f.Words = "words", row.Words
		}
		form = append(form, f)
	}
	return form
}
