package handout

import (
	"html/template"
	"net/http"
	"path"
)

// page explains how to get Muster to visitors without a room's page or without JavaScript.
var page = template.Must(template.New("get").Funcs(template.FuncMap{"megabytes": megabytes, "file": path.Base}).Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Get Muster</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/page.css">
<header><p class="brand"><a class="home" href="/">Muster</a></p></header>
<main class="plain"><section id="stage" class="card">
<h1 class="headline">Get Muster</h1>
<p class="next">To play, and not only watch, you need the program on the computer that you play on:
it measures your pings, and starts your game.</p>
<p class="next">This host runs <bdi>{{.Version}}</bdi>.</p>
{{range .Refused}}<p class="trouble">{{.Why}}</p>
{{end}}{{with .Mine}}<p class="buttons"><a class="primary large" href="/get/{{.System}}">Get Muster for {{.Name}}</a></p>
<p class="{{if .Trouble}}trouble{{else}}quiet{{end}}">{{template "about" .}}</p>
<p class="quiet">{{.Advice}}</p>
{{else}}{{if .Phone}}<p class="next">Open this page there.</p>
{{else if .Yours}}<p class="next">This host has no program for {{.Yours}}.
Whoever runs it can lay one into a folder, and start it with --downloads FOLDER.</p>
{{end}}{{end}}{{with .Direct}}<p class="quiet straight">Or take it from the project's own page: <a href="{{.}}">{{file .}}</a></p>
{{end}}{{with .Others}}<h3>For another computer</h3>
<ul class="systems">{{range .}}<li><a href="/get/{{.System}}">{{.Name}}</a>
<span class="{{if .Trouble}}trouble{{else}}quiet{{end}}">{{if and .Away (not .Trouble)}}Muster {{.Version}},
the project's own.{{else}}{{template "about" .}}{{end}} {{if not .Trouble}}{{.Advice}}{{end}}</span></li>
{{end}}</ul>
{{end}}{{if .Release}}{{if not .IsWrong}}<p class="quiet straight">All releases: <a href="{{.Release}}">{{.Release}}</a></p>{{end}}
{{else}}<p class="quiet">For all else there is the source, and Go:</p>
<p class="copyable"><code>go build -o muster .</code></p>
{{end}}<p class="quiet">On a room's own page you get a program that knows the room.</p>
</section></main>
</html>
{{define "about"}}{{if .Trouble}}{{.Trouble}}{{else}}{{with .Version}}Muster {{.}}, {{end}}{{if .Away}}the project's own:
this host gets it from the project's releases first, which takes a moment.{{else}}{{megabytes .Size}} MB,
{{if eq .Origin "project"}}the project's own{{with .Signature}}
(<a href="{{.}}">its signature</a>){{end}}.{{else}}your friend's copy: nobody
vouches for it.{{end}}{{end}}{{end}}{{end}}`))

// megabytes returns a size in megabytes, rounded up.
func megabytes(size int64) int64 { return (size + 1e6 - 1) / 1e6 }

func (h *Handout) page(w http.ResponseWriter, r *http.Request) {
	type filled struct {
		offer
		Mine    *program
		Others  []program
		IsWrong bool
	}
	f := filled{offer: h.offer(r)}
	for _, p := range f.Programs {
		if p.System == f.System {
			f.Mine, f.IsWrong = &p, p.Wrong
		} else {
			f.Others = append(f.Others, p)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	page.Execute(w, f) // fails only if the client has gone
}
