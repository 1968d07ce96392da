package qstat

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/internal/packet"
	"muster/discovery/protocol/quake3"
	"muster/discovery/report"
)

// maxFile is the largest file, in bytes, that is read: MaxServers servers with
// rules and players.
const maxFile = 256 << 20

var (
	// ErrTruncated reports that the file ends in the middle. It wraps
	// [discovery.ErrMalformed].
	ErrTruncated = fmt.Errorf("%w: the file ends before </qstat>", discovery.ErrMalformed)
	// ErrEmpty reports that the file has no server with an address.
	ErrEmpty = errors.New("qstat: no server with an IP address in it")
)

// ReadXML reads the output of quakestat -xml, in either of its encodings, as a report.
// The report has no peer, game and time, because QStat's files do not.
//
// ReadXML skips masters, and servers with a host name instead of an address: no other
// player's report could name the same ones. QStat counts whole milliseconds, so a ping
// of 0 counts as half of one. Errors wrap [discovery.ErrMalformed]; a file that is cut
// off is [ErrTruncated].
func ReadXML(r io.Reader) (report.Report, error) {
	limited := &io.LimitedReader{R: r, N: maxFile}
	d := xml.NewDecoder(limited)
	d.CharsetReader = charset
	reader := reading{decoder: d, seen: make(map[netip.AddrPort]bool)}
	err := reader.document()
	switch {
	case err != nil && limited.N == 0:
		return report.Report{}, malformed(fmt.Errorf("over %d bytes", maxFile))
	case isTruncation(err):
		return report.Report{}, fmt.Errorf("qstat: %w", ErrTruncated)
	case err != nil:
		return report.Report{}, malformed(err)
	case len(reader.list) == 0:
		return report.Report{}, ErrEmpty
	}
	return report.New(report.Report{Strategy: "qstat"}, reader.list, reader.results), nil
}

func malformed(err error) error { return fmt.Errorf("qstat: %w: %w", discovery.ErrMalformed, err) }

// charset decodes the encodings that QStat writes.
func charset(name string, input io.Reader) (io.Reader, error) {
	if strings.EqualFold(name, "iso-8859-1") {
		return charmap.ISO8859_1.NewDecoder().Reader(input), nil
	}
	return nil, fmt.Errorf("the encoding %q is none of QStat's", name)
}

func isTruncation(err error) bool {
	var syntax *xml.SyntaxError
	return errors.As(err, &syntax) && syntax.Msg == "unexpected EOF" ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// entry is a <server> element. Players are ignored.
type entry struct {
	Type       string  `xml:"type,attr"`
	Address    string  `xml:"address,attr"`
	Status     string  `xml:"status,attr"`
	Listed     *string `xml:"servers,attr"` // masters only
	Name       string  `xml:"name"`
	GameType   string  `xml:"gametype"`
	Map        string  `xml:"map"`
	Players    int     `xml:"numplayers"`
	MaxPlayers int     `xml:"maxplayers"`
	Ping       int     `xml:"ping"`
	Rules      []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:",chardata"`
	} `xml:"rules>rule"`
}

// reading is a document in progress.
type reading struct {
	decoder *xml.Decoder
	seen    map[netip.AddrPort]bool
	list    []discovery.Server
	results []discovery.Result
}

// document reads up to the end of the root element.
func (r *reading) document() error {
	root, err := r.nextElement()
	if err != nil {
		return err
	}
	if root == nil || root.Name.Local != "qstat" {
		return errors.New("the root element is not <qstat>")
	}
	for {
		element, err := r.nextElement()
		if element == nil || err != nil {
			return err
		}
		if element.Name.Local != "server" {
			err = r.decoder.Skip()
		} else {
			err = r.server(element)
		}
		if err != nil {
			return err
		}
	}
}

// nextElement returns the next element inside this one, or nil at its end.
func (r *reading) nextElement() (*xml.StartElement, error) {
	for {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

func (r *reading) server(element *xml.StartElement) error {
	var e entry
	if err := r.decoder.DecodeElement(&e, element); err != nil {
		return err
	}
	addr, ok := address(e.Type, e.Address)
	if hostport.IsName(addr.Addr()) && strings.EqualFold(e.Status, "ERROR") {
		return nil // QStat does not know the name
	}
	if !ok || e.isMaster() || r.seen[addr] {
		return nil
	}
	if len(r.list) == discovery.MaxServers {
		return fmt.Errorf("over %d servers", discovery.MaxServers)
	}
	result, err := e.result()
	if err != nil {
		return fmt.Errorf("%s: %w", addr, err)
	}
	result.Server, result.Order = len(r.list), len(r.list)+1
	asn, _ := strconv.ParseUint(e.rule(ruleASN), 10, 32)
	r.seen[addr] = true
	r.list = append(r.list, discovery.Server{Addr: addr, Country: discovery.CleanText(e.rule(ruleCountry)), ASN: uint32(asn)})
	r.results = append(r.results, result)
	return nil
}

// address reads IP[:PORT] or NAME:PORT; ok is false for a bare host name.
func address(kind, s string) (_ netip.AddrPort, ok bool) {
	addr, err := hostport.Parse(s)
	if err != nil {
		host, _ := netip.ParseAddr(s)
		addr = netip.AddrPortFrom(host, defaultPort(kind))
	}
	return discovery.Canonical(addr), addr.IsValid() && addr.Port() != 0
}

// isMaster reports whether the entry is a master's: it tells how many servers it lists,
// or its type is a master's. QStat's master types end in M, except two.
func (e *entry) isMaster() bool {
	kind := strings.ToUpper(e.Type)
	return e.Listed != nil || strings.HasSuffix(kind, "M") && kind != "TM" && kind != "FARMSIM"
}

func (e *entry) result() (discovery.Result, error) {
	switch e.Status {
	case "UP":
	case "DOWN":
		return discovery.Result{State: discovery.Refused}, nil
	case "TIMEOUT", "ERROR":
		return discovery.Result{State: discovery.Lost}, nil
	default:
		return discovery.Result{}, fmt.Errorf("the status %q is none of QStat's", discovery.CleanText(e.Status))
	}
	if min(e.Players, e.MaxPlayers, e.Ping) < 0 || e.Ping > int(time.Hour/time.Millisecond) {
		return discovery.Result{}, errors.New("an impossible number of players or milliseconds")
	}
	// Muster's own figure if there is one, else QStat's whole milliseconds.
	ping, exact := time.Duration(e.Ping)*time.Millisecond, discovery.Millis(0)
	rtt := max(ping, time.Millisecond/2)
	if err := exact.UnmarshalJSON([]byte(e.rule(ruleRTT))); err == nil && (time.Duration(exact)-ping).Abs() <= time.Millisecond {
		rtt = time.Duration(exact)
	}
	return discovery.Result{State: discovery.Answered, RTT: rtt, Info: e.info()}, nil
}

func (e *entry) info() *discovery.Info {
	clean := func(text string) string { return quake3.CleanName(asSent(text)) }
	if kind := strings.ToUpper(e.Type); kind == "A2S" || kind == "TEES" {
		clean = func(text string) string { return packet.Text([]byte(asSent(text))) } // here a caret is no colour
	}
	bots := 0 // A2S servers tell them, ioquake3 tells the others
	if n, err := strconv.Atoi(e.rule(ruleBots)); err == nil {
		bots = max(n, 0)
	} else if humans, err := strconv.Atoi(e.rule("g_humanplayers")); err == nil && humans >= 0 {
		bots = max(e.Players-humans, 0)
	}
	private, _ := strconv.Atoi(e.rule(rulePrivate)) // QStat counts these seats, too
	protocol, _ := strconv.ParseUint(e.rule(ruleProtocol), 10, 31)
	oldest, _ := strconv.ParseUint(e.rule(ruleOldest), 10, 31)
	info := &discovery.Info{
		Version:  discovery.CleanText(e.rule(ruleVersion)),
		Protocol: int(protocol), OldestProtocol: int(oldest),
		Mod:      discovery.CleanText(e.rule(ruleMod)),
		Tags:     discovery.TagsOf(e.rule(ruleTags)),
		Name:     clean(e.Name),
		Map:      packet.Text([]byte(asSent(e.Map))),
		Mode:     discovery.CleanText(cmp.Or(e.rule("gametype", "g_gametype"), e.GameType)),
		Password: slices.Contains([]string{"1", "true"}, e.rule(rulePassword, "g_needpass")),
	}
	packet.Seat(info, e.Players, bots, max(0, e.MaxPlayers-max(0, private)), false)
	return info
}

// asSent returns a text as the server sent it. QStat takes each byte for a letter of Latin-1, in
// both of its encodings.
func asSent(text string) string {
	sent, err := charmap.ISO8859_1.NewEncoder().String(text)
	if err != nil { // another program's file
		return text
	}
	return sent
}

// rule returns the value of the first rule with one of the names.
func (e *entry) rule(names ...string) string {
	for _, r := range e.Rules {
		if slices.Contains(names, r.Name) {
			return strings.TrimSpace(r.Value)
		}
	}
	return ""
}

// defaultPort returns the port of a type's servers, 0 if the type is unknown. QStat
// omits it unless its user gave it. (qstat.h, qstat.cfg)
func defaultPort(kind string) uint16 {
	switch strings.ToUpper(kind) {
	case "QS", "XONOTICS", "NEXUIZS":
		return 26000
	case "QWS":
		return 27500
	case "Q2S", "ALIENARENAS", "QUETOOS":
		return 27910
	case "Q3S", "OPENARENAS", "IOURTS", "WOETS", "UNVANQUISHEDS", "SMOKINGUNSS", "REACTIONS",
		"TURTLEARENAS", "WOPS", "RWS", "EFS":
		return 27960
	case "A2S", "HLS", "HL2S", "HLA2S":
		return 27015
	case "TEES":
		return 8303
	case "WARSOWS", "WARFORKS":
		return 44400
	case "CODS", "COD2S", "COD4S", "WAWS":
		return 28960
	case "JK2S":
		return 28070
	case "JK3S":
		return 29070
	}
	return 0
}
