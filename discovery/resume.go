package discovery

// resumed answers for servers whose results are known already.
type resumed struct {
	Plan
	known map[int]Result
}

// Resume is a plan that is told what was measured before: servers with a known
// result are not probed again, the plan learns the result as if they had been.
func Resume(plan Plan, known []Result) Plan {
	if len(known) == 0 {
		return plan
	}
	r := &resumed{Plan: plan, known: make(map[int]Result, len(known))}
	for _, result := range known {
		r.known[result.Server] = result
	}
	return r
}

func (r *resumed) Next() (Probe, Verdict) {
	for {
		probe, verdict := r.Plan.Next()
		result, known := r.known[probe.Server]
		if verdict != Go || !known {
			return probe, verdict
		}
		result.Phase = probe.Phase
		r.Observe(result)
	}
}
