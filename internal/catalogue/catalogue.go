// Package catalogue has every sentence that players read, in each language that Muster speaks: a
// file a language, each sentence once under a key that says where it appears.
//
//	en.json   "search.answered": "{answered} of {listed} servers have answered"
//	de.json   "search.answered": "{answered} von {listed} Servern haben geantwortet"
//
// The terminal reads the files here. The page gets the same files from the host, where say.js does
// what say.go does here. English stands in for a sentence that a language lacks.
package catalogue

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed *.json
var embedded embed.FS

// English is the tag of the language that all others fall back to.
const English = "en"

// Accented and Mirrored are the tags of two languages for tests, as Unicode's CLDR names them. Both
// are English in brackets, with accents and longer by two fifths. Mirrored is written from right to
// left.
const (
	Accented = "en-XA"
	Mirrored = "ar-XB"
)

// Tags returns the tags of all languages, English first, the others sorted.
var Tags = sync.OnceValue(func() []string {
	files, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // they are embedded above
	}
	tags := []string{English}
	for _, file := range files {
		if tag := strings.TrimSuffix(file.Name(), ".json"); tag != English {
			tags = append(tags, tag)
		}
	}
	return tags
})

// Sentences returns the patterns of a language by key, with English for those that it lacks. It
// knows [Tags], [Accented] and [Mirrored], and returns English for any other tag.
func Sentences(tag string) map[string]string {
	english := read(English)
	switch {
	case tag == Accented || tag == Mirrored:
		for key, text := range english {
			english[key] = pseudo(text)
		}
	case tag != English && slices.Contains(Tags(), tag):
		maps.Copy(english, read(tag))
	}
	return english
}

// read reads the file of a language.
func read(tag string) map[string]string {
	sentences := map[string]string{}
	data, err := embedded.ReadFile(tag + ".json")
	if err == nil {
		err = json.Unmarshal(data, &sentences)
	}
	if err != nil {
		panic(fmt.Sprintf("catalogue: %s: %v", tag, err)) // the file is embedded above, and a test reads it
	}
	return sentences
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

// languages has every [Language] that was asked for, by tag: reading one takes some milliseconds.
var languages sync.Map

// In returns the language of a tag, as [Sentences] knows them. It may be called from several goroutines.
func In(tag string) *Language {
	known, ok := languages.Load(tag)
	if !ok {
		known, _ = languages.LoadOrStore(tag, newLanguage(tag))
	}
	return known.(*Language)
}

func newLanguage(tag string) *Language {
	l := speaking(tag)
	for key, text := range Sentences(tag) {
		p, err := parse(text)
		if err != nil {
			panic(fmt.Sprintf("catalogue: %s of %s: %v", key, tag, err)) // a test parses all of them
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
func InEnglish() *Language { return In(English) }

// Tag returns the language's tag.
func (l *Language) Tag() string { return l.tag.String() }

// Find returns the tag of the language that suits a reader best. The reader wants the first of some
// tags most. A tag is written as "pt-BR" or, as systems do, "pt_BR.UTF-8". Find returns English if
// no language suits.
func Find(wanted ...string) string {
	tag, _ := Match(wanted...)
	return tag
}

// maxAsked is how many languages of a browser are looked at.
const maxAsked = 16

// Asked returns the tags of a header Accept-Language, as Find takes them. Browsers list the
// languages in their reader's order.
func Asked(header string) (tags []string) {
	for tag := range strings.SplitSeq(header, ",") {
		if len(tags) == maxAsked {
			break
		}
		tag, _, _ = strings.Cut(tag, ";")
		tags = append(tags, strings.TrimSpace(tag))
	}
	return tags
}

// Match is Find, and reports whether some language suits.
func Match(wanted ...string) (tag string, suits bool) {
	tags := Tags()
	var asked []language.Tag
	for _, text := range wanted {
		text, _, _ = strings.Cut(text, ".")
		text, _, _ = strings.Cut(text, "@")
		text = strings.ReplaceAll(text, "_", "-")
		if text == Accented || text == Mirrored {
			return text, true
		}
		if tag, err := language.Parse(text); err == nil {
			asked = append(asked, tag)
		}
	}
	known := make([]language.Tag, len(tags))
	for i, tag := range tags {
		known[i] = language.MustParse(tag)
	}
	_, i, confidence := language.NewMatcher(known).Match(asked...)
	if confidence == language.No {
		return English, false
	}
	return tags[i], true
}
