package wire

import (
	"cmp"
	"encoding/json"
	"errors"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
)

// Refusal says why a peer or an action is refused. The connection is closed afterwards.
type Refusal struct {
	Reason string `json:"reason"`
	// Says tells people why, and Advises what they can do.
	Says    sentence.Sentence `json:"says,omitzero"`
	Advises sentence.Sentence `json:"advises,omitzero"`
	// Message and Hint are the same in English, for programs that have no catalogue. [Refusal.MarshalJSON]
	// fills them in.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Link is where people with another version find the right program.
	Link string `json:"link,omitempty"`
}

// These are the reasons of a refusal.
const (
	ReasonVersion   = "version"    // host and peer differ in Version
	ReasonCode      = "code"       // no such room
	ReasonNameTaken = "name-taken" // someone else has the name
	ReasonName      = "name"       // no name at all
	ReasonFull      = "full"       // the room has all its players
	ReasonClosed    = "closed"     // the room was closed
	ReasonMalformed = "malformed"  // the message makes no sense
	ReasonSecret    = "secret"     // only the organiser may
	ReasonReplaced  = "replaced"   // the player came back on another connection
	ReasonLocked    = "locked"     // the organiser lets nobody new in
	ReasonRemoved   = "removed"    // the organiser has sent the player away
	ReasonAction    = "action"     // the action is impossible now
	ReasonOrigin    = "origin"     // another site's page asks, or it uses a name that is not the host's
	ReasonBusy      = "busy"       // too many requests at once, or the host cannot take anybody at the moment
	ReasonLimited   = "limited"    // too many wrong codes
	ReasonCrowded   = "crowded"    // a page without a seat gave way to another
	ReasonLeft      = "left"       // the player has left the room, by the page
	ReasonEnded     = "ended"      // the organiser has ended the session
	ReasonMoved     = "moved"      // another host has the room: come back at once
)

// Refuse returns a refusal that says the sentence of a key; see [sentence.Of].
func Refuse(reason, key string, pairs ...any) *Refusal {
	return &Refusal{Reason: reason, Says: sentence.Of(key, pairs...)}
}

// Advising returns the refusal with what people can do, the sentence of a key.
func (r Refusal) Advising(key string, pairs ...any) *Refusal {
	r.Advises = sentence.Of(key, pairs...)
	return &r
}

// Error returns why, in English.
func (r Refusal) Error() string { return r.inEnglish().Message }

func (r Refusal) inEnglish() Refusal {
	r.Message, r.Hint = textOf(r.Says, r.Message), textOf(r.Advises, r.Hint)
	return r
}

// MarshalJSON adds the English text to the sentences.
func (r Refusal) MarshalJSON() ([]byte, error) {
	type plain Refusal // without this method
	return json.Marshal(plain(r.inEnglish()))
}

// Told returns an error as people are told it: what a refusal says, or the sentence of another error
// that has a method Told, or else the text.
func Told(err error) sentence.Sentence {
	if refusal, is := errors.AsType[*Refusal](err); is && !refusal.Says.IsZero() {
		return refusal.Says
	}
	var teller interface{ Told() sentence.Sentence }
	if errors.As(err, &teller) {
		return teller.Told()
	}
	return sentence.Plain(err.Error())
}

// Notice is something that people are told, and its text in English for programs that have no
// catalogue. [Notice.MarshalJSON] fills that in.
type Notice struct {
	Says    sentence.Sentence `json:"says,omitzero"`
	Message string            `json:"message,omitempty"`
}

// MarshalJSON adds the English text to the sentence.
func (n Notice) MarshalJSON() ([]byte, error) {
	type plain Notice // without this method
	n.Message = textOf(n.Says, n.Message)
	return json.Marshal(plain(n))
}

// Told returns the sentence, or the text of a program that sends only that.
func (n Notice) Told() sentence.Sentence { return cmp.Or(n.Says, sentence.Plain(n.Message)) }

// Wait tells a client that its room has no host at the moment, and why if people need to know. The
// client need do nothing. It comes from the host that the client is connected to.
type Wait struct{ Notice }

// Answer says why a player's answer does not count.
type Answer struct{ Notice }

// textOf returns a text or, if it is empty, what a sentence is in English.
func textOf(s sentence.Sentence, text string) string {
	if text == "" {
		return catalogue.InEnglish().Say(s)
	}
	return text
}
