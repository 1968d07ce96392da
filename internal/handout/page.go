package handout

import (
	"io"
	"net/http"
	"path"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
	"muster/internal/markup"
)

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

// page explains how to get Muster to visitors without a room's page or without JavaScript.
func (h *Handout) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, h.offer(r).page(languageOf(r))) // fails only if the client has gone
}

// page returns the page's HTML in a language.
func (o offer) page(in *catalogue.Language) string {
	var mine *program
	var others []program
	for _, p := range o.Programs {
		if p.System == o.System {
			mine = &p
		} else {
			others = append(others, p)
		}
	}
	var p markup.Page
	p.Add(`<!doctype html>
<html lang="%s">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>%s</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/page.css">
<header><p class="brand"><a class="home" href="/">Muster</a></p></header>
<main class="plain"><section id="stage" class="card">
<h1 class="headline">%s</h1>
<p class="next">%s</p>
<p class="next">%s</p>
`, in.Tag(), in.Words("get.title"), in.Words("get.title"), in.Words("get.what-for"), in.Words("get.host-runs", "version", o.Version))
	for _, refused := range o.Refused {
		p.Add("<p class=\"trouble\">%s</p>\n", in.Say(refused.Why))
	}
	switch {
	case mine != nil:
		p.Add("<p class=\"buttons\"><a class=\"primary large\" href=\"/get/%s\">%s</a></p>\n",
			mine.System, in.Words("get.get-for", "system", mine.Name))
		p.Add("<p class=\"%s\">%s", mine.tone(), in.Say(mine.About()))
		mine.addSignature(&p, in)
		p.Add("</p>\n<p class=\"quiet\">%s</p>\n", in.Say(mine.Advice))
	case o.Phone:
		p.Add("<p class=\"next\">%s</p>\n", in.Words("get.open-there"))
	case !o.Yours.IsZero():
		p.Add("<p class=\"next\">%s %s</p>\n", in.Words("get.none-for", "system", o.Yours), in.Words("get.lay-build"))
	}
	if o.Direct != "" {
		p.Add("<p class=\"quiet straight\">%s <a href=\"%s\">%s</a></p>\n", in.Words("get.direct-file"), o.Direct, path.Base(o.Direct))
	}
	if len(others) > 0 {
		p.Add("<h3>%s</h3>\n<ul class=\"systems\">", in.Words("get.others"))
		for _, other := range others {
			p.Add("<li><a href=\"/get/%s\">%s</a>\n<span class=\"%s\">%s",
				other.System, in.Say(other.Name), other.tone(), in.Say(other.AboutOther()))
			other.addSignature(&p, in)
			if other.Trouble.IsZero() {
				p.Add("\n%s", in.Say(other.Advice))
			}
			p.Add("</span></li>\n")
		}
		p.Add("</ul>\n")
	}
	switch {
	case o.Release == "":
		p.Add("<p class=\"quiet\">%s</p>\n<p class=\"copyable\"><code>go build -o muster .</code></p>\n", in.Words("get.source"))
	case mine == nil || !mine.Wrong:
		p.Add("<p class=\"quiet straight\">%s\n<a href=\"%s\">%s</a></p>\n", in.Words("get.all-releases"), o.Release, o.Release)
	}
	p.Add("<p class=\"quiet\">%s</p>\n</section></main>\n</html>\n", in.Words("get.knows-room"))
	return p.String()
}

// tone returns the style in which a page shows its sentence on a program.
func (p program) tone() string {
	if p.Trouble.IsZero() {
		return "quiet"
	}
	return "trouble"
}

// addSignature adds the way to a program's signature, if it has one.
func (p program) addSignature(page *markup.Page, in *catalogue.Language) {
	if p.IsSigned() {
		page.Add("\n<a href=\"%s\">%s</a>", p.Signature, in.Words("get.signature"))
	}
}

// fail tells a visitor in their language why they get nothing.
func fail(w http.ResponseWriter, r *http.Request, status int, why sentence.Sentence) {
	http.Error(w, languageOf(r).Say(why), status)
}

// languageOf returns the language that suits a request best, by its Accept-Language.
func languageOf(r *http.Request) *catalogue.Language {
	return languages.In(languages.Find(languages.Asked(r.Header.Get("Accept-Language"))...))
}
