package home

import (
	"net/http"
	"net/url"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
)

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

// languageOf returns the language for an answer that the browser shows as it is.
func languageOf(r *http.Request) *catalogue.Language {
	return languages.In(tagOf(r))
}

// tagOf returns the tag of the reader's language. This is the language that the link names, or else
// the first of the browser's languages that Muster has. Home's page asks for its own language.
func tagOf(r *http.Request) string {
	asked := languages.Asked(r.Header.Get("Accept-Language"))
	return languages.Find(append([]string{r.URL.Query().Get(inLanguage)}, asked...)...)
}
