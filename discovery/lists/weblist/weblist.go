// Package weblist reads lists of servers from services on the web. A [Form] tells where
// an answer has its servers, so that a new service takes a few lines in a table and no
// code.
//
//	JSON, XML, text, FiveM's frames, Sauerbraten's lines
//	      │ rows: read one at a time, each a small JSON document
//	      ▼
//	{"ip":"192.0.2.1","port":27015,"name":"…"} ── paths of the form ──▶ Row
//
// The longest row bounds the memory, not the list. Paths within a row are those of
// github.com/tidwall/gjson.
package weblist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"muster/discovery"
	"muster/discovery/internal/charset"
	"muster/discovery/internal/packet"
)

// Format is the syntax of an answer.
type Format string

const (
	JSON Format = "json"
	XML  Format = "xml"
	// Text has a server a line, as in a file of servers.
	Text Format = "text"
	// FiveM are frames of protobuf. Its rows have the form that the service's clients
	// give them:
	// {"EndPoint":"abc123","Data":{"hostname":"…","connectEndPoints":["…"]}}.
	FiveM Format = "fivem"
	// Sauerbraten are lines "addserver HOST PORT", of Cube 2 and its kin. Its rows
	// are {"host":"…","port":"…"}.
	Sauerbraten Format = "sauerbraten"
)

// Formats returns all formats.
func Formats() []Format { return []Format{JSON, XML, Text, FiveM, Sauerbraten} }

// Form tells where an answer has its servers, and where a server's row has its fields.
// Every field but Format, Rows and Where is a path into the row, empty if the service
// does not tell.
type Form struct {
	Format Format `toml:"format"`
	// Rows is the path to the rows, names and places joined by dots. Empty is the whole
	// answer, or in XML the children of the root. In an object each value is a row,
	// with its name in the field _key.
	Rows string `toml:"rows"`
	// Next is for a list in pages: the end of the next page's URL. {NAME} in it is the
	// value of that name next to the rows, and {last} the last row's address. More names
	// the value next to the rows that is true while there are more pages.
	Next string `toml:"next"`
	More string `toml:"more"`
	// Where are conditions PATH=VALUE and PATH!=VALUE. A row must meet all of them. A
	// missing value reads as nothing.
	Where []string `toml:"where"`
	// Address is HOST[:PORT], a link that contains it, or several of these. Host and
	// Port may replace it.
	Address string `toml:"address"`
	Host    string `toml:"host"`
	Port    string `toml:"port"`
	// GamePort is the port that players connect to if servers are asked at another.
	GamePort string `toml:"game_port"`
	Name     string `toml:"name"`
	Map      string `toml:"map"`
	Mode     string `toml:"mode"`
	// Players and Bots are numbers, or lists, which are counted.
	Players string `toml:"players"`
	Bots    string `toml:"bots"`
	// BotsApart says that Players are people alone, and that bots take no seat from them.
	BotsApart  bool   `toml:"-"`
	MaxPlayers string `toml:"max_players"`
	Password   string `toml:"password"`
	Version    string `toml:"version"`
	// Protocol and OldestProtocol are numbers, as [discovery.Info] has them.
	Protocol       string `toml:"protocol"`
	OldestProtocol string `toml:"protocol_min"`
	Mod            string `toml:"mod"`
	// Tags are a text of words, or a list of them.
	Tags string `toml:"tags"`
}

// Row is one server as a list has it. Only the length of its fields is checked.
type Row struct {
	// Address is HOST[:PORT], a link, or a line of text that contains one of these.
	Address string         `json:"address"`
	Info    discovery.Info `json:"info"`
}

// Check reports errors in a form.
func (f Form) Check() error {
	switch {
	case !slices.Contains(Formats(), f.Format):
		return fmt.Errorf("format %q is none of %v", f.Format, Formats())
	case f.address() == "" && f.host() == "":
		return errors.New("address is missing, and host too: where in a row is the server?")
	case f.Port != "" && f.host() == "":
		return errors.New("port belongs to host: with address, the port stands in it")
	}
	for _, condition := range f.Where {
		if _, err := parseCondition(condition); err != nil {
			return err
		}
	}
	return f.checkPages()
}

// address and host return the default places for formats that have only one.
func (f Form) address() string {
	switch {
	case f.Address == "" && f.Host == "" && f.Format == Text:
		return "line"
	case f.Address == "" && f.Host == "" && f.Format == FiveM:
		return "Data.connectEndPoints"
	}
	return f.Address
}

func (f Form) host() string {
	if f.Address == "" && f.Host == "" && f.Format == Sauerbraten {
		return "host"
	}
	return f.Host
}

func (f Form) port() string {
	if f.Address == "" && f.Host == "" && f.Format == Sauerbraten {
		return "port"
	}
	return f.Port
}

// condition is one condition of a form.
type condition struct {
	path, value string
	not         bool
}

func parseCondition(text string) (condition, error) {
	path, value, found := strings.Cut(text, "=")
	path, not := strings.CutSuffix(path, "!")
	if !found || path == "" {
		return condition{}, fmt.Errorf("where %q is neither PATH=VALUE nor PATH!=VALUE", text)
	}
	return condition{path, value, not}, nil
}

// ShapeError reports that an answer was read, and has no server where the form expects
// them.
type ShapeError struct {
	// Rows is the number of rows, First the first one without a server, cleaned and
	// cut. First is empty if no row meets the form's conditions.
	Rows  int
	First string
	where []string
}

func (e *ShapeError) Error() string {
	switch {
	case e.Rows == 0:
		return "it lists no server"
	case e.First == "":
		return fmt.Sprintf("none of its %d rows meets where = %q", e.Rows, e.where)
	}
	return fmt.Sprintf("none of its %d rows holds an address where it should be; the first is %s", e.Rows, e.First)
}

// Read reads an answer and yields its servers in their order until yield returns false.
// An answer that breaks off yields the servers before, and then an error. If the answer
// has no servers, the error is a [*ShapeError]. All other errors about the answer wrap
// [discovery.ErrMalformed].
func (f Form) Read(r io.Reader, yield func(Row) bool) error {
	_, err := f.ReadPage(r, yield)
	return err
}

// ReadPage reads one page of a list in pages, as [Form.Read] does. It returns the end of the
// next page's URL, empty after the last one.
func (f Form) ReadPage(r io.Reader, yield func(Row) bool) (next string, err error) {
	p := page{form: f}
	err = p.read(r, yield)
	return p.next(), err
}

// read reads an answer.
func (p *page) read(r io.Reader, yield func(Row) bool) error {
	f := p.form
	if err := f.Check(); err != nil {
		return err
	}
	var conditions []condition
	for _, text := range f.Where {
		c, _ := parseCondition(text) // Check has checked it
		conditions = append(conditions, c)
	}
	head, err := io.ReadAll(io.LimitReader(r, pageHead))
	if webPage.Match(head) {
		return ErrWebPage
	}
	if err != nil {
		r = brokenOff{err}
	}
	text := io.MultiReader(bytes.NewReader(head), r)
	rows, servers := 0, 0
	var shape ShapeError
	m := &meter{from: text, row: maxRow, all: maxAnswer}
	err = p.rows(m, func(row []byte) error {
		m.row = maxRow
		rows++
		doc := gjson.ParseBytes(row)
		if !meets(doc, conditions) {
			return nil
		}
		addresses := f.addresses(doc)
		if len(addresses) == 0 && shape.First == "" {
			shape.First = excerpt(row)
		}
		info := f.info(doc)
		for _, address := range addresses {
			servers++
			p.last = address
			if !yield(Row{Address: address, Info: info}) {
				return errEnough
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	case servers == 0:
		shape.Rows, shape.where = rows, f.Where
		return &shape
	}
	return nil
}

// ErrWebPage says that a web page was sent in place of a list: a service's notice, or what a network
// shows before it lets its guests in.
var ErrWebPage = fmt.Errorf("%w: a web page came in place of the list", discovery.ErrMalformed)

// brokenOff is the rest of an answer that broke off.
type brokenOff struct{ err error }

func (b brokenOff) Read([]byte) (int, error) { return 0, b.err }

// pageHead is how far into an answer the beginning of a page is looked for, in bytes.
const pageHead = 1024

// webPage matches the beginning of HTML: comments and XML's own lines may stand before it.
var webPage = regexp.MustCompile(`(?is)^(\x{feff})?(\s|<\?.*?\?>|<!--.*?-->)*<(!doctype\s+html|html|head|body|title|meta|script)[\s/>]`)

// errEnough ends the reading when yield wants no more.
var errEnough = errors.New("enough")

// rows calls yield with each row of an answer as JSON. The row is valid until yield
// returns.
func (p *page) rows(r io.Reader, yield func([]byte) error) error {
	switch p.form.Format {
	case XML:
		return readXML(r, p.form.Rows, yield)
	case Text:
		return lines(r, func(line string) error { return yield(marshal(map[string]string{"line": line})) })
	case FiveM:
		return readFrames(r, yield)
	case Sauerbraten:
		return readServers(r, yield)
	}
	return p.readJSON(r, yield)
}

// get returns the value at a path. The library takes any row safely. If it panics over
// a path, which only the user's own table can have, nothing is found.
func get(doc gjson.Result, path string) (found gjson.Result) {
	defer func() {
		if recover() != nil {
			found = gjson.Result{}
		}
	}()
	if path == "" {
		return gjson.Result{}
	}
	return doc.Get(path)
}

func meets(doc gjson.Result, conditions []condition) bool {
	for _, c := range conditions {
		if (get(doc, c.path).String() == c.value) == c.not {
			return false
		}
	}
	return true
}

// maxAddresses are taken of one row, which has one or two, or some ten for a group of
// servers. For them maxSeen elements of an array are looked at.
const maxAddresses, maxSeen = 64, 1024

func (f Form) addresses(doc gjson.Result) (addresses []string) {
	add := func(found gjson.Result) {
		if text := strings.TrimSpace(word(found)); text != "" && len(text) <= maxText && len(addresses) < maxAddresses {
			addresses = append(addresses, text)
		}
	}
	if path := f.address(); path != "" {
		if found := get(doc, path); found.IsArray() {
			seen := 0 // not found.Array, which takes 100 bytes for each element
			found.ForEach(func(_, one gjson.Result) bool {
				add(one)
				seen++
				return seen < maxSeen
			})
		} else {
			add(found)
		}
		return addresses
	}
	host := get(doc, f.host())
	// SuperTuxKart writes 192.0.2.1 as 3221225985.
	if n, err := strconv.ParseUint(host.String(), 10, 32); err == nil {
		host = gjson.Result{Type: gjson.String, Str: netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()}
	}
	if add(host); len(addresses) == 0 || f.port() == "" {
		return addresses
	}
	port := whole(get(doc, f.port()), 1<<16-1)
	if port == 0 {
		return nil
	}
	if addr, err := netip.ParseAddr(addresses[0]); err == nil && addr.Is6() {
		addresses[0] = "[" + addresses[0] + "]"
	}
	addresses[0] += ":" + strconv.Itoa(port)
	return addresses
}

// word returns a value as text; lists and objects have none.
func word(found gjson.Result) string {
	if found.Type == gjson.JSON || found.Type == gjson.Null {
		return ""
	}
	return found.String()
}

// maxText is the longest text of a row, in bytes, that is kept.
const maxText = 256

// maxSeats is more than any server has.
const maxSeats = 1<<16 - 1

func (f Form) info(doc gjson.Result) discovery.Info {
	info := discovery.Info{
		Name: f.text(doc, f.Name), Map: f.text(doc, f.Map), Mode: f.text(doc, f.Mode), Version: f.text(doc, f.Version),
		GamePort: uint16(whole(get(doc, f.GamePort), 1<<16-1)),
		Password: yes(get(doc, f.Password)),
		Protocol: whole(get(doc, f.Protocol), discovery.MaxProtocol), OldestProtocol: whole(get(doc, f.OldestProtocol), discovery.MaxProtocol),
		Mod: f.text(doc, f.Mod), Tags: tags(get(doc, f.Tags)),
	}
	seats := func(path string) int { return whole(get(doc, path), maxSeats) }
	packet.Seat(&info, seats(f.Players), seats(f.Bots), seats(f.MaxPlayers), f.BotsApart)
	return info
}

// tags returns words, or the elements of a list with underscores for blanks.
func tags(found gjson.Result) discovery.Tags {
	if !found.IsArray() {
		text := word(found)
		return discovery.TagsOf(charset.UTF8(text[:min(len(text), maxRow/1024)]))
	}
	var words []string
	length := 0
	found.ForEach(func(_, one gjson.Result) bool {
		text := word(one)
		words, length = append(words, strings.Join(strings.Fields(text), "_")), length+len(text)
		return length < maxRow/1024
	})
	return discovery.TagsOf(charset.UTF8(strings.Join(words, " ")))
}

// text returns a field for people.
func (f Form) text(doc gjson.Result, path string) string {
	text := word(get(doc, path))
	if len(text) > maxText {
		text = text[:maxText]
	}
	return packet.Text([]byte(text))
}

// whole returns a number. Services also write it as a text, or as a list to count. It
// is 0 if there is none, or if it is more than most.
func whole(found gjson.Result, most int) int {
	if found.IsArray() {
		n := 0
		found.ForEach(func(_, _ gjson.Result) bool { n++; return n < most })
		return n
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(word(found)), 64)
	if err != nil || !(n >= 0 && n <= float64(most)) {
		return 0
	}
	return int(n)
}

// yes reports whether a value is true, 1, or a word that does not mean no.
func yes(found gjson.Result) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "none"}, strings.ToLower(strings.TrimSpace(word(found))))
}

// excerpt returns the beginning of a row for people.
func excerpt(row []byte) string {
	const most = 120
	if len(row) > most {
		return discovery.CleanText(string(row[:most])) + "…"
	}
	return discovery.CleanText(string(row))
}

// The bounds of an answer, in bytes, unpacked.
const (
	// maxAnswer holds two million short rows. The longest honest list known is
	// FiveM's, with some 30,000 servers of 2 KB.
	maxAnswer = 256 << 20
	// maxRow bounds a row in memory. The longest honest row known is of a server of
	// FiveM with 2,048 players, some 100 KB. XML takes a hundred times as much memory.
	maxRow = 1 << 20
)

// meter bounds the bytes read: of one row, and of the whole answer.
type meter struct {
	from     io.Reader
	row, all int
}

func (m *meter) Read(b []byte) (int, error) {
	switch {
	case m.all <= 0:
		return 0, fmt.Errorf("%w: it is longer than %d MiB", discovery.ErrMalformed, maxAnswer>>20)
	case m.row <= 0:
		return 0, fmt.Errorf("%w: a single row of it is longer than %d MiB", discovery.ErrMalformed, maxRow>>20)
	}
	n, err := m.from.Read(b[:min(len(b), m.row, m.all)])
	m.row, m.all = m.row-n, m.all-n
	return n, err
}

// marshal returns a row of a format other than JSON.
func marshal(row any) []byte {
	b, _ := json.Marshal(row) // cannot fail: maps, lists, texts and numbers
	return b
}
