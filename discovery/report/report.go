// Package report writes and reads one player's measurements as documents: JSON, and CSV
// for spreadsheets. discovery/report/qstat has QStat's XML.
package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
)

// Format is the format of the reports that this package reads and writes.
const Format = "muster.report/1"

// maxReport is the largest report, in bytes, that is read: MaxServers servers with
// names of ordinary length.
const maxReport = 128 << 20

// Report is one player's measurements, as a document to save and to compare:
//
//	{"format":"muster.report/1","peer":"ann","game":"openarena",…,
//	 "summary":{"listed":2870,…},
//	 "servers":[{"addr":"192.0.2.1:27960","state":"answered","rtt_ms":12.345,…},…]}
type Report struct {
	Format   string    `json:"format"`
	Peer     string    `json:"peer"`
	Game     string    `json:"game"`
	Strategy string    `json:"strategy"`
	Started  time.Time `json:"started"`
	Summary  Summary   `json:"summary"`
	// Servers holds the probed servers only, in the order of first sending.
	Servers []Measurement `json:"servers"`
}

// Summary counts what a discovery did.
type Summary struct {
	Listed int `json:"listed"`
	// Clusters, Calibration and AutoStopped are the plan's: see [discovery.PlanSummary].
	Clusters    int  `json:"clusters"`
	Calibration int  `json:"calibration"`
	Probed      int  `json:"probed"`
	Answered    int  `json:"answered"`
	Lost        int  `json:"lost"`
	Refused     int  `json:"refused"`
	AutoStopped bool `json:"auto_stopped"`
	// OwnShift is the increase of all round trips for a while, as when the player's own
	// line is busy. The RTTs in the report are uncorrected.
	OwnShift      discovery.Millis `json:"own_shift_ms,omitzero"`
	ElapsedMS     int64            `json:"elapsed_ms"`
	PacketsSent   int64            `json:"packets_sent"`
	BytesSent     int64            `json:"bytes_sent"`
	BytesReceived int64            `json:"bytes_received"`
}

// Measurement is one server in a report.
type Measurement struct {
	Addr  hostport.AddrPort `json:"addr"`
	State discovery.State   `json:"state"`
	// RTT is absent unless the server answered: a zero would sort as the nearest of
	// all.
	RTT        discovery.Millis `json:"rtt_ms,omitzero"`
	Phase      discovery.Phase  `json:"phase"`
	Order      int              `json:"order"`
	Name       string           `json:"name"`
	Map        string           `json:"map"`
	Mode       string           `json:"mode"`
	Players    int              `json:"players"`
	MaxPlayers int              `json:"max_players"`
	Bots       int              `json:"bots"`
	Password   bool             `json:"password"`
	Country    string           `json:"country"`
	ASN        uint32           `json:"asn"`
	// The following fields come from servers that tell them; see [discovery.Info].
	Version        string         `json:"version,omitempty"`
	Protocol       int            `json:"protocol,omitempty"`
	OldestProtocol int            `json:"protocol_min,omitempty"`
	Mod            string         `json:"mod,omitempty"`
	Tags           discovery.Tags `json:"tags,omitempty"`
	// AsListed reports that some fields come from a list and not from the server.
	AsListed bool `json:"as_listed,omitempty"`
	// GamePort is the port that players connect to, if it differs from the port of
	// Addr.
	GamePort uint16 `json:"game_port,omitempty"`
	// Rank is the server's place in the table on the player's screen; 0 is none.
	Rank int `json:"rank,omitempty"`
}

// Connect returns the address that players connect to.
func (m Measurement) Connect() hostport.AddrPort {
	if m.GamePort == 0 {
		return m.Addr
	}
	return hostport.At(netip.AddrPortFrom(m.Addr.Addr(), m.GamePort))
}

// New completes head with the results of the servers in the list. Head names the
// player, and has the parts of the summary that only the plan and the executor know.
// New leaves out servers that were not asked.
func New(head Report, list []discovery.Server, results []discovery.Result) Report {
	r := head
	r.Format = Format
	r.Started = head.Started.UTC().Truncate(time.Millisecond)
	r.Summary.Listed = len(list)
	r.Servers = make([]Measurement, 0, len(results))
	var count [discovery.Refused + 1]int // by state
	for _, result := range results {
		if !result.State.Asked() {
			continue
		}
		count[result.State]++
		s := list[result.Server]
		m := Measurement{Addr: hostport.At(s.Addr), State: result.State, Phase: result.Phase, Order: result.Order, Country: s.Country, ASN: s.ASN}
		if result.State == discovery.Answered {
			m.RTT = discovery.Millis(max(result.RTT, time.Microsecond))
		}
		if i := result.Info; i != nil {
			m.Name, m.Map, m.Mode, m.GamePort = i.Name, i.Map, i.Mode, i.GamePort
			m.Players, m.MaxPlayers, m.Bots, m.Password, m.AsListed = i.Players, i.MaxPlayers, i.Bots, i.Password, i.AsListed
			m.Version, m.Protocol, m.OldestProtocol, m.Mod, m.Tags = i.Version, i.Protocol, i.OldestProtocol, i.Mod, i.Tags
		}
		r.Servers = append(r.Servers, m)
	}
	slices.SortStableFunc(r.Servers, func(a, b Measurement) int { return a.Order - b.Order })
	r.Summary.Probed, r.Summary.Answered = len(r.Servers), count[discovery.Answered]
	r.Summary.Lost, r.Summary.Refused = count[discovery.Lost], count[discovery.Refused]
	return r
}

// Server returns the list's entry of the measured server.
func (m Measurement) Server() discovery.Server {
	return discovery.Server{Addr: m.Addr.AddrPort, Country: m.Country, ASN: m.ASN}
}

// Info returns what the server said about itself, or nil if it did not answer.
func (m Measurement) Info() *discovery.Info {
	if m.State != discovery.Answered {
		return nil
	}
	return &discovery.Info{
		Name: m.Name, Map: m.Map, Mode: m.Mode,
		Version: m.Version, Protocol: m.Protocol, OldestProtocol: m.OldestProtocol, Mod: m.Mod, Tags: m.Tags,
		Players: m.Players, MaxPlayers: m.MaxPlayers, Bots: m.Bots, Password: m.Password, AsListed: m.AsListed, GamePort: m.GamePort,
	}
}

// WriteJSON writes the report as one line of JSON. Its error is the writer's.
func (r Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// FormatError is the error for a document of an unknown format.
type FormatError struct{ Format string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("report: the document's format is %q, not %q", e.Format, Format)
}

// Read reads one report. The report may be a stranger's: its texts are cleaned, and
// content that no measurement can produce is an error that wraps
// [discovery.ErrMalformed]. Another format is a [*FormatError].
func Read(r io.Reader) (Report, error) { return readUpTo(maxReport, r) }

// readUpTo reads a report of this many bytes at most.
func readUpTo(most int64, r io.Reader) (Report, error) {
	var report Report
	limited := &io.LimitedReader{R: r, N: most}
	err := json.NewDecoder(limited).Decode(&report)
	switch {
	case err != nil && limited.N == 0:
		return Report{}, fmt.Errorf("report: %w: over %d bytes", discovery.ErrMalformed, most)
	case report.Format != Format && !brokenJSON(err):
		return Report{}, &FormatError{Format: discovery.CleanText(report.Format)}
	case err != nil:
		return Report{}, fmt.Errorf("report: %w: %w", discovery.ErrMalformed, err)
	}
	if err := report.accept(); err != nil {
		return Report{}, fmt.Errorf("report: %w: %w", discovery.ErrMalformed, err)
	}
	return report, nil
}

// brokenJSON distinguishes invalid JSON from JSON of another shape.
func brokenJSON(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// accept cleans the report's texts and refuses impossible measurements.
func (r *Report) accept() error {
	if len(r.Servers) > discovery.MaxServers {
		return fmt.Errorf("over %d servers", discovery.MaxServers)
	}
	r.Peer, r.Game, r.Strategy = discovery.CleanText(r.Peer), discovery.CleanText(r.Game), discovery.CleanText(r.Strategy)
	seen := make(map[hostport.AddrPort]bool, len(r.Servers))
	for i := range r.Servers {
		m := &r.Servers[i]
		if err := m.accept(); err != nil {
			return fmt.Errorf("server %d (%s): %w", i+1, m.Addr, err)
		}
		if seen[m.Addr] {
			return fmt.Errorf("server %d (%s) stands there twice", i+1, m.Addr)
		}
		seen[m.Addr] = true
	}
	return nil
}

func (m *Measurement) accept() error {
	m.Addr = hostport.At(discovery.Canonical(m.Addr.AddrPort))
	m.Name, m.Map, m.Mode = discovery.CleanText(m.Name), discovery.CleanText(m.Map), discovery.CleanText(m.Mode)
	m.Country, m.Version, m.Mod = discovery.CleanText(m.Country), discovery.CleanText(m.Version), discovery.CleanText(m.Mod)
	switch {
	case !m.Addr.IsValid() || m.Addr.Port() == 0:
		return errors.New("no address of a server")
	case m.State == discovery.Answered && m.RTT == 0:
		return errors.New("answered, but rtt_ms is missing or 0")
	case m.State != discovery.Answered && m.RTT != 0:
		return fmt.Errorf("%s, but rtt_ms is %s", m.State, m.RTT)
	case min(m.Players, m.MaxPlayers, m.Bots, m.Order, m.Protocol, m.OldestProtocol, m.Rank) < 0:
		return errors.New("a negative count")
	}
	return nil
}

// WriteCSV writes the report's servers as comma-separated values with a header (RFC
// 4180). The file is also a list of servers. rtt_ms is empty unless the server
// answered.
func (r Report) WriteCSV(w io.Writer) error {
	rows := [][]string{{"addr", "state", "rtt_ms", "name", "map", "mode", "players", "max_players", "bots", "password",
		"country", "asn", "version", "protocol", "mod", "tags"}}
	for _, m := range r.Servers {
		rtt := ""
		if m.State == discovery.Answered {
			rtt = m.RTT.String()
		}
		rows = append(rows, []string{
			m.Addr.String(), m.State.String(), rtt, inert(m.Name), inert(m.Map), inert(m.Mode),
			strconv.Itoa(m.Players), strconv.Itoa(m.MaxPlayers), strconv.Itoa(m.Bots),
			strconv.FormatBool(m.Password), inert(m.Country), strconv.FormatUint(uint64(m.ASN), 10),
			inert(m.Version), strconv.Itoa(m.Protocol), inert(m.Mod), inert(string(m.Tags)),
		})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// inert puts an apostrophe before a stranger's text, which marks it as text in
// spreadsheets. They would otherwise take it for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsAny(s[:1], "=+-@\t\r\n") {
		return "'" + s
	}
	return s
}
