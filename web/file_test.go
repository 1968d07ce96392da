package web

import "testing"

// TestWithoutComments checks that pages load the code of a module, line by line, without its comments.
func TestWithoutComments(t *testing.T) {
	const module = "// The page.\n\n/**\n * Two lines.\n * @param {string} a */\nexport const f = (a) => a; // kept\n" +
		"  /** @type {any} */ (f).x = `\n  * 1`;\n/** One line. */\n  // and another\nf(\"//\");\n"
	const want = "\n\n\n\n\nexport const f = (a) => a; // kept\n" +
		"  /** @type {any} */ (f).x = `\n  * 1`;\n\n\nf(\"//\");\n"
	if got := string(withoutComments([]byte(module))); got != want {
		t.Errorf("the page loads\n%q, want\n%q", got, want)
	}
}
