package slip

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	known := []string{"idle", "listen", "public_url", "rate", "at"}
	for word, want := range map[string]string{
		"idel": "idle", "Idle": "idle", "public-url": "public_url", "publicurl": "public_url", "lisen": "listen", "rat": "rate",
		"x": "", "rooms": "", "": "", strings.Repeat("idle", 30): "",
	} {
		if got := Near(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
