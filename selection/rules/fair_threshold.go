package rules

// FairThreshold is the rule of the smallest deviation among servers where nobody is over the limit.
const FairThreshold Name = "fair-threshold"

var fairThreshold = Rule{
	Name: FairThreshold, Measure: Fairness, Alone: Mean,
	NeedsLimit: true, Deviates: true, Multiplies: true,
	Estimates: fairness.Estimates, Score: fairness.Score, Sum: fairness.Sum, Bound: fairness.Bound, Words: fairness.Words,
	Page: Page{
		Name:   "Fairest under a limit",
		Hint:   "nobody over the limit, then the fairest",
		Wish:   "about the same ping for everyone",
		Figure: "apart",
	},
	Docs: Docs{Does: "nobody over the limit, then the fairest", Minimises: "the deviation, under the same ladder"},
}
