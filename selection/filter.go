package selection

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/selection/rules"
)

// fakeIPs is the link-local range that Steam uses for servers behind its relays. Nobody can send
// them a datagram.
var fakeIPs = netip.MustParsePrefix("169.254.0.0/16")

// Filter applies criteria to a list of servers before anybody measures. It may serve many a
// [Filter.Select] while measurements come in.
type Filter struct {
	servers  Servers
	criteria Criteria
	asked    []Criterion
	barred   map[netip.Addr]bool
	ranges   []netip.Prefix
	vetoed   map[netip.AddrPort]bool
	hidden   map[netip.AddrPort]bool
	ours     map[netip.AddrPort]bool
	// causes are those that the list and each server's own facts give, computed by the first
	// Select. pingLimits belong to the servers that let in only some RTTs. tight servers would be
	// full with the group. It is nil if that does not matter.
	causes     []causes
	pingLimits map[int]pingLimits
	tight      []bool
}

// NewFilter returns the filter of some criteria. It keeps the servers. A caller that adds a new
// [discovery.Info] to them must call [Filter.Update].
func NewFilter(servers Servers, criteria Criteria) *Filter {
	if rules.Find(criteria.By) == nil {
		criteria.By = Mean
	}
	f := &Filter{
		servers: servers, criteria: criteria, asked: criteria.set(),
		barred: make(map[netip.Addr]bool),
		vetoed: make(map[netip.AddrPort]bool), hidden: make(map[netip.AddrPort]bool), ours: make(map[netip.AddrPort]bool),
	}
	for _, p := range criteria.Blacklist { // long blacklists consist of single addresses
		if p = p.Masked(); p.IsSingleIP() {
			f.barred[p.Addr()] = true
		} else {
			f.ranges = append(f.ranges, p)
		}
	}
	for _, veto := range criteria.Vetoes {
		f.vetoed[veto.Server] = true
	}
	for _, hide := range criteria.Hidden {
		f.hidden[hide.Server] = true
	}
	for _, addr := range criteria.Ours {
		f.ours[addr] = true
	}
	return f
}

// note judges all servers, unless that was done before.
func (f *Filter) note() {
	if f.causes != nil {
		return
	}
	f.causes, f.pingLimits = make([]causes, len(f.servers.List)), make(map[int]pingLimits)
	if f.criteria.Seats > 0 && f.criteria.Spare > 0 {
		f.tight = make([]bool, len(f.servers.List))
	}
	infos := make([]*discovery.Info, len(f.causes)) // in order, because they are walked faster that way
	for server, info := range f.servers.Infos {
		infos[server] = info
	}
	for server, info := range infos {
		f.set(server, info)
	}
}

// Update judges one server again, after its Info changed.
func (f *Filter) Update(server int) {
	if f.causes != nil {
		f.set(server, f.servers.Infos[server])
	}
}

func (f *Filter) set(server int, info *discovery.Info) {
	f.causes[server] = f.judge(server, info)
	if f.criteria.Charitable && f.servers.Lone[server] {
		f.causes[server] &= f.judge(server, nil)
	}
	if f.tight != nil {
		f.tight[server] = info != nil && freeSeats(f.known(server, info)) == f.criteria.Seats
	}
	if info != nil && (info.MinPing > 0 || info.MaxPing > 0) {
		f.pingLimits[server] = pingLimitsOf(info)
	} else if len(f.pingLimits) > 0 {
		delete(f.pingLimits, server)
	}
}

// Bars reports whether known facts rule a server out whatever the players measure, and whether the
// criteria demand a fact that it has not told yet. A server that is ruled out by only one of
// several players has not told enough.
func (f *Filter) Bars(server int) (barred, unknown bool) {
	c := f.judge(server, f.servers.Infos[server])
	if f.servers.Lone[server] {
		if sure := f.judge(server, nil); c&^sure != 0 {
			c = c&sure | 1<<Unknown
		}
	}
	return c&^(1<<Unknown) != 0, c.has(Unknown)
}

// ofKind are the causes that a server's own facts, or the list's, give.
const ofKind = 1<<Full | 1<<Filtered | 1<<Passworded | 1<<WrongVersion

// judge returns the causes against a server. heard are its own facts, or nil. The list fills in the
// facts that the server does not tell. They may leave out a server that nobody has asked yet. They
// never take one in, because it will be asked.
func (f *Filter) judge(server int, heard *discovery.Info) causes {
	c := f.judgeBy(server, heard, false)
	known := f.known(server, heard)
	switch {
	case known == heard:
		return c
	case heard != nil && f.servers.Dated:
		return c & f.judgeBy(server, known, false)
	case heard != nil:
		return f.judgeBy(server, known, false)
	case f.servers.Dated:
		return c
	}
	if left := f.judgeBy(server, known, true); left&^c != 0 {
		return left
	}
	return c
}

// known returns the facts of a server: its own and, where those do not answer the criteria, the
// list's. It returns nil if there are none. Looking them up in the list takes most of the time of a
// choice, and most servers answer everything themselves.
func (f *Filter) known(server int, heard *discovery.Info) *discovery.Info {
	if heard != nil && f.isAnsweredBy(heard) {
		return heard
	}
	return heard.Completed(f.servers.Said.Infos[f.servers.List[server].Addr])
}

// isAnsweredBy reports whether a server's own facts answer all demands of the criteria.
func (f *Filter) isAnsweredBy(info *discovery.Info) bool {
	c := &f.criteria
	if info.MaxPlayers == 0 || info.Players > info.MaxPlayers {
		return false
	}
	for i := range f.asked {
		if row := &f.asked[i]; row.isTold != nil && !row.isTold(info) {
			return false
		}
	}
	asksVersion := c.Version != "" || len(c.Editions) > 0
	asksMap := slices.ContainsFunc(c.Vetoes, func(v Veto) bool { return v.Map != "" })
	return (info.Map != "" || !asksMap) && (info.Version != "" && info.Protocol != 0 || !asksVersion)
}

// judgeBy returns the causes against a server with these facts. nil means that none are known. If it
// is charitable, a fact that is not told speaks against nothing.
func (f *Filter) judgeBy(server int, info *discovery.Info, isCharitable bool) (c causes) {
	want, addr := &f.criteria, f.servers.List[server].Addr
	ip := addr.Addr()
	if fakeIPs.Contains(ip) {
		c.add(Hygiene)
	}
	if f.barred[ip] || slices.ContainsFunc(f.ranges, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		c.add(Blacklisted)
	}
	if f.vetoed[addr] {
		c.add(Vetoed)
	}
	if f.hidden[addr] {
		c.add(Hidden)
	}
	if info == nil {
		if want.Seats > 0 || len(f.asked) > 0 {
			c.add(Unknown)
		}
		return c
	}
	if info.MaxPlayers > 0 && info.Players > info.MaxPlayers && !info.AsListed {
		c.add(Hygiene)
	}
	if want.Seats > 0 && freeSeats(info) < want.Seats {
		c.add(Full)
	}
	for i := range f.asked {
		row := &f.asked[i]
		if isCharitable && row.isTold != nil && !row.isTold(info) {
			continue
		}
		if row.fails(&want.Wishes, info) {
			c.add(row.cause)
		}
	}
	if slices.ContainsFunc(want.Editions, func(e Edition) bool { return info.Fit(e.Edition) == discovery.Shuts }) {
		c.add(WrongVersion)
	}
	for i := range want.Vetoes {
		if want.Vetoes[i].hitsMap(info) {
			c.add(Vetoed)
		}
	}
	return c
}

// freeSeats returns how many seats the group may count on. A server that does not count its seats
// may have any, because the servers of some games tell strangers none.
func freeSeats(info *discovery.Info) int {
	if info.Uncounted() {
		return math.MaxInt
	}
	return info.Free()
}

// shutOut returns, by name, the players whose edition of the game a server does not let in.
func (c *Criteria) shutOut(info *discovery.Info) (names []string) {
	for _, e := range c.Editions {
		if info != nil && info.Fit(e.Edition) == discovery.Shuts {
			names = append(names, e.Player)
		}
	}
	slices.Sort(names)
	return names
}

func (v *Veto) hitsMap(info *discovery.Info) bool {
	return v.Map != "" && info != nil && strings.EqualFold(v.Map, info.Map)
}

// pingLimits are the RTTs that a server lets in. 0 is no limit.
type pingLimits struct{ least, most cell }

func pingLimitsOf(info *discovery.Info) (d pingLimits) {
	if info.MinPing > 0 {
		d.least = cellOf(discovery.Answered, info.MinPing)
	}
	if info.MaxPing > 0 {
		d.most = cellOf(discovery.Answered, info.MaxPing)
	}
	return d
}

// shuts reports whether the server does not let in an RTT.
func (d pingLimits) shuts(c cell) bool {
	return c.answered() && (c < d.least || d.most != 0 && c > d.most)
}
