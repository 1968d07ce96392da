package cli

import (
	"cmp"
	"fmt"
	"strings"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
	"muster/internal/option"
	"muster/internal/term"
)

// languageFlag is the flag of the reader's language, which every command has.
const languageFlag = "language"

// localeOf returns the language that the system's user has chosen, English if Muster does not speak it
// (POSIX, Base Definitions, 8.2). Without such a variable the system's own settings count, where it
// has some.
func localeOf(env func(string) string) *catalogue.Language {
	if tag := cmp.Or(env("LC_ALL"), env("LC_MESSAGES"), env("LANG")); tag != "" {
		return languages.In(languages.Find(tag))
	}
	return languages.In(languages.Find(systemLanguages()...))
}

// languageFlag returns the flag, which gives the program a screen in its language.
func (p *program) languageFlag() option.Value {
	return option.New("TAG", "", func(text string) error {
		tag, suits := languages.Match(text)
		if !suits {
			return fmt.Errorf("%q is no language that Muster speaks: it speaks %s", text, strings.Join(languages.Tags(), ", "))
		}
		p.screen = term.NewScreen(p.screen.Terminal, languages.In(tag))
		return nil
	})
}
