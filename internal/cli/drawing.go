package cli

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/sim"
)

// drawing is a flag that says how many hosts are drawn, and how they lie.
type drawing struct {
	n      int
	spread sim.Spread
}

func (d *drawing) String() string {
	switch {
	case d.n == 0:
		return ""
	case d.spread == sim.Anywhere:
		return strconv.Itoa(d.n)
	}
	return fmt.Sprintf("%s:%d", d.spread, d.n)
}

func (d *drawing) Set(text string) error {
	number, spread := text, sim.Anywhere
	if word, rest, ok := strings.Cut(text, ":"); ok {
		number, spread = rest, sim.Spread(word)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || spread != sim.Anywhere && spread != sim.Near && spread != sim.Far {
		return fmt.Errorf("%q is no number of hosts such as 8, near:8 or far:2", text)
	}
	d.n, d.spread = n, spread
	return nil
}

func (d *drawing) Type() string { return "[near:|far:]N" }
