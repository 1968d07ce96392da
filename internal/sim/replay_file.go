package sim

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// ReadVantage reads a data file, which errors call name. It is CSV with a header, its columns in
// any order, ignoring case. The columns addr and rtt_ms are required. The columns country and asn
// are optional, and so are the server's facts as [report.Report] writes them: players, max_players,
// bots, map, mode, password. Others are skipped, as are a byte-order mark, blank lines and those
// that start with #. An empty rtt_ms is a silent server.
func ReadVantage(name string, r io.Reader) (*Vantage, error) {
	rows := csv.NewReader(discovery.SkipBOM(r))
	rows.Comment, rows.TrimLeadingSpace = '#', true
	columns, err := readHeader(rows)
	if err != nil {
		return nil, fmt.Errorf("sim: %s %w", name, err)
	}
	v := &Vantage{Name: name}
	lines := make(map[netip.AddrPort]int)
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			v.Tree = sync.OnceValue(func() *topology.Tree { return topology.New(v.Servers) })
			return v, nil
		}
		if err != nil {
			return nil, fmt.Errorf("sim: %s%w", name, unreadable(err))
		}
		line, _ := rows.FieldPos(0)
		if err := v.add(row{fields, columns}, line, lines); err != nil {
			return nil, fmt.Errorf("sim: %s:%d: %w", name, line, err)
		}
	}
}

// unreadable returns the part of an error after the file's name: the line if it is no CSV.
func unreadable(err error) error {
	var broken *csv.ParseError
	switch {
	case !errors.As(err, &broken):
		return fmt.Errorf(": %w", err)
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf(":%d: not as many fields as the header has", broken.Line)
	}
	return fmt.Errorf(":%d: a quotation mark too many or too few", broken.Line)
}

// readHeader returns each column's index.
func readHeader(rows *csv.Reader) (columns map[string]int, err error) {
	header, err := rows.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("is empty")
	case err != nil:
		return nil, fmt.Errorf("has no header: %w", err)
	}
	columns = make(map[string]int)
	for i, title := range header {
		columns[strings.ToLower(strings.TrimSpace(title))] = i
	}
	for _, title := range []string{"addr", "rtt_ms"} {
		if _, ok := columns[title]; !ok {
			return nil, fmt.Errorf("has no column %s", title)
		}
	}
	rows.FieldsPerRecord = len(header)
	return columns, nil
}

// row is one line of a data file.
type row struct {
	fields  []string
	columns map[string]int
}

// text returns the field of a column, or an empty text if there is no such column.
func (r row) text(column string) string {
	if i, ok := r.columns[column]; ok {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// number returns the field of a column, or 0 if it is empty.
func (r row) number(column string, most uint64) (uint64, error) {
	text := r.text(column)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s %q is no number from 0 to %d", column, text, most)
	}
	return n, nil
}

// asn returns the origin AS, with or without the letters before it.
func (r row) asn() (uint32, error) {
	text := r.text("asn")
	if asn, ok := discovery.ParseASN(text); ok || text == "" {
		return asn, nil
	}
	return 0, fmt.Errorf("asn %q is no AS number such as 3320", text)
}

// addr returns the server's address and port.
func (r row) addr() (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(r.text("addr"))
	if err != nil || addr.Port() == 0 || addr.Addr().Zone() != "" {
		return addr, fmt.Errorf("addr %q is no ADDRESS:PORT such as 192.0.2.1:27960 or [2001:db8::1]:27960", r.text("addr"))
	}
	return discovery.Canonical(addr), nil
}

// maxPlayers is more than any server has seats.
const maxPlayers = math.MaxInt32

// info returns the server's facts.
func (r row) info() (discovery.Info, error) {
	players, err1 := r.number("players", maxPlayers)
	seats, err2 := r.number("max_players", maxPlayers)
	bots, err3 := r.number("bots", maxPlayers)
	return discovery.Info{
		Players: int(players), MaxPlayers: int(seats), Bots: int(bots),
		Map: discovery.CleanText(r.text("map")), Mode: discovery.CleanText(r.text("mode")), Password: r.text("password") == "true",
	}, cmp.Or(err1, err2, err3)
}

// add adds a server, unless an earlier line has it.
func (v *Vantage) add(r row, line int, lines map[netip.AddrPort]int) error {
	addr, err1 := r.addr()
	asn, err2 := r.asn()
	rtt, err3 := parseRTT(r.text("rtt_ms"))
	info, err4 := r.info()
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	if before, twice := lines[addr]; twice {
		return fmt.Errorf("%v stands in line %d already", addr, before)
	}
	lines[addr] = line
	country := strings.ToUpper(discovery.CleanText(r.text("country")))
	v.Servers = append(v.Servers, discovery.Server{Addr: addr, Country: country, ASN: asn})
	v.Infos = append(v.Infos, info)
	v.RTT = append(v.RTT, rtt)
	return nil
}

// longestRTT bounds the RTTs of a file, so that sums stay sensible.
const longestRTT = time.Minute

func parseRTT(text string) (time.Duration, error) {
	if text == "" {
		return Silent, nil
	}
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil || !(0 <= ms && ms <= float64(longestRTT/time.Millisecond)) {
		return 0, fmt.Errorf("rtt_ms %q is no time in milliseconds", text)
	}
	return milliseconds(ms), nil
}
