package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/internal/release/releasetest"
)

// ann publishes in these tests.
func ann(t *testing.T) identity {
	t.Helper()
	return identity{"github.com/ann/muster", "ann", "https://github.com", releasetest.NewSigner(t, 1).Public.String()}
}

// TestRewrite checks which words name the module, and which only look like it. The old path is put
// together here, because a published copy has these tests, too.
func TestRewrite(t *testing.T) {
	r := newRewriter([]string{"main.go", "host/wire/wire.go", "web/web.go", "bench/load/player.go", "docs/go.md", "internal/cli/cli.go"}, ann(t))
	for _, tt := range []struct{ name, file, old, new string }{
		{"an import", "a.go", "package a\n\nimport _ \"OLD/host/wire\"\n", "package a\n\nimport _ \"NEW/host/wire\"\n"},
		{"imports, sorted", "a.go", "package a\n\nimport (\n\t_ \"OLD/web\"\n\t_ \"rsc.io/qr\"\n\t_ \"go.dev/x\"\n)\n",
			"package a\n\nimport (\n\t_ \"NEW/web\"\n\t_ \"go.dev/x\"\n\t_ \"rsc.io/qr\"\n)\n"},
		{"a linked name", "a.go", "package a\n\n//go:linkname one OLD/web.one\n", "package a\n\n//go:linkname one NEW/web.one\n"},
		{"a link in a comment", "a.go", "package a\n\n// [OLD/host/wire.Hello] greets.\n", "package a\n\n// [NEW/host/wire.Hello] greets.\n"},
		{"two in a text", ".ci/run", "alone=\"OLD/internal/sim OLD/web\"\n", "alone=\"NEW/internal/sim NEW/web\"\n"},
		{"a linker's flag", "x.yml", "- -X \"OLD/internal/release.page=p\"\n", "- -X \"NEW/internal/release.page=p\"\n"},
		{"a module below", "bench/go.mod", "module OLD/bench\n\nrequire OLD v0.0.0\n\nreplace OLD => ../\n", "module NEW/bench\n\nrequire NEW v0.0.0\n\nreplace NEW => ../\n"},
		{"the module", "go.mod", "module OLD\n\ngo 1.26.0\n", "module NEW\n\ngo 1.26.0\n"},
		{"folders of a machine", "docs/a.md", "/etc/OLD/host ~/OLD/web ../OLD/web x-OLD/web", "/etc/OLD/host ~/OLD/web ../OLD/web x-OLD/web"},
		{"other words", "docs/a.md", "OLD host, OLD/releases, OLD/website, OLD/docs, OLD://web", "OLD host, OLD/releases, OLD/website, OLD/docs, OLD://web"},
		{"a path that is published", "a.go", "package a\n\nimport _ \"github.com/ann/OLD/web\"\n", "package a\n\nimport _ \"github.com/ann/OLD/web\"\n"},
		{"a picture", "a.webp", "\x00 OLD/web", "\x00 OLD/web"},
	} {
		old, want := strings.ReplaceAll(tt.old, "OLD", from), strings.NewReplacer("OLD", from, "NEW", "github.com/ann/muster").Replace(tt.new)
		if got, err := r.rewrite(tt.file, []byte(old)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, want)
		}
	}
	for file, text := range map[string]string{"go.mod": "module github.com/ann/muster\n", ".goreleaser.yaml": "version: 2\n", "a.go": "package " + from + "/web\n"} {
		if got, err := r.rewrite(file, []byte(text)); err == nil {
			t.Errorf("%s became %q", file, got)
		}
	}
}

// TestThisTree checks that a copy of this tree names its publisher wherever it has to, and nobody else.
func TestThisTree(t *testing.T) {
	root := "../../.."
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), "module "+from+"\n") {
		t.Skip("this is a published copy")
	}
	list, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skipf("no repository: %v", err)
	}
	files, to := strings.Fields(string(list)), ann(t)
	r := newRewriter(files, to)
	old := regexp.MustCompile(`"` + from + `/\(?(bench|discovery|e2e|host|internal|peer|selection|tools|web)\b|\b` + from + `/internal/release`)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.rewrite(file, content)
		if err != nil {
			t.Error(err)
		}
		text := strings.ReplaceAll(string(got), to.module, "")
		if filepath.Ext(file) == ".go" && !strings.HasPrefix(file, "tools/release/publish/") && old.MatchString(text) {
			t.Errorf("%s still has %q", file, old.FindString(text))
		}
		for _, want := range map[string][]string{
			"README.md":                     {"git clone https://github.com/ann/muster "},
			"go.mod":                        {"module github.com/ann/muster\n"},
			"bench/go.mod":                  {"module github.com/ann/muster/bench\n", "require github.com/ann/muster v", "replace github.com/ann/muster => ../"},
			"e2e/go.mod":                    {"module github.com/ann/muster/e2e\n", "require github.com/ann/muster v", "replace github.com/ann/muster => ../"},
			".github/CODEOWNERS":            {"* @ann\n"},
			".goreleaser.yaml":              {`"ann" }}/muster`, `-X github.com/ann/muster/internal/release.page=`, to.key},
			"docs/serve/alerts.yml":         {" https://github.com/ann/muster/blob/main/docs/serve/alerts.md#musterhostdown\n"},
			".github/workflows/release.yml": {"package=github.com/ann/muster/internal/release\n", "|| '" + to.key + "' }}"},
		}[file] {
			if !strings.Contains(string(got), want) {
				t.Errorf("%s lacks %q", file, want)
			}
		}
	}
}

// TestIdentity checks that nothing is written for a publisher that cannot be.
func TestIdentity(t *testing.T) {
	for name, change := range map[string]func(*identity){
		"":                         func(*identity) {},
		"nobody":                   func(i *identity) { i.owner = "" },
		"a path for an owner":      func(i *identity) { i.owner = "../ann" },
		"an option for an owner":   func(i *identity) { i.owner = "--to" },
		"no host":                  func(i *identity) { i.module = "muster" },
		"a module with a space":    func(i *identity) { i.module = "github.com/ann/mus ter" },
		"a module that leads away": func(i *identity) { i.module = "github.com/../muster" },
		"a module with a quote":    func(i *identity) { i.module = `github.com/ann/mus"ter` },
		"no encryption":            func(i *identity) { i.server = "http://github.com" },
		"a server with a path":     func(i *identity) { i.server = "https://github.com/ann" },
		"no key":                   func(i *identity) { i.key = " " },
		"a word for a key":         func(i *identity) { i.key = "KEY" },
	} {
		i := ann(t)
		change(&i)
		if err := i.check(); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
