package release_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"aead.dev/minisign"

	"muster/internal/release"
	"muster/internal/release/releasetest"
)

// signer is somebody with a key.
type signer struct{ releasetest.Signer }

func newSigner(t testing.TB, number byte) signer { return signer{releasetest.NewSigner(t, number)} }

func (s signer) keys(t testing.TB) release.Keys { return s.Keys(t) }

var day = releasetest.Day

// sign returns a signature of a content, as a file of Muster 1.2.0.
func (s signer) sign(t testing.TB, content, file string) string {
	return s.Sign(t, content, file, "1.2.0")
}

// commented returns a signature with a comment of the signer's choice.
func (s signer) commented(t testing.TB, content, comment string) string {
	t.Helper()
	r := minisign.NewReader(strings.NewReader(content))
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	return string(r.SignWithComments(s.Private, comment, "untrusted"))
}

const (
	archive = "muster_1.2.0_linux_amd64.tar.gz"
	text    = "the archive"
)

// TestVerify checks that a file is the project's own only if the project's key signed exactly these bytes. Nothing
// beside it can pass off another file, or an older one, as this one.
func TestVerify(t *testing.T) {
	project, stranger := newSigner(t, 1), newSigner(t, 2)
	sums := func(of ...string) string {
		var list strings.Builder
		for _, line := range of {
			content, name, _ := strings.Cut(line, "=")
			fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256([]byte(content)), name)
		}
		return list.String()
	}
	good := sums(text+"="+archive, "other=muster_1.2.0_amd64.deb")
	signature := project.sign(t, text, archive)
	for _, tt := range []struct {
		name string
		// file is the user's file. files are the folder's contents by name.
		file  string
		files map[string]string
		want  release.Standing
		why   string
	}{
		{"signed", archive, map[string]string{archive: text, archive + ".minisig": signature}, release.Own, ""},
		{"signed, with Windows' line ends", archive,
			map[string]string{archive: text, archive + ".minisig": strings.ReplaceAll(signature, "\n", "\r\n")}, release.Own, ""},
		{"in the signed sums", archive,
			map[string]string{archive: text, "SHA256SUMS": good, "SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Own, ""},
		{"the sums themselves", "SHA256SUMS",
			map[string]string{"SHA256SUMS": good, "SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Own, ""},
		{"a program under any name", "Muster for Ann.exe",
			map[string]string{"Muster for Ann.exe": text,
				"Muster for Ann.exe.minisig": project.sign(t, text, "muster_1.2.0_windows_amd64")}, release.Own, ""},
		{"a room's host in the name", "muster-192.168.1.7-BAKODI",
			map[string]string{"muster-192.168.1.7-BAKODI": text,
				"muster-192.168.1.7-BAKODI.minisig": project.sign(t, text, "muster_1.2.0_linux_amd64")}, release.Own, ""},
		{"downloaded twice", "muster_1.2.0_linux_amd64.tar (1).gz",
			map[string]string{"muster_1.2.0_linux_amd64.tar (1).gz": text,
				"muster_1.2.0_linux_amd64.tar (1).gz.minisig": signature}, release.Own, ""},
		{"a signature that is damaged, and sums that hold", archive,
			map[string]string{archive: text, archive + ".minisig": "?", "SHA256SUMS": good,
				"SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Own, ""},

		{"nothing beside it", archive, map[string]string{archive: text}, release.Friends, "no signature"},
		{"sums that nobody signed", archive, map[string]string{archive: text, "SHA256SUMS": good}, release.Friends, "no signature"},
		{"another key", archive, map[string]string{archive: text,
			archive + ".minisig": stranger.sign(t, text, archive)}, release.Friends, "another key"},
		{"sums signed with another key", archive,
			map[string]string{archive: text, "SHA256SUMS": good,
				"SHA256SUMS.minisig": stranger.sign(t, good, "SHA256SUMS")}, release.Friends, "does not count"},
		{"sums changed after they were signed", archive,
			map[string]string{archive: "evil", "SHA256SUMS": sums("evil=" + archive),
				"SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Friends, "does not count"},
		{"sums signed as another file", archive,
			map[string]string{archive: text, "SHA256SUMS": good,
				"SHA256SUMS.minisig": project.sign(t, good, "notes.txt")}, release.Friends, "does not count"},
		{"not in the sums", "muster_1.2.0_arm64.deb",
			map[string]string{"muster_1.2.0_arm64.deb": "third", "SHA256SUMS": good,
				"SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Friends, "does not list it"},

		{"changed", archive, map[string]string{archive: text + "!", archive + ".minisig": signature}, release.Changed, "something else"},
		{"cut off", archive, map[string]string{archive: text[:4], archive + ".minisig": signature}, release.Changed, "something else"},
		{"empty", archive, map[string]string{archive: "", archive + ".minisig": signature}, release.Changed, "something else"},
		{"changed against the sums", archive,
			map[string]string{archive: "evil", "SHA256SUMS": good,
				"SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Changed, "another sum"},
		{"a signature cut off", archive,
			map[string]string{archive: text, archive + ".minisig": signature[:len(signature)/2]}, release.Changed, "damaged"},
		{"an empty signature", archive, map[string]string{archive: text, archive + ".minisig": ""}, release.Changed, "damaged"},
		{"a huge signature", archive,
			map[string]string{archive: text, archive + ".minisig": signature + strings.Repeat("A", 1<<20)}, release.Changed, "damaged"},
		{"a comment changed after it was signed", archive,
			map[string]string{archive: text,
				archive + ".minisig": strings.ReplaceAll(signature, "version:1.2.0", "version:9.9.9")}, release.Changed, "something else"},
		{"the key's number on a stranger's signature", archive,
			map[string]string{archive: text, archive + ".minisig": borrowed(t, stranger, project)}, release.Changed, "something else"},

		{"an older one under a newer name", "muster_1.3.0_linux_amd64.tar.gz",
			map[string]string{"muster_1.3.0_linux_amd64.tar.gz": text,
				"muster_1.3.0_linux_amd64.tar.gz.minisig": signature}, release.Misnamed, "it is " + archive},
		{"another system's", "muster_1.2.0_windows_amd64.zip",
			map[string]string{"muster_1.2.0_windows_amd64.zip": text,
				"muster_1.2.0_windows_amd64.zip.minisig": signature}, release.Misnamed, "it is " + archive},
		{"an older package from its sums", "muster_1.3.0_amd64.deb",
			map[string]string{"muster_1.3.0_amd64.deb": "other", "SHA256SUMS": good,
				"SHA256SUMS.minisig": project.sign(t, good, "SHA256SUMS")}, release.Misnamed, "it is muster_1.2.0_amd64.deb"},
		{"signed by the project, but of no release", archive,
			map[string]string{archive: text,
				archive + ".minisig": project.commented(t, text, "timestamp:1795334400\tfile:"+archive)},
			release.Misnamed, "does not say of which release"},
		{"a hostile comment", archive,
			map[string]string{archive: text,
				archive + ".minisig": project.commented(t, text,
					"timestamp:1795334400\tfile:\x1b[2J\x1b]0;own\atext\tversion:1.2.0")}, release.Misnamed, "does not say of which release"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			for name, content := range tt.files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v, err := project.keys(t).Verify(t.Context(), filepath.Join(folder, tt.file))
			if err != nil || v.Standing != tt.want || !strings.Contains(v.Why, tt.why) || (v.Why == "") != (tt.why == "") {
				t.Fatalf("%s, %q, %v; want %s, %q", v.Standing, v.Why, err, tt.want, tt.why)
			}
			if v.Standing == release.Own && (v.Version != "1.2.0" || !v.Date.Equal(day) || len(v.Proof) == 0) {
				t.Errorf("%+v", v)
			}
			if strings.ContainsFunc(v.String(), unicode.IsControl) {
				t.Errorf("a terminal would obey %q", v)
			}
		})
	}
}

func borrowed(t *testing.T, stranger, project signer) string {
	var s minisign.Signature
	if err := s.UnmarshalText([]byte(stranger.sign(t, text, archive))); err != nil {
		t.Fatal(err)
	}
	s.KeyID = project.Public.ID()
	return s.String()
}

// TestInstalled checks that packages keep the program's signature in a folder of its own.
func TestInstalled(t *testing.T) {
	project, root := newSigner(t, 1), t.TempDir()
	for name, content := range map[string]string{"bin/muster": text,
		"share/muster/muster.minisig": project.sign(t, text, "muster_1.2.0_linux_amd64")} {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := project.keys(t).Verify(t.Context(), filepath.Join(root, "bin", "muster"))
	want := []string{filepath.Join(root, "share", "muster", "muster.minisig")}
	if err != nil || v.Standing != release.Own || !slices.Equal(v.Proof, want) {
		t.Fatalf("%+v, %v", v, err)
	}
}

// TestTwoKeys checks that either key counts while one is being replaced.
func TestTwoKeys(t *testing.T) {
	before, after, folder := newSigner(t, 1), newSigner(t, 2), t.TempDir()
	keys, err := release.ParseKeys(before.Public.String() + " " + after.Public.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []signer{before, after} {
		file := filepath.Join(folder, archive)
		err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(file+".minisig", []byte(s.sign(t, text, archive)), 0o600))
		v, err2 := keys.Verify(t.Context(), file)
		if err != nil || err2 != nil || v.Standing != release.Own {
			t.Errorf("%v, %v, %v", v, err, err2)
		}
	}
}

// TestNotToBeRead checks that an unreadable file soon leads to an error instead of a verdict.
func TestNotToBeRead(t *testing.T) {
	keys, folder := newSigner(t, 1).keys(t), t.TempDir()
	huge := filepath.Join(folder, "huge")
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 2<<30)); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"none": filepath.Join(folder, "none"), "a folder": folder, "huge": huge,
		"without an end": os.DevNull} {
		if v, err := keys.Verify(t.Context(), file); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
	if _, err := keys.Verify(t.Context(), filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := os.Truncate(huge, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Verify(ctx, huge); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestKeyless checks that a build without a key says so, and does not call the project's files a friend's.
func TestKeyless(t *testing.T) {
	keys, err := release.ProjectKeys()
	if err != nil || !keys.None() {
		t.Fatal("tests are built with a key", err)
	}
	if v, err := keys.VerifyRunning(t.Context()); err != nil || v.Standing != release.Keyless {
		t.Errorf("%v, %v", v, err)
	}
	for _, text := range []string{"RWQ", "untrusted comment: x", strings.Repeat("A", 56)} {
		if _, err := release.ParseKeys(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}

// TestRunning checks that a program beside a signature with another version, however good, counts as misnamed.
func TestRunning(t *testing.T) {
	project := newSigner(t, 1)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program+".minisig", []byte(project.sign(t, string(content), "muster_1.2.0_linux_amd64")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(program + ".minisig") })
	v, err := project.keys(t).VerifyRunning(t.Context())
	if err != nil || v.Standing != release.Misnamed || !strings.Contains(v.Why, "Muster 1.2.0") {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestSignStatesWhatCanBeRead checks that a signature that nobody could read later is refused.
func TestSignStatesWhatCanBeRead(t *testing.T) {
	project := newSigner(t, 1)
	for _, s := range []release.Statement{
		{},
		{File: "a\tversion:9.9.9", Version: "1.2.0", Date: day},
		{File: archive, Version: "one", Date: day},
		{File: "../" + archive, Version: "1.2.0", Date: day},
		{File: archive, Version: "1.2.0"},
	} {
		if _, err := release.Sign(project.Private, strings.NewReader(text), s); err == nil {
			t.Errorf("%+v was signed", s)
		}
	}
}

// FuzzVerify checks that only the project's own signature makes a file the project's, whatever lies beside it. No
// verdict contains anything that a terminal would obey.
func FuzzVerify(f *testing.F) {
	project, stranger := newSigner(f, 1), newSigner(f, 2)
	sums := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), archive)
	f.Add(archive, project.sign(f, text, archive), sums, project.sign(f, sums, "SHA256SUMS"))
	f.Add("muster_1.3.0_windows_amd64.zip", stranger.sign(f, text, archive), sums, stranger.sign(f, sums, "SHA256SUMS"))
	f.Add("muster", project.commented(f, text, "timestamp:1\tfile:\x1b[2J\tversion:1"), "0  \n", "")
	keys := project.keys(f)
	f.Fuzz(func(t *testing.T, name, signature, list, listSignature string) {
		v := release.Judge(keys, name, text, signature, list, listSignature)
		if strings.ContainsFunc(v.String(), unicode.IsControl) {
			t.Errorf("a terminal would obey %q", v)
		}
		isSigned := minisign.Verify(project.Public, []byte(text), []byte(signature))
		isListed := minisign.Verify(project.Public, []byte(list), []byte(listSignature)) && list == sums
		if v.Standing == release.Own && !isSigned && !isListed {
			t.Errorf("nobody signed what makes %q the project's: %+v", name, v)
		}
	})
}
