package master

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"muster/discovery"
	"muster/discovery/lists/address"
)

// maxFile is the largest list, in bytes, that is read: MaxServers lines of a CSV
// with a few columns more than Muster wants.
const maxFile = 64 << 20

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
	// Name is what the list calls it, not cleaned.
	Name string
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

// SkippedError is a warning: lines of a list were left out because they are invalid.
type SkippedError struct {
	File string
	// Lines are the numbers of the first ones, and First is the first of them.
	Lines []int
	First *ListError
	// All is how many they are.
	All int
}

// maxTold is how many lines a warning names.
const maxTold = 10

func (e *SkippedError) Error() string {
	rest := ""
	if more := e.Rest(); more != "" {
		is := "are"
		if e.All == 2 {
			is = "is"
		}
		rest = ", and so " + is + " " + more
	}
	return fmt.Sprintf("%v: left out%s", e.First, rest)
}

// Rest names the lines after the first one: "lines 4, 7 and 12 more". It is empty if
// there are none.
func (e *SkippedError) Rest() string {
	if e == nil || e.All == 1 {
		return ""
	}
	var numbers []string
	for _, line := range e.Lines[1:] {
		numbers = append(numbers, strconv.Itoa(line))
	}
	text := "line"
	if e.All > 2 {
		text = "lines"
	}
	text += " " + strings.Join(numbers, ", ")
	if more := e.All - len(e.Lines); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unwrap returns what is wrong with the first line.
func (e *SkippedError) Unwrap() error { return e.First }

// Add returns the warning with one more line; nil is none yet.
func (e *SkippedError) Add(wrong *ListError) *SkippedError {
	if e == nil {
		e = &SkippedError{File: wrong.File, First: wrong}
	}
	if e.All++; len(e.Lines) < maxTold {
		e.Lines = append(e.Lines, wrong.Line)
	}
	return e
}

// These are the texts that stand in a list in place of others.
const (
	wantCountry = "a country code such as DE"
	wantASN     = "an AS number such as 3320"
	wantRecord  = "a CSV record: a quotation mark is too many, or one is missing"
	wantReached = "a server that anybody can measure: only Steam's relays lead to 169.254 addresses"
)

// ParseList reads a list of servers; name is its name in errors. A list has one server
// a line, as [address.Read] reads it:
//
//	# favourites
//	192.0.2.1:27960
//	[2001:db8::1]:27960 the clan's
//	Q3S games.example.org
//	steam://connect/192.0.2.1:27015
//
// Or it is a CSV with a header, with commas, semicolons, tabs or bars. One column is the
// address (addr, ip and the like), perhaps with another for the port. Country, asn and
// name are optional, and others are ignored:
//
//	addr,country,asn
//	192.0.2.1:27960,DE,3320
//
// Blank lines, lines that start with #, and a byte-order mark are ignored. Any other
// line is left out, and a [*SkippedError] is among the warnings. If no line is left, the
// error is the [*ListError] of the first; a list without servers is [ErrEmpty].
//
// Repeated servers are one entry. If a list is too long, or has too many servers in one
// place, each place keeps its share, and a [*CutError] is among the warnings.
func ParseList(r io.Reader, name string) (entries []Entry, warnings []error, err error) {
	var all sample[written, Entry]
	var skipped *SkippedError
	err = EachEntry(r, name, func(e Entry) {
		at, free := placeOfName(e.Host, e.Port), false
		if addr, err := netip.ParseAddr(e.Host); err == nil {
			at, free = placeOf(0, netip.AddrPortFrom(addr, e.Port)), isFree(addr)
		}
		if known := all.add(written{e.Type, e.Host, e.Port}, at, free); known != nil && known.Host == "" {
			*known = e
		} else if known != nil {
			known.Country, known.ASN = cmp.Or(known.Country, e.Country), cmp.Or(known.ASN, e.ASN)
		}
	}, func(wrong *ListError) { skipped = skipped.Add(wrong) })
	if err != nil {
		return nil, nil, err
	}
	entries = all.all()
	switch {
	case len(entries) == 0 && skipped != nil:
		return nil, nil, skipped.First
	case len(entries) == 0:
		return nil, nil, fmt.Errorf("master: %s: %w", name, ErrEmpty)
	case skipped != nil:
		warnings = []error{skipped}
	}
	return entries, append(warnings, all.warnings(name)...), nil
}

// EachEntry reads a list as [ParseList] does, without a bound on its entries. It passes
// on each one, and each line that is none, in their order.
func EachEntry(r io.Reader, name string, take func(Entry), skip func(*ListError)) error {
	text, err := io.ReadAll(transform.NewReader(io.LimitReader(r, maxFile+1), unicode.BOMOverride(transform.Nop)))
	if err != nil {
		return fmt.Errorf("master: %s: %w", name, err)
	}
	if len(text) > maxFile {
		return fmt.Errorf("master: %s: %w: over %d bytes", name, discovery.ErrMalformed, maxFile)
	}
	p := listParser{file: name, rest: string(text), take: take, skip: skip}
	line := p.next()
	for p.line > 0 && uncommented(line) == "" {
		line = p.next()
	}
	if at, sep, is := columnsOf(line); is {
		p.csv(at, sep)
	} else {
		p.lines(line)
	}
	return nil
}

type listParser struct {
	file string
	rest string // what was not read yet
	line int    // the number of the line read last, 0 at the end
	read int
	take func(Entry)
	skip func(*ListError)
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

func (p *listParser) next() (line string) {
	if p.rest == "" {
		p.line = 0
		return ""
	}
	line, p.rest, _ = strings.Cut(p.rest, "\n")
	p.read++
	p.line = p.read
	return strings.TrimSuffix(line, "\r")
}

// peek returns the line after it.
func (p *listParser) peek() string {
	line, _, _ := strings.Cut(p.rest, "\n")
	return line
}

func (p *listParser) wrong(text, want string) {
	p.skip(&ListError{File: p.file, Line: p.line, Text: discovery.CleanText(text), Want: want})
}

func (p *listParser) add(e Entry, at address.Address) {
	e.File, e.Line, e.Host, e.Port = p.file, p.line, at.Host, at.Port
	if addr, err := netip.ParseAddr(at.Host); err == nil && isFake(addr) {
		p.wrong(at.String(), wantReached)
		return
	}
	p.take(e)
}

// lines reads a list of lines, from the one that was read.
func (p *listParser) lines(line string) {
	for ; p.line > 0; line = p.next() {
		plain := uncommented(line)
		if plain == "" {
			continue
		}
		got, isPair := p.pair(plain)
		if !isPair {
			var err error
			got, err = address.Read(plain)
			if unclear, is := errors.AsType[*address.Error](err); is {
				p.wrong(unclear.Text, unclear.Want)
				continue
			}
		}
		for _, at := range got.Addresses {
			p.add(Entry{Type: got.Type, Name: got.Name}, at)
		}
		if isPair {
			p.next()
		}
	}
}

// pair reads a line together with the next one, if one of them has an address and the other its port.
func (p *listParser) pair(line string) (both address.Line, is bool) {
	if _, err := netip.ParseAddrPort(line); err == nil { // as in most lists
		return both, false
	}
	at, port := line, uncommented(p.peek())
	if address.IsPortLine(line) {
		at, port = port, line
	}
	if at == "" || !address.IsPortLine(port) {
		return both, false
	}
	one, err := address.Read(at)
	if err != nil || len(one.Addresses) != 1 || one.Addresses[0].Port != 0 {
		return both, false
	}
	both, err = address.Read(at + " " + port)
	return both, err == nil
}

// uncommented returns a line without its comment. A # before a digit is a number in a
// name.
func uncommented(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "//") {
		return ""
	}
	for at := range line {
		if line[at] == '#' && (at+1 == len(line) || line[at+1] < '0' || line[at+1] > '9') {
			return strings.TrimSpace(line[:at])
		}
	}
	return line
}

// canBeServer reports whether one server may have the address, on any network. It
// excludes broadcast, unspecified and zoned addresses.
func canBeServer(a netip.Addr) bool {
	return a.Zone() == "" && discovery.ReachOf(a) != discovery.NoReach
}
