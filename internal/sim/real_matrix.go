package sim

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Matrix holds measured round trips between hosts, in milliseconds, such as PlanetLab's. A row
// holds one host's measurements.
type Matrix [][]float64

// A matrix is a user's file, so its size is bounded, and with it the memory.
const (
	maxHosts   = 4096
	maxRowText = 1 << 20 // bytes
)

// ReadMatrix reads a square matrix: a row a line, values in milliseconds separated by tabs, blanks,
// commas or semicolons. It skips empty lines and lines that start with #.
func ReadMatrix(r io.Reader) (Matrix, error) {
	var m Matrix
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRowText)
	for n := 1; lines.Scan(); n++ {
		row, err := readRow(lines.Text())
		switch {
		case err != nil:
			return nil, fmt.Errorf("sim: line %d of the matrix: %w", n, err)
		case len(m) == maxHosts || len(row) > maxHosts:
			return nil, fmt.Errorf("sim: the matrix has more than %d hosts", maxHosts)
		case len(row) > 0:
			m = append(m, row)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("sim: the matrix: %w", err)
	}
	return m, m.check()
}

func readRow(line string) ([]float64, error) {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune("\t ,;\r", c) })
	row := make([]float64, len(fields))
	for i, field := range fields {
		ms, err := strconv.ParseFloat(field, 64)
		if err != nil || !(ms >= 0 && milliseconds(ms) <= longestRTT) {
			return nil, fmt.Errorf("%q is no time in milliseconds", field)
		}
		row[i] = ms
	}
	return row, nil
}

func (m Matrix) check() error {
	if len(m) < 2 {
		return errors.New("sim: a matrix of round trips has two hosts at least")
	}
	for i, row := range m {
		if len(row) != len(m) {
			return fmt.Errorf("sim: row %d of the matrix has %d values, want %d, one for each row", i+1, len(row), len(m))
		}
	}
	return nil
}

// Spread is the layout of hosts that are drawn together.
type Spread string

// These are the spreads.
const (
	Anywhere Spread = ""
	Near     Spread = "near" // in one region
	Far      Spread = "far"  // each far from all others
)

// A host's region is the nearest share of the matrix, and at least several times as many hosts as
// are drawn from it, because hosts often stand in one room.
const (
	regionShare = 1. / 8
	regionRoom  = 4
	farShare    = 1. / 3 // far hosts are among the farthest of this share
)

// Draw draws n hosts of the matrix, by index. It draws fewer if the matrix has fewer.
func (m Matrix) Draw(n int, spread Spread, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 0x686f737473))
	n = min(n, len(m))
	switch spread {
	case Near:
		region := m.NearestTo(rng.IntN(len(m)))
		region = region[:min(len(m), max(regionRoom*n, int(regionShare*float64(len(m)))))]
		rng.Shuffle(len(region), func(i, j int) { region[i], region[j] = region[j], region[i] })
		return region[:n]
	case Far:
		var drawn []int
		for range n {
			drawn = append(drawn, pick(m.farFrom(drawn), rng))
		}
		return drawn
	}
	return rng.Perm(len(m))[:n]
}

// NearestTo returns all hosts, the nearest to one first, beginning with itself.
func (m Matrix) NearestTo(host int) []int {
	hosts := m.hosts()
	from := func(i int) float64 {
		if i == host {
			return -1 // before those in the same room
		}
		return m[host][i]
	}
	slices.SortStableFunc(hosts, func(a, b int) int { return cmp.Compare(from(a), from(b)) })
	return hosts
}

// farFrom returns the hosts that are farthest from the nearest of some.
func (m Matrix) farFrom(some []int) []int {
	gap := make([]float64, len(m))
	for i := range gap {
		gap[i] = math.Inf(1)
		for _, j := range some {
			gap[i] = min(gap[i], m[i][j])
		}
	}
	hosts := slices.DeleteFunc(m.hosts(), func(i int) bool { return slices.Contains(some, i) })
	slices.SortStableFunc(hosts, func(a, b int) int { return cmp.Compare(gap[b], gap[a]) })
	if len(some) == 0 {
		return hosts
	}
	return hosts[:max(1, int(farShare*float64(len(hosts))))]
}

func (m Matrix) hosts() []int {
	hosts := make([]int, len(m))
	for i := range hosts {
		hosts[i] = i
	}
	return hosts
}
