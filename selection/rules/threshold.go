package rules

// Threshold is the rule of the lowest average RTT among servers where nobody is over the
// limit.
const Threshold Name = "threshold"

var threshold = Rule{
	Name: Threshold, Measure: Mean,
	NeedsLimit: true, Multiplies: true,
	Estimates: mean.Estimates, Score: mean.Score, Sum: mean.Sum, Bound: mean.Bound,
	Docs: Docs{
		Does:      "nobody over the limit, then the lowest average",
		Minimises: "the mean, under the strictest limit of a ladder that any server keeps", Note: `$L_1 < L_2 < \dots$`,
	},
}
