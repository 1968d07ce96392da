// Package web is the page that a host serves: plain ES modules, embedded, no
// build step. It asks /api/rooms/CODE for the room, whose code stands in the
// link's fragment.
package web

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// Handler serves the page.
func Handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return http.FileServerFS(files)
}
