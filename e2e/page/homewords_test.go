package page_test

import (
	"testing"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
)

// untranslated is a script that lists texts and labels which do not come from the catalogue. In the
// accented language every sentence of the catalogue is in brackets. Names, addresses, countries and
// figures are not. #status has parts of sentences.
const untranslated = `(() => {
	const names = "bdi, code, script, svg, noscript, textarea, [hidden], option[lang], .brand, #list, .found strong, [data-action=find-game], [data-count], .flag, .world, .turning, .in, #room-code, #room-game, #status, option, [data-key=places] tbody th";
	const found = [];
	let depth = 0;
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = texts.nextNode(); node; node = texts.nextNode()) {
		if (node.parentElement.closest(names)) continue;
		let outside = "";
		for (const c of node.data) {
			if (c === "[") depth++;
			else if (c === "]") depth--;
			else if (depth === 0) outside += c;
		}
		if (/\p{L}{2}/u.test(outside) && !/^(Muster|My Arena|[A-Z]{8})$/.test(outside.trim())) found.push(outside.trim());
	}
	for (const attribute of ["aria-label", "title"]) {
		for (const element of document.querySelectorAll("[" + attribute + "]")) {
			const label = element.getAttribute(attribute);
			if (!label.startsWith("[") && !element.matches(".voter, .ready li")) found.push(attribute + " " + label);
		}
	}
	return found;
})()`

// TestHomeWords checks that Home says everything from the catalogue, that its pages keep the language
// of its link, and that a person can choose another one.
func TestHomeWords(t *testing.T) {
	atNight(t)
	h := startHome(t, 30)
	accented := languages.In(catalogue.Accented)
	b := browse(t, h.link+"&lang="+catalogue.Accented, wide)
	b.run("window.muster = { live: {}, view: {} };" + keepsToasts)
	check := func(what string) {
		t.Helper()
		if wrong := b.settled(untranslated); len(wrong) > 0 {
			t.Errorf("%s is not translated: %q", what, wrong)
		}
		if search := eval[string](b, "location.search"); search != "?lang="+catalogue.Accented {
			t.Errorf("%s has the address %s", what, search)
		}
	}
	for _, page := range []struct{ hash, title string }{
		{"", "home.tonight"}, {"play", "home.play"}, {"join", "home.join-title"}, {"computer", "home.computer"}, {"find", "home.find"},
	} {
		b.run(`location.hash = "` + page.hash + `"`)
		b.sees("h1", accented.Words(page.title))
		check("page " + page.hash)
	}
	b.run(`{ const i = document.querySelector("#find-game"); i.value = "my are"; i.dispatchEvent(new Event("input")); }`)
	b.click(`[data-game="myarena"]`)
	b.until("the search has ended", func() bool {
		return eval[bool](b, "home.state()?.find.asked > 0 && !home.state().find.running && home.table.rows.size > 3")
	})
	b.click("#list [data-at='1']")
	b.sees("#server", accented.Words("find.copy"))
	check("a server")
	b.run(`location.hash = "join"`)
	b.sees("h1", accented.Words("home.join-title"))
	b.run(`document.querySelector("#link").value = "TABOMI"; document.querySelector("#join-form .primary").click()`)
	b.isTold(accented.Words("home.code-alone"))
	b.run(`{ const s = document.querySelector("#language"); s.value = "en"; s.dispatchEvent(new Event("change")); }`)
	b.until("the page is loaded again", func() bool {
		isThere, err := tried[bool](b, `document.documentElement.lang === "en"`)
		return err == nil && isThere
	})
	b.run("window.muster = { live: {}, view: {} }")
	b.sees("h1", "Join your friends")
	if search := eval[string](b, "location.search + location.hash"); search != "?lang=en#join" {
		t.Errorf("English is at %s", search)
	}
}
