package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"net/http"
)

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
