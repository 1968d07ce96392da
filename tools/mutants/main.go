// Command mutants plants small faults in the product, and says which of them the tests find:
//
//	go -C tools run ./mutants -plant 100 -seed 24 -to mutants/room -in host/room
//	go -C tools run ./mutants -kill mutants/room [NNN...]
//
// Planting draws places by the seed, in Go or JavaScript, and keeps each fault that still compiles as a
// patch. Killing applies each patch in a clone of the last commit, and runs tests. It prints a line for
// each patch:
//
//	killed           a test fails, and passes without the patch
//	alive            no test fails
//	does-not-build   the code has changed so much that the fault no longer compiles
//	stale            the patch no longer applies
//	unsure           the tests fail without the patch, too
//
// The tests of a fault in Go are those of its package and, if they pass, of the packages that import it
// and are near to it. With -tests they are a command; faults of the page always need one.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	plant := flag.Int("plant", 0, "how many faults to plant")
	seed := flag.Uint64("seed", 1, "draws their places")
	to := flag.String("to", "", "the folder for the patches")
	in := flag.String("in", "discovery,selection,host,peer,internal", "folders of the product, with commas")
	except := flag.String("except", "", "folders and files below them that are left out, with commas")
	kill := flag.String("kill", "", "a folder of patches to try")
	tests := flag.String("tests", "", "a command that tests, in place of the packages' own tests")
	limit := flag.Duration("timeout", 15*time.Minute, "tests that take longer have found the fault")
	flag.Parse()
	root, err := output(exec.Command("git", "rev-parse", "--show-toplevel"))
	switch {
	case err != nil:
	case *plant > 0 && *to != "":
		err = plantAll(root, strings.Split(*in, ","), strings.Split(*except, ","), *plant, *seed, *to)
	case *kill != "":
		err = killAll(root, *kill, flag.Args(), *tests, *limit)
	default:
		err = errors.New("say -plant N -to FOLDER, or -kill FOLDER")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// output runs a command, and returns what it printed.
func output(cmd *exec.Cmd) (string, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// plantAll writes patches of the drawn places.
func plantAll(root string, in, except []string, n int, seed uint64, to string) error {
	places, err := placesIn(root, in, except)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	planted, taken := 0, map[string]bool{}
	for _, p := range draw(places, seed) {
		text, err := os.ReadFile(filepath.Join(root, p.file))
		if err != nil {
			return err
		}
		patch, line := p.patch(string(text))
		at := fmt.Sprint(p.file, ":", line)
		if taken[at] || !compiles(root, p.file, p.apply(string(text))) {
			continue
		}
		taken[at] = true
		planted++
		if err := os.WriteFile(filepath.Join(to, fmt.Sprintf("%03d.patch", planted)), []byte(p.operator+", "+at+"\n\n"+patch), 0o644); err != nil {
			return err
		}
		if planted == n {
			return nil
		}
	}
	return fmt.Errorf("only %d places", planted)
}

// compiles reports whether a file's package compiles with another text of the file.
func compiles(root, file, text string) bool {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false
	}
	defer os.RemoveAll(folder)
	changed := filepath.Join(folder, "changed"+path.Ext(file))
	check := exec.Command("go", "build", "-overlay", filepath.Join(folder, "overlay"), "./"+path.Dir(file))
	if path.Ext(file) == ".js" {
		changed = filepath.Join(folder, "changed.mjs")
		check = exec.Command("node", "--check", changed)
	}
	check.Dir = root
	overlay := fmt.Sprintf(`{"Replace": {%q: %q}}`, filepath.Join(root, file), changed)
	return os.WriteFile(changed, []byte(text), 0o644) == nil &&
		os.WriteFile(filepath.Join(folder, "overlay"), []byte(overlay), 0o644) == nil && check.Run() == nil
}

// killAll tries the patches of a folder, or some of them, in a clone.
func killAll(root, folder string, only []string, tests string, limit time.Duration) error {
	patches, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil || len(patches) == 0 {
		return errors.Join(err, fmt.Errorf("%s has no patches", folder))
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	clone := filepath.Join(scratch, "clone")
	if _, err := output(exec.Command("git", "clone", "-q", "--shared", root, clone)); err != nil {
		return err
	}
	l := lab{clone, tests, limit, nil}
	if tests == "" {
		if l.importers, err = importers(clone); err != nil {
			return err
		}
	}
	killed, tried := 0, 0
	for _, patch := range patches {
		name := strings.TrimSuffix(filepath.Base(patch), ".patch")
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		verdict, about, err := l.try(patch)
		if err != nil {
			return err
		}
		if tried++; verdict == "killed" {
			killed++
		}
		fmt.Printf("%s  %-14s  %s\n", name, verdict, about)
	}
	fmt.Printf("killed %d of %d\n", killed, tried)
	return nil
}

// lab is a clone in which patches are tried.
type lab struct {
	clone, tests string
	limit        time.Duration
	importers    map[string][]string // by folder, the folders of the packages that import it
}

// try applies a patch, runs its tests, and takes it back.
func (l lab) try(patch string) (verdict, about string, err error) {
	text, err := os.ReadFile(patch)
	if err != nil {
		return "", "", err
	}
	about, _, _ = strings.Cut(string(text), "\n")
	_, file, _ := strings.Cut(string(text), "\n+++ b/")
	file, _, _ = strings.Cut(file, "\n")
	whole, err := filepath.Abs(patch)
	if err != nil {
		return "", "", err
	}
	if l.run("git", "apply", whole) != nil {
		return "stale", about, nil
	}
	restore := func() error { return l.run("git", "checkout", "-q", ".") }
	defer func() { err = cmp.Or(err, restore()) }()
	rounds := [][]string{{"bash", "-c", l.tests}}
	if path.Ext(file) == ".go" {
		folder := path.Dir(file)
		if l.run("go", "build", "./"+folder) != nil {
			return "does-not-build", about, nil
		}
		if l.tests == "" {
			rounds = [][]string{goTest([]string{folder}), goTest(near(folder, l.importers[folder]))}
		}
	} else if l.tests == "" {
		return "", "", errors.New("say with -tests what tests the page")
	}
	for _, round := range rounds {
		if len(round) == 0 || l.runs(round) == nil {
			continue
		}
		if err := restore(); err != nil {
			return "", "", err
		}
		if l.runs(round) != nil {
			return "unsure", about, nil
		}
		return "killed", about, nil
	}
	return "alive", about, nil
}

// goTest returns the command that tests packages, nil for none.
func goTest(folders []string) (command []string) {
	for _, folder := range folders {
		command = append(command, "./"+folder)
	}
	if command != nil {
		command = append([]string{"go", "test", "-vet=off"}, command...)
	}
	return command
}

// near returns the importers whose tests are about a package, too: a part's room, or whatever has the
// same first folder.
func near(folder string, importers []string) (folders []string) {
	if strings.HasPrefix(folder, "host/room/") {
		return []string{"host/room"}
	}
	first, _, _ := strings.Cut(folder, "/")
	for _, importer := range importers {
		if importer != folder && strings.HasPrefix(importer, first) {
			folders = append(folders, importer)
		}
	}
	return folders
}

// importers returns for each package of a checkout which ones import it, also in their tests.
func importers(checkout string) (map[string][]string, error) {
	const form = `{{.ImportPath}} {{.Module.Path}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`
	list := exec.Command("go", "list", "-f", form, "./...")
	list.Dir = checkout
	out, err := output(list)
	of := map[string][]string{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		from := strings.TrimPrefix(strings.TrimPrefix(fields[0], fields[1]), "/")
		for _, imported := range fields[2:] {
			if folder, ours := strings.CutPrefix(imported, fields[1]+"/"); ours && !slices.Contains(of[folder], from) {
				of[folder] = append(of[folder], from)
			}
		}
	}
	return of, err
}

// run runs a command in the clone, and runs tests with the limit on their time.
func (l lab) run(command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = l.clone
	return cmd.Run()
}

func (l lab) runs(command []string) error {
	return l.run(append([]string{"timeout", "-k", "5", fmt.Sprint(l.limit.Seconds())}, command...)...)
}
