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

// TestWordsOfDoors checks that the pages which open a room say nothing that only the pages of rooms load which look
// for a place.
func TestWordsOfDoors(t *testing.T) {
	left := regexp.MustCompile("[\"'`](place|recipe)\\.[a-z]")
	files, err := filepath.Glob("static/home/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, "static/front.js", "static/opening.js", "static/gamefield.js", "static/form.js") {
		data, err := os.ReadFile(name)
		if found := left.Find(data); found != nil || err != nil {
			t.Errorf("%s says %s…, which its page does not load, %v", name, found, err)
		}
	}
}
