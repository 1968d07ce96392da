package rules

// All lists the rules.
func All() []*Rule { return all[:] }
