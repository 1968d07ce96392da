// Command flatpak fills in the Flatpak of a release: its manifest, with the sums of the release's archives, its AppStream
// data, and what they name. The same release gives the same bytes. Run it at the top of the repository:
//
//	release/bin/flatpak -sums dist/SHA256SUMS -version 1.2.0 -date 1764169200 -owner ann -to FOLDER
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "flatpak:", err)
		os.Exit(1)
	}
}

func run() error {
	var r release
	sums := flag.String("sums", "", "the release's SHA256SUMS")
	flag.StringVar(&r.version, "version", "", "the release's version, without a v")
	seconds := flag.Int64("date", 0, "when it was committed, in seconds since 1970")
	flag.StringVar(&r.owner, "owner", "", "who has the project's repositories")
	flag.StringVar(&r.site, "site", "", "the project's page (default: on GitHub)")
	to := flag.String("to", "", "the folder for the files")
	flag.Parse()
	text, err := os.ReadFile(*sums)
	if err != nil {
		return err
	}
	r.date = time.Unix(*seconds, 0).UTC()
	values, err := r.values(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*to, 0o755); err != nil {
		return err
	}
	for from, name := range map[string]string{
		"packaging/flatpak/manifest.yaml": ".yaml", "packaging/flatpak/metainfo.xml": ".metainfo.xml",
		"packaging/muster.desktop": ".desktop", "packaging/muster-join.desktop": ".join.desktop", "web/static/icon.svg": ".svg",
	} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if filepath.Ext(from) != ".svg" {
			text = fill(text, values)
		}
		if err := os.WriteFile(filepath.Join(*to, r.id()+name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// release is a release of the project's.
type release struct {
	version, owner, site string
	date                 time.Time
}

// id returns the application's id, as Flathub wants it for projects on GitHub. Its parts consist of
// letters, digits and underscores, and do not begin with a digit.
func (r release) id() string {
	owner := strings.ReplaceAll(r.owner, "-", "_")
	if owner[0] >= '0' && owner[0] <= '9' {
		owner = "_" + owner
	}
	return "io.github." + owner + ".muster"
}

// values returns the words to fill in, each with its value after it.
func (r release) values(sums []byte) ([]string, error) {
	if r.owner == "" || r.version == "" || strings.ContainsAny(r.owner+r.version, " /<&\n") {
		return nil, errors.New("say -owner and -version")
	}
	if r.site == "" {
		r.site = "https://github.com/" + r.owner + "/muster"
	}
	kind := "stable"
	if strings.Contains(r.version, "-") {
		kind = "development"
	}
	values := []string{
		"APPID", r.id(), "SITE", r.site, "VERSION", r.version, "DATE", r.date.Format(time.DateOnly), "KIND", kind,
		"Icon=muster", "Icon=" + r.id(),
	}
	for word, system := range map[string]string{"SHA256_AMD64": "linux_amd64", "SHA256_ARM64": "linux_arm64"} {
		sum := sumOf(sums, "muster_"+r.version+"_"+system+".tar.gz")
		if sum == "" {
			return nil, fmt.Errorf("the sums have no archive for %s of %s", system, r.version)
		}
		values = append(values, word, sum)
	}
	return values, nil
}

// sumOf returns a file's sum of a list as sha256sum writes it, empty if there is none.
func sumOf(sums []byte, name string) string {
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 2 && strings.TrimPrefix(words[1], "*") == name {
			if sum, err := hex.DecodeString(words[0]); err == nil && len(sum) == 32 {
				return words[0]
			}
		}
	}
	return ""
}

// fill replaces the words in a text by their values.
func fill(text []byte, values []string) []byte {
	return []byte(strings.NewReplacer(values...).Replace(string(text)))
}
