package home

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/internal/hint"
)

// failure is an error that each page says in its reader's language.
type failure struct{ says sentence.Sentence }

// failing returns the failure that says the sentence of a key; see [sentence.Of].
func failing(key string, pairs ...any) failure { return failure{sentence.Of(key, pairs...)} }

// Error returns what is wrong, in English.
func (f failure) Error() string { return catalogue.InEnglish().Say(f.says) }

// inLanguage is the parameter of a link that names the reader's language.
const inLanguage = "lang"

// inLanguageOf returns a link that leads on in the language that the request's link names.
func inLanguageOf(r *http.Request, link string) string {
	tag := r.URL.Query().Get(inLanguage)
	to, err := url.Parse(link)
	if tag == "" || err != nil {
		return link
	}
	query := to.Query()
	query.Set(inLanguage, tag)
	to.RawQuery = query.Encode()
	return to.String()
}

// sentences returns an error as pages show it: what is wrong and, if known, what to do about it.
// Errors from other packages are texts.
func sentences(err error) []sentence.Sentence {
	var f failure
	if errors.As(err, &f) {
		return []sentence.Sentence{f.says}
	}
	all := []sentence.Sentence{sentence.Plain(textOf(err))}
	for line := range strings.Lines(hint.Of(err)) {
		all = append(all, sentence.Plain(discovery.CleanText(line)))
	}
	return all
}

// textOf returns an error of another package as a detail of a sentence.
func textOf(err error) string { return discovery.CleanText(hint.Plain(err.Error())) }

// languageOf returns the language for an answer that the browser shows as it is: the one that the
// link names, or else the first one of the browser's that Muster has.
func languageOf(r *http.Request) *catalogue.Language {
	wanted := []string{r.URL.Query().Get(inLanguage)}
	for tag := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		tag, _, _ = strings.Cut(tag, ";") // browsers name the best first
		wanted = append(wanted, strings.TrimSpace(tag))
	}
	if tag := catalogue.Find(wanted...); tag != catalogue.English {
		return catalogue.In(tag)
	}
	return catalogue.InEnglish()
}
