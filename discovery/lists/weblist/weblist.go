// Package weblist reads lists of servers as services on the web write them. A
// [Form] says where in an answer the servers are, so that a new service takes a
// few lines in a table and no code.
//
//	JSON, XML, text, FiveM's frames, Sauerbraten's lines
//	      │ rows: read one at a time, each a small JSON document
//	      ▼
//	{"ip":"192.0.2.1","port":27015,"name":"…"} ── paths of the form ──▶ Row
//
// Memory is bounded by the longest row, not by the list. Paths within a row are
// those of github.com/tidwall/gjson.
package weblist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"muster/discovery"
)

// Format is how an answer is written.
type Format string

const (
	JSON Format = "json"
	XML  Format = "xml"
	// Text has a server a line, as in a file of servers.
	Text Format = "text"
	// FiveM are frames of protobuf. Its rows look like what the service's clients
	// make of them: {"EndPoint":"abc123","Data":{"hostname":"…","connectEndPoints":["…"]}}.
	FiveM Format = "fivem"
	// Sauerbraten are lines "addserver HOST PORT", of Cube 2 and its kin. Its rows
	// are {"host":"…","port":"…"}.
	Sauerbraten Format = "sauerbraten"
)

// Formats are all of them.
func Formats() []Format { return []Format{JSON, XML, Text, FiveM, Sauerbraten} }

// Form says where in an answer the servers are, and where in a server's row its
// fields are. Every field but Format, Rows and Where is a path into the row, empty
// if the service does not tell.
type Form struct {
	Format Format `toml:"format"`
	// Rows is the way to the rows, names and places joined by dots; empty is the
	// whole answer, or in XML what is right below the root. Of an object each value
	// is a row, with its name in the field _key.
	Rows string `toml:"rows"`
	// Where are conditions PATH=VALUE and PATH!=VALUE that a row has to meet, all of
	// them. What is not there reads as nothing.
	Where []string `toml:"where"`
	// Address is HOST[:PORT], or a link with that in it, or several of these. Host
	// and Port may stand in its place.
	Address string `toml:"address"`
	Host    string `toml:"host"`
	Port    string `toml:"port"`
	// GamePort is the port that players connect to if servers are asked at another.
	GamePort string `toml:"game_port"`
	Name     string `toml:"name"`
	Map      string `toml:"map"`
	Mode     string `toml:"mode"`
	// Players and Bots are numbers, or lists, which are counted.
	Players    string `toml:"players"`
	Bots       string `toml:"bots"`
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

// Row is one server as a list has it. None of it is checked but for its length.
type Row struct {
	// Address is HOST[:PORT], a link, or a line of text that holds one of these.
	Address string         `json:"address"`
	Info    discovery.Info `json:"info"`
}

// Check reports what is wrong with a form.
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
	return nil
}

// address and host are where they are if the form does not say so, for formats
// that have but one place.
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

// condition is one of a form's.
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

// ShapeError says that an answer was read, and holds no server where the form
// says that they are.
type ShapeError struct {
	// Rows is how many there were, First the first one that holds no server, cleaned and
	// cut. It is empty if no row meets the form's conditions.
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

// Read reads an answer and yields its servers in their order until yield returns
// false. An answer that breaks off yields what came before, and is an error then.
// If there are no servers in it, the error is a [*ShapeError]; of what the answer
// says otherwise, it wraps [discovery.ErrMalformed].
func (f Form) Read(r io.Reader, yield func(Row) bool) error {
	if err := f.Check(); err != nil {
		return err
	}
	var conditions []condition
	for _, text := range f.Where {
		c, _ := parseCondition(text) // checked
		conditions = append(conditions, c)
	}
	rows, servers := 0, 0
	var shape ShapeError
	m := &meter{from: r, row: maxRow, all: maxAnswer}
	err := f.rows(m, func(row []byte) error {
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

// errEnough ends the reading: whoever reads has enough.
var errEnough = errors.New("enough")

// rows calls yield with each row of an answer as JSON, which is good until yield returns.
func (f Form) rows(r io.Reader, yield func([]byte) error) error {
	switch f.Format {
	case XML:
		return readXML(r, f.Rows, yield)
	case Text:
		return readLines(r, yield)
	case FiveM:
		return readFrames(r, yield)
	case Sauerbraten:
		return readServers(r, yield)
	}
	return readJSON(r, f.Rows, yield)
}

// get is what stands at a path. The library is robust against any row; a path that
// it should stumble over, which only the user's own table can hold, finds nothing.
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

// maxAddresses are taken of one row, which has one or two, or some ten if it is a group of
// servers; of an array mostSeen are looked at for that.
const maxAddresses, mostSeen = 64, 1024

// addresses are those of a row.
func (f Form) addresses(doc gjson.Result) (addresses []string) {
	add := func(found gjson.Result) {
		if text := strings.TrimSpace(word(found)); text != "" && len(text) <= maxText && len(addresses) < maxAddresses {
			addresses = append(addresses, text)
		}
	}
	if path := f.address(); path != "" {
		if found := get(doc, path); found.IsArray() {
			seen := 0 // not found.Array, which takes 100 bytes for each of an array's
			found.ForEach(func(_, one gjson.Result) bool {
				add(one)
				seen++
				return seen < mostSeen
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

// word is a value as text; lists and objects are none.
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
	return discovery.Info{
		Name: f.text(doc, f.Name), Map: f.text(doc, f.Map), Mode: f.text(doc, f.Mode), Version: f.text(doc, f.Version),
		Players: whole(get(doc, f.Players), maxSeats), MaxPlayers: whole(get(doc, f.MaxPlayers), maxSeats),
		Bots: whole(get(doc, f.Bots), maxSeats), GamePort: uint16(whole(get(doc, f.GamePort), 1<<16-1)),
		Password: yes(get(doc, f.Password)),
		Protocol: whole(get(doc, f.Protocol), discovery.MaxProtocol), OldestProtocol: whole(get(doc, f.OldestProtocol), discovery.MaxProtocol),
		Mod: f.text(doc, f.Mod), Tags: tags(get(doc, f.Tags)),
	}
}

// tags are words, or what stands in a list, a blank in it being an underscore.
func tags(found gjson.Result) discovery.Tags {
	if !found.IsArray() {
		text := word(found)
		return discovery.TagsOf(text[:min(len(text), maxRow/1024)])
	}
	var words []string
	length := 0
	found.ForEach(func(_, one gjson.Result) bool {
		text := word(one)
		words, length = append(words, strings.Join(strings.Fields(text), "_")), length+len(text)
		return length < maxRow/1024
	})
	return discovery.TagsOf(strings.Join(words, " "))
}

// text is a field for people.
func (f Form) text(doc gjson.Result, path string) string {
	text := word(get(doc, path))
	if len(text) > maxText {
		text = text[:maxText]
	}
	return discovery.CleanText(text)
}

// whole is a number that services also write as a text, or as the list of what is
// counted; 0 if it is none, or more than most.
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

// yes reports whether a value says so: true, 1, or a word that is not one of those
// with which services say no.
func yes(found gjson.Result) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "none"}, strings.ToLower(strings.TrimSpace(word(found))))
}

// excerpt is the beginning of a row for people.
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
	// maxRow is all that is held at once. The longest honest row known is of a server of
	// FiveM with 2,048 players, some 100 KB. XML takes a hundred times as much memory.
	maxRow = 1 << 20
)

// meter bounds what is read: of one row, and in all.
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

// marshal is a row of a format other than JSON.
func marshal(row any) []byte {
	b, _ := json.Marshal(row) // cannot fail: maps, lists, texts and numbers
	return b
}
