package release

import (
	"cmp"
	"runtime/debug"
	"strings"
	"time"
)

// What a release says of itself, by go build -ldflags "-X muster/internal/release.version=1.2.0 …";
// see .goreleaser.yaml. All are empty in any other build.
var (
	version string
	commit  string // the whole hash
	date    string // of the commit, RFC 3339
	// publicKeys are the project's, in minisign's form with blanks in between: while a
	// key is being replaced, releases know both.
	publicKeys string
	// page is the address at which the project has its releases.
	page string
)

// Page is the address at which the project has its releases; empty if this build was not
// told.
func Page() string { return page }

// Unreleased is the version of what was built from the source of no release.
const Unreleased = "devel"

// Build is what a program was made from. What is not known is empty, or zero.
type Build struct {
	// Version is that of the release, such as 1.2.0, or [Unreleased]. It is never empty.
	Version string
	// Commit is the hash of the commit, Date its time in UTC.
	Commit string
	Date   time.Time
	// Changed: the source was not as the commit has it.
	Changed bool
}

// Running is what this program was made from: as its release says, or else as Go noted
// when it built it.
func Running() Build {
	noted, _ := debug.ReadBuildInfo()
	return describe(version, commit, date, noted)
}

// describe prefers what the release says to what Go noted, which may be nil.
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
	// Where no tag is, Go makes up a version of the commit's time and hash.
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

// short are the first digits of the commit's hash, as many as Go's own versions have.
func (b Build) short() string {
	const enough = 12
	return b.Commit[:min(enough, len(b.Commit))]
}

// String is the build for people: "1.2.0 (commit 0123456789ab, 2026-11-22)".
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
