package home

import (
	"html/template"
	"net/http"

	"muster/discovery/sentence"
)

// without is the page of a room's tab that has no room. What it says may quote strangers.
var without = template.Must(template.New("tab").Parse(`<!doctype html>
<html lang="{{.Tag}}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/home/home.css">
<main><section class="card">
{{range $i, $text := .Texts}}{{if $i}}<p><bdi>{{$text}}</bdi></p>{{else}}<h1><bdi>{{$text}}</bdi></h1>{{end}}
{{end}}</section></main>
</html>
`))

// explain tells the person in a room's tab why it shows no room, in the page's own look.
func explain(w http.ResponseWriter, r *http.Request, says ...sentence.Sentence) {
	l := languageOf(r)
	page := struct {
		Tag   string
		Texts []string
	}{Tag: l.Tag()}
	for _, s := range says {
		page.Texts = append(page.Texts, l.Capital(l.Say(s)))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	without.Execute(w, page) // fails only if the tab is gone
}
