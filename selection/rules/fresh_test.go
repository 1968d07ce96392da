package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"muster/internal/catalogue"
	"muster/selection/rules"
)

var write = flag.Bool("write", false, "write the page's module and the documentation's tables of rules")

// TestFresh checks what is generated from the rules: the page's module and the tables of the
// documentation. With -write it updates them.
func TestFresh(t *testing.T) {
	fresh(t, "../../web/static/rules.js", func([]byte) []byte { return pageModule(t) })
	fresh(t, "../../docs/game-night.md", inMarks(t, func(b *strings.Builder) {
		b.WriteString("| rule | `--by` | what it does |\n|---|---|---|\n")
		for _, r := range rules.All() {
			fmt.Fprintf(b, "| %s | `%s` | %s |\n", catalogue.InEnglish().Words("rule."+string(r.Name)+".name"), r.Name, r.Docs.Does)
		}
	}))
	fresh(t, "../../docs/algorithms.md", inMarks(t, func(b *strings.Builder) {
		b.WriteString("| rule | minimises | note |\n|---|---|---|\n")
		for _, r := range rules.All() {
			b.WriteString(strings.ReplaceAll(fmt.Sprintf("| %s | %s | %s |\n", r.Name, r.Docs.Minimises, r.Docs.Note), "|  |", "| |"))
		}
	}))
}

// fresh compares a file with its generated content.
func fresh(t *testing.T, path string, made func(old []byte) []byte) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil && !*write {
		t.Fatal(err)
	}
	data := made(old)
	switch {
	case bytes.Equal(old, data):
	case !*write:
		t.Errorf("%s is older than the rules: go test ./selection/rules -run TestFresh -write", path)
	default:
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pageModule returns the module that tells pages the rules.
func pageModule(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`// The rules, as selection/rules has them: go test ./selection/rules -run TestFresh -write
// writes this file.

import { say } from "./say.js";

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {boolean} limited it is nothing without a limit
 * @property {boolean} own it counts from each player's own best
 * @property {boolean} sides it compares two sides
 */

/** @type {Rule[]} */
export const rules = [
`)
	for _, r := range rules.All() {
		text := func(s string) string {
			quoted, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(quoted)
		}
		fmt.Fprintf(&b, "  { id: %s, limited: %v, own: %v, sides: %v },\n", text(string(r.Name)), r.NeedsLimit, r.OwnBests, r.Sides)
	}
	b.WriteString(`];

/** @param {string} id */
export function ruleOf(id) {
  return rules.find((rule) => rule.id === id);
}

/**
 * What the page says of a rule: its name, a hint beside it, what it looks for, or what its figure is
 * called.
 * @param {string} id @param {"name" | "hint" | "wish" | "figure"} what
 */
export function saidOf(id, what) {
  return ruleOf(id) ? say(` + "`" + `rule.${id}.${what}` + "`" + `) : id;
}
`)
	return b.Bytes()
}

// inMarks replaces the text between the marks of a document.
func inMarks(t *testing.T, table func(*strings.Builder)) func([]byte) []byte {
	return func(old []byte) []byte {
		before, rest, opens := strings.Cut(string(old), "<!-- rules -->\n")
		_, after, closes := strings.Cut(rest, "<!-- /rules -->")
		if !opens || !closes {
			t.Fatal("the document has no marks for the table of rules")
		}
		var b strings.Builder
		b.WriteString(before + "<!-- rules -->\n")
		table(&b)
		b.WriteString("<!-- /rules -->" + after)
		return []byte(b.String())
	}
}
