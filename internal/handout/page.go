package handout

import (
	"html/template"
	"net/http"
	"path"
	"strings"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
)

// page explains how to get Muster to visitors without a room's page or without JavaScript.
var page = template.Must(template.New("get").Funcs(template.FuncMap{"file": path.Base}).Parse(`<!doctype html>
<html lang="{{.In.Tag}}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{{.In.Words "get.title"}}</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/page.css">
<header><p class="brand"><a class="home" href="/">Muster</a></p></header>
<main class="plain"><section id="stage" class="card">
<h1 class="headline">{{.In.Words "get.title"}}</h1>
<p class="next">{{.In.Words "get.what-for"}}</p>
<p class="next">{{.In.Words "get.host-runs" "version" .Version}}</p>
{{range .Refused}}<p class="trouble">{{$.In.Say .Why}}</p>
{{end}}{{with .Mine}}<p class="buttons"><a class="primary large" href="/get/{{.System}}">{{$.In.Words "get.get-for" "system" .Name}}</a></p>
<p class="{{if .Trouble.Key}}trouble{{else}}quiet{{end}}">{{$.In.Say .About}}{{if .IsSigned}}
<a href="{{.Signature}}">{{$.In.Words "get.signature"}}</a>{{end}}</p>
<p class="quiet">{{$.In.Say .Advice}}</p>
{{else}}{{if .Phone}}<p class="next">{{.In.Words "get.open-there"}}</p>
{{else if .Yours.Key}}<p class="next">{{.In.Words "get.none-for" "system" .Yours}} {{.In.Words "get.lay-build"}}</p>
{{end}}{{end}}{{with .Direct}}<p class="quiet straight">{{$.In.Words "get.direct-file"}} <a href="{{.}}">{{file .}}</a></p>
{{end}}{{with .Others}}<h3>{{$.In.Words "get.others"}}</h3>
<ul class="systems">{{range .}}<li><a href="/get/{{.System}}">{{$.In.Say .Name}}</a>
<span class="{{if .Trouble.Key}}trouble{{else}}quiet{{end}}">{{$.In.Say .AboutOther}}{{if .IsSigned}}
<a href="{{.Signature}}">{{$.In.Words "get.signature"}}</a>{{end}}{{if not .Trouble.Key}}
{{$.In.Say .Advice}}{{end}}</span></li>
{{end}}</ul>
{{end}}{{if .Release}}{{if not .IsWrong}}<p class="quiet straight">{{.In.Words "get.all-releases"}}
<a href="{{.Release}}">{{.Release}}</a></p>{{end}}
{{else}}<p class="quiet">{{.In.Words "get.source"}}</p>
<p class="copyable"><code>go build -o muster .</code></p>
{{end}}<p class="quiet">{{.In.Words "get.knows-room"}}</p>
</section></main>
</html>
`))

// About says what the page says of the program for the visitor's system.
func (p program) About() sentence.Sentence {
	switch n := int(megabytes(p.Size)); {
	case !p.Trouble.IsZero():
		return p.Trouble
	case p.Away:
		return sentence.Of("get.about-away-page", "version", p.Version)
	case p.Origin == Project:
		return sentence.Of("get.about-project", "version", p.Version, "n", n)
	default:
		return sentence.Of("get.about-friend", "n", n)
	}
}

// AboutOther says what the page says of a program for another system.
func (p program) AboutOther() sentence.Sentence {
	if p.Away && p.Trouble.IsZero() {
		return sentence.Of("get.about-released", "version", p.Version)
	}
	return p.About()
}

// IsSigned reports whether the page shows where the program's signature is.
func (p program) IsSigned() bool { return p.Signature != "" && !p.Away && p.Trouble.IsZero() }

// megabytes returns a size in megabytes, rounded up.
func megabytes(size int64) int64 { return (size + 1e6 - 1) / 1e6 }

func (h *Handout) page(w http.ResponseWriter, r *http.Request) {
	type filled struct {
		offer
		In      *catalogue.Language
		Mine    *program
		Others  []program
		IsWrong bool
	}
	f := filled{offer: h.offer(r), In: languageOf(r)}
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

// fail tells a visitor in their language why they get nothing.
func fail(w http.ResponseWriter, r *http.Request, status int, why sentence.Sentence) {
	http.Error(w, languageOf(r).Say(why), status)
}

// maxTags is how many languages of a browser are looked at.
const maxTags = 16

// languageOf returns the language that suits a request best, by its Accept-Language. Browsers list
// the languages in their reader's order.
func languageOf(r *http.Request) *catalogue.Language {
	var wanted []string
	for tag := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		if len(wanted) == maxTags {
			break
		}
		tag, _, _ = strings.Cut(tag, ";")
		wanted = append(wanted, strings.TrimSpace(tag))
	}
	return catalogue.In(catalogue.Find(wanted...))
}
