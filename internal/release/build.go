package release

import (
	"cmp"
	"runtime/debug"
	"strings"
	"time"
)

// go build -ldflags "-X muster/internal/release.version=1.2.0 …" sets these for a release; see .goreleaser.yaml. They
// are empty in any other build.
var (
	version string
	commit  string // the full hash
	date    string // of the commit, in RFC 3339
	// publicKeys are the project's, in minisign's format, separated by blanks. While a key is being replaced, releases
	// know both.
	publicKeys string
	// page is the address of the project's releases.
	page string
)

// Page returns the address of the project's releases, empty if this build does not know it.
func Page() string { return page }

// Unreleased is the version of a build from the source of no release.
const Unreleased = "devel"

// Build is what a program was made from. Unknown fields are empty or zero.
type Build struct {
	// Version is the release's, such as 1.2.0, or [Unreleased]. It is never empty.
	Version string
	// Commit is the hash of the commit, Date its time in UTC.
	Commit string
	Date   time.Time
	// Changed says that the source differed from the commit.
	Changed bool
}

// Running returns what this program was made from, according to its release or else to Go's build information.
func Running() Build {
	noted, _ := debug.ReadBuildInfo()
	return describe(version, commit, date, noted)
}

// describe prefers the release's values to Go's build information, which may be nil.
func describe(version, commit, date string, noted *debug.BuildInfo) Build {
	b := Build{Version: strings.TrimPrefix(version, "v"), Commit: commit}
	if noted == nil {
		noted = &debug.BuildInfo{}
	}
	for _, s := range noted.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = cmp.Or(b.Commit, s.Value)
		case "vcs.time":
			date = cmp.Or(date, s.Value)
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	// Without a tag, Go derives a version from the commit's time and hash.
	tag, _, _ := strings.Cut(noted.Main.Version, "+")
	if tag != "(devel)" && (b.Commit == "" || !strings.HasSuffix(tag, b.short())) {
		b.Version = cmp.Or(b.Version, strings.TrimPrefix(tag, "v"))
	}
	b.Version = cmp.Or(b.Version, Unreleased)
	if t, err := time.Parse(time.RFC3339, date); err == nil {
		b.Date = t.UTC()
	}
	return b
}

// short returns the first digits of the commit's hash, as many as in Go's own versions.
func (b Build) short() string {
	const enough = 12
	return b.Commit[:min(enough, len(b.Commit))]
}

// String returns the build for people: "1.2.0 (commit 0123456789ab, 2026-11-22)".
func (b Build) String() string {
	var from []string
	if b.Commit != "" {
		from = append(from, "commit "+b.short())
	}
	if !b.Date.IsZero() {
		from = append(from, b.Date.Format(time.DateOnly))
	}
	if b.Changed {
		from = append(from, "and changes since")
	}
	if len(from) == 0 {
		from = append(from, "built from source, of no known commit")
	}
	return b.Version + " (" + strings.Join(from, ", ") + ")"
}
