package coordinate

// Finalists are the best servers, n at most, that everybody measured and that suit,
// and some that may be better than all of them.
func (p *Planner) Finalists(n int) []int {
	p.estimator.update()
	var servers []int
	for _, c := range p.estimator.leaders(n) {
		servers = append(servers, c.server)
	}
	return servers
}
