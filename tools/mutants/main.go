// Command mutants plants small faults in the product, and says which of them are found:
//
//	go -C tools run ./mutants -plant 100 -seed 24 -in host/room > /tmp/rows
//	go -C tools run ./mutants -kill /tmp/rows [NAME...]
//	go -C tools run ./mutants -kill-world mutants/world.txt [-nights 500] [NAME...]
//
// Planting draws places by the seed, and prints each fault that still compiles as a row; see row. Killing
// tries each row of a file, or those whose names have one of some texts in them. The tests of a fault are
// those of its package and, if they pass, of the packages that import it and are near to it. With
// -kill-world bench/world plays nights until one breaks a promise, in two processes; for a fault in its
// checker TestChecker decides. A line for each row says what has found it, or
//
//	alive            nothing has
//	does-not-build   the fault does not compile
//	stale            the code has changed: write the row anew
package main

import (
	"context"
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
	seed := flag.Uint64("seed", 1, "draws their places, or begins the nights")
	in := flag.String("in", "discovery,selection,host,peer,internal", "folders of the product, with commas")
	except := flag.String("except", "", "folders and files below them that are left out, with commas")
	kill := flag.String("kill", "", "a file of rows that tests should find")
	world := flag.String("kill-world", "", "a file of rows that nights should find")
	nights := flag.Int("nights", 500, "play so many nights at most")
	limit := flag.Duration("timeout", 15*time.Minute, "tests or nights that take longer have found the fault")
	flag.Parse()
	root, err := output(exec.Command("git", "rev-parse", "--show-toplevel"))
	l := lab{root: root, seed: *seed, nights: *nights, limit: *limit}
	switch {
	case err != nil:
	case *plant > 0:
		err = plantAll(root, strings.Split(*in, ","), strings.Split(*except, ","), *plant, *seed)
	case *world != "":
		err = l.killAll(*world, flag.Args(), l.byNights)
	case *kill != "":
		if l.importers, err = importers(root); err == nil {
			err = l.killAll(*kill, flag.Args(), l.byTests)
		}
	default:
		err = errors.New("say -plant N, -kill FILE or -kill-world FILE")
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

// plantAll prints the rows of the drawn places.
func plantAll(root string, in, except []string, n int, seed uint64) error {
	places, err := placesIn(root, in, except)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	planted, taken := 0, map[string]bool{}
	for _, p := range draw(places, seed) {
		text, err := os.ReadFile(filepath.Join(root, p.file))
		if err != nil {
			return err
		}
		r, line := p.row(string(text))
		at := fmt.Sprint(p.file, ":", line)
		if taken[at] {
			continue
		}
		overlay, err := r.overlay(root, folder)
		if err != nil {
			return err
		}
		build := exec.Command("go", "build", "-overlay", overlay, "./"+path.Dir(p.file))
		if build.Dir = root; build.Run() != nil {
			continue
		}
		taken[at] = true
		fmt.Print(r)
		if planted++; planted == n {
			return nil
		}
	}
	return fmt.Errorf("only %d places", planted)
}

// lab tries faults.
type lab struct {
	root      string
	seed      uint64
	nights    int
	limit     time.Duration
	importers map[string][]string // by folder, the folders of the packages that import it
}

// killAll tries the rows of a file, or some of them. try gets a row and its overlay, and returns what has
// found the fault, empty if nothing has.
func (l lab) killAll(file string, only []string, try func(r row, overlay, folder string) string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rows, err := parseRows(string(text))
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	killed, tried := 0, 0
	for _, r := range rows {
		if len(only) > 0 && !slices.ContainsFunc(only, func(text string) bool { return strings.Contains(r.name, text) }) {
			continue
		}
		tried++
		found := ""
		overlay, err := r.overlay(l.root, folder)
		if err != nil {
			found = err.Error()
		} else if found = try(r, overlay, folder); found == "" {
			found = "alive"
		} else if found != "does-not-build" {
			killed++
		}
		fmt.Printf("%-60s  %s\n", r.name, found)
	}
	fmt.Printf("found %d of %d\n", killed, tried)
	return nil
}

// byTests returns which tests find a fault.
func (l lab) byTests(r row, overlay, _ string) string {
	folder := path.Dir(r.file)
	if l.run("go", "build", "-overlay", overlay, "./"+folder) != nil {
		return "does-not-build"
	}
	for _, packages := range [][]string{{folder}, near(folder, l.importers[folder])} {
		test := []string{"timeout", "-k", "5", fmt.Sprint(l.limit.Seconds()), "go", "test", "-vet=off", "-overlay", overlay}
		for _, p := range packages {
			test = append(test, "./"+p)
		}
		if len(packages) > 0 && l.run(test...) != nil {
			return "by tests of " + strings.Join(packages, ", ")
		}
	}
	return ""
}

// byNights returns which night finds a fault.
func (l lab) byNights(r row, overlay, folder string) string {
	program := filepath.Join(folder, "world")
	if l.run("go", "-C", "bench", "build", "-overlay", overlay, "-o", program, "./world") != nil {
		return "does-not-build"
	}
	if path.Dir(r.file) == "bench/world" {
		if l.run("go", "-C", "bench", "test", "-vet=off", "-overlay", overlay, "./world", "-run", "TestChecker$") != nil {
			return "by TestChecker"
		}
		return ""
	}
	ctx, stop := context.WithTimeout(context.Background(), l.limit)
	defer stop()
	const processes = 2
	found := make(chan string, processes)
	for i := range processes {
		go func() {
			var out strings.Builder
			play := exec.CommandContext(ctx, program, "-first", "-seed", fmt.Sprint(l.seed+uint64(i)), "-nights", fmt.Sprint(l.nights/processes))
			play.Stdout, play.Stderr = &out, &out
			if play.Run() == nil {
				found <- ""
				return
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				found <- "by a night that does not end"
				return
			}
			said, _, _ := strings.Cut(out.String()[max(0, strings.Index(out.String(), "panic:")):], "\n") // or what the night breaks
			found <- "by " + said
		}()
	}
	for range processes {
		if by := <-found; by != "" {
			return by
		}
	}
	return ""
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

// run runs a command in the checkout.
func (l lab) run(command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = l.root
	return cmd.Run()
}
