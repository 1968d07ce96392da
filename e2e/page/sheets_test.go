package page_test

import (
	"cmp"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/internal/catalogue"
)

// sheetScreen is a column of a contact sheet. Shown is the share of its size that it has there.
type sheetScreen struct {
	screenSize
	tv    bool
	shown float64
}

var sheetScreens = []sheetScreen{
	{screenSize{"390x700", 390, 700, 1.5, false}, false, .5},
	{screenSize{"844x390", 844, 390, 1.5, false}, false, .5},
	{screenSize{"768x1024", 768, 1024, 1, false}, false, .34},
	{screenSize{"1440x900", 1440, 900, 1, false}, false, .34},
	{screenSize{"1920x1080-tv", 1920, 1080, 1, false}, true, .3},
	{screenSize{"3840x2160", 3840, 2160, .5, false}, false, .15},
}

// shot is one picture of a contact sheet, with the faults that the tests of stages find on it.
type shot struct {
	File   string
	Width  int
	Faults []string
}

type sheetRow struct {
	Name  string
	Shots []shot
}

var sheetPage = template.Must(template.New("").Parse(`<!doctype html><meta charset="utf-8"><title>{{.Name}}</title>
<style>body { font: 14px system-ui; margin: 8px; background: #777 } h2 { font-size: 15px; margin: 10px 0 4px }
.row { display: flex; gap: 8px; align-items: start } img { display: block } p { color: #600; background: #fff; margin: 2px 0 }</style>
<h1>{{.Name}}</h1>
{{range .Rows}}<h2>{{.Name}}</h2><div class="row">{{range .Shots}}{{$w := .Width}}<div style="width: {{$w}}px">
<a href="{{.File}}"><img src="{{.File}}" width="{{$w}}" alt="{{.File}}"></a>{{range .Faults}}<p>{{.}}</p>{{end}}</div>{{end}}</div>{{end}}`))

// TestSheets draws contact sheets of each stage into the folder $MUSTER_SHEETS, for a person to
// judge: a page for each stage and language, and its pictures. Every fault that a machine finds
// stands under its picture. A part: -run 'TestSheets/de/(vote|go)/16/dark/(844|tv)'.
func TestSheets(t *testing.T) {
	atNight(t)
	if os.Getenv("MUSTER_SHEETS") == "" {
		t.Skip("$MUSTER_SHEETS names no folder")
	}
	for _, tag := range []string{catalogue.English, "de", "ru", "ja"} {
		t.Run(tag, func(t *testing.T) {
			n := newSession(t, 20, friday(0))
			b := n.browse(in(tag, n.organisersLink()), desktop)
			b.until("the QR code is there", func() bool { return eval[bool](b, `Boolean(globalThis.muster?.view?.qr)`) })
			tv := n.browse(strings.Replace(in(tag, n.link()), "?", "?tv&", 1), wall)
			tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
			for _, s := range everyStage {
				t.Run(s.name, func(t *testing.T) { b.sheet(t, tv, s.name, s.stage, tag) })
			}
		})
	}
}

// sheet draws the contact sheet of a stage in a language, for each crowd and both themes.
func (b *browser) sheet(t *testing.T, tv *browser, name, stage, tag string) {
	var rows []sheetRow
	for _, people := range []int{2, 5, 8, 16} {
		t.Run(strconv.Itoa(people), func(t *testing.T) {
			for _, theme := range []string{"dark", "light"} {
				t.Run(theme, func(t *testing.T) {
					b.drawn(name, stage, people, 1)
					tv.drawn(name, stage, people, -1)
					row := sheetRow{Name: fmt.Sprintf("%s %s, %d players, %s", name, tag, people, theme)}
					for _, screen := range sheetScreens {
						seen := b
						if screen.tv {
							seen = tv
						}
						screen.dark = theme == "dark"
						t.Run(screen.name, func(*testing.T) {
							row.Shots = append(row.Shots, seen.shot(fmt.Sprintf("%s-%s-%d-%s-%s.webp", name, tag, people, theme, screen.name), screen))
						})
					}
					rows = append(rows, row)
				})
			}
		})
	}
	page := filepath.Join(os.Getenv("MUSTER_SHEETS"), name+"-"+tag+".html")
	file, err := os.Create(page)
	if err == nil {
		err = cmp.Or(sheetPage.Execute(file, struct {
			Name string
			Rows []sheetRow
		}{name + " " + tag, rows}), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("file://%s", page)
}

// shot takes a picture of the stage on a screen.
func (b *browser) shot(file string, screen sheetScreen) shot {
	b.Helper()
	b.resize(screen.screenSize)
	b.run(`window.drawn = false; muster.view.changed(); requestAnimationFrame(() => requestAnimationFrame(() => window.drawn = true))`)
	b.until(file+" is drawn", func() bool { return eval[bool](b, "drawn") })
	b.run(arrived)
	found := b.settled(fmt.Sprintf(faults, "none", 0))
	for _, half := range eval[[]string](b, fmt.Sprintf(halves, 0.2)) {
		found = append(found, "hardly anything is in the half "+half)
	}
	picture, err := chromedp.Run(b.ctx, chromedp.Action[[]byte](webp))
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Getenv("MUSTER_SHEETS"), file), picture, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	return shot{file, int(float64(screen.width) * screen.shown), found}
}
