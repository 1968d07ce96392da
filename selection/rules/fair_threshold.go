package rules

// FairThreshold is the rule of the smallest deviation among servers where nobody is over the limit.
const FairThreshold Name = "fair-threshold"

var fairThreshold = Rule{
	Name: FairThreshold, Measure: Fairness, Alone: Mean,
	NeedsLimit: true, Deviates: true, Multiplies: true,
	Estimates: fairness.Estimates, Score: fairness.Score, Sum: fairness.Sum, Lean: fairness.Lean, Bound: fairness.Bound,
	Docs: Docs{Does: "nobody over the limit, then the fairest", Minimises: "the deviation, under the same ladder"},
}
