// Package web is the page that a host serves: plain ES modules, embedded, without a build step. It
// shows the room whose code is in the link's fragment:
//
//	/                      front.js, where anybody may open a room
//	/#BAKODI_KEY           for friends
//	/#BAKODI_KEY.SECRET    for one person; the page hides the secret at once
//
// At first the page loads what a lobby and its door need. later.js has the rest.
//
//	live.js ──▶ state ──▶ app.js ──▶ stages/stages.js: which stage it is
//	   ▲  │                  ├─────▶ stages/NAME.js: one at a time, in #stage
//	   │  └▶ trace.js ───────┴─────▶ details/: folded below, ?show=NAME opens one
//	 /live                             api.js ──▶ POST /api/rooms/CODE/…
//
// With its owner's consent a page measures places, and tells the host on a connection of its own:
//
//	places/browserpeer.js ◀─▶ /peer      places/measure.js ──▶ ice.js, https.js
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
)

//go:embed static
var static embed.FS

// Handler serves the room's page.
func Handler() http.Handler { return serve("index.html", roomWords(), true) }

// Home serves Home's page, in static/home.
func Home() http.Handler { return serve("home/index.html", homeWords(), false) }

// serve serves a page at the root. The page's files have the version in their path, and browsers
// keep them forever. For the page itself, browsers ask whether it has changed. words are the page's
// sentences, a file a language. isPosted adds what chats show for a posted link.
func serve(page string, words map[string]file, isPosted bool) http.Handler {
	version, served := fingerprint(), maps.Clone(everyFile())
	maps.Copy(served, words)
	folder := "v/" + version + "/"
	root := versioned(served[page].plain, folder)
	served[""] = packed(page, root)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, kept := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, "/"), folder)
		f, ok := served[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		if kept {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if isPosted && name == "" {
			origin := originOf(r)
			packed(page, previewed(root, origin)).serve(w, r, tagOf(version, origin))
			return
		}
		f.serve(w, r, version)
	})
}

func files() fs.FS {
	folder, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return folder
}

// everyFile returns all files by path. Packing them takes long, so it happens once.
var everyFile = sync.OnceValue(func() map[string]file {
	files, served := files(), map[string]file{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		served[name] = packed(name, data)
		return err
	})
	if err != nil {
		panic(err) // the files are embedded above
	}
	return served
})

// Pages load faster without the sentences that they never say. These begin the keys of sentences that
// only terminals say, of those that only Home says, and of those that only rooms say which look for a
// place. Such a room's page loads the latter, too, once it knows (static/places).
var (
	ofTerminals = []string{"term."}
	ofHome      = []string{"computer.", "favourites.", "find.", "home.", "invited.", "standing."}
	ofPlaces    = []string{"place.", "recipe."}
)

// roomWords and homeWords are the sentences of the two pages, packed once.
var (
	roomWords = sync.OnceValue(func() map[string]file {
		served := words("words/", allBut(ofTerminals, ofHome, ofPlaces))
		maps.Copy(served, words("words/places/", begins(ofPlaces)))
		return served
	})
	homeWords = sync.OnceValue(func() map[string]file { return words("words/", allBut(ofPlaces)) })
)

// begins returns whether a key begins in one of some ways.
func begins(ways []string) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(ways, func(begin string) bool { return strings.HasPrefix(key, begin) })
	}
}

// allBut returns whether a key begins in none of some ways.
func allBut(ways ...[]string) func(key string) bool {
	others := begins(slices.Concat(ways...))
	return func(key string) bool { return !others(key) }
}

// words returns some sentences of each language, a file a language in a folder of a page.
func words(folder string, are func(key string) bool) map[string]file {
	served := map[string]file{}
	for _, tag := range append(slices.Clone(languages.Tags()), catalogue.Accented, catalogue.Mirrored) {
		name := folder + tag + ".json"
		served[name] = packed(name, sentences(tag, are))
	}
	return served
}

func sentences(tag string, are func(key string) bool) []byte {
	all := languages.Sentences(tag)
	maps.DeleteFunc(all, func(key, _ string) bool { return !are(key) })
	data, err := json.Marshal(all)
	if err != nil {
		panic(err) // they are strings
	}
	return data
}

// versioned makes the page load its files from a folder, and tells it the languages. Modules name
// each other by relative paths, and follow.
func versioned(page []byte, folder string) []byte {
	root := `<html lang="en"`
	known := root + ` data-languages="` + strings.Join(languages.Tags(), " ") + `"`
	page = bytes.Replace(page, []byte(root), []byte(known), 1)
	for _, attribute := range []string{` src="`, ` href="`} {
		page = bytes.ReplaceAll(page, []byte(attribute), []byte(attribute+folder))
	}
	return page
}

// fingerprint returns a version of the embedded files. It depends on their contents, because
// embedded files have no times.
var fingerprint = sync.OnceValue(func() string {
	files, hash := files(), sha256.New()
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		hash.Write([]byte(name))
		hash.Write(data)
		return err
	})
	if err != nil {
		panic(err) // the files are embedded above
	}
	for _, tag := range languages.Tags() {
		hash.Write(sentences(tag, allBut()))
	}
	return hex.EncodeToString(hash.Sum(nil)[:12])
})

// A chat shows this preview of a posted link (Open Graph). The room's code follows #, which never
// reaches a server, so the preview is the same for all rooms. It says nothing about the host
// either, such as how many rooms are open. The chat's readers learn what the link is for, and
// nothing else.
const (
	previewTitle = "Game night"
	previewText  = "Open the link with everybody else: Muster finds the server with the best ping for all of us, and takes us there."
	previewAlt   = "Friends as bright signs, each with a line to one server in the middle"
	// PreviewImage is its picture, of 1,200 by 630 pixels, below the host's root.
	PreviewImage = "preview.png"
)

// previewed adds the preview to the page. Chats want the picture's whole address.
func previewed(page []byte, origin string) []byte {
	var tags bytes.Buffer
	for _, tag := range [][2]string{
		{"og:site_name", "Muster"}, {"og:type", "website"}, {"og:title", previewTitle}, {"og:description", previewText},
		{"og:image", origin + "/" + PreviewImage}, {"og:image:width", "1200"}, {"og:image:height", "630"}, {"og:image:alt", previewAlt},
	} {
		tags.WriteString(`<meta property="` + tag[0] + `" content="` + html.EscapeString(tag[1]) + "\">\n")
	}
	tags.WriteString(`<meta name="twitter:card" content="summary_large_image">` + "\n")
	title := []byte("<title>")
	return bytes.Replace(page, title, append(tags.Bytes(), title...), 1)
}

// originOf returns the origin that a browser or a chat has requested. The host has
// already checked the name. A proxy's claim to speak TLS is believed, because only the caller sees
// the result.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// tagOf distinguishes pages of one version that were requested for different origins.
func tagOf(version, origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return version + "-" + hex.EncodeToString(sum[:4])
}
