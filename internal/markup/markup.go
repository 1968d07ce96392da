// Package markup fills in the program's own few plain pages. Templates would do so by reflection, and a program
// with templates keeps every exported method of every type: four megabytes.
package markup

import (
	"fmt"
	"html"
	"strings"
)

// Page is a page of HTML.
type Page struct{ strings.Builder }

// Add adds markup. Each %s in it, in the text or in a quoted attribute, is the next of some texts, which may be
// hostile.
func (p *Page) Add(markup string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, text := range texts {
		escaped[i] = html.EscapeString(text)
	}
	fmt.Fprintf(p, markup, escaped...)
}
