// Command sign signs a file of a release, as .goreleaser.yaml has it do. The key is in the
// environment, in minisign's form: MUSTER_SECRET_KEY, and MUSTER_SECRET_PASSWORD if it is
// encrypted. With -try it makes a key for builds that nobody is to trust, and prints what
// a shell needs to take it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	if err := os.MkdirAll(filepath.Dir(*to), 0o755); err != nil { //nolint:gosec // of a release, everybody may read
		return err
	}
	return os.WriteFile(*to, signature, 0o644) //nolint:gosec // likewise
}

// secretKey reads the maintainers' key.
func secretKey(text, password string) (key minisign.PrivateKey, err error) {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return key, fmt.Errorf("no key: set MUSTER_SECRET_KEY, or to try things out: eval $(go run ./internal/release/internal/sign -try)")
	case minisign.IsEncrypted([]byte(text)):
		return minisign.DecryptKey(password, []byte(text))
	}
	return key, key.UnmarshalText([]byte(text))
}

// printKey makes a key and prints it without the lines of comment.
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
