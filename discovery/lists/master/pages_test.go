package master_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/discovery/lists/master"
	"muster/discovery/lists/weblist"
)

// TestPages checks that a list in pages is read whole, and as far as it can be.
func TestPages(t *testing.T) {
	pages := map[string]string{
		"":                            `{"servers":[{"addr":"8.8.8.8:1"},{"addr":"8.8.8.8:2"}],"cursor":"c","hasMore":true}`,
		"&cursor=c&after=8.8.8.8%3A2": `{"servers":[{"addr":"8.8.4.4:1"}],"cursor":"d","hasMore":true}`,
		"&cursor=d&after=8.8.4.4%3A1": `{"servers":[{"addr":"1.1.1.1:1"}],"cursor":"e","hasMore":false}`,
	}
	for _, c := range []struct {
		name, last string
		want       []string
		warning    string
	}{
		{"whole", "", []string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1", "1.1.1.1:1"}, ""},
		{"nothing left", `{"servers":[],"hasMore":false}`, []string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1"}, ""},
		{"a page is missing", "500", []string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1"}, "500 Internal Server Error: taking the 3 servers before that"},
		{"a page that leads to itself", `{"servers":[{"addr":"8.8.4.4:1"}],"cursor":"d","hasMore":true}`,
			[]string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := 0
			s := service(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				asked++
				text, found := pages[strings.TrimPrefix(r.URL.RawQuery, "perPage=2")]
				if strings.Contains(r.URL.RawQuery, "cursor=d") && c.last != "" {
					text = c.last
				}
				if !found || text == "500" {
					http.Error(w, "no", http.StatusInternalServerError)
					return
				}
				fmt.Fprint(w, text)
			})
			list := master.WebList{URLs: []string{s.URL + "/?perPage=2"}, Form: weblist.Form{
				Format: weblist.JSON, Rows: "servers", Address: "addr", More: "hasMore", Next: "&cursor={cursor}&after={last}",
			}}
			got, err := master.Client{Cache: master.Cache(t.TempDir())}.Fetch(t.Context(), list)
			if err != nil || !slices.Equal(addresses(got), c.want) || asked > 4 {
				t.Errorf("%v, %v, asked %d times", addresses(got), err, asked)
			}
			if warnings := fmt.Sprint(got.Warnings); (c.warning != "") != (len(got.Warnings) > 0) || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %s", warnings)
			}
		})
	}
}
