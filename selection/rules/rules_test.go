package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/selection/rules"
)

// english has what people read of the rules.
var english = sync.OnceValue(func() map[string]string { return catalogue.Sentences() })

// missingOf lists the fields that a rule lacks.
func missingOf(r *rules.Rule) (missing []string) {
	optional := []string{
		"Alone", "NeedsLimit", "Ladder", "Sides", "OwnBests", "Deviates", "Multiplies", "Averages", // absent where they do not apply
		"Rank", "Limit", "Lean", "Sum",
		"Docs.Note",
	}
	var walk func(path string, of reflect.Value)
	walk = func(path string, of reflect.Value) {
		for i := range of.NumField() {
			field, at := of.Field(i), path+of.Type().Field(i).Name
			switch {
			case field.Kind() == reflect.Struct:
				walk(at+".", field)
			case field.IsZero() && !slices.Contains(optional, at):
				missing = append(missing, at)
			}
		}
	}
	walk("", reflect.ValueOf(*r))
	wants := func(of rules.Name, words ...string) {
		for _, word := range words {
			if key := fmt.Sprintf("rule.%s.%s", of, word); english()[key] == "" {
				missing = append(missing, key)
			}
		}
	}
	wants(r.Name, "name", "hint", "wish", "figure")
	wants(r.Measure, "short", "best", "best-within", "has", "so-far", "lower", "above", "instead")
	if r.OwnBests { // where nobody gives up anything, and while nearer servers may be found
		wants(r.Measure, "best-nothing", "best-within-nothing", "has-nothing", "so-far-perhaps")
	}
	if r.Sum == nil && !r.OwnBests && !r.Sides {
		missing = append(missing, "Sum (only a rule of own bests or sides does without)")
	}
	if r.Deviates && r.Lean == nil {
		missing = append(missing, "Lean (of a rule that deviates)")
	}
	if r.Sides && r.Alone == "" {
		missing = append(missing, "Alone (of a rule of sides)")
	}
	for _, other := range []rules.Name{r.Measure, r.Alone} {
		if other != "" && rules.Find(other) == nil {
			missing = append(missing, fmt.Sprintf("the rule %q that it names", other))
		}
	}
	return missing
}

func TestEveryRuleIsWhole(t *testing.T) {
	for _, rule := range rules.All() {
		if missing := missingOf(rule); len(missing) > 0 {
			t.Errorf("the rule %q lacks: %s", rule.Name, strings.Join(missing, ", "))
		}
	}
}

func TestMissingSaysWhatIsMissing(t *testing.T) {
	all := missingOf(new(rules.Rule))
	for _, want := range []string{
		"Name", "Measure", "Estimates", "Score", "Bound", "Sum (only a rule of own bests or sides does without)",
		"rule..name", "rule..hint", "rule..wish", "rule..figure", "rule..short", "rule..best", "rule..best-within",
		"rule..has", "rule..so-far", "rule..lower", "rule..above", "rule..instead", "Docs.Does", "Docs.Minimises",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("of an empty rule nobody hears that it lacks %s: %q", want, all)
		}
	}
	half := *rules.Of(rules.Mean)
	half.Docs.Does, half.OwnBests, half.Alone = "", true, "nobody's"
	if got := missingOf(&half); !slices.Equal(got, []string{
		"Docs.Does", "rule.mean.best-nothing", "rule.mean.best-within-nothing", "rule.mean.has-nothing",
		"rule.mean.so-far-perhaps", `the rule "nobody's" that it names`,
	}) {
		t.Errorf("%q", got)
	}
}

// TestEveryRuleIsListed reads the package's source: a rule that is not in All fails.
func TestEveryRuleIsListed(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) == 1 {
				if literal, is := spec.Values[0].(*ast.CompositeLit); is {
					if name, is := literal.Type.(*ast.Ident); is && name.Name == "Rule" {
						written++
					}
				}
			}
			return true
		})
	}
	if listed := len(rules.All()); written != listed {
		t.Errorf("%d rules are written, and All lists %d", written, listed)
	}
}

// drawn returns random pings of players with equal weights.
func drawn(random *rand.Rand) (rules.Pings, rules.Sums) {
	sums := rules.Sums{Players: 1 + random.IntN(6)}
	var rtts, own []float64
	for range sums.Players {
		rtt := uint32(1000 + random.IntN(200_000))
		rtts, own = append(rtts, float64(rtt)), append(own, float64(1+random.IntN(int(rtt))))
		sums.Total += uint64(rtt)
		sums.Squares += uint64(rtt) * uint64(rtt)
		if rtt > sums.Worst {
			rtt, sums.Worst = sums.Worst, rtt
		}
		sums.Second = max(sums.Second, rtt)
	}
	pings := rules.Equal(rtts, own)
	for range rtts {
		pings.Side = append(pings.Side, rules.Side(random.IntN(3)))
	}
	return pings, sums
}

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

func TestSumsScoreLikePings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		pings, sums := drawn(random)
		for _, rule := range rules.All() {
			if rule = rule.For(sums.Players); rule.Sum == nil {
				continue
			}
			if got, want := rule.Sum(sums), rule.Score(pings); !isNear(got, want) {
				t.Fatalf("%s of %v: %v from sums, %v from pings", rule.Name, pings.RTT, got, want)
			}
		}
	}
}

func TestBoundIsBelowEveryScore(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		pings, _ := drawn(random)
		known := pings
		known.RTT = slices.Clone(pings.RTT)
		for player := range known.RTT {
			known.RTT[player] *= float64(random.IntN(2))
		}
		for _, rule := range rules.All() {
			if bound, score := rule.Bound(known), rule.Score(pings); bound > score+1e-6 {
				t.Fatalf("%s of %v: a bound of %v, knowing %v, and a score of %v", rule.Name, pings.RTT, bound, known.RTT, score)
			}
		}
	}
}

// TestWeightsMultiplyPlayers compares a player of weight 3 with three players.
func TestWeightsMultiplyPlayers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		pings, _ := drawn(random)
		one, rtts, sides := rules.Equal(pings.RTT, nil), pings.RTT, pings.Side
		one.Weight[0], one.Side = 3, sides
		three := rules.Equal(append(slices.Clone(rtts), rtts[0], rtts[0]), nil)
		three.Side = append(slices.Clone(sides), sides[0], sides[0])
		for _, rule := range rules.All() {
			if !rule.Multiplies || rule.Deviates && !rule.Sides { // weights change a deviation's n−1
				continue
			}
			got, want := rule.Score(one), rule.Score(three)
			if !isNear(got, want) {
				t.Fatalf("%s of %v: %v, want %v", rule.Name, pings.RTT, got, want)
			}
		}
	}
}

func said(s sentence.Sentence) string { return catalogue.InEnglish().Say(s) }

// TestFiguresOfAnySize checks that figures from a document, of whatever size, can be said.
func TestFiguresOfAnySize(t *testing.T) {
	for ms, want := range map[float64]string{
		58: "58.0 ms", 0.04: "0.0 ms", -2.25: "-2.2 ms", 1e300: "1,000,000,000.0 ms", math.Inf(-1): "-1,000,000,000.0 ms", math.NaN(): "0.0 ms",
	} {
		if got := said(rules.Exact(ms)); got != want {
			t.Errorf("%v is %q, want %q", ms, got, want)
		}
	}
}

func TestUnknownRuleSaysSo(t *testing.T) {
	rule := rules.Of("of-tomorrow")
	got := said(rule.Praise("10.0.0.1:1", rules.Figures{Mean: 20}, 0))
	if got != "10.0.0.1:1 was chosen by the rule “of-tomorrow”, which is not known here: 20.0 ms on average" || rules.Find("of-tomorrow") != nil {
		t.Errorf("%q", got)
	}
	for want, got := range map[string]sentence.Sentence{
		"of-tomorrow": rule.Short(), "20.0 ms on average": rule.Describe(rules.Figures{Mean: 20}), "a lower average (3.0 ms)": rule.Lower(3),
	} {
		if got := said(got); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestScores works out each rule by hand.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		by                rules.Name
		rtts, weight, own []float64
		want              float64
	}{
		{rules.Mean, []float64{10, 20, 60}, []float64{1, 1, 1}, nil, 30},
		{rules.Mean, []float64{10, 20, 60}, []float64{4, 1, 0}, nil, 12},
		{rules.Mean, []float64{10, 0, 60}, []float64{1, 1, 1}, nil, 35},
		{rules.Threshold, []float64{10, 20, 60}, []float64{1, 1, 1}, nil, 30},
		{rules.Fairness, []float64{20, 40, 60}, []float64{1, 1, 1}, nil, 20},
		{rules.FairThreshold, []float64{20, 40, 60}, []float64{1, 1, 1}, nil, 20},
		{rules.Minimax, []float64{10, 20, 60}, []float64{1, 4, 1}, nil, 80},
		{rules.LeastSacrifice, []float64{10, 20, 60}, []float64{1, 1, 1}, []float64{5, 5, 58}, 15},
		{rules.LeastSacrifice, []float64{10, 20, 60}, []float64{4, 1, 1}, []float64{5, 5, 58}, 20},
	} {
		got := rules.Of(c.by).Score(rules.Pings{RTT: c.rtts, Weight: c.weight, Own: c.own})
		if !isNear(got, c.want) {
			t.Errorf("%s of %v, weights %v: %v, want %v", c.by, c.rtts, c.weight, got, c.want)
		}
	}
}

// TestAddingARule follows CONTRIBUTING.md with a rule that was added that way. Everything the guide
// names exists, and no other file outside the tests knows the rule.
func TestAddingARule(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(string(text), "\n## Add a rule\n")
	path, _, _ = strings.Cut(path, "\n## ")
	for _, want := range []string{
		"`selection/rules/NAME.go`", "`selection/rules/NAME_test.go`", "`pairwise.go`", "`all` (`rules.go`)",
		"`selection/brute_test.go`", "-run TestFresh -write", "`web/static/rules.js`", "docs/game-night.md", "docs/algorithms.md",
	} {
		if !strings.Contains(path, want) {
			t.Errorf("CONTRIBUTING.md does not tell of %s", want)
		}
	}
	allowed := []string{
		"selection/rules/pairwise.go", "selection/rules/rules.go", "web/static/rules.js", // the last one is generated
	}
	root := os.DirFS("../..")
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		isSource := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".js")
		if err != nil || entry.IsDir() || !isSource || slices.Contains(allowed, name) {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if strings.Contains(strings.ToLower(string(data)), "pairwise") {
			t.Errorf("%s names the rule pairwise", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
