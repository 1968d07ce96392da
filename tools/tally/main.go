// Command tally reads what `go test -json` prints and says what people want to know of it: what
// failed with its output, what took long, and how many tests there were. It fails if a test failed
// or was skipped without leave, or if hardly any test was there.
//
//	go test -json ./... | tally -least 100
//
// With -failures it appends the name of each test that failed to a file, so that many runs can be
// counted together.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	var o options
	flag.IntVar(&o.least, "least", 1, "`tests` that must have passed")
	flag.StringVar(&o.maySkip, "may-skip", "^$", "`pattern` of names or reasons of tests that may be skipped; all others may not")
	flag.IntVar(&o.slowest, "slowest", 5, "`packages` and tests to name that took longest")
	failures := flag.String("failures", "", "`file` to which the names of failed tests are appended")
	flag.Parse()
	seen, err := read(os.Stdin, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(2)
	}
	wrong := seen.tell(os.Stdout, o)
	if *failures != "" && len(seen.failed) > 0 {
		if err := appendLines(*failures, seen.failed); err != nil {
			fmt.Fprintln(os.Stderr, "tally:", err)
			os.Exit(2)
		}
	}
	if wrong {
		os.Exit(1)
	}
}

type options struct {
	least, slowest int
	maySkip        string
}

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64 // seconds
}

// name returns what people call the event's test: package and test without the module.
func (e event) name() string {
	_, folder, found := strings.Cut(e.Package, "/")
	if !found {
		folder = "."
	}
	if e.Test == "" {
		return folder
	}
	return folder + " " + e.Test
}

// results are what a run of tests came to, in the order in which tests ended.
type results struct {
	passed          int
	failed, skipped []string
	took            []event         // packages and tests
	hasFailedTest   map[string]bool // by package
}

// read follows a run. It writes the output of a test to the second argument as soon as the test has
// failed. It writes lines that are not events, such as a compiler's, at once.
func read(from io.Reader, to io.Writer) (results, error) {
	seen := results{hasFailedTest: map[string]bool{}}
	output := map[string]*strings.Builder{}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			io.WriteString(to, line)
		} else {
			seen.note(e, output, to)
		}
		if err == io.EOF {
			return seen, nil
		}
		if err != nil {
			return seen, err
		}
	}
}

func (seen *results) note(e event, output map[string]*strings.Builder, to io.Writer) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		io.WriteString(to, e.Output)
	case "output":
		if output[key] == nil {
			output[key] = &strings.Builder{}
		}
		output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		seen.took = append(seen.took, e)
		switch {
		case e.Action == "fail":
			fmt.Fprintf(to, "--- %s failed after %.1f s\n", e.name(), e.Elapsed)
			if output[key] != nil {
				io.WriteString(to, output[key].String())
			}
			if e.Test != "" {
				seen.hasFailedTest[e.Package] = true
				seen.failed = append(seen.failed, e.name())
			} else if !seen.hasFailedTest[e.Package] { // it does not build, or ended before its tests did
				seen.failed = append(seen.failed, e.name())
			}
		case e.Test == "":
		case e.Action == "skip":
			why := ""
			if output[key] != nil {
				why = strings.Join(strings.Fields(output[key].String()), " ")
			}
			seen.skipped = append(seen.skipped, e.name()+": "+why)
		default:
			seen.passed++
		}
		delete(output, key)
	}
}

// tell writes a summary, whose last line has the counts, and reports whether something is wrong.
func (seen *results) tell(to io.Writer, o options) (wrong bool) {
	may := regexp.MustCompile(o.maySkip)
	for _, isTest := range []bool{false, true} {
		took := slices.DeleteFunc(slices.Clone(seen.took), func(e event) bool { return (e.Test != "") != isTest || e.Elapsed < 1 })
		slices.SortStableFunc(took, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
		for _, e := range took[:min(o.slowest, len(took))] {
			fmt.Fprintf(to, "%6.1f s  %s\n", e.Elapsed, e.name())
		}
	}
	for _, skipped := range seen.skipped {
		if !may.MatchString(skipped) {
			fmt.Fprintf(to, "skipped, and may not be: %s\n", skipped)
			wrong = true
		}
	}
	if seen.passed < o.least {
		fmt.Fprintf(to, "hardly any tests: %d passed, %d are expected\n", seen.passed, o.least)
		wrong = true
	}
	for _, failed := range seen.failed {
		fmt.Fprintf(to, "failed: %s\n", failed)
		wrong = true
	}
	fmt.Fprintf(to, "%d passed, %d failed, %d skipped\n", seen.passed, len(seen.failed), len(seen.skipped))
	return wrong
}

func appendLines(file string, lines []string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
