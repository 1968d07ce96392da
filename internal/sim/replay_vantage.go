package sim

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"time"

	"muster/discovery"
)

// Vantage is what one place sees of a list of servers: what a replay runs on.
type Vantage struct {
	Name    string
	Servers []discovery.Server
	// Infos are what the servers say of themselves, in parallel to Servers, or
	// nil.
	Infos []discovery.Info
	// RTT is the shortest round trip to each server; negative if it never
	// answers.
	RTT []time.Duration
	// pair is a packet pair to a server; nil is always RTT.
	pair func(server int, n uint64) (rtt time.Duration, lost bool)
	// tell is what a liar makes of an RTT; nil is the truth.
	tell func(server int, rtt time.Duration) (told time.Duration, lost bool)
}

// silent is the RTT of a server that never answers.
const silent time.Duration = -1

// Vantage is what the world looks like from one of its places.
func (w *World) Vantage(place int) *Vantage {
	v := &Vantage{Name: w.Places[place].Name, pair: func(server int, n uint64) (time.Duration, bool) {
		return w.Sample(place, server, n)
	}}
	for i, s := range w.Servers {
		rtt := w.RTT(place, i)
		if s.Silent || s.Refusing {
			rtt = silent
		}
		v.Servers = append(v.Servers, s.Server)
		v.Infos = append(v.Infos, s.Info)
		v.RTT = append(v.RTT, rtt)
	}
	return v
}

// Pair is the n-th packet pair to a server.
func (v *Vantage) Pair(server int, n uint64) (rtt time.Duration, lost bool) {
	if v.RTT[server] < 0 {
		return 0, true
	}
	if v.pair == nil {
		return v.RTT[server], false
	}
	return v.pair(server, n)
}

// ReadVantage reads a data file: CSV with the header addr,country,asn,rtt_ms and
// optionally players,max_players, in any order, other columns ignored. An empty
// rtt_ms is a silent server.
func ReadVantage(name string, r io.Reader) (*Vantage, error) {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("sim: %s has no header: %w", name, err)
	}
	columns := make(map[string]int)
	for i, title := range header {
		columns[title] = i
	}
	for _, title := range []string{"addr", "rtt_ms"} {
		if _, ok := columns[title]; !ok {
			return nil, fmt.Errorf("sim: %s has no column %s", name, title)
		}
	}
	v := &Vantage{Name: name}
	seen := make(map[netip.AddrPort]bool)
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return v, nil
		}
		if err == nil {
			err = v.add(row{fields, columns}, seen)
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("sim: %s, line %d: %w", name, line, err)
		}
	}
}

// row is one line of a data file.
type row struct {
	fields  []string
	columns map[string]int
}

// text is the field of a column, empty if there is none.
func (r row) text(column string) string {
	if i, ok := r.columns[column]; ok {
		return r.fields[i]
	}
	return ""
}

// number is the field of a column, 0 if it is empty.
func (r row) number(column string) (int, error) {
	text := r.text(column)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s %q is no number", column, text)
	}
	return int(n), nil
}

func (v *Vantage) add(r row, seen map[netip.AddrPort]bool) error {
	addr, err := netip.ParseAddrPort(r.text("addr"))
	if err != nil {
		return fmt.Errorf("addr %q: want address:port", r.text("addr"))
	}
	addr = discovery.Canonical(addr)
	if seen[addr] {
		return fmt.Errorf("%v is listed twice", addr)
	}
	seen[addr] = true
	asn, err1 := r.number("asn")
	players, err2 := r.number("players")
	seats, err3 := r.number("max_players")
	rtt, err4 := parseRTT(r.text("rtt_ms"))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	v.Servers = append(v.Servers, discovery.Server{Addr: addr, Country: r.text("country"), ASN: uint32(asn)})
	v.Infos = append(v.Infos, discovery.Info{Players: players, MaxPlayers: seats})
	v.RTT = append(v.RTT, rtt)
	return nil
}

// longestRTT keeps nonsense out of the arithmetic.
const longestRTT = time.Minute

func parseRTT(text string) (time.Duration, error) {
	if text == "" {
		return silent, nil
	}
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil || !(0 <= ms && ms <= float64(longestRTT/time.Millisecond)) {
		return 0, fmt.Errorf("rtt_ms %q is no time in milliseconds", text)
	}
	return milliseconds(ms), nil
}
