package hint

import (
	"errors"
	"strings"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// Said is an error that is a sentence of the catalogue, and what to do about it.
type Said struct {
	says, advises sentence.Sentence
	cause         error
}

// Say returns the error whose text is the sentence of a key; see [sentence.Of]. If an argument is
// an error, it is the cause.
func Say(key string, pairs ...any) *Said {
	s := &Said{}
	for i, value := range pairs {
		if err, is := value.(error); is {
			s.cause, pairs[i] = err, Sentence(err)
		}
	}
	s.says = sentence.Of(key, pairs...)
	return s
}

// Brief returns an error that says what another one does, without the names of packages.
func Brief(err error) *Said { return &Said{says: Sentence(err), cause: err} }

// Told returns the sentence, as wire.Told asks for it.
func (s *Said) Told() sentence.Sentence { return s.says }

// Advising returns the error with what to do about it, the sentence of a key.
func (s Said) Advising(key string, pairs ...any) *Said {
	s.advises = sentence.Of(key, pairs...)
	return &s
}

func (s *Said) Error() string { return catalogue.InEnglish().Say(s.says) }
func (s *Said) Unwrap() error { return s.cause }

// Hint returns what to do about the error, in English.
func (s *Said) Hint() string {
	if s.advises.IsZero() && s.cause != nil {
		return Of(s.cause)
	}
	return catalogue.InEnglish().Say(s.advises)
}

// Sentence returns what an error says, as the part of another sentence.
func Sentence(err error) sentence.Sentence {
	if s := sentenceOf(err); !s.IsZero() {
		return s
	}
	return sentence.Plain(discovery.CleanText(Plain(err)))
}

// sentenceOf returns the sentence that an error is, or none.
func sentenceOf(err error) sentence.Sentence {
	switch e := err.(type) {
	case *Said:
		return e.says
	case *hinted:
		return sentenceOf(e.error)
	case interface{ Said() *Said }:
		return e.Said().says
	case wire.Refusal:
		return e.Says
	case *wire.Refusal:
		return e.Says
	}
	return sentence.Sentence{}
}

// Text returns what an error says in a language, a line for each error that it joins. What is
// written before a sentence of the catalogue stays as it is.
func Text(l *catalogue.Language, err error) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		before, is := strings.CutSuffix(err.Error(), inner.Error())
		if joined, are := inner.(interface{ Unwrap() []error }); is && are && before == "" {
			var plain, lines []string
			for _, one := range joined.Unwrap() {
				plain, lines = append(plain, one.Error()), append(lines, Text(l, one))
			}
			if strings.Join(plain, "\n") == err.Error() { // it is of errors.Join
				return strings.Join(lines, "\n")
			}
		}
		s := sentenceOf(inner)
		if text := l.Say(s); is && !s.IsZero() && text != s.Key { // a later release knows more keys
			before, _ = strings.CutSuffix(unprefixed(discovery.CleanText(before+"_")), "_")
			return before + text
		}
	}
	var lines []string
	for line := range strings.Lines(textOf(err)) {
		lines = append(lines, unprefixed(discovery.CleanText(line)))
	}
	return strings.Join(lines, "\n")
}

// Sentences returns an error for a page: its text, and the advice if there is any.
func Sentences(err error) []sentence.Sentence {
	return append([]sentence.Sentence{Sentence(err)}, advice(err)...)
}

// advice returns what to do about an error; it is empty if nobody knows.
func advice(err error) []sentence.Sentence {
	var hint interface{ Hint() string }
	var refusal wire.Refusal
	if errors.As(err, &hint) {
		said, is := hint.(*Said)
		if saying, can := hint.(interface{ Said() *Said }); can {
			said, is = saying.Said(), true
		}
		switch {
		case is && !said.advises.IsZero():
			return []sentence.Sentence{said.advises}
		case is && said.cause != nil:
			return advice(said.cause)
		}
	} else if errors.As(err, &refusal) && !refusal.Advises.IsZero() {
		if refusal.Link != "" {
			return []sentence.Sentence{sentence.Of("term.advice-link", "advice", refusal.Advises, "link", refusal.Link)}
		}
		return []sentence.Sentence{refusal.Advises}
	}
	var all []sentence.Sentence
	for line := range strings.Lines(Of(err)) {
		all = append(all, sentence.Plain(discovery.CleanText(line)))
	}
	return all
}
