package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/web"
)

// TestLoadedAgain checks that a page that lost one of its files reloads by itself, and says so when
// reloading no longer helps.
func TestLoadedAgain(t *testing.T) {
	t.Parallel()
	page := web.Handler()
	var losses, asked atomic.Int64
	losses.Store(1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/app.js") {
			page.ServeHTTP(w, r)
			return
		}
		if asked.Add(1) > losses.Load() {
			page.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte("// and no more"))
	}))
	t.Cleanup(server.Close)
	b := browse(t, server.URL+"/nothing", phone)
	b.run(`sessionStorage.setItem("loaded again", "5")`)
	b.do(chromedp.Navigate(server.URL))
	b.sees("body", "A part of this page does not arrive")
	losses.Store(asked.Load() + 2)
	b.run(`sessionStorage.removeItem("loaded again"); location.reload()`)
	b.sees("#front", "code")
	if n := asked.Load() - losses.Load(); n != 1 {
		t.Errorf("it came with load %d, not with the third", n+2)
	}
	b.until("it counts anew", func() bool { return eval[bool](b, `sessionStorage.getItem("loaded again") === null`) })
}
