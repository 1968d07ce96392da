package page_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/host/wire"
	"muster/selection"
)

// TestSearch checks that during measurement the page shows the leading server by name, with
// everybody's ping, on a map that shows where everything is. On a phone all of it is above the
// fold.
func TestSearch(t *testing.T) {
	t.Parallel()
	n := newSession(t, 2000, wire.Settings{Name: "The night of 2005", Game: "openarena", By: selection.Mean, Strategy: "as"}, abroad)
	b := n.browse(n.link(), desktop)
	for i, name := range []string{"anna", "ben", "chong", "dave <b>of the very long name"} {
		n.joins(name, i)
	}
	b.sees("#stage", "4 players here")
	n.rooms.Go(n.code)
	b.sees("#stage", "Everyone is measuring")
	n.measures(0, 600)
	b.until("three lead", func() bool { return eval[int](b, "document.querySelectorAll('.step').length") == 3 })
	n.pass(time.Second) // until the names are there
	b.sees("#stage", "best so far")
	b.sees("#stage", "534 of 2,000 servers have answered") // each ninth is silent
	b.until("the map is there", func() bool { return eval[int](b, "document.querySelectorAll('.world .ring').length") == 4 })
	drawn := func(canvas string) int {
		return eval[int](b, `(() => { const c = document.querySelector('.world canvas`+canvas+
			`'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((n, i) => i % 4 === 3 && n > 0).length; })()`)
	}
	b.until("the land is drawn", func() bool { return drawn("") > 10_000 })
	b.until("the lights are on", func() bool { return drawn(":nth-of-type(2)") > 500 }) // of 2,000; many cover each other
	if at := eval[string](b, "document.querySelector('#stage').textContent"); strings.Contains(at, "45.5.") ||
		strings.Contains(at, "198.41.") {
		t.Errorf("an address stands there: %s", at)
	}
	small := screenSize{"phone-390", 390, 700, 2, true}
	b.shoot("search", desktop, laptop, night4k, small)
	b.resize(small)
	b.until("the podium is above the fold", func() bool {
		return eval[float64](b, "document.querySelector('.podium').getBoundingClientRect().bottom") <= 700
	})
	b.resize(desktop)
	n.searched()
	b.until("the world turns to the server", func() bool { return eval[int](b, "document.querySelectorAll('.turned .spoke').length") == 4 })
	b.sees("#stage", "Tonight we meet in")
	n.pass(3 * time.Second) // it has turned
	if os.Getenv("MUSTER_SHOTS") != "" {
		b.capture("reveal-desktop.png", chromedp.CaptureScreenshot())
	}
	n.pass(reveal)
	b.until("the reveal is over", func() bool { return eval[string](b, "document.body.dataset.stage") != "reveal" })
	t.Logf("longest frame %.1f ms; the map takes %d bytes", eval[float64](b, "muster.view.longest"),
		eval[int](b, "performance.getEntriesByType('resource').filter((e) => "+
			"/map|d3-|topojson|countries/.test(e.name)).reduce((n, e) => n + e.transferSize, 0)"))
}
