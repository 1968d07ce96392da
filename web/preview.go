package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"net/http"
)

// What a chat shows of a link that somebody posts in it (Open Graph). The code of the room
// stands behind #, which never reaches a server: so this is the same for all rooms, and it
// says nothing of the host either, such as how many rooms are open. Whoever sees the chat
// learns what the link is for, and nothing else.
const (
	previewTitle = "Game night"
	previewText  = "Open the link with everybody else: Muster finds the server with the best ping for all of us, and takes us there."
	previewAlt   = "Friends as bright signs, each with a line to one server in the middle"
	// PreviewImage is the picture of it, of 1,200 by 630 pixels, below the host's root.
	PreviewImage = "preview.png"
)

// previewed is the page with what chats show of it. They want the picture's whole address.
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

// originOf is where a browser, or a chat, has asked for the page. The host has looked at
// the name already; that a proxy speaks TLS for it is believed, as only the asker is told.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// tagOf tells pages of one version apart that were asked for at different places.
func tagOf(version, origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return version + "-" + hex.EncodeToString(sum[:4])
}
