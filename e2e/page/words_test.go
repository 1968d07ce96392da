package page_test

import (
	"testing"

	"muster/internal/catalogue"
)

// cut is a script that finds sentences whose end is not shown. Names may be cut.
const cut = `[...document.querySelectorAll("header *, #stage *")].filter((e) => {
	if (!e.checkVisibility() || e.closest("bdi, .unseen, svg, .world, .turning") || e.querySelector("bdi") || e.clientWidth <= 1) return false;
	const { overflow, textOverflow, webkitLineClamp } = getComputedStyle(e);
	return overflow !== "visible" && (textOverflow === "ellipsis" && e.scrollWidth > e.clientWidth + 1 || webkitLineClamp !== "none" && e.scrollHeight > e.clientHeight + 1);
}).map((e) => e.textContent)`

// TestEveryLanguage checks each stage in a language that is longer than English: nothing covers
// anything else or is cut, and everything comes from the catalogue.
func TestEveryLanguage(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(in(catalogue.Accented, n.organisersLink()), pocket)
	b.sees("#steps", "[")
	for _, s := range everyStage {
		b.resize(pocket)
		b.drawn(s.name, s.stage, 4, 1)
		for _, size := range []screenSize{pocket, desktop} {
			b.fitsOn(s.name+"-accented", size, "")
			b.cutsNothing(s.name)
		}
		b.run("for (const detail of document.querySelectorAll('details')) detail.open = true; muster.view.changed()")
		if wrong := b.settled(untranslated); len(wrong) > 0 {
			t.Errorf("%s says without the catalogue: %q", s.name, wrong)
		}
		b.run("for (const detail of document.querySelectorAll('details')) detail.open = false")
	}
}

// cutsNothing checks that no sentence of a stage is cut on the present screen.
func (b *browser) cutsNothing(stage string) {
	b.Helper()
	for _, text := range b.settled(cut) {
		b.Errorf("%s cuts %q", stage, text)
	}
}
