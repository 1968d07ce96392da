package host

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/markup"
)

// notice is a page of a few lines, for people who follow a link and need no more. Everything in it may be hostile
// text, except for Way, which the table of games has made.
type notice struct {
	Title string
	Lines []string
	// Code is a text that people type or copy.
	Code string
	// Link is the link that opens a game from the browser.
	Link    string
	Refresh string
	// Preview is the address of the picture that chats show with the link. Chats keep such
	// pictures, and everyone there sees them. So the picture says nothing about the room, its
	// server or its progress. Only the page says such things.
	Preview string
}

// previewImage is the picture below the page's root.
const previewImage = "preview.png"

// askAgain is after how long a waiting page reloads.
const askAgain = 5 * time.Second

func (n notice) serve(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, n.page()) // fails only if the client is gone
}

// page returns the page's HTML.
func (n notice) page() string {
	var p markup.Page
	p.Add(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
`)
	if n.Refresh != "" {
		p.Add(`<meta http-equiv="refresh" content="%s">
`, n.Refresh)
	}
	if n.Preview != "" {
		p.Add(`<meta property="og:site_name" content="Muster">
<meta property="og:type" content="website">
<meta property="og:title" content="Game night">
<meta property="og:description" content="This link takes you to the game server that the group plays on.">
<meta property="og:image" content="%s">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">
`, n.Preview)
	}
	p.Add(`<title>%s – Muster</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/page.css">
<header><p class="brand"><a class="home" href="/">Muster</a></p></header>
<main class="plain"><section id="stage" class="card">
<h1 class="headline"><bdi>%s</bdi></h1>
`, n.Title, n.Title)
	for _, line := range n.Lines {
		p.Add(`<p class="next"><bdi>%s</bdi></p>
`, line)
	}
	if n.Code != "" {
		p.Add(`<p class="copyable"><code>%s</code></p>
`, n.Code)
	}
	if n.Link != "" {
		p.Add(`<p class="buttons"><a class="primary large" href="%s">Join the game</a></p>
`, n.Link)
	}
	p.Add(`</section></main>
</html>
`)
	return p.String()
}

// serveGo takes a browser to the server that a room was sent to: GET /go/ID with the room's public
// id. The id tells its holder where the room plays, but does not admit anyone to the room.
func (h *Host) serveGo(w http.ResponseWriter, r *http.Request) {
	on := relayedCallerOf(r)
	if on == nil && h.isTooMuch(w, h.asks, h.asker(r)) {
		return
	}
	code := h.store.FindID(r.PathValue("id"))
	a := h.actor(code)
	if a == nil && on == nil && h.isRemote(code) {
		h.pass(w, r, code, h.relayedCaller(r), time.Now(), nil)
		return
	}
	if a == nil {
		notice{
			Title: "There is no game to join here",
			Lines: []string{"The room of this link is over, or the link is cut off.", "Ask whoever sent it for a new one."},
		}.serve(w, http.StatusNotFound)
		return
	}
	view, _ := a.views.get()
	n := whereTo(view.Snapshot)
	n.Preview = h.entrance(r).page(previewImage)
	n.serve(w, http.StatusOK)
}

// whereTo returns the page for people who click on a link to a room's game.
func whereTo(s wire.Snapshot) notice {
	refresh := fmt.Sprint(int(askAgain.Seconds()))
	switch s.Room.Stage {
	case wire.Launching:
		if s.Way == nil {
			break
		}
		name := discovery.CleanText(s.Way.Server)
		if s.Way.Place != nil {
			return notice{
				Title:   "The group’s server will be in " + name,
				Lines:   []string{"As soon as it runs, this page takes you there."},
				Refresh: refresh,
			}
		}
		if s.Way.Region != nil {
			return notice{
				Title: "Everyone plays in the region " + name,
				Lines: []string{s.Way.Region.InEnglish()},
				Code:  s.Way.Region.Set,
			}
		}
		if s.Way.Link == "" {
			return notice{
				Title: "Everyone is on " + name,
				Lines: []string{"This game has no links: connect to this address in the game."},
				Code:  s.Way.Connect,
			}
		}
		return notice{
			Title: "Everyone is on " + name, Lines: []string{"Your game starts by itself. If nothing happens, press the button."},
			Link: s.Way.Link, Refresh: "0; url=" + s.Way.Link,
		}
	case wire.Gathering:
		return notice{
			Title:   "The group is still gathering",
			Lines:   []string{"Once it has found its server, this page takes you there."},
			Refresh: refresh,
		}
	case wire.Waiting:
		return notice{
			Title:   "The group waits for seats",
			Lines:   []string{"Its servers are full. As soon as there is a seat for everyone, this page takes you there."},
			Refresh: refresh,
		}
	case wire.Failed:
		return notice{Title: "The group has found no server yet", Lines: []string{"When it does, this page takes you there."}, Refresh: refresh}
	}
	return notice{
		Title:   "The group is looking for its server",
		Lines:   []string{"As soon as it is found, this page takes you there."},
		Refresh: refresh,
	}
}
