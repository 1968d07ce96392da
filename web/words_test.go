package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWordsOfOthers checks that the room's page loads all sentences it may say. It leaves out
// sentences that only Home and terminals say.
func TestWordsOfOthers(t *testing.T) {
	left := regexp.MustCompile("[\"'`](term|computer|favourites|find|home|invited|standing)\\.[a-z]")
	for _, root := range []string{"static", "../peer", "../host", "../discovery", "../selection", "../internal/game", "../internal/listing", "../internal/webhook", "../internal/which"} {
		err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() && name == "static/home" {
				return filepath.SkipDir
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".js") && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go")) {
				return err
			}
			data, err := os.ReadFile(name)
			if found := left.Find(data); found != nil {
				t.Errorf("%s says %s…, which the room's page does not load", name, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWordsOfPlaces checks that what Home and every room load says nothing that only rooms load which look for a place,
// but for the vote and the failure of such a room.
func TestWordsOfPlaces(t *testing.T) {
	of := regexp.MustCompile("[\"'`](place|recipe)\\.[a-z]")
	others := regexp.MustCompile(`^static/(places/|recipe\.js|stages/(recipe|vote|failed)\.js)|\.css$`)
	err := filepath.WalkDir("static", func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || others.MatchString(filepath.ToSlash(name)) {
			return err
		}
		data, err := os.ReadFile(name)
		if found := of.Find(data); found != nil {
			t.Errorf("%s says %s…, which few rooms load", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
