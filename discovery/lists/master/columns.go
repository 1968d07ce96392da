package master

import (
	"cmp"
	"encoding/csv"
	"errors"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/lists/address"
)

// column is a column of a CSV that is wanted.
type column int

const (
	addrColumn column = iota
	portColumn
	nameColumn
	countryColumn
	asnColumn
)

// columnNames are what people call the columns, the surest first.
var columnNames = [...][]string{
	addrColumn: {"addr", "address", "ip", "ip address", "ip-address", "ip_address", "ip:port", "ipport", "server address", "server ip",
		"server_ip", "adresse", "ip-adresse", "connect", "domain", "host", "hostname", "server"},
	portColumn:    {"port", "game port", "gameport", "game_port", "server port", "server_port", "join port"},
	nameColumn:    {"name", "server name", "servername", "server_name", "title", "server", "hostname"},
	countryColumn: {"country"},
	asnColumn:     {"asn"},
}

// columns are the places of the wanted columns in a record; -1 is nowhere.
type columns [len(columnNames)]int

// columnsOf reads a header, and reports whether the line is a header. A single column can only be
// the address.
func columnsOf(header string) (at columns, sep rune, is bool) {
	fields := []string{header}
	for _, r := range ",;\t|" {
		if split := strings.Split(header, string(r)); len(split) > len(fields) {
			fields, sep = split, r
		}
	}
	for i, field := range fields {
		fields[i] = strings.ToLower(strings.Trim(field, "\" "))
	}
	for column, names := range columnNames {
		at[column] = -1
		for _, name := range names {
			if i := slices.Index(fields, name); i >= 0 && at[column] < 0 && (column != int(nameColumn) || i != at[addrColumn]) {
				at[column] = i
			}
		}
	}
	is = at[addrColumn] >= 0
	if len(fields) == 1 {
		sep = ','
		is = slices.Contains(columnNames[addrColumn][:3], fields[0])
	}
	return at, sep, is
}

// longestRecord is how many lines a field between quotation marks may have.
const longestRecord = 20

// csv reads the records of a CSV.
func (p *listParser) csv(at columns, sep rune) {
	for line := p.next(); p.line > 0; line = p.next() {
		if trimmed := strings.TrimSpace(line); strings.Trim(trimmed, "-:|+ ") == "" || trimmed[0] == '#' {
			continue // blank, the line under a table's header, or a comment
		}
		number := p.line
		fields, whole := p.record(line, sep)
		if fields == nil {
			p.wrong(line, wantRecord)
			continue
		}
		p.entry(at, fields)
		p.read = number + strings.Count(whole, "\n")
	}
}

// record splits a record. It takes more lines if a field goes on there.
func (p *listParser) record(line string, sep rune) (fields []string, whole string) {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, string(sep)), line
	}
	rest := p.rest
	for whole = line; ; {
		r := csv.NewReader(strings.NewReader(whole))
		r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = sep, -1, true
		fields, err := r.Read()
		var wrong *csv.ParseError
		switch {
		case err == nil:
			return fields, whole
		case !errors.As(err, &wrong) || p.rest == "" || strings.Count(whole, "\n") == longestRecord:
			p.rest = rest
			return nil, ""
		}
		var next string
		next, p.rest, _ = strings.Cut(p.rest, "\n")
		whole += "\n" + strings.TrimSuffix(next, "\r")
	}
}

// entry takes the entry of a record.
func (p *listParser) entry(at columns, fields []string) {
	field := func(c column) string {
		if i := at[c]; i >= 0 && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	to, err := address.One(field(addrColumn))
	if port := field(portColumn); err == nil && to.Port == 0 && port != "" {
		to, err = address.One(address.Join(to.Host, port))
	}
	country := strings.ToUpper(field(countryColumn))
	asn, ok := discovery.ParseASN(cmp.Or(field(asnColumn), "0"))
	var wrong *address.Error
	switch {
	case errors.As(err, &wrong):
		p.wrong(wrong.Text, wrong.Want)
	case country != "" && (len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
		p.wrong(field(countryColumn), wantCountry)
	case !ok:
		p.wrong(field(asnColumn), wantASN)
	default:
		p.add(Entry{Name: field(nameColumn), Country: country, ASN: asn}, to)
	}
}
