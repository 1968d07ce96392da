// Command recorded holds Muster's codecs against packets that others recorded:
//
//	checkouts ──▶ recordings: packets, and the facts that their recorders expect
//	                  │
//	                  ├──▶ the codec of the protocol ──▶ facts
//	                  ▼                                    │
//	              compared, fact by fact  ◀────────────────┘
//
// It reads checkouts of public repositories from a folder, each under the repository's
// name, and prints a table of right, wrong and unread recordings. A difference that is
// known and intended is listed in differences.go with its reason. Any other makes the
// command fail.
//
// The recordings are not part of Muster: their licences differ, and a checkout is easily
// made.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

var errWrong = errors.New("some recordings are read otherwise than their recorders read them")

func main() {
	folder := flag.String("from", "", "folder with checkouts of the repositories, each under its name")
	flag.Parse()
	if err := run(*folder, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recorded:", err)
		os.Exit(1)
	}
}

// run reads the checkouts in a folder, and writes the table and the differences.
func run(folder string, w io.Writer) error {
	results, err := readAll(folder)
	if err != nil {
		return err
	}
	report(w, results)
	for _, r := range results {
		if r.outcome() == wrong {
			return errWrong
		}
	}
	return nil
}

// readAll reads the recordings of all repositories with a checkout in the folder.
func readAll(folder string) ([]result, error) {
	var results []result
	found := false
	for _, repository := range repositories {
		checkout, err := os.OpenRoot(folder + "/" + repository.name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		recordings, err := repository.read(checkout.FS())
		checkout.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", repository.name, err)
		}
		found = true
		for _, r := range recordings {
			r.repository = repository.name
			results = append(results, decode(r))
		}
	}
	if !found {
		return nil, fmt.Errorf("no checkout of a known repository in %q", folder)
	}
	return results, nil
}
