package master

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"muster/discovery"
)

// maxFile is the largest list, in bytes, that is read: MaxServers lines of a CSV
// with a few columns more than Muster wants.
const maxFile = 64 << 20

// The longest words of a list, in bytes.
const (
	maxType  = 20  // over twice what QStat's have
	maxName  = 253 // of a host, and of each label in it (RFC 1035, section 3.1)
	maxLabel = 63
)

// Entry is one line of a list, unchanged.
type Entry struct {
	// File and Line are its place.
	File string
	Line int
	// Type is QStat's type in upper case (Q3S, A2S), or empty.
	Type string
	// Host is an IP address or a host name.
	Host string
	// Port is 0 if none was written.
	Port uint16
	// Country and ASN come only from a CSV.
	Country string
	ASN     uint32
}

// ErrEmpty reports that a list, or every master, was read and has no server.
var ErrEmpty = errors.New("no servers in it")

// ListError is about an invalid line of a list.
type ListError struct {
	File string
	Line int
	// Text is the line's text, cleaned for display.
	Text string
	// Want describes a valid text.
	Want string
}

func (e *ListError) Error() string {
	return fmt.Sprintf("master: %s:%d: %q is not %s", e.File, e.Line, e.Text, e.Want)
}

// Unwrap returns [discovery.ErrMalformed].
func (e *ListError) Unwrap() error { return discovery.ErrMalformed }

// The forms of a list.
const (
	wantLine    = "[TYPE ]ADDRESS[:PORT], ADDRESS[:PORT] NAME, a link to a server, or a CSV header with a column addr"
	wantAddress = "an ADDRESS[:PORT] such as 192.0.2.1:27960, [2001:db8::1]:27960 or games.example.org"
	wantType    = "a type of QStat's such as Q3S or A2S"
	wantCountry = "a country code such as DE"
	wantASN     = "an AS number such as 3320"
	wantRecord  = "a CSV record: a quotation mark is too many, or one is missing"
)

// ParseList reads a list of servers; name is its name in errors. A list has one server
// a line. The line may also have QStat's type in front, a name before or after, or be a
// link:
//
//	# favourites
//	192.0.2.1:27960
//	[2001:db8::1]:27960 the clan's
//	Q3S games.example.org
//	steam://connect/192.0.2.1:27015
//
// Or it is a CSV with a header. The column addr is required, or ip and port instead.
// Country and asn are optional, and others are ignored:
//
//	addr,country,asn
//	192.0.2.1:27960,DE,3320
//
// Blank lines, lines that start with #, and a byte-order mark are ignored. Any other
// line is a [*ListError]; a list without servers is [ErrEmpty].
//
// Repeated servers are one entry. If a list is too long, or has too many servers in one
// place, each place keeps its share, and a [*CutError] is among the warnings.
func ParseList(r io.Reader, name string) (entries []Entry, warnings []error, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("master: %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, nil, fmt.Errorf("master: %s: %w: over %d bytes", name, discovery.ErrMalformed, maxFile)
	}
	p := listParser{file: name}
	body := strings.TrimPrefix(string(text), "\ufeff")
	if isCSV(body) {
		err = p.csv(body)
	} else {
		err = p.lines(body)
	}
	if err != nil {
		return nil, nil, err
	}
	if entries = p.sample.all(); len(entries) == 0 {
		return nil, nil, fmt.Errorf("master: %s: %w", name, ErrEmpty)
	}
	return entries, p.sample.warnings(name), nil
}

// isCSV reports whether a list is a CSV, by the first line that is not empty. No
// address and no type has a comma in it, and a header of one column can only be addr.
func isCSV(body string) bool {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			word, _, _ := strings.Cut(line, "#")
			return strings.Contains(line, ",") || isColumn(strings.Trim(word, `" `), "addr")
		}
	}
	return false
}

func isColumn(field, name string) bool { return strings.EqualFold(strings.TrimSpace(field), name) }

type listParser struct {
	file   string
	line   int
	sample sample[written, Entry]
}

// written identifies an entry of a list.
type written struct {
	kind, at string
	port     uint16
}

func (w written) host() string {
	if addr, err := netip.ParseAddr(w.at); err == nil {
		return customer(addr)
	}
	return w.at
}

func (p *listParser) wrong(text, want string) error {
	return &ListError{File: p.file, Line: p.line, Text: discovery.CleanText(text), Want: want}
}

// add takes an entry with a yet unparsed address.
func (p *listParser) add(e Entry, address string) error {
	host, port, ok := splitAddress(address)
	switch {
	case !ok, isColumn(host, "addr"): // a header out of its place is no host
		return p.wrong(address, wantAddress)
	}
	at, free := placeOfName(host, port), false
	if addr, err := netip.ParseAddr(host); err == nil {
		at, free = placeOf(0, netip.AddrPortFrom(addr, port)), isFree(addr)
	}
	if known := p.sample.add(written{e.Type, host, port}, at, free); known != nil && known.Host == "" {
		e.File, e.Line, e.Host, e.Port = p.file, p.line, host, port
		*known = e
	} else if known != nil {
		known.Country, known.ASN = cmp.Or(known.Country, e.Country), cmp.Or(known.ASN, e.ASN)
	}
	return nil
}

func (p *listParser) lines(body string) error {
	for line := range strings.Lines(body) {
		p.line++
		line, _, _ = strings.Cut(line, "#")
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		var err error
		f := wordsOf(line)
		among, isAmong := addressAmong(f)
		switch {
		case len(f) == 0:
		case len(f) == 1:
			err = p.add(Entry{}, f[0])
		case isAmong && !(len(f) == 2 && isType(f[0]) && !isAddress(f[0], false)):
			err = p.add(Entry{}, among)
		case len(f) > 2:
			err = p.wrong(strings.TrimRight(line, "\r\n"), wantLine)
		case !isType(f[0]):
			err = p.wrong(f[0], wantType)
		default:
			err = p.add(Entry{Type: strings.ToUpper(f[0])}, f[1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isType reports whether a word may be a type: QStat's are words such as Q3S and
// SOF2M1.0.
func isType(s string) bool {
	return len(s) <= maxType && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.") == ""
}

func (p *listParser) csv(body string) error {
	r := csv.NewReader(strings.NewReader(body))
	r.Comment, r.FieldsPerRecord, r.ReuseRecord, r.TrimLeadingSpace = '#', -1, true, true
	header, err := r.Read()
	if err != nil {
		return p.csvError(body, err)
	}
	at := columns{-1, -1, -1, -1, -1}
	for i := len(header) - 1; i >= 0; i-- { // the first of two wins
		for column, name := range columnNames {
			if isColumn(header[i], name) {
				at[column] = i
			}
		}
	}
	p.line, _ = r.FieldPos(0)
	if at[addrColumn] < 0 && at[ipColumn] < 0 {
		return p.wrong(strings.Join(header, ","), wantLine)
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return p.csvError(body, err)
		}
		p.line, _ = r.FieldPos(0)
		if err := p.record(at, record); err != nil {
			return err
		}
	}
}

// csvError names the line with unbalanced quotes.
func (p *listParser) csvError(body string, err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("master: %s: %w", p.file, err)
	}
	p.line = parse.Line
	text := strings.Split(body, "\n")[min(p.line, 1+strings.Count(body, "\n"))-1]
	return p.wrong(text, wantRecord)
}

// columns are the places of the wanted columns in a record; -1 is nowhere.
type columns [len(columnNames)]int

const (
	addrColumn = iota
	ipColumn
	portColumn
	countryColumn
	asnColumn
)

var columnNames = [...]string{"addr", "ip", "port", "country", "asn"}

func (p *listParser) record(at columns, record []string) error {
	field := func(column int) string {
		if i := at[column]; i >= 0 && i < len(record) {
			return strings.TrimSpace(record[i])
		}
		return ""
	}
	addr := field(addrColumn)
	if at[addrColumn] < 0 {
		addr = joinAddress(field(ipColumn), field(portColumn))
	}
	country := strings.ToUpper(field(countryColumn))
	asn, ok := discovery.ParseASN(cmp.Or(field(asnColumn), "0"))
	switch {
	case country != "" && (len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
		return p.wrong(field(countryColumn), wantCountry)
	case !ok:
		return p.wrong(field(asnColumn), wantASN)
	}
	return p.add(Entry{Country: country, ASN: asn}, addr)
}

// joinAddress joins the two parts to ADDRESS[:PORT].
func joinAddress(ip, port string) string {
	switch {
	case port == "":
		return ip
	case strings.Contains(ip, ":"):
		return "[" + unbracket(ip) + "]:" + port
	}
	return ip + ":" + port
}

// splitAddress splits ADDRESS[:PORT]; the port is 0 if there is none. An IPv6 address
// with a port is in brackets.
func splitAddress(s string) (host string, port uint16, ok bool) {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a.Addr().Unmap().String(), a.Port(), a.Port() != 0 && canBeServer(a.Addr())
	}
	if a, err := netip.ParseAddr(unbracket(s)); err == nil {
		return a.Unmap().String(), 0, canBeServer(a)
	}
	host, digits, hasPort := strings.Cut(s, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	if hasPort && (err != nil || n == 0) {
		return "", 0, false
	}
	return strings.ToLower(host), uint16(n), isHostName(host)
}

// unbracket takes an IPv6 address out of its brackets.
func unbracket(s string) string {
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.Contains(s, ":") {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			return inner
		}
	}
	return s
}

// canBeServer reports whether one server may have the address, on any network. It
// excludes broadcast, unspecified and zoned addresses.
func canBeServer(a netip.Addr) bool {
	return a.Zone() == "" && discovery.ReachOf(a) != discovery.NoReach
}

// isHostName reports whether the domain name system can know a name: labels of letters,
// digits, hyphens and, as some users have them, underscores. (RFC 1123, 2.1)
func isHostName(s string) bool {
	if len(s) == 0 || len(s) > maxName {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	// An almost valid address, such as 1.2.3 or 1.2.3.400, is an error and no name.
	return strings.Trim(s, "0123456789.") != ""
}
