//go:build e2e

package web_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"muster/internal/catalogue"
)

// TestSay checks that the page says sentences as the terminal does: package catalogue reads the same
// cases.
func TestSay(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../internal/catalogue/testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Pattern, Language, Want string }
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tag := range catalogue.Tags() {
		var got []string
		inNodeAs(t, tag, &got, `const { filled } = await import("./static/say.js");
			console.log(JSON.stringify(JSON.parse(process.argv[1]).map((one) => filled(one.pattern, one.with ?? {}))))`, string(data))
		for i, tt := range cases {
			if language := tt.Language; language == tag || language == "" && tag == catalogue.English {
				if got[i] != tt.Want {
					t.Errorf("in %s, %q is %q, want %q", tag, tt.Pattern, got[i], tt.Want)
				}
			}
		}
	}
}

// unsaid is a script that finds text which does not come from the catalogue. In the accented language
// each sentence is in brackets. Names, addresses and figures are not.
const unsaid = `(() => {
	const found = [], countries = ["CA", "NL", "DE", "FR", "US", "BR", "JP", "AU"].map((code) => new Intl.DisplayNames("en", { type: "region" }).of(code));
	for (const root of document.querySelectorAll("header, #stage, #details")) {
		const copy = root.cloneNode(true);
		for (const e of copy.querySelectorAll("bdi, code, svg, [data-count], #room-name, #room-game, #room-code, .flag, .world, .turning, option, input, textarea")) e.remove();
		for (const e of copy.querySelectorAll("*")) e.append("\n");
		let text = copy.textContent;
		for (let before = ""; text !== before; ) [before, text] = [text, text.replace(/\[[^[\]]*\]/g, "")];
		for (const name of countries) text = text.replaceAll(name, "");
		found.push(...text.split("\n").filter((line) => /\p{L}{2}/u.test(line) && !/^[A-Z]{8}$/.test(line.trim()))); // nor is the room's code
		for (const e of root.querySelectorAll("[aria-label], [title], [placeholder]")) for (const name of ["aria-label", "title", "placeholder"]) {
			const label = e.getAttribute(name);
			if (label && !e.closest("bdi") && !/^\[/.test(label) && /\p{L}{3}/u.test(label) && !e.matches(".voter")) found.push(name + ": " + label);
		}
	}
	return [...new Set(found)];
})()`

// cut is a script that finds sentences whose end is not shown. Names may be cut.
const cut = `[...document.querySelectorAll("header *, #stage *")].filter((e) => {
	if (!e.checkVisibility() || e.closest("bdi, .unseen, svg, .world, .turning") || e.querySelector("bdi") || !e.textContent.includes("[")) return false;
	const { overflow, textOverflow, webkitLineClamp } = getComputedStyle(e);
	return overflow !== "visible" && (textOverflow === "ellipsis" && e.scrollWidth > e.clientWidth + 1 || webkitLineClamp !== "none" && e.scrollHeight > e.clientHeight + 1);
}).map((e) => e.textContent)`

// TestEveryLanguage checks each stage in two languages for tests. One is longer than English, and
// shows what does not come from the catalogue. The other is written from right to left.
func TestEveryLanguage(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	for _, tag := range []string{catalogue.Accented, catalogue.Mirrored} {
		b := browse(t, strings.Replace(n.organisersLink(), "/#", "/?lang="+tag+"#", 1), pocket)
		b.until("the page speaks "+tag, func() bool {
			return eval[bool](b, `document.documentElement.lang === "`+tag+`" && Boolean(muster.live.state?.room)`)
		})
		for _, s := range everyStage {
			b.resize(pocket)
			b.drawn(s.name, s.stage, 4, 1)
			for _, size := range []screenSize{pocket, desktop} {
				b.fitsOn(s.name+"-"+tag, size, "")
				for _, text := range eval[[]string](b, cut) {
					t.Errorf("%s in %s cuts on a %s: %q", s.name, tag, size.name, text)
				}
			}
			if tag == catalogue.Accented {
				b.run("for (const detail of document.querySelectorAll('details')) detail.open = true; muster.view.changed()")
				for _, text := range eval[[]string](b, unsaid) {
					t.Errorf("%s says without the catalogue: %q", s.name, text)
				}
				b.run("for (const detail of document.querySelectorAll('details')) detail.open = false")
			}
		}
	}
}
