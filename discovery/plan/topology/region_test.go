package topology

import (
	"strings"
	"testing"

	"muster/discovery/internal/testlist"
)

func TestEveryCountryLiesInOneRegion(t *testing.T) {
	seen := make(map[string]bool)
	for _, codes := range regions {
		for code := range strings.FieldsSeq(codes) {
			if home := strings.ToUpper(code) == code; len(code) != 2 || home && seen[code] {
				t.Errorf("%q is no country of this region alone", code)
			} else if home {
				seen[code] = true
			}
		}
	}
	if len(seen) < 240 {
		t.Errorf("%d countries are known", len(seen))
	}
}

func TestRegionsAndBlocks(t *testing.T) {
	tree := New(testlist.Of(t, "80.1.1.1:1 DE 1", "80.1.2.1:1 AU 2", "80.2.1.1:1 FR 3", "81.1.1.1:1 - 0"))
	at := func(server int, l Level) Node { return tree.Above(tree.Of(server), l) }
	region := func(server int) int { return tree.Region(at(server, Country)) }
	if region(0) != region(2) || region(0) == region(1) || region(0) < 0 || region(3) != -1 ||
		tree.Region(Root) != -1 || tree.Region(at(0, AS)) != -1 {
		t.Errorf("regions %d, %d, %d, %d", region(0), region(1), region(2), region(3))
	}
	if reaches := tree.Reaches(at(1, Country)); len(reaches) != 1 || int(reaches[0]) == region(1) || tree.Reaches(at(0, Country)) != nil {
		t.Errorf("Australia reaches into %v, Germany into %v", reaches, tree.Reaches(at(0, Country)))
	}
	block := func(server int) Block { return tree.Block(at(server, Prefix16)) }
	eight := func(server int) Block { return tree.Within(block(server)) }
	if block(0) != block(1) || block(0) == block(2) || eight(0) != eight(2) || eight(0) == eight(3) || eight(0) > block(0) {
		t.Errorf("blocks %d, %d, %d, %d in %d, %d, %d, %d", block(0), block(1), block(2), block(3), eight(0), eight(1), eight(2), eight(3))
	}
	if tree.Blocks() != 5 || tree.Within(eight(0)) != NoBlock || tree.Block(at(0, AS)) != NoBlock {
		t.Errorf("%d blocks, the /8 in %d, an AS is %d", tree.Blocks(), tree.Within(eight(0)), tree.Block(at(0, AS)))
	}
}
