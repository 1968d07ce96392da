package cli

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lan"
)

// health says how well something works.
type health string

const (
	stateOK   health = "ok"
	stateWarn health = "warn"
)

// check is one thing that the doctor looked at.
type check struct {
	Name   string `json:"name"`
	State  health `json:"state"`
	Detail string `json:"detail"`
	// Hint is what to do about a warning.
	Hint string `json:"hint,omitempty"`
}

// facts are what the doctor found.
type facts struct {
	now time.Time
	// system is Go's name of the operating system.
	system string
	// udp is why no packet got through a socket on loopback.
	udp error
	// route4 and route6 are this machine's addresses towards the internet; zero
	// if no way leads there.
	route4, route6 netip.Addr
	cards          []lan.Interface
	cardsErr       error
	// buffer is what a receive buffer really holds, of wanted bytes; 0 if that
	// cannot be known.
	buffer, wanted int
	// stamps: the kernel notes when a packet came.
	stamps bool
	// files may be open at once; 0 if nothing limits them.
	files     uint64
	tables    []geo.Source
	tablesErr error
	games     []installed
	gamesErr  error
	terminal  surroundings
}

// installed is a game whose program is on this machine.
type installed struct{ id, program string }

// surroundings are what the output goes to.
type surroundings struct {
	isTerminal, colours bool
	columns, rows       int
}

// diagnose judges the facts, the most important first.
func diagnose(f facts) []check {
	return []check{
		checkUDP(f.udp),
		checkRoute("ipv4", f.route4, "players whose servers are on IPv4 need it: is a cable or Wi-Fi connected?"),
		checkRoute("ipv6", f.route6, "servers that have only IPv6 are lost to this machine; most have IPv4"),
		checkNAT(f.route4),
		checkCards(f.cards, f.cardsErr),
		checkMDNS(f.cards),
		checkBuffer(f.buffer, f.wanted, f.system),
		checkStamps(f.stamps),
		checkFiles(f.files),
		checkTables(f.tables, f.tablesErr, f.now),
		checkGames(f.games, f.gamesErr),
		checkTerminal(f.terminal),
	}
}

func checkUDP(err error) check {
	if err != nil {
		return check{"udp", stateWarn, fmt.Sprintf("no packet gets through on this machine: %v", reason(err)), "does a firewall or a sandbox forbid UDP? nothing can be measured without it"}
	}
	return check{Name: "udp", State: stateOK, Detail: "sockets send and receive (tried on this machine only)"}
}

func checkRoute(name string, from netip.Addr, hint string) check {
	if !from.IsValid() {
		return check{name, stateWarn, "no way leads to the internet", hint}
	}
	if from.Is6() && from.IsPrivate() {
		return check{name, stateWarn, fmt.Sprintf("only a private address, %v", from), hint}
	}
	return check{Name: name, State: stateOK, Detail: fmt.Sprintf("a way leads to the internet, from %v", from)}
}

func checkNAT(from netip.Addr) check {
	switch {
	case !from.IsValid():
		return check{"nat", stateWarn, "not known without IPv4", ""}
	case discovery.IsCarriers(from):
		return check{"nat", stateWarn, "the provider shares its addresses among customers", "friends on the internet cannot reach a host here: use a tunnel, or let somebody else host"}
	case from.IsPrivate():
		return check{"nat", stateWarn, "behind a router", "to host for friends on the internet say --port-map, or have the router forward the port"}
	}
	return check{Name: "nat", State: stateOK, Detail: "none: the address is public"}
}

func checkCards(cards []lan.Interface, err error) check {
	if err != nil {
		return check{"cards", stateWarn, reason(err).Error(), ""}
	}
	var list []string
	for _, c := range cards {
		text := c.Name
		if c.Unused != "" {
			text += " " + c.Unused
		}
		list = append(list, text)
	}
	return check{Name: "cards", State: stateOK, Detail: strings.Join(list, "; ")}
}

func checkMDNS(cards []lan.Interface) check {
	var used []string
	for _, c := range cards {
		if c.Unused == "" {
			used = append(used, c.Name)
		}
	}
	if len(used) == 0 {
		return check{"mdns", stateWarn, "no network card carries multicast", "rooms are neither announced nor found on the local network: use the link"}
	}
	return check{Name: "mdns", State: stateOK, Detail: "rooms are announced and found on " + strings.Join(used, ", ")}
}

func checkBuffer(got, wanted int, system string) check {
	switch {
	case got == 0:
		return check{Name: "buffer", State: stateOK, Detail: "the system does not tell how much a socket holds"}
	case got < wanted:
		return check{"buffer", stateWarn, fmt.Sprintf("a socket holds %d KB of the %d KB asked for", got>>10, wanted>>10),
			"at high rates replies may get lost: " + largerBuffer(system, wanted)}
	}
	return check{Name: "buffer", State: stateOK, Detail: fmt.Sprintf("a socket holds %d KB", got>>10)}
}

// largerBuffer is how a system's administrator lets sockets hold more.
func largerBuffer(system string, wanted int) string {
	switch system {
	case "linux":
		return fmt.Sprintf("sudo sysctl -w net.core.rmem_max=%d", wanted)
	case "darwin", "freebsd":
		return fmt.Sprintf("sudo sysctl -w kern.ipc.maxsockbuf=%d", 2*wanted) // its own bookkeeping counts
	}
	return "say --rate 100"
}

func checkStamps(kernel bool) check {
	if kernel {
		return check{Name: "clock", State: stateOK, Detail: "the kernel notes when a reply arrives"}
	}
	return check{"clock", stateWarn, "the program itself notes when a reply arrives", "a busy machine measures some tenths of a millisecond too much; Linux does better"}
}

// enoughFiles are for a full room with its pages.
const enoughFiles = 256

func checkFiles(limit uint64) check {
	switch {
	case limit == 0:
		return check{Name: "files", State: stateOK, Detail: "no limit"}
	case limit < enoughFiles:
		return check{"files", stateWarn, fmt.Sprintf("%d may be open at once", limit), fmt.Sprintf("a host needs one for each player and page: ulimit -n %d", 4*enoughFiles)}
	}
	return check{Name: "files", State: stateOK, Detail: fmt.Sprintf("%d may be open at once", limit)}
}

// tablesAge is when tables of addresses are old: after four years a quarter of
// the servers had another country.
const tablesAge = 2 * 365 * 24 * time.Hour

func checkTables(tables []geo.Source, err error, now time.Time) check {
	if err != nil {
		return check{"geo", stateWarn, err.Error(), ""}
	}
	c := check{Name: "geo", State: stateOK}
	var list []string
	for _, s := range tables {
		list = append(list, fmt.Sprintf("%s of %s (%s)", s.Field, s.Built.Format(time.DateOnly), s.Name))
		if now.Sub(s.Built) > tablesAge {
			c.State, c.Hint = stateWarn, "update muster, or say --country-db and --as-db: old tables order the probes less well"
		}
	}
	c.Detail = strings.Join(list, ", ")
	return c
}

func checkGames(games []installed, err error) check {
	if err != nil {
		return check{"games", stateWarn, err.Error(), ""}
	}
	if len(games) == 0 {
		return check{"games", stateWarn, "none of the known games is in the PATH", "say --launch-command, or join by hand: muster shows the address"}
	}
	var list []string
	for _, g := range games {
		list = append(list, fmt.Sprintf("%s (%s)", g.id, g.program))
	}
	return check{Name: "games", State: stateOK, Detail: strings.Join(list, ", ")}
}

func checkTerminal(t surroundings) check {
	switch {
	case !t.isTerminal:
		return check{Name: "terminal", State: stateOK, Detail: "none: plain lines"}
	case t.columns < 60:
		return check{"terminal", stateWarn, fmt.Sprintf("%d columns", t.columns), "tables are cut: make it 80 columns wide"}
	case !t.colours:
		return check{Name: "terminal", State: stateOK, Detail: fmt.Sprintf("%d by %d, without colours", t.columns, t.rows)}
	}
	return check{Name: "terminal", State: stateOK, Detail: fmt.Sprintf("%d by %d, colours", t.columns, t.rows)}
}
