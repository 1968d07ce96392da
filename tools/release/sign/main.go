// Command sign signs a file of a release for .goreleaser.yaml. The key is in the environment, in minisign's format:
// MUSTER_SECRET_KEY, and MUSTER_SECRET_PASSWORD if it is encrypted.
//
// With -try it makes a key for builds that nobody should trust, and prints it for a shell. With -check it signs
// nothing, and fails unless the maintainers have set up a release. No program may be published without a key, with a
// wrong key, or with releases at a placeholder's address.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aead.dev/minisign"

	"muster/internal/release"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sign:", err)
		os.Exit(1)
	}
}

func run() error {
	try := flag.Bool("try", false, "print a new key that nobody is to trust, for a shell to evaluate")
	checks := flag.Bool("check", false, "look whether the key and -keys go together, and whether -owner is somebody")
	owner := flag.String("owner", "", "who has the project's repositories")
	keys := flag.String("keys", "", "the public keys that programs are built with")
	file := flag.String("file", "", "what to sign")
	to := flag.String("to", "", "where the signature goes")
	var says release.Statement
	flag.StringVar(&says.File, "name", "", "what the file is called in the release")
	flag.StringVar(&says.Version, "version", "", "which release it is of")
	seconds := flag.Int64("date", 0, "when that was committed, in seconds since 1970")
	flag.Parse()
	if *try {
		return printKey()
	}
	key, err := secretKey(os.Getenv("MUSTER_SECRET_KEY"), os.Getenv("MUSTER_SECRET_PASSWORD"))
	if err != nil {
		return err
	}
	if *checks {
		return check(key, *owner, *keys)
	}
	content, err := os.Open(*file)
	if err != nil {
		return err
	}
	defer content.Close()
	says.Date = time.Unix(*seconds, 0)
	signature, err := release.Sign(key, content, says)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*to), 0o755); err != nil { //nolint:gosec // everybody may read a release
		return err
	}
	return os.WriteFile(*to, signature, 0o644) //nolint:gosec // likewise
}

// secretKey reads the maintainers' key.
func secretKey(text, password string) (key minisign.PrivateKey, err error) {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return key, fmt.Errorf("no key: set MUSTER_SECRET_KEY, or to try things out: eval $(go -C tools run ./release/sign -try)")
	case minisign.IsEncrypted([]byte(text)):
		return minisign.DecryptKey(password, []byte(text))
	}
	return key, key.UnmarshalText([]byte(text))
}

// placeholder is the owner in .goreleaser.yaml until somebody sets one.
const placeholder = "OWNER"

// check says what a maintainer must still set up.
func check(key minisign.PrivateKey, owner, keys string) error {
	if owner == "" || owner == placeholder {
		return fmt.Errorf("nobody has the project's repositories: set GITHUB_REPOSITORY_OWNER, as the forge's workflow does")
	}
	known, err := release.ParseKeys(keys)
	switch {
	case err != nil:
		return fmt.Errorf("MUSTER_PUBLIC_KEYS: %w", err)
	case known.None():
		return fmt.Errorf("programs would know no key, and could verify nothing: set MUSTER_PUBLIC_KEYS to the second line of minisign.pub")
	}
	public := key.Public().(minisign.PublicKey).String()
	if !slices.Contains(strings.Fields(keys), public) {
		return fmt.Errorf("MUSTER_SECRET_KEY signs for %s, which is not among MUSTER_PUBLIC_KEYS: no program would believe it", public)
	}
	return nil
}

// printKey makes a key and prints it without the comment lines.
func printKey() error {
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		return err
	}
	text, err := private.MarshalText()
	if err != nil {
		return err
	}
	secret := text[bytes.LastIndexByte(text, '\n')+1:]
	_, err = fmt.Printf("export MUSTER_SECRET_KEY=%s MUSTER_PUBLIC_KEYS=%s\n", secret, public)
	return err
}
