package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"muster/discovery"
)

var csvHeader = []string{
	"addr", "state", "rtt_ms", "name", "map", "mode",
	"players", "max_players", "bots", "password", "country", "asn",
}

// WriteCSV writes the report's servers as comma-separated values with a header
// (RFC 4180). The file is a list of servers too. rtt_ms is empty unless the
// server answered.
func (r Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHeader); err != nil {
		return err
	}
	for _, m := range r.Servers {
		if err := c.Write(m.csv()); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func (m Measurement) csv() []string {
	rtt := ""
	if m.State == discovery.Answered {
		rtt = m.RTT.String()
	}
	return []string{
		m.Addr.String(), m.State.String(), rtt, inert(m.Name), inert(m.Map), inert(m.Mode),
		strconv.Itoa(m.Players), strconv.Itoa(m.MaxPlayers), strconv.Itoa(m.Bots),
		strconv.FormatBool(m.Password), inert(m.Country), strconv.FormatUint(uint64(m.ASN), 10),
	}
}

// inert keeps spreadsheets from taking a stranger's text for a formula, by the
// apostrophe with which they mark text.
func inert(s string) string {
	if s != "" && strings.ContainsAny(s[:1], "=+-@\t\r\n") {
		return "'" + s
	}
	return s
}
