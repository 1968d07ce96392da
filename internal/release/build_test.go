package release

import (
	"crypto/sha256"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// TestDescribe checks that a release describes itself, that Go describes other builds, and that an unknown build claims
// nothing.
func TestDescribe(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	git := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: hash},
			{Key: "vcs.time", Value: "2026-11-21T23:30:00Z"}, {Key: "vcs.modified", Value: modified}}
	}
	noted := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	for _, tt := range []struct {
		name                  string
		version, commit, date string
		noted                 *debug.BuildInfo
		want, short           string
	}{
		{"a release", "1.2.0", hash, "2026-11-22T01:30:00+01:00", noted("v1.2.0", git("false")...),
			"1.2.0 (commit 0123456789ab, 2026-11-22)", "1.2.0"},
		{"a release's tag", "v1.2.0", hash, "2026-11-22T01:30:00+02:00", nil, "1.2.0 (commit 0123456789ab, 2026-11-21)", "1.2.0"},
		{"go build of a tag", "", "", "", noted("v1.2.0", git("false")...), "1.2.0 (commit 0123456789ab, 2026-11-21)", "1.2.0"},
		{"go build of a changed tag", "", "", "", noted("v1.2.0+dirty", git("true")...),
			"1.2.0 (commit 0123456789ab, 2026-11-21, and changes since)", "1.2.0"},
		{"go build of a commit", "", "", "", noted("v0.0.0-20261121233000-0123456789ab", git("false")...),
			"devel (commit 0123456789ab, 2026-11-21)", Unreleased},
		{"go build of changes", "", "", "", noted("v0.0.0-20261121233000-0123456789ab+dirty", git("true")...),
			"devel (commit 0123456789ab, 2026-11-21, and changes since)", Unreleased},
		{"go build -buildvcs=false", "", "", "", noted("(devel)"), "devel (built from source, of no known commit)", Unreleased},
		{"go install of a version", "", "", "", noted("v1.2.0"), "1.2.0 (built from source, of no known commit)", "1.2.0"},
		{"go run", "", "", "", noted(""), "devel (built from source, of no known commit)", Unreleased},
		{"nothing noted", "", "", "", nil, "devel (built from source, of no known commit)", Unreleased},
		{"a date that is none", "1.2.0", "0123", "yesterday", nil, "1.2.0 (commit 0123)", "1.2.0"},
	} {
		if b := describe(tt.version, tt.commit, tt.date, tt.noted); b.String() != tt.want || b.Version != tt.short {
			t.Errorf("%s: %s, version %s; want %s, %s", tt.name, b, b.Version, tt.want, tt.short)
		}
	}
}

// Judge is [Keys.Verify] for a file in memory.
func Judge(k Keys, name, text, signature, sums, sumsSignature string) (best Verdict) {
	it := content{signed: minisign.NewReader(strings.NewReader(text)), sum: sha256.Sum256([]byte(text))}
	io.Copy(io.Discard, it.signed)
	best.take(k.judge(name, it, []byte(signature)))
	best.take(k.judgeSums(name, it, []byte(sums), []byte(sumsSignature)))
	return best
}
