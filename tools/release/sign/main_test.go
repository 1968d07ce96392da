package main

import (
	"os"
	"strings"
	"testing"

	"muster/internal/release/releasetest"
)

// TestCheck checks that a release needs everything to be set up.
func TestCheck(t *testing.T) {
	ours, theirs := releasetest.NewSigner(t, 1), releasetest.NewSigner(t, 2)
	for _, tt := range []struct {
		name, owner, keys string
		says              string
	}{
		{"all is there", "ann", ours.Public.String(), ""},
		{"a key that is being replaced", "ann", theirs.Public.String() + " " + ours.Public.String(), ""},
		{"the placeholder", placeholder, ours.Public.String(), "GITHUB_REPOSITORY_OWNER"},
		{"nobody", "", ours.Public.String(), "GITHUB_REPOSITORY_OWNER"},
		{"no key", "ann", "", "MUSTER_PUBLIC_KEYS"},
		{"a placeholder for a key", "ann", "KEY", "no public key"},
		{"another key", "ann", theirs.Public.String(), "no program would believe it"},
	} {
		if err := check(ours.Private, tt.owner, tt.keys); (err == nil) != (tt.says == "") ||
			err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
	if _, err := secretKey("", ""); err == nil {
		t.Error("no key signs")
	}
}

// TestReleaseIsChecked checks that a release begins with sign -check, with the values that
// programs are built with. It also checks that the placeholder occurs nowhere else.
func TestReleaseIsChecked(t *testing.T) {
	text, err := os.ReadFile("../../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const hook = "./release/sign ./release/papers ./release/flatpak\n    - release/bin/sign -check -owner="
	if !strings.Contains(string(text), hook) {
		t.Errorf(".goreleaser.yaml does not begin with %q", hook)
	}
	placeholders, keys := 2, strings.Contains(string(text), `KEYS={{ envOrDefault "MUSTER_PUBLIC_KEYS" "" }}`)
	if isPublished(t) {
		placeholders, keys = 0, !keys
	}
	if n := strings.Count(string(text), `"`+placeholder+`"`); n != placeholders || !keys {
		t.Errorf("%q stands %d times in .goreleaser.yaml, not only in OWNER and SITE, or its keys are wrong", placeholder, n)
	}
	workflow, err := os.ReadFile("../../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"goreleaser/v2@v2.16.0 release --parallelism 1 --clean\n",
		"MUSTER_PUBLIC_KEYS: ${{ vars.MUSTER_PUBLIC_KEYS ", "publicKeys="} {
		if !strings.Contains(string(workflow), want) {
			t.Errorf("the workflow has no %q", want)
		}
	}
	if strings.Contains(string(workflow), "--skip") {
		t.Error("the workflow skips something")
	}
}

// isPublished reports whether this is a copy that .ci/publish made. It names its owner and key.
func isPublished(t *testing.T) bool {
	t.Helper()
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return !strings.HasPrefix(string(mod), "module muster\n")
}
