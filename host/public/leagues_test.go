package public_test

import (
	"strings"
	"testing"
	"time"

	"muster/host/access"
	"muster/host/public"
)

// TestLeagues checks that a file of leagues is read, that each is found by its key alone, and that
// each counts for itself.
func TestLeagues(t *testing.T) {
	leagues, err := public.ReadLeagues(strings.NewReader(`# name key rooms
winter-cup 9f2c8e61b7d04a35a1e0 64   # until March

spring-cup 7f2c8e61b7d04a35a1e0 2 json+http://127.0.0.1:9/
`))
	if err != nil || len(leagues) != 2 {
		t.Fatalf("%+v, %v", leagues, err)
	}
	limits := public.Limits{Leagues: leagues}
	for key, name := range map[string]string{"9f2c8e61b7d04a35a1e0": "winter-cup", "7f2c8e61b7d04a35a1e0": "spring-cup", "": "", "winter-cup": ""} {
		found := ""
		if l := limits.League(key); l != nil {
			found = l.Name
		}
		if found != name {
			t.Errorf("the key %q is of %q, want %q", key, found, name)
		}
	}
	a, b := access.Network(leagues[0].Addr(), 16, 32), access.Network(leagues[1].Addr(), 16, 32)
	if a == b || leagues[0].Rooms != 64 || leagues[1].Webhook != "json+http://127.0.0.1:9/" {
		t.Errorf("%v and %v count together, of %+v", a, b, leagues)
	}
}

// TestWrongLeagues checks that a mistake in a file names its line and no key.
func TestWrongLeagues(t *testing.T) {
	for text, want := range map[string]string{
		"a 9f2c8e61b7d04a35a1e0":                             "line 1: say NAME KEY ROOMS [WEBHOOK]",
		"a 9f2c8e61b7d04a35a1e0 1 http://cup.example/":       "line 1: the webhook is none: it begins with https, or json+https",
		"a 9f2c8e61b7d04a35a1e0 many":                        `line 1: "many" is no number of rooms`,
		"a 9f2c8e61b7d04a35a1e0 0":                           `line 1: "0" is no number of rooms`,
		"\na short 1":                                        "line 2: the key has 5 signs, and 20 are the least",
		"a 9f2c8e61b7d04a35a1e0 1\na 8f2c8e61b7d04a35a1e0 1": "line 2: the league a, or its key, is there already",
		"a 9f2c8e61b7d04a35a1e0 1\nb 9f2c8e61b7d04a35a1e0 1": "line 2: the league b, or its key, is there already",
		strings.Repeat("x", 5000):                            "bufio.Scanner: token too long",
	} {
		if _, err := public.ReadLeagues(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

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
