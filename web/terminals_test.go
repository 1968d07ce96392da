package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWordsOfTerminals checks that nothing but a terminal says the sentences that pages do not load.
func TestWordsOfTerminals(t *testing.T) {
	left := regexp.MustCompile("[\"'`]term\\.(demo|passed-|list-|password-|unencrypted|column)")
	for _, root := range []string{"static", "../peer", "../host", "../discovery", "../selection", "../internal"} {
		err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
			isCode := strings.HasSuffix(name, ".js") || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
			atTerminals := strings.HasPrefix(name, "../internal/lobby/") || strings.HasPrefix(name, "../internal/demo/")
			if err != nil || entry.IsDir() || !isCode || atTerminals {
				return err
			}
			data, err := os.ReadFile(name)
			if found := left.Find(data); found != nil {
				t.Errorf("%s says %s…, which pages do not load", name, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
