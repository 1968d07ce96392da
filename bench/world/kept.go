package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shrink returns the fewest operations with which a night still breaks a promise: none of them can be left
// out alone.
func shrink(t *testing.T, seed uint64, ops []op) []op {
	for size := max(1, len(ops)/2); ; size = max(1, size/2) {
		isSmaller := false
		for at := 0; at < len(ops); {
			fewer := slices.Delete(slices.Clone(ops), at, min(at+size, len(ops)))
			if len(night(t, seed, fewer).broken) > 0 {
				ops, isSmaller = fewer, true
			} else {
				at += size
			}
		}
		if size == 1 && !isSmaller {
			return ops
		}
	}
}

// keep writes a night into a file of testdata, which the tests play from then on.
func keep(seed uint64, ops []op, broken []string) (file string, err error) {
	text := fmt.Sprintf("seed %d\n", seed)
	for _, what := range broken {
		text += "# " + what + "\n"
	}
	for _, o := range ops {
		text += o.String() + "\n"
	}
	file = filepath.Join("world", "testdata", fmt.Sprintf("%d-%d.txt", seed>>31, seed&(1<<31-1)))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// kept reads a file that keep wrote.
func kept(file string) (seed uint64, ops []op, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		switch text := lines.Text(); {
		case text == "" || text[0] == '#':
		case strings.HasPrefix(text, "seed "):
			_, err = fmt.Sscan(text[len("seed "):], &seed)
		default:
			var o op
			o, err = parseOp(text)
			ops = append(ops, o)
		}
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return seed, ops, lines.Err()
}
