// Command papers writes the files that packages contain besides the program. They are shell
// completions, manual pages, the systemd unit, and the licences of all modules in the program.
// .goreleaser.yaml runs it, at the top of the repository. It writes the same bytes each time.
package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"muster/internal/cli"
)

func main() {
	folder := flag.String("to", "", "where they go")
	seconds := flag.Int64("date", 0, "of the manual, in seconds since 1970")
	flag.Parse()
	err := os.MkdirAll(*folder, 0o755)
	if err == nil {
		err = errors.Join(completions(*folder), manual(*folder, time.Unix(*seconds, 0).UTC()), unit(*folder), licences(*folder))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "papers:", err)
		os.Exit(1)
	}
}

// command returns the command line for any user. Its help names the user's folder, and must not
// contain the folder of the person who makes the release.
func command() *cobra.Command {
	xdg.ConfigHome = "~/.config"
	return cli.Command()
}

// completions writes the completion scripts for shells.
func completions(folder string) error {
	root := command()
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(folder, "muster.bash"), true),
		root.GenZshCompletionFile(filepath.Join(folder, "_muster")),
		root.GenFishCompletionFile(filepath.Join(folder, "muster.fish"), true),
	)
}

// manual writes a compressed page for each command.
func manual(folder string, date time.Time) error {
	folder = filepath.Join(folder, "man1")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	root := command()
	if err := doc.GenManTree(root, &doc.GenManHeader{Source: "Muster", Manual: "Muster", Date: &date}, folder); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	for _, page := range pages {
		err = errors.Join(err, compress(page))
	}
	return err
}

// compress replaces a file with its compressed form, which contains neither name nor time.
func compress(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	to, err := os.Create(file + ".gz")
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = packed.Write(text)
	return errors.Join(err, packed.Close(), to.Close(), os.Remove(file))
}

// unit writes the systemd unit of docs/serve with the paths of packages.
func unit(folder string) error {
	text, err := os.ReadFile("docs/serve/muster.service")
	if err != nil {
		return err
	}
	for _, change := range [][2]string{
		{"/usr/local/", "/usr/"},
		{": /etc/systemd/system/muster.service", ""},
	} {
		if !strings.Contains(string(text), change[0]) {
			return fmt.Errorf("docs/serve/muster.service no longer has %q", change[0])
		}
		text = []byte(strings.ReplaceAll(string(text), change[0], change[1]))
	}
	return os.WriteFile(filepath.Join(folder, "muster.service"), text, 0o644)
}

// licences writes the licences of all modules that the program is built from, on any system.
func licences(folder string) (err error) {
	to, err := os.Create(filepath.Join(folder, "LICENSES.txt"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	fmt.Fprintf(to, "Muster is made from the following, and from Go's standard library. Muster's own\nlicence "+
		"is in LICENSE, those of its data are in NOTICE.\n")
	modules := map[string]string{"The Go standard library": goRoot()}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-json=Module", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		for d := json.NewDecoder(strings.NewReader(string(out))); ; {
			var of struct {
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&of); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			if m := of.Module; m != nil && !m.Main {
				modules[m.Path+" "+m.Version] = m.Dir
			}
		}
	}
	var names []string
	for name := range modules {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		texts, err := licenceOf(modules[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(to, "\n%s\n%s\n\n%s", name, strings.Repeat("=", len(name)), texts)
	}
	return nil
}

// licenceOf returns the licence texts in a module's root.
func licenceOf(folder string) (string, error) {
	var texts strings.Builder
	files, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"}, func(s string) bool {
			return strings.HasPrefix(name, s)
		}) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return "", err
		}
		texts.WriteString(strings.TrimRight(string(text), "\n") + "\n")
	}
	if texts.Len() == 0 {
		return "", errors.New("no licence is in its root")
	}
	return texts.String(), nil
}

// goRoot returns the folder with the licence of the standard library.
func goRoot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
