package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"muster/internal/release"
)

// TestVerify checks that the exit status alone says whether to run a file, and that the text says
// what to do.
func TestVerify(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	const archive = "muster_1.2.0_linux_amd64.tar.gz"
	signature, err := release.Sign(private, strings.NewReader("the archive"), release.Statement{
		File:    archive,
		Version: "1.2.0",
		Date:    time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, archive, "the archive")
	for _, tt := range []struct {
		name, content, signature string
		key                      string
		code                     int
		says, hint               string
	}{
		{"own", "the archive", string(signature), public.String(), 0,
			archive + ": the project's own: Muster 1.2.0 of 2026-11-22, signed as " + archive, ""},
		{"changed", "an archive", string(signature), public.String(), 1, "this file was changed", "do not run it"},
		{"a friend's", "the archive", "", public.String(), 3, "your friend's copy: nobody vouches for it", "release page"},
		{"no key", "the archive", string(signature), "", 3, "built without the project's key", "--key"},
		{"a bad key", "the archive", string(signature), "RWQ", 2, "no public key of minisign's form", "minisign.pub"},
	} {
		if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove(file + ".minisig")
		if tt.signature != "" {
			if err := os.WriteFile(file+".minisig", []byte(tt.signature), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := muster(t, "verify", file, "--key", tt.key)
		if o.code != tt.code || !strings.Contains(o.out+o.err, tt.says) || !strings.Contains(o.err, tt.hint) || (tt.code == 0) != (o.err == "") {
			t.Errorf("%s: exit status %d\n%s%s", tt.name, o.code, o.out, o.err)
		}
	}
	if o := muster(t, "verify", filepath.Join(filepath.Dir(file), "none")); o.code != 1 || !strings.Contains(o.err, "none") {
		t.Errorf("no such file: %+v", o)
	}
	if o := muster(t, "verify"); o.code != 3 || !strings.Contains(o.err, "this program, devel") {
		t.Errorf("this program: %+v", o)
	}
	if o := muster(t, "verify", file, file); o.code != 2 {
		t.Errorf("two files: %+v", o)
	}
}

// TestVersion checks that a build that is not a release does not claim to be one.
func TestVersion(t *testing.T) {
	if out := succeeds(t, "--version"); !strings.HasPrefix(out, "muster devel (") || strings.Count(out, "\n") != 1 {
		t.Errorf("%q", out)
	}
}
