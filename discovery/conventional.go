package discovery

// conventional probes every server in the order of the list.
type conventional struct{ next, servers int }

// NewConventional returns the plan of every server browser, and the baseline of the
// papers: all servers, in the master's order.
func NewConventional(servers int) Plan { return &conventional{servers: servers} }

func (c *conventional) Next() (Probe, Verdict) {
	if c.next == c.servers {
		return Probe{}, Stop
	}
	c.next++
	return Probe{Server: c.next - 1}, Go
}

func (c *conventional) Observe(Result) {}

func (c *conventional) Summary() PlanSummary { return PlanSummary{} }
