package page_test

import (
	"fmt"
	"os"
	"testing"
)

// TestWhichGame checks that the page ranks games as internal/game does, by the same table, and that the front page finds a
// game by what people call it.
func TestWhichGame(t *testing.T) {
	atNight(t)
	t.Parallel()
	table, err := os.ReadFile("../../internal/game/testdata/which.json")
	if err != nil {
		t.Fatal(err)
	}
	_, url := newService(t)
	ann := browse(t, url, desktop)
	ann.sees("#front", "Open a room")
	ann.run(fmt.Sprintf(`import(new URL("which.js", document.querySelector("script[type=module]").src)).then(({ meant }) => {
		const { games, texts } = %s;
		window.different = texts.filter((c) => meant(games, c.text).map(({ id }) => id).join() !== c.games.join()).map((c) => c.text);
	})`, table))
	ann.until("the table is ranked", func() bool { return eval[bool](ann, "!!window.different") })
	if wrong := eval[[]string](ann, "window.different"); len(wrong) > 0 {
		t.Errorf("the page ranks otherwise: %q", wrong)
	}

	types := func(text string) {
		ann.run(fmt.Sprintf(`{ const i = document.querySelector("#game"); i.focus(); i.value = %q; i.dispatchEvent(new Event("input")); }`, text))
	}
	types("counter stirke")
	ann.sees("#game-matches li:first-child", "Counter-Strike")
	ann.sees("#game-matches", "Counter-Strike: Source")
	ann.shoot("front-which", desktop, phone)
	types("ut2k4")
	ann.sees("#game-matches li:first-child", "Unreal Tournament 2004")
	ann.run(`document.querySelector("#game").dispatchEvent(new Event("change", { bubbles: true }))`)
	ann.until("the game is taken", func() bool {
		return eval[bool](ann, `document.querySelector("#game").value === "Unreal Tournament 2004" && document.querySelector("#game-matches").hidden`)
	})
}
