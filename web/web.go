// Package web is the page that a host serves: plain ES modules, embedded, no
// build step. It follows the room of the code in its link's fragment:
//
//	/#BAKODI           for friends
//	/#BAKODI.SECRET    for the organiser; the page hides the secret at once
//
//	 live.js ──▶ state ──▶ app.js ──▶ people, stage, choice, ranking, …
//	    ▲  └───▶ trace.js (points) ──▶ picture.js, spread.js
//	  /live                             api.js ──▶ POST /api/rooms/CODE/…
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// Handler serves the page. Browsers keep it, and ask whether it is still the
// same.
func Handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	tag := `"` + fingerprint(files) + `"`
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "no-cache")
		server.ServeHTTP(w, r)
	})
}

// fingerprint is the same for the same files: embedded ones have no times.
func fingerprint(files fs.FS) string {
	hash := sha256.New()
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
	return hex.EncodeToString(hash.Sum(nil)[:12])
}
