package public_test

import (
	"strings"
	"testing"
	"time"

	"muster/host/public"
)

// TestSign checks a signature that openssl made:
//
//	printf '1767225600.{}' | openssl dgst -sha256 -hmac 9f2c8e61b7d04a35a1e0
func TestSign(t *testing.T) {
	leagues, err := public.ReadLeagues(strings.NewReader("winter-cup 9f2c8e61b7d04a35a1e0 16"))
	if err != nil {
		t.Fatal(err)
	}
	want := "t=1767225600,sha256=624e51c86a8cabfa0da3eb543b395df3baaf6301f42a6c4b46ba3fcaa247b996"
	if got := leagues[0].Sign(time.Unix(1767225600, 999), []byte("{}")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
