package weblist

import (
	"slices"
	"strings"
	"testing"
)

var paged = Form{
	Format: JSON, Rows: "data.servers", Host: "ip", Port: "port", Name: "name",
	More: "hasMore", Next: "&cursor={cursor}&after={last}",
}

// TestPages checks where the next page of a list is.
func TestPages(t *testing.T) {
	const servers = `{"servers":[{"ip":"192.0.2.1","port":1},{"ip":"192.0.2.2","port":2}],"cursor":"inside"}`
	for name, c := range map[string]struct{ answer, want string }{
		"more":                {`{"hasMore":true,"cursor":"a b&c","data":` + servers + `}`, "&cursor=a+b%26c&after=192.0.2.2%3A2"},
		"told after the rows": {`{"data":` + servers + `,"cursor":7,"hasMore":true}`, "&cursor=7&after=192.0.2.2%3A2"},
		"the last one":        {`{"hasMore":false,"cursor":"x","data":` + servers + `}`, ""},
		"no word":             {`{"cursor":"x","data":` + servers + `}`, ""},
		"no cursor":           {`{"hasMore":true,"data":` + servers + `}`, ""},
		"a cursor too long":   {`{"hasMore":true,"cursor":"` + strings.Repeat("x", 300) + `","data":` + servers + `}`, ""},
		"a list for a cursor": {`{"hasMore":true,"cursor":["x"],"data":` + servers + `}`, ""},
		"braces":              {`{"hasMore":true,"cursor":"{last}","data":` + servers + `}`, "&cursor=%7Blast%7D&after=192.0.2.2%3A2"},
		"many values":         {`{` + strings.Repeat(`"x":1,`, 99) + `"hasMore":true,"cursor":"y","data":` + servers + `}`, "&cursor=y&after=192.0.2.2%3A2"},
	} {
		var got []string
		next, err := paged.ReadPage(strings.NewReader(c.answer), func(r Row) bool { got = append(got, r.Address); return true })
		if next != c.want || err != nil || !slices.Equal(got, []string{"192.0.2.1:1", "192.0.2.2:2"}) {
			t.Errorf("%s: %q, %v, %v, want %q", name, next, got, err, c.want)
		}
	}
	if next, err := paged.ReadPage(strings.NewReader(`{"hasMore":true,"cursor":"x","data":{"servers":[]}}`), nil); next != "" || err == nil {
		t.Errorf("a page without servers: %q, %v", next, err)
	}
}

// TestPageMistakes checks what a form says of pages.
func TestPageMistakes(t *testing.T) {
	for want, change := range map[string]func(*Form){
		"next is missing":       func(f *Form) { f.Next = "" },
		"more is missing":       func(f *Form) { f.More = "" },
		"next is for json":      func(f *Form) { f.Format = XML },
		"next is for json with": func(f *Form) { f.Rows = "" },
		"next begins with":      func(f *Form) { f.Next = "/{cursor}" },
	} {
		f := paged
		if change(&f); f.Check() == nil || !strings.HasPrefix(f.Check().Error(), want) {
			t.Errorf("%s: %v", want, f.Check())
		}
	}
}

func FuzzPages(f *testing.F) {
	f.Add(`{"hasMore":true,"cursor":"a","data":{"servers":[{"ip":"192.0.2.1","port":1}]}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		next, _ := paged.ReadPage(strings.NewReader(answer), func(Row) bool { return true })
		if next != "" && (!strings.HasPrefix(next, "&cursor=") || strings.Count(next, "&") != 2 || strings.ContainsAny(next, " #/?")) {
			t.Errorf("the next page is at %q", next)
		}
	})
}
