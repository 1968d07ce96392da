package main

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"regexp"
	"slices"
	"strings"
)

// identity is all that a published copy knows about its publisher.
type identity struct {
	// module is the copy's module path, such as github.com/ann/muster.
	module string
	// owner has the repositories of releases and package managers at server, such as https://github.com.
	owner, server string
	// key is the public key of releases in minisign's format, or several, separated by blanks.
	key string
}

// rewriter turns the files of an unpublished tree into those of a copy.
type rewriter struct {
	to identity
	// imports matches paths of the module's packages, wherever they are written. The module's own
	// name alone is a word of the language, and is not touched.
	imports *regexp.Regexp
}

// from is the module's path until it is published.
const from = "muster"

// ofModule matches where another module of the tree requires or replaces the module.
var ofModule = regexp.MustCompile(`(?m)^(require |replace |\t)` + from + `( v| =>)`)

// newRewriter returns the rewriter of a tree with these files.
func newRewriter(files []string, to identity) *rewriter {
	var folders []string
	for _, file := range files {
		if first, _, below := strings.Cut(file, "/"); below && path.Ext(file) == ".go" && !slices.Contains(folders, first) {
			folders = append(folders, regexp.QuoteMeta(first))
		}
	}
	// A path like /etc/muster/host is no import, and neither is github.com/ann/muster/host.
	return &rewriter{to, regexp.MustCompile(`(^|[^\w./~-])` + from + `/(` + strings.Join(folders, "|") + `)\b`)}
}

// settings are the lines that name the publisher, by file. Each stands there exactly as often as
// said, so that a copy cannot keep a placeholder unnoticed.
func (r *rewriter) settings(file string) []setting {
	switch file {
	case "go.mod":
		return []setting{{"module " + from + "\n", "module " + r.to.module + "\n", 1}}
	case ".goreleaser.yaml":
		return []setting{
			{`"GITHUB_REPOSITORY_OWNER" "OWNER"`, fmt.Sprintf(`"GITHUB_REPOSITORY_OWNER" %q`, r.to.owner), 2},
			{`"GITHUB_SERVER_URL" "https://github.com"`, fmt.Sprintf(`"GITHUB_SERVER_URL" %q`, r.to.server), 1},
			{`"MUSTER_PUBLIC_KEYS" ""`, fmt.Sprintf(`"MUSTER_PUBLIC_KEYS" %q`, r.to.key), 1},
		}
	case ".github/CODEOWNERS":
		return []setting{{"* @OWNER\n", "* @" + r.to.owner + "\n", 1}}
	case ".github/workflows/release.yml":
		return []setting{{"${{ vars.MUSTER_PUBLIC_KEYS }}", "${{ vars.MUSTER_PUBLIC_KEYS || '" + r.to.key + "' }}", 2}}
	case "README.md":
		return []setting{{"https://github.com/OWNER/muster", r.to.server + "/" + r.to.owner + "/muster", 1}}
	case "docs/serve/alerts.yml": // an operator reads them far from the source
		const runbook = "runbook_url: "
		page := r.to.server + "/" + r.to.owner + "/muster/blob/main/"
		return []setting{{runbook + "docs/serve/alerts.md#", runbook + page + "docs/serve/alerts.md#", 20}}
	}
	return nil
}

// setting is a text that a copy replaces, and how often the file has it.
type setting struct {
	old, new string
	times    int
}

// rewrite returns a file's content in the copy.
func (r *rewriter) rewrite(file string, content []byte) ([]byte, error) {
	if bytes.IndexByte(content, 0) >= 0 {
		return content, nil // no text
	}
	changed := content
	if bytes.Contains(content, []byte(from+"/")) { // hardly any long file has it
		changed = r.imports.ReplaceAll(content, []byte("${1}"+r.to.module+"/${2}"))
	}
	if path.Base(file) == "go.mod" { // of a module below, which has this one beside it
		changed = ofModule.ReplaceAll(changed, []byte("${1}"+r.to.module+"${2}"))
	}
	for _, s := range r.settings(file) {
		if n := bytes.Count(changed, []byte(s.old)); n != s.times {
			return nil, fmt.Errorf("%s has %q %d times, not %d: is it published already?", file, s.old, n, s.times)
		}
		changed = bytes.ReplaceAll(changed, []byte(s.old), []byte(s.new))
	}
	if path.Ext(file) == ".go" && !bytes.Equal(changed, content) {
		return format.Source(changed) // longer paths are sorted elsewhere
	}
	return changed, nil
}
