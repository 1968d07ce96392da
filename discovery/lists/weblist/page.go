package weblist

import (
	"errors"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// page is an answer that is read, one of several for a list in pages.
type page struct {
	form Form
	// beside are the values next to the rows, by name, if the form wants any.
	beside map[string]string
	// last is the address of the last row.
	last string
}

// maxBeside bounds the values next to the rows that are kept.
const maxBeside = 32

func (f Form) checkPages() error {
	switch {
	case f.Next == "" && f.More == "":
		return nil
	case f.Next == "":
		return errors.New("next is missing: where is the next page?")
	case f.More == "":
		return errors.New("more is missing: what says that there is a next page?")
	case f.Format != JSON || f.Rows == "":
		return errors.New("next is for json with rows")
	case !strings.HasPrefix(f.Next, "&") && !strings.HasPrefix(f.Next, "?"):
		return errors.New("next begins with & or ?")
	}
	return nil
}

// keep notes a value that stands next to the rows.
func (p *page) keep(name string, value []byte) {
	found := gjson.ParseBytes(value)
	if text := word(found); p.form.Next != "" && text != "" && len(text) <= maxText && len(p.beside) < maxBeside {
		if p.beside == nil {
			p.beside = make(map[string]string)
		}
		p.beside[name] = text
	}
}

// next returns the end of the next page's URL, or nothing.
func (p *page) next() string {
	if p.form.Next == "" || p.beside[p.form.More] != "true" || p.last == "" {
		return ""
	}
	fill := []string{"{last}", url.QueryEscape(p.last)}
	for name, value := range p.beside {
		if name != "last" {
			fill = append(fill, "{"+name+"}", url.QueryEscape(value))
		}
	}
	filled := strings.NewReplacer(fill...).Replace(p.form.Next)
	if strings.Contains(filled, "{") {
		return "" // something is missing
	}
	return filled
}
