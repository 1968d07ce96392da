// Package regions describes games whose players choose a region instead of a server.
//
// A table names the regions of a game, where each is, and what players set in the game.
// Every region is one entry of a server list, so rooms treat it as a server without
// seats, players or a map. There are two ways to measure it:
//
//	endpoint of the region's provider ── TCP handshake ──▶ RTT
//	the game's own list of pings      ── pasted ─────────▶ RTT, see [ParseDump]
//
// A region that the game measures itself has no address. It gets one for documentation
// (RFC 3849), which is only its key in lists and which nobody can ask.
package regions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// Table has the regions of a game. The zero value is a game with servers.
type Table struct {
	// How says how players set a region in the game. "{set}" stands for the region's
	// own Set. The built-in table has the catalogue's key, a user's own table the text.
	How string `toml:"how"`
	// Dump is the form of the pings that the game prints, and Command prints them.
	// They are empty if Muster measures the regions.
	Dump    Dump   `toml:"dump"`
	Command string `toml:"command"`
	// List has the regions.
	List []Region `toml:"list"`
}

// Region is one of the places that a game offers.
type Region struct {
	// Name is for people, and unique in the table.
	Name string `toml:"name"`
	// Set is what players choose or type in the game. Empty is the name.
	Set string `toml:"set"`
	// Country is the ISO 3166-1 alpha-2 code of the region's country, or empty.
	Country string `toml:"country"`
	// Measure is the HOST:PORT of a public endpoint in the region. Code is the region's
	// name in the game's dump.
	Measure string `toml:"measure"`
	Code    string `toml:"code"`
}

// Bounds of a table.
const (
	maxRegions  = 100
	longestName = 64 // bytes
	longestText = 240
)

// Error says which field of a table is wrong.
type Error struct {
	Field string
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// IsZero reports whether the game has servers instead of regions.
func (t Table) IsZero() bool { return t.How == "" && t.Dump == "" && t.Command == "" && t.List == nil }

// IsPasted reports whether the game measures its regions, and players paste the result.
func (t Table) IsPasted() bool { return t.Dump != "" }

// Check returns what is wrong with the table as an [*Error].
func (t Table) Check() error {
	wrong := func(field, format string, a ...any) error {
		return &Error{Field: field, Err: fmt.Errorf(format, a...)}
	}
	switch {
	case t.IsZero():
		return nil
	case t.How == "":
		return wrong("how", "how is missing: it says how players set a region")
	case !isClean(t.How, longestText):
		return wrong("how", "how is no line of text")
	case t.IsPasted() && !slices.Contains(Dumps(), t.Dump):
		return wrong("dump", "dump %q is none of %v", string(t.Dump), Dumps())
	case t.IsPasted() && !isClean(t.Command, longestName):
		return wrong("command", "command is missing: it says what prints the dump")
	case len(t.List) < 2 || len(t.List) > maxRegions:
		return wrong("list", "list has %d regions, not 2 to %d", len(t.List), maxRegions)
	}
	seen := map[string]bool{}
	for i, r := range t.List {
		if err := r.check(t.IsPasted()); err != nil {
			return wrong("list", "region %d: %w", i+1, err)
		}
		for _, key := range []string{"name " + strings.ToLower(r.Name), "measure " + strings.ToLower(r.Measure), "code " + r.Code} {
			if strings.HasSuffix(key, " ") {
				continue
			}
			if seen[key] {
				return wrong("list", "region %d: another region has the same %s", i+1, key)
			}
			seen[key] = true
		}
	}
	return nil
}

func (r Region) check(isPasted bool) error {
	_, _, isEndpoint := r.Endpoint()
	switch {
	case !isClean(r.Name, longestName):
		return errors.New("name is missing, or no line of text")
	case r.Set != "" && !isClean(r.Set, longestText):
		return errors.New("set is no line of text")
	case r.Country != "" && (len(r.Country) != 2 || strings.Trim(r.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
		return fmt.Errorf("country %q is no code such as DE", discovery.CleanText(r.Country))
	case isPasted && (r.Measure != "" || !isCode(r.Code)):
		return errors.New("a region that the game measures has a code, such as fra, and no measure")
	case !isPasted && (r.Code != "" || !isEndpoint):
		return errors.New("a region has a measure, HOST:PORT, and no code")
	}
	return nil
}

// isClean reports whether a text fits in a line as it is.
func isClean(text string, longest int) bool {
	return text != "" && len(text) <= longest && discovery.CleanText(text) == text
}

// isCode reports whether a dump may name a region so.
func isCode(s string) bool {
	return len(s) >= 2 && len(s) <= 8 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// Endpoint returns the host and port that are measured.
func (r Region) Endpoint() (host string, port uint16, ok bool) {
	host, digits, found := strings.Cut(r.Measure, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	ok = found && err == nil && n > 0 && len(host) <= 253 && strings.Contains(host, ".") &&
		strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
	return host, uint16(n), ok
}

// Key returns the address that stands for a region which the game measures itself. No
// machine has it.
func (r Region) Key() netip.AddrPort {
	sum := fnv.New64a()
	sum.Write([]byte(r.Code)) // never fails
	return discovery.Placeholder(sum.Sum64())
}

// Find returns the region of this name, with its Set filled in. Called may also be the
// name of its entry in a room, which has the address behind it.
func (t Table) Find(called string) (r Region, ok bool) {
	at := strings.LastIndex(called, " (")
	for _, r := range t.List {
		if r.Name == called || at > 0 && r.Name == called[:at] {
			r.Set = cmp.Or(r.Set, r.Name)
			return r, true
		}
	}
	return Region{}, false
}

// Pasted answers a plan's probes with the pings that the game has printed, and sends
// nothing.
type Pasted struct {
	pings map[netip.AddrPort]time.Duration
}

// NewPasted returns the answers for the regions of a table.
func NewPasted(t Table, pings map[string]time.Duration) *Pasted {
	p := &Pasted{pings: map[netip.AddrPort]time.Duration{}}
	for _, r := range t.List {
		if ping, has := pings[r.Code]; has {
			p.pings[r.Key()] = ping
		}
	}
	return p
}

// Regions returns how many of the table's regions have a ping.
func (p *Pasted) Regions() int { return len(p.pings) }

// Run follows a plan to its end. A region without a ping is lost: the game did not reach
// it either.
func (p *Pasted) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	for order := 1; ctx.Err() == nil; order++ {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			return nil
		}
		result := discovery.Result{Server: probe.Server, Phase: probe.Phase, Order: order, State: discovery.Lost}
		if ping, has := p.pings[servers[probe.Server].Addr]; has {
			result.State, result.RTT, result.Info = discovery.Answered, ping, &discovery.Info{}
		}
		plan.Observe(result)
		if seen != nil {
			seen(result)
		}
	}
	return ctx.Err()
}

// Share does nothing: no packet is sent.
func (p *Pasted) Share(int) {}

// Lead does nothing: nobody is asked.
func (p *Pasted) Lead(discovery.Reach) {}

// Close does nothing.
func (p *Pasted) Close() error { return nil }

// Dump is the form of the pings that a game prints.
type Dump string

// SDR is the form of Team Fortress 2's console command tf_datacenter_ping_dump. It lists
// Valve's data centres, in ms; only status 1 is a measurement:
//
//	[SDR Ping] Ping data is current as of Sat Nov 23 23:14:27 2024. Pending refresh: 0, …
//	    ams: 0ms, status 2
//	   ams4: 107ms, status 1
//
// The source is what players posted in ValveSoftware/Source-1-Games, issues 6389
// (2024-10-15) and 6734 (2024-11-24).
const SDR Dump = "sdr"

// Dumps returns all forms.
func Dumps() []Dump { return []Dump{SDR} }

const (
	// MaxDump is the longest dump, in bytes. A real one has 40 lines.
	MaxDump = 64 << 10
	// longestPing is the largest ping that counts. A game gives up long before.
	longestPing = 10 * time.Second
)

// ParseDump reads the pings in a pasted text, by the region's code. It ignores lines of
// any other form, because consoles mix theirs. If a region occurs twice, its last ping
// counts: a console keeps earlier dumps. The error wraps [discovery.ErrMalformed] if
// the text is too long or has no ping.
func ParseDump(text string) (map[string]time.Duration, error) {
	if len(text) > MaxDump {
		return nil, fmt.Errorf("regions: %w: the dump has over %d bytes", discovery.ErrMalformed, MaxDump)
	}
	pings := map[string]time.Duration{}
	for line := range strings.Lines(text) {
		code, ping, ok := parseLine(strings.TrimSpace(line))
		switch {
		case !ok:
		case ping > 0:
			pings[code] = ping
		default:
			delete(pings, code)
		}
		if len(pings) > maxRegions {
			return nil, fmt.Errorf("regions: %w: the dump has over %d regions", discovery.ErrMalformed, maxRegions)
		}
	}
	if len(pings) == 0 {
		return nil, fmt.Errorf("regions: %w: the dump has no line such as \"fra: 24ms, status 1\"", discovery.ErrMalformed)
	}
	return pings, nil
}

// parseLine reads "fra: 24ms, status 1". The ping is 0 if the game has not measured it.
func parseLine(line string) (code string, ping time.Duration, ok bool) {
	code, rest, _ := strings.Cut(line, ": ")
	digits, status, found := strings.Cut(rest, "ms, status ")
	ms, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 16)
	if !found || err != nil || !isCode(code) {
		return "", 0, false
	}
	ping = time.Duration(ms) * time.Millisecond
	if strings.TrimSpace(status) != "1" || ping > longestPing {
		ping = 0
	}
	return code, ping, true
}
