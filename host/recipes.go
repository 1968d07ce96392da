package host

import (
	"encoding/json"
	"net/http"

	"muster/internal/recipe"
)

// serveRecipe says how a game's own server is started. Each copy of the program has the same recipes, so that browsers
// and proxies may keep them for a while.
func serveRecipe(w http.ResponseWriter, r *http.Request) {
	of, found := recipe.Of(r.PathValue("game"))
	if !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	json.NewEncoder(w).Encode(of) // fails only if the client is gone
}
