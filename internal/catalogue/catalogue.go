// Package catalogue has every sentence that players read, in each language that Muster speaks: a
// file a language, each sentence once under a key that says where it appears.
//
//	en.json   "search.answered": "{answered} of {listed} servers have answered"
//	de.json   "search.answered": "{answered} von {listed} Servern haben geantwortet"
//
// The terminal reads the files here; the page gets the same files from the host, and say.js does
// there what say.go does here. A sentence that a language does not have is said in English.
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

// Mirrored and Accented are the tags of two languages for tests alone, as Unicode's CLDR names
// them: English between brackets, longer by two fifths and with accents, and the same from right
// to left.
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

// Sentences returns what a language says, by key, as it is written in its file; English stands in
// for what it lacks. The language is one of [Tags], [Accented] or [Mirrored]; of any other it
// returns English.
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
	// isolates: names stand between Unicode's marks for isolation, because the language is written
	// from right to left.
	isolates bool
}

// In returns the language of a tag, which is one of [Tags], [Accented] or [Mirrored], or else
// English.
func In(tag string) *Language {
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

// speaking returns a language that has its numbers and plurals, and no sentences.
func speaking(tag string) *Language {
	known := language.Make(tag)
	if tag == Accented || tag == Mirrored {
		known = language.English
	}
	return &Language{tag: known, numbers: message.NewPrinter(known), patterns: map[string]pattern{}, isolates: tag == Mirrored}
}

// InEnglish returns English, for logs and for programs that ask for no language.
var InEnglish = sync.OnceValue(func() *Language { return In(English) })

// Tag returns the language's tag.
func (l *Language) Tag() string { return l.tag.String() }

// Find returns the tag of the language that suits a reader best who wants one of some, the first
// the most: tags such as "pt-BR", or as a system writes them, "pt_BR.UTF-8". It is English if none
// suits.
func Find(wanted ...string) string {
	tags := Tags()
	var asked []language.Tag
	for _, text := range wanted {
		text, _, _ = strings.Cut(text, ".")
		text, _, _ = strings.Cut(text, "@")
		text = strings.ReplaceAll(text, "_", "-")
		if text == Accented || text == Mirrored {
			return text
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
		return English
	}
	return tags[i]
}
