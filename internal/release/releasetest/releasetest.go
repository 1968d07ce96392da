// Package releasetest makes releases for tests, signed with keys that nobody should trust.
package releasetest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aead.dev/minisign"

	"muster/internal/release"
)

// Signer is somebody with a key.
type Signer struct {
	Public  minisign.PublicKey
	Private minisign.PrivateKey
}

// NewSigner makes a key from a number. Equal numbers give equal keys.
func NewSigner(t testing.TB, number byte) Signer {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, ed25519.SeedSize))
	const nothing = 2 + 2 + 2 + 32 + 8 + 8 // precedes the key's number; an encrypted key has its salt and costs here
	plain := make([]byte, nothing, 158)
	copy(plain, "Ed\x00\x00B2")
	plain = append(append(plain, bytes.Repeat([]byte{number}, 8)...), key...)
	var private minisign.PrivateKey
	if err := private.UnmarshalText([]byte(base64.StdEncoding.EncodeToString(append(plain, make([]byte, 32)...)))); err != nil {
		t.Fatal(err)
	}
	return Signer{private.Public().(minisign.PublicKey), private}
}

// Keys returns the keys that trust the signer.
func (s Signer) Keys(t testing.TB) release.Keys {
	t.Helper()
	keys, err := release.ParseKeys(s.Public.String())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Day is when all these releases were made.
var Day = time.Date(2026, 11, 22, 7, 30, 0, 0, time.UTC)

// Sign returns a signature of a content, as a release's file.
func (s Signer) Sign(t testing.TB, content, file, version string) string {
	t.Helper()
	signature, err := release.Sign(s.Private, strings.NewReader(content), release.Statement{File: file, Version: version, Date: Day})
	if err != nil {
		t.Fatal(err)
	}
	return string(signature)
}

// Release is a release's files by name. It serves them like a release page. Tests may change it before.
type Release struct {
	Version string
	Files   map[string]string
	// Asked counts how often a program was served.
	Asked atomic.Int64
	// Redirect, if set, is where all requests are sent.
	Redirect string
	// Hold, if set, delays all requests until it is closed.
	Hold chan struct{}
}

// Release makes a release of some files, with their signatures and a signed list of sums.
func (s Signer) Release(t testing.TB, version string, files map[string]string) *Release {
	t.Helper()
	r := &Release{Version: version, Files: map[string]string{}}
	var names []string
	for name, content := range files {
		names = append(names, name)
		r.Files[name] = content
		r.Files[name+release.SignatureEnding] = s.Sign(t, content, name, version)
	}
	slices.Sort(names)
	var sums strings.Builder
	for _, name := range names {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(files[name])), name)
	}
	r.Files[release.SumsName] = sums.String()
	r.Files[release.SumsName+release.SignatureEnding] = s.Sign(t, sums.String(), release.SumsName, version)
	return r
}

func (r *Release) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if r.Hold != nil {
		select {
		case <-r.Hold:
		case <-request.Context().Done():
		}
	}
	folder, name := path.Split(request.URL.Path)
	content, is := r.Files[name]
	switch {
	case folder == "/releases/latest/download/":
		http.Redirect(w, request, "/releases/download/v"+r.Version+"/"+name, http.StatusFound)
	case !is || folder != "/releases/download/v"+r.Version+"/":
		http.NotFound(w, request)
	case r.Redirect != "":
		http.Redirect(w, request, r.Redirect, http.StatusFound)
	default:
		if strings.HasPrefix(name, "muster_") && !strings.HasSuffix(name, release.SignatureEnding) {
			r.Asked.Add(1)
		}
		w.Write([]byte(content))
	}
}
