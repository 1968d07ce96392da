package host

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/host/openapi"
)

// describe returns the document of a host's endpoints, from its table of routes.
func describe(routes []route) (*openapi.Document, error) {
	var rows []openapi.Route
	for _, r := range routes {
		rows = append(rows, openapi.Route{Method: r.method, Pattern: r.pattern, For: r.who, Limits: r.limits})
	}
	return openapi.New(rows, slices.Sorted(maps.Keys(actions)))
}

// description is the document as callers get it, plain and compressed.
type description struct {
	plain, packed []byte
	tag           string
}

// described serves the document of the host's endpoints: GET /api/openapi.json. It makes the document
// at the first request, because hardly any host is ever asked for it.
func described(routes func() []route) http.HandlerFunc {
	made := sync.OnceValues(func() (d description, err error) {
		document, err := describe(routes())
		if err != nil {
			return d, err
		}
		if d.plain, err = document.JSON(); err != nil {
			return d, err
		}
		sum := sha256.Sum256(d.plain)
		d.packed, d.tag = packed(d.plain), hex.EncodeToString(sum[:8])
		return d, nil
	})
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := made()
		if err != nil { // a test finds out first
			http.Error(w, "this build has no description", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Vary", "Accept-Encoding")
		body, tag := d.plain, d.tag
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			body, tag = d.packed, d.tag+"-gzip"
		}
		w.Header().Set("ETag", `"`+tag+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}
}

func packed(plain []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(plain) // a buffer takes everything
	w.Close()
	return b.Bytes()
}
