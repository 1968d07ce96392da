package adaptive

import (
	"cmp"
	"slices"
)

// candidate is a branch of the tree and what it is worth to ask there.
type candidate struct {
	node  int32
	score float64
}

// better sorts the best candidate first.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node, b.node))
}

// top keeps the best of many candidates. It gathers twice as many as it keeps
// before it throws half of them away.
type top struct {
	keep int
	all  []candidate
	bar  candidate // the worst of those kept at the last count
	full bool
}

func newTop(keep int) *top {
	return &top{keep: max(1, keep), all: make([]candidate, 0, 2*max(1, keep))}
}

func (t *top) offer(c candidate) {
	if t.full && better(c, t.bar) > 0 {
		return
	}
	t.all = append(t.all, c)
	if len(t.all) == cap(t.all) {
		t.cut()
		t.bar, t.full = t.all[t.keep-1], true
	}
}

func (t *top) cut() {
	slices.SortFunc(t.all, better)
	t.all = t.all[:min(len(t.all), t.keep)]
}

func (t *top) sorted() []candidate {
	t.cut()
	return t.all
}
