package discord

import (
	files "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// embedded has a file for each language. In a text, {name} stands for a value.
//
//go:embed words/*.json
var embedded files.FS

// English is the tag of the language for people whose own the program does not speak.
const English = "en"

// Language has the program's texts in one language, by their keys.
type Language struct {
	Tag   string
	texts map[string]string
}

// languages has all languages, by the first parts of their tags.
var languages = sync.OnceValue(func() map[string]*Language {
	known := map[string]*Language{}
	all, err := embedded.ReadDir("words")
	if err != nil {
		panic(err) // they are embedded above
	}
	for _, file := range all {
		l := &Language{Tag: strings.TrimSuffix(file.Name(), ".json")}
		data, err := embedded.ReadFile("words/" + file.Name())
		if err == nil {
			err = json.Unmarshal(data, &l.texts)
		}
		if err != nil {
			panic(fmt.Sprintf("words/%s: %v", file.Name(), err)) // a test reads it
		}
		known[ShortOf(l.Tag)] = l
	}
	return known
})

// Tags returns the tags of all languages, sorted.
func Tags() (all []string) {
	for l := range maps.Values(languages()) {
		all = append(all, l.Tag)
	}
	slices.Sort(all)
	return all
}

// LanguageOf returns the language for a locale of Discord's, or for the first part of a tag.
func LanguageOf(locale string) *Language {
	if l := languages()[ShortOf(locale)]; l != nil {
		return l
	}
	return languages()[English]
}

// ShortOf returns the first part of a language's tag, which tells languages apart.
func ShortOf(tag string) string {
	short, _, _ := strings.Cut(tag, "-")
	return short
}

// Say returns the text of a key with its values, a name and a value in turn.
func (l *Language) Say(key string, pairs ...any) string {
	text := l.texts[key]
	for pair := range slices.Chunk(pairs, 2) {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%s}", pair[0]), fmt.Sprint(pair[1]))
	}
	return text
}

// Sentence returns a text as a whole sentence: with a capital letter and a full stop.
func (l *Language) Sentence(text string) string {
	first, length := utf8.DecodeRuneInString(text)
	if text == "" {
		return ""
	}
	upper := strings.ToUpper(string(first))
	if l.Tag == "tr" {
		upper = strings.ToUpperSpecial(unicode.TurkishCase, string(first))
	}
	text = upper + text[length:]
	if last, _ := utf8.DecodeLastRuneInString(text); !strings.ContainsRune(".?!…。？！", last) {
		text += l.Say("stop")
	}
	return text
}
