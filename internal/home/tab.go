package home

import (
	"io"
	"net/http"

	"muster/discovery/sentence"
	"muster/internal/markup"
)

// explain tells the person in a room's tab why it shows no room, in the page's own look. What it says may quote
// strangers.
func explain(w http.ResponseWriter, r *http.Request, says ...sentence.Sentence) {
	l := languageOf(r)
	var p markup.Page
	p.Add(`<!doctype html>
<html lang="%s">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/home/home.css">
<main><section class="card">
`, l.Tag())
	for i, s := range says {
		shape := "<p><bdi>%s</bdi></p>\n"
		if i == 0 {
			shape = "<h1><bdi>%s</bdi></h1>\n"
		}
		p.Add(shape, l.Capital(l.Say(s)))
	}
	p.Add("</section></main>\n</html>\n")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, p.String()) // fails only if the tab is gone
}
