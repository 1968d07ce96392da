package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"muster/discovery"
)

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
