// Command publish makes a copy of the source the publisher's own, for .ci/publish: module path, release address and key
// stand in it wherever they are needed. It reads the names of the copy's files, one a line.
//
//	git ls-files | publish -to FOLDER -module github.com/OWNER/muster -owner OWNER -server https://github.com -key RW…
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"muster/internal/release"
)

func main() {
	if err := run(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

func run(names io.Reader) error {
	folder := flag.String("to", "", "the copy")
	var to identity
	flag.StringVar(&to.module, "module", "", "the copy's module path")
	flag.StringVar(&to.owner, "owner", "", "the owner of the repositories")
	flag.StringVar(&to.server, "server", "", "the address of the forge")
	flag.StringVar(&to.key, "key", "", "the public key of releases, in minisign's format")
	flag.Parse()
	if err := to.check(); err != nil {
		return err
	}
	list, err := io.ReadAll(names)
	if err != nil {
		return err
	}
	files := strings.Fields(string(list))
	r, changed := newRewriter(files, to), 0
	for _, file := range files {
		isNew, err := r.apply(filepath.Join(*folder, file), file)
		if err != nil {
			return err
		}
		if isNew {
			changed++
		}
	}
	fmt.Printf("%d of %d files name %s now\n", changed, len(files), to.module)
	return nil
}

// apply rewrites a file where it stands, and reports whether that changed it.
func (r *rewriter) apply(at, file string) (bool, error) {
	about, err := os.Lstat(at)
	if err != nil || !about.Mode().IsRegular() {
		return false, err
	}
	content, err := os.ReadFile(at)
	if err != nil {
		return false, err
	}
	changed, err := r.rewrite(file, content)
	if err != nil || bytes.Equal(changed, content) {
		return false, err
	}
	return true, os.WriteFile(at, changed, about.Mode().Perm())
}

var (
	owners  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}$`)
	modules = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*\.[a-z]{2,}(/[A-Za-z0-9][A-Za-z0-9._-]*)+$`)
	servers = regexp.MustCompile(`^https://[a-z0-9.-]+$`)
)

// check refuses what a module path, an address or a key cannot be, before anything is written.
func (i identity) check() error {
	switch {
	case !owners.MatchString(i.owner):
		return fmt.Errorf("%q is nobody's name at a forge", i.owner)
	case !modules.MatchString(i.module):
		return fmt.Errorf("%q is no module path, such as github.com/ann/muster", i.module)
	case !servers.MatchString(i.server):
		return fmt.Errorf("%q is no address of a forge, such as https://github.com", i.server)
	}
	keys, err := release.ParseKeys(i.key)
	if err == nil && keys.None() {
		err = fmt.Errorf("without a key nobody could tell a release from another file")
	}
	return err
}
