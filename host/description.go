package host

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// These are the document of a host's endpoints, which a person writes as YAML. A test makes the JSON of it.
var (
	//go:embed openapi.yaml
	documentYAML string
	//go:embed openapi.json
	documentJSON string
)

// described serves a form of the document of the host's endpoints.
func described(kind, document string) http.HandlerFunc {
	sum := sha256.Sum256([]byte(document))
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(document))
	}
}
