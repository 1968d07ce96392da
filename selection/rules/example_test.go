package rules_test

import (
	"fmt"

	"muster/selection/rules"
)

// Every rule is found by its name, and scores a server by the group's round trips.
func ExampleFind() {
	near := rules.Equal([]float64{20, 30, 140}, nil) // ms
	even := rules.Equal([]float64{60, 65, 70}, nil)
	for _, name := range []rules.Name{rules.Mean, rules.Minimax, rules.Fairness} {
		rule := rules.Find(name)
		fmt.Printf("%s: %.1f and %.1f\n", rule.Name, rule.Score(near), rule.Score(even))
	}
	fmt.Println(rules.Find("loudest") == nil)
	// Output:
	// mean: 63.3 and 65.0
	// minimax: 140.0 and 70.0
	// fairness: 66.6 and 5.0
	// true
}
