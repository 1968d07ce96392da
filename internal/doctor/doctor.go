// Package doctor examines what this machine and its network can do for measuring and hosting, and says how to fix what
// works less well. It looks up names and asks for lists of servers, unless it is to stay on the machine.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lists/lan"
	"muster/discovery/names"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/netinfo"
	"muster/internal/release"
	"muster/internal/term"
)

// Settings are what the command knows about the user and the output.
type Settings struct {
	// Games is the table of games. GamesErr is why it cannot be read.
	Games    game.Table
	GamesErr error
	// Steam are the folders where Steam may be.
	Steam []string
	// Tables is the folder of downloaded address tables.
	Tables string
	// Config is the file of the user's settings. ConfigErr is what is wrong with it.
	Config    string
	ConfigErr error
	// Lookup finds the addresses of a host name; nil is the machine's resolver.
	Lookup names.Lookup
	// Stays keeps every packet on this machine: neither names nor lists are tried.
	Stays bool
	// Output is what the command writes to.
	Output term.Terminal
}

// Report is what the doctor found, and the program that it examined.
type Report struct {
	Version string
	Checks  []Check
}

// Examine examines the machine.
func Examine(ctx context.Context, s Settings) Report {
	f := examine(ctx, s)
	return Report{f.build.Version, diagnose(f)}
}

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(struct {
		Format  string  `json:"format"`
		Version string  `json:"version"`
		Checks  []Check `json:"checks"`
	}{"muster.doctor/1", r.Version, r.Checks})
}

// Print writes a line for each check, and below it any advice.
func (r Report) Print(to term.Terminal) {
	const (
		hints   = 5  // the column of hints, below the name
		details = 16 // the column of findings
	)
	for _, c := range r.Checks {
		state := "ok  "
		if c.State == Warn {
			state = to.Bold("warn")
		}
		fmt.Fprintf(to, "%s %-10s %s\n", state, c.Name, to.Wrap(c.Detail, details))
		if c.Hint != "" {
			fmt.Fprintf(to, "%*s%s\n", hints, "", to.Faint(to.Wrap("hint: "+c.Hint, hints)))
		}
	}
}

// facts are what the doctor found.
type facts struct {
	now time.Time
	// build is the source of this program. verdict says who vouches for it.
	build      release.Build
	verdict    release.Verdict
	verdictErr error
	// system is Go's name of the operating system.
	system string
	// udp is why no packet got through a socket on loopback.
	udp error
	// route4 and route6 are this machine's addresses towards the internet; zero without a route.
	route4, route6 netip.Addr
	cards          []lan.Interface
	cardsErr       error
	// buffer is the real size of a receive buffer when asked for wanted bytes; 0 if unknown.
	buffer, wanted int
	// stamps says that the kernel records when a packet arrived.
	stamps bool
	// files may be open at once; 0 means no limit.
	files uint64
	// tables are the usable address tables. tablesTrouble is why others are unusable.
	tables                   []geo.Source
	tablesTrouble, tablesErr error
	// games are those found on this machine, as ID (place).
	games    []string
	gamesErr error
	reached  reached
	terminal surroundings
	// config is where the user's settings would be. configErr is what is wrong with them.
	config    string
	configErr error
}

// surroundings are what the output goes to.
type surroundings struct {
	isTerminal, colours bool
	columns, rows       int
}

// wantedBuffer is the buffer, in bytes, that the prober asks for on each socket.
const wantedBuffer = 4 << 20

func examine(ctx context.Context, s Settings) facts {
	f := facts{now: time.Now(), build: release.Running(), system: runtime.GOOS, wanted: wantedBuffer, files: netinfo.FileLimit()}
	f.config, f.configErr, f.gamesErr = s.Config, s.ConfigErr, s.GamesErr
	var here []game.Game
	for _, g := range s.Games.All() {
		if place, isHere := g.Where(s.Steam); isHere {
			here = append(here, g)
			f.games = append(f.games, fmt.Sprintf("%s (%s)", g.ID, placeText(place)))
		}
	}
	if !s.Stays {
		f.reached = reach(ctx, listsOf(s.Games, here), s.Lookup)
	}
	var keys release.Keys
	if keys, f.verdictErr = release.ProjectKeys(); f.verdictErr == nil {
		f.verdict, f.verdictErr = keys.VerifyRunning(ctx)
	}
	f.buffer, f.stamps, f.udp = netinfo.TrySocket(wantedBuffer)
	f.route4, f.route6 = netinfo.Source4(), netinfo.Source6()
	f.cards, f.cardsErr = lan.Interfaces()
	var locator *geo.Locator
	if locator, f.tablesErr = geo.Open(geo.Options{Tables: s.Tables}); f.tablesErr == nil {
		f.tables, f.tablesTrouble, f.tablesErr = locator.Sources(), locator.Trouble(), locator.Close()
	}
	f.terminal = surroundings{isTerminal: s.Output.IsTerminal, colours: s.Output.HasColours}
	f.terminal.columns, f.terminal.rows = s.Output.Size()
	return f
}

// placeText says in a word or two where a game lies.
func placeText(p game.Place) string {
	if p.By == "Steam" {
		return p.By
	}
	return p.Path
}

// Health says how well something works.
type Health string

const (
	OK   Health = "ok"
	Warn Health = "warn"
)

// Check is one thing that the doctor examined.
type Check struct {
	Name   string `json:"name"`
	State  Health `json:"state"`
	Detail string `json:"detail"`
	// Hint says what to do about a warning.
	Hint string `json:"hint,omitempty"`
}

const (
	// enoughFiles suffice for a full room with its pages.
	enoughFiles = 256
	// tablesAge is when address tables are old: in a year 3.6 % of the addresses move to another AS
	// (bench/experiments/address-tables.md).
	tablesAge = 365 * 24 * time.Hour
	// enoughColumns suffice for the tables' names and addresses.
	enoughColumns = 60
)

// diagnosis is what the facts mean, most important first.
type diagnosis []Check

func (d *diagnosis) ok(name, detail string, a ...any) {
	*d = append(*d, Check{Name: name, State: OK, Detail: fmt.Sprintf(detail, a...)})
}

func (d *diagnosis) warn(name, hint, detail string, a ...any) {
	*d = append(*d, Check{name, Warn, fmt.Sprintf(detail, a...), hint})
}

func diagnose(f facts) (d diagnosis) {
	d.network(f)
	d.reach(f.reached)
	d.system(f)
	d.muster(f)
	return d
}

// network judges how others can reach this machine.
func (d *diagnosis) network(f facts) {
	if f.udp != nil {
		d.warn("udp", "does a firewall or a sandbox forbid UDP? nothing can be measured without it",
			"no packet gets through on this machine: %v", hint.Reason(f.udp))
	} else {
		d.ok("udp", "sockets send and receive (tried on this machine only)")
	}

	for _, r := range []struct {
		name string
		from netip.Addr
		hint string
	}{
		{"ipv4", f.route4, "players whose servers are on IPv4 need it: is a cable or Wi-Fi connected?"},
		{"ipv6", f.route6, "servers that have only IPv6 are lost to this machine; most have IPv4"},
	} {
		switch {
		case !r.from.IsValid() && f.udp != nil: // the route was looked up over UDP, which does not work
			d.warn(r.name, "", "not known without UDP")
		case !r.from.IsValid():
			d.warn(r.name, r.hint, "no way leads to the internet")
		case r.from.Is6() && r.from.IsPrivate():
			d.warn(r.name, r.hint, "only a private address, %v", r.from)
		default:
			d.ok(r.name, "a way leads to the internet, from %v", r.from)
		}
	}

	switch {
	case !f.route4.IsValid() && f.udp != nil:
		d.warn("nat", "", "not known without UDP")
	case !f.route4.IsValid():
		d.warn("nat", "", "not known without IPv4")
	case discovery.IsCarrierNAT(f.route4):
		d.warn("nat", "friends on the internet cannot reach a host here: use a tunnel, or let somebody else host",
			"the provider shares its addresses among customers")
	case f.route4.IsPrivate():
		d.warn("nat", "to host for friends on the internet say --port-map, or have the router forward the port", "behind a router")
	default:
		d.ok("nat", "none: the address is public")
	}

	var cards, used []string
	for _, c := range f.cards {
		if c.Unused == "" {
			used = append(used, c.Name)
		}
		cards = append(cards, strings.TrimSpace(c.Name+" "+c.Unused))
	}
	if f.cardsErr != nil {
		d.warn("cards", "", "%v", hint.Reason(f.cardsErr))
	} else {
		d.ok("cards", "%s", strings.Join(cards, "; "))
	}
	if len(used) == 0 {
		d.warn("mdns", "rooms are neither announced nor found on the local network: use the link", "no network card carries multicast")
	} else {
		d.ok("mdns", "rooms are announced and found on %s", strings.Join(used, ", "))
	}
}

// system judges what the operating system grants.
func (d *diagnosis) system(f facts) {
	switch {
	case f.buffer == 0:
		d.ok("buffer", "the system does not tell how much a socket holds")
	case f.buffer < f.wanted:
		d.warn("buffer", "at high rates replies may get lost: "+largerBuffer(f.system, f.wanted),
			"a socket holds %d KB of the %d KB asked for", f.buffer>>10, f.wanted>>10)
	default:
		d.ok("buffer", "a socket holds %d KB", f.buffer>>10)
	}

	if f.stamps {
		d.ok("clock", "the kernel notes when a reply arrives")
	} else {
		d.warn("clock", "a busy machine measures some tenths of a millisecond too much; Linux does better",
			"the program itself notes when a reply arrives")
	}

	switch {
	case f.files == 0:
		d.ok("files", "no limit")
	case f.files < enoughFiles:
		d.warn("files", fmt.Sprintf("a host needs one for each player and page: ulimit -n %d", 4*enoughFiles), "%d may be open at once", f.files)
	default:
		d.ok("files", "%d may be open at once", f.files)
	}
}

// muster judges what the program brings and finds.
func (d *diagnosis) muster(f facts) {
	switch {
	case f.verdictErr != nil:
		d.warn("program", "", "%v: %v", f.build, hint.Reason(f.verdictErr))
	case f.verdict.Standing == release.Changed, f.verdict.Standing == release.Misnamed:
		d.warn("program", "get it again from the project's release page", "%v: %v", f.build, f.verdict)
	default:
		d.ok("program", "%v: %v", f.build, f.verdict)
	}

	if f.configErr != nil {
		d.warn("config", "until it is mended, host, join and others refuse to begin; docs/config.md says what there is", "%v", f.configErr)
	} else if f.config != "" {
		d.ok("config", "nothing is wrong with %s", f.config)
	}

	var tables []string
	isOld := false
	for _, s := range f.tables {
		tables = append(tables, fmt.Sprintf("%s of %s, %s old (%s)", s.Field, s.Built.Format(time.DateOnly), s.Age(f.now), s.Name))
		isOld = isOld || f.now.Sub(s.Built) > tablesAge
	}
	switch list := strings.Join(tables, ", "); {
	case f.tablesErr != nil:
		d.warn("geo", "", "%v", f.tablesErr)
	case f.tablesTrouble != nil:
		d.warn("geo", hint.Of(f.tablesTrouble), "%v; %s", f.tablesTrouble, list)
	case isOld:
		d.warn("geo", "each year some 4 % of the addresses get another network, and servers there are asked too "+
			"late or too early: muster geo --update fetches newer tables, or say --country-db and --as-db", "%s", list)
	default:
		d.ok("geo", "%s", list)
	}

	switch {
	case f.gamesErr != nil:
		d.warn("games", "", "%v", f.gamesErr)
	case len(f.games) == 0:
		d.warn("games", "say --launch-command, or join by hand: muster shows the address", "none of the known games was found")
	default:
		d.ok("games", "%s", strings.Join(f.games, ", "))
	}

	switch t := f.terminal; {
	case !t.isTerminal:
		d.ok("terminal", "none: plain lines")
	case t.columns < enoughColumns:
		d.warn("terminal", "tables are cut: make it 80 columns wide", "%d columns", t.columns)
	case !t.colours:
		d.ok("terminal", "%d by %d, without colours", t.columns, t.rows)
	default:
		d.ok("terminal", "%d by %d, colours", t.columns, t.rows)
	}
}

// largerBuffer returns how a system's administrator enlarges socket buffers.
func largerBuffer(system string, wanted int) string {
	switch system {
	case "linux":
		return fmt.Sprintf("sudo sysctl -w net.core.rmem_max=%d", wanted)
	case "darwin", "freebsd":
		return fmt.Sprintf("sudo sysctl -w kern.ipc.maxsockbuf=%d", 2*wanted) // the limit includes the kernel's bookkeeping
	}
	return "say --rate 100"
}
