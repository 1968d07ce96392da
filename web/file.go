package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"net/http"
	"path"
	"strings"
	"time"
)

// file is one of the page's files, plain and, if that is smaller, gzipped.
type file struct {
	kind          string // its media type
	plain, zipped []byte
}

// kinds are the media types. A system's own table may be wrong, and browsers refuse to run a module
// with a text type.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".json": "application/json",

	".woff2": "font/woff2",
}

// worthZipping is the largest size after gzip, in percent, that is worth it. Fonts are already
// compressed.
const worthZipping = 95

func packed(name string, data []byte) file {
	if path.Ext(name) == ".js" {
		data = withoutComments(data)
	}
	f := file{kind: kinds[path.Ext(name)], plain: data}
	f.kind = cmp.Or(f.kind, "text/plain; charset=utf-8")
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is valid
	w.Write(data)
	w.Close() // a buffer takes everything
	if zipped.Len() < len(data)*worthZipping/100 {
		f.zipped = zipped.Bytes()
	}
	return f
}

// withoutComments empties the lines of a module that have nothing but a comment: a quarter of what a
// page loads. They stay as lines, so that a browser's errors name those of the source.
func withoutComments(module []byte) []byte {
	lines, isInside := bytes.Split(module, []byte("\n")), false
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		begins, ends := bytes.HasPrefix(line, []byte("/**")), bytes.HasSuffix(line, []byte("*/"))
		switch {
		case isInside:
			isInside = !ends
		case begins && !ends && !bytes.Contains(line, []byte("*/")):
			isInside = true
		case bytes.HasPrefix(line, []byte("//")) || begins && ends:
		default:
			continue
		}
		lines[i] = nil
	}
	return bytes.Join(lines, []byte("\n"))
}

// serve answers with the file of a version, gzipped if the client accepts that.
func (f file) serve(w http.ResponseWriter, r *http.Request, version string) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Vary", "Accept-Encoding")
	data, tag := f.plain, version
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		data, tag = f.zipped, version+"-gzip"
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
