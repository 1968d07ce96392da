// Package languages has the sentences of package catalogue in each language that Muster speaks, and
// finds the one that suits a reader. English stands in for a sentence that a language lacks.
package languages

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"muster/internal/catalogue"
)

//go:embed *.json
var embedded embed.FS

// Tags returns the tags of all languages, English first, the others sorted.
var Tags = sync.OnceValue(func() []string {
	files, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // they are embedded above
	}
	tags := []string{catalogue.English}
	for _, file := range files {
		tags = append(tags, strings.TrimSuffix(file.Name(), ".json"))
	}
	return tags
})

// Sentences returns the patterns of a language by key, with English for those that it lacks. It
// knows [Tags], [catalogue.Accented] and [catalogue.Mirrored], and returns English for any other tag.
func Sentences(tag string) map[string]string {
	sentences := catalogue.Sentences()
	switch {
	case tag == catalogue.Accented || tag == catalogue.Mirrored:
		for key, text := range sentences {
			sentences[key] = catalogue.Accent(text)
		}
	case tag != catalogue.English && slices.Contains(Tags(), tag):
		maps.Copy(sentences, translated(tag))
	}
	return sentences
}

// translated returns the patterns in the file of a language.
func translated(tag string) map[string]string {
	file, err := embedded.ReadFile(tag + ".json")
	var sentences map[string]string
	if err == nil {
		sentences, err = catalogue.Read(file)
	}
	if err != nil {
		panic(fmt.Sprintf("%s: %v", tag, err)) // the file is embedded above, and a test reads it
	}
	return sentences
}

// languages has every language that was asked for, by tag: reading one takes some milliseconds.
var languages sync.Map

// In returns the language of a tag, as [Sentences] knows them. It may be called from several goroutines.
func In(tag string) *catalogue.Language {
	known, ok := languages.Load(tag)
	if !ok {
		known, _ = languages.LoadOrStore(tag, catalogue.New(tag, Sentences(tag)))
	}
	return known.(*catalogue.Language)
}

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
		if text == catalogue.Accented || text == catalogue.Mirrored {
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
		return catalogue.English, false
	}
	return tags[i], true
}
