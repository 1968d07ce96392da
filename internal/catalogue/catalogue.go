// Package catalogue has every sentence that players read, each once under a key that says where it
// appears, and says it with its arguments. It has English; the other languages, a file each, are in
// package languages below it.
//
//	en.json            "search.answered": "{answered} of {listed} servers have answered"
//	languages/de.json  "search.answered": "{answered} von {listed} Servern haben geantwortet"
//
// The terminal reads these files. The page gets the same ones from the host, where say.js does what
// say.go does here.
package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed en.json
var english []byte

// English is the tag of the language that all others fall back to.
const English = "en"

// Accented and Mirrored are the tags of two languages for tests, as Unicode's CLDR names them. Both
// are English in brackets, with accents and longer by two fifths. Mirrored is written from right to
// left.
const (
	Accented = "en-XA"
	Mirrored = "ar-XB"
)

// Sentences returns the patterns of English by key.
func Sentences() map[string]string {
	sentences, err := Read(english)
	if err != nil {
		panic(err) // the file is embedded above, and a test reads it
	}
	return sentences
}

// Read returns the patterns in the file of a language by key.
func Read(file []byte) (sentences map[string]string, err error) {
	if err := json.Unmarshal(file, &sentences); err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	return sentences, nil
}

// Language says sentences in one language. It is immutable.
type Language struct {
	tag      language.Tag
	patterns map[string]pattern
	numbers  *message.Printer
	// isolates says that every name gets Unicode's marks for isolation, because the language is
	// written from right to left.
	isolates bool
}

// New returns the language of a tag, which says patterns by key. It panics if a pattern is malformed.
func New(tag string, sentences map[string]string) *Language {
	l := speaking(tag)
	for key, text := range sentences {
		p, err := parse(text)
		if err != nil {
			panic(fmt.Sprintf("catalogue: %s of %s: %v", key, tag, err))
		}
		l.patterns[key] = p
	}
	return l
}

// speaking returns a language with its numbers and plurals, but without sentences.
func speaking(tag string) *Language {
	known := language.Make(tag)
	if tag == Accented || tag == Mirrored {
		known = language.English
	}
	return &Language{tag: known, numbers: message.NewPrinter(known), patterns: map[string]pattern{}, isolates: tag == Mirrored}
}

// InEnglish returns English, for logs and for programs that ask for no language.
var InEnglish = sync.OnceValue(func() *Language { return New(English, Sentences()) })

// Tag returns the language's tag.
func (l *Language) Tag() string { return l.tag.String() }
