package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/catalogue/languages"
	"muster/internal/game"
)

// documents returns the documents by name. The changelog and the notebook of experiments are not among them, because
// they may say what was.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "bench/experiments" || entry.Name() == "node_modules" || entry.Name() == ".git"):
			return fs.SkipDir
		case path.Ext(name) == ".md" && name != "CHANGELOG.md":
			texts[name] = read(t, name)
		}
		return nil
	})
	if err != nil || len(texts) < 20 {
		t.Fatalf("%d documents, %v", len(texts), err)
	}
	return texts
}

// TestDocumentsCount checks that README.md says how many games and languages there are, and that no document says
// another number.
func TestDocumentsCount(t *testing.T) {
	table, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var all, listed, steam, regions, byHand int
	for _, g := range table.All() {
		all++
		switch kinds := g.Kinds(); {
		case len(kinds) == 0:
			byHand++
		case slices.Equal(kinds, []string{"steam"}):
			steam++
		case slices.Equal(kinds, []string{"regions"}):
			regions++
		default:
			listed++
		}
	}
	sentence := fmt.Sprintf("Muster knows %d games: %d have an open list of servers, %d more have one with a free Steam key, "+
		"in %d players choose a region, and for the other %d you paste addresses.\n", all, listed, steam, regions, byHand)
	if !strings.Contains(read(t, "README.md"), sentence) {
		t.Errorf("README.md does not say:\n%s", sentence)
	}
	words := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen")
	counts := 0
	for name, text := range documents(t) {
		for _, said := range regexp.MustCompile(`(?i)\b(\w+) (games|languages)\b`).FindAllStringSubmatch(text, -1) {
			number := slices.Index(words, strings.ToLower(said[1]))
			if n, err := strconv.Atoi(said[1]); err == nil {
				number = n
			}
			switch {
			case said[2] == "games" && number > 99 && number != all:
				t.Errorf("%s says %q, and there are %d", name, said[0], all)
			case said[2] == "languages" && number > 5: // fewer are some of them
				counts++
				if number != len(languages.Tags()) {
					t.Errorf("%s says %q, and there are %d", name, said[0], len(languages.Tags()))
				}
			}
		}
	}
	if counts == 0 {
		t.Error("no document says how many languages there are")
	}
}

// TestLinks checks that links between documents lead to files and headings that there are.
func TestLinks(t *testing.T) {
	texts := documents(t)
	texts["CHANGELOG.md"] = read(t, "CHANGELOG.md")
	headings := map[string][]string{}
	link := regexp.MustCompile(`(?:\]\(|src=")([^)"\s:]+)[)"]`)
	for name, text := range texts {
		for _, to := range link.FindAllStringSubmatch(text, -1) {
			file, heading, _ := strings.Cut(to[1], "#")
			if strings.HasPrefix(file, "../../releases") { // a page of the forge
				continue
			}
			at := name
			if file != "" {
				at = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s leads to %s: %v", name, to[1], err)
				continue
			}
			if heading == "" || path.Ext(at) != ".md" {
				continue
			}
			if headings[at] == nil {
				headings[at] = anchors(read(t, at))
			}
			if !slices.Contains(headings[at], heading) {
				t.Errorf("%s leads to %s, and there is no such heading", name, to[1])
			}
		}
	}
}

// anchors returns what leads to a document's headings, as forges make it.
func anchors(text string) (all []string) {
	sign := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchor := sign.ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(anchor, " ", "-"))
	}
	return all
}
