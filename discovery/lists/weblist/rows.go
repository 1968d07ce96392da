package weblist

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"google.golang.org/protobuf/encoding/protowire"

	"muster/discovery"
	"muster/discovery/internal/charset"
)

func malformed(format string, a ...any) error {
	return fmt.Errorf("%w: %s", discovery.ErrMalformed, fmt.Sprintf(format, a...))
}

// readJSON yields the elements of the array or object at a path, or of several if the
// path has a #.
func (p *page) readJSON(r io.Reader, yield func([]byte) error) error {
	var keys []string
	if p.form.Rows != "" {
		keys = strings.Split(p.form.Rows, ".")
	}
	j := jsonRows{decoder: json.NewDecoder(discovery.SkipBOM(r)), yield: yield, page: p, depth: len(keys)}
	return notJSON(j.walk(keys, false))
}

// each is the path element for every element.
const each = "#"

type jsonRows struct {
	decoder *json.Decoder
	yield   func([]byte) error
	row     json.RawMessage
	page    *page
	depth   int // of the rows below the whole answer
}

// walk descends through the next value along the keys, and yields the elements there.
// With several values, each of them may lack a key.
func (j *jsonRows) walk(keys []string, several bool) error {
	d := j.decoder
	open, err := d.Token()
	if err != nil {
		return err
	}
	isArray, isObject := open == json.Delim('['), open == json.Delim('{')
	switch {
	case !isArray && !isObject && several:
		return nil
	case !isArray && !isObject && len(keys) == 0:
		return malformed("what should be a list of servers is %v", excerpt(fmt.Append(nil, open)))
	case !isArray && !isObject:
		return &MissingError{Key: keys[0]}
	}
	found := false
	for i := 0; d.More(); i++ {
		key := strconv.Itoa(i)
		if isObject {
			token, err := d.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
		}
		switch {
		case len(keys) == 0:
			err = j.element(key, isObject)
		case keys[0] == each:
			err = j.walk(keys[1:], true)
		case keys[0] == key && !found:
			found = true
			err = j.walk(keys[1:], several)
		default:
			if err = d.Decode(&j.row); err == nil && isObject && len(keys) == j.depth {
				j.page.keep(key, j.row)
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // a list that breaks off has no end
		return err
	}
	if len(keys) > 0 && keys[0] != each && !found && !several {
		return &MissingError{Key: keys[0]}
	}
	return nil
}

func (j *jsonRows) element(key string, named bool) error {
	if err := j.decoder.Decode(&j.row); err != nil {
		return err
	}
	if named && j.row[0] == '{' {
		return j.yield(withKey(j.row, key))
	}
	return j.yield(j.row)
}

// withKey adds its key to a row from an object of rows.
func withKey(row json.RawMessage, key string) json.RawMessage {
	named := append([]byte(`{"_key":`), marshal(key)...)
	if rest := bytes.TrimSpace(row[1:]); rest[0] != '}' {
		named = append(named, ',')
	}
	return append(named, row[1:]...)
}

// MissingError reports the name that an answer lacks on the way to its rows.
type MissingError struct{ Key string }

func (e *MissingError) Error() string { return fmt.Sprintf("there is no %q in it", e.Key) }

// Unwrap returns [discovery.ErrMalformed].
func (e *MissingError) Unwrap() error { return discovery.ErrMalformed }

// notJSON describes the error without the decoder's own name for it.
func notJSON(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil, errors.Is(err, discovery.ErrMalformed):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("it breaks off")
	case errors.As(err, &syntax):
		return malformed("it is no JSON: %v", syntax)
	}
	return err
}

// maxDepth is how deep the elements of an XML row may be nested.
const maxDepth = 16

// readXML yields the elements at a path below the root. An element becomes an object of
// its attributes and its contents. One with only text becomes that text, and repeated
// elements become a list. Text next to other contents is "text".
func readXML(r io.Reader, path string, yield func([]byte) error) error {
	d := xml.NewDecoder(decoded(r))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded
	wanted := "*"
	if path != "" {
		wanted = path
	}
	var at []string // the elements that are open, the root among them
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && at != nil && len(at) == 0 {
			return nil
		}
		if err != nil {
			return notXML(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			at = append(at, t.Name.Local)
			if len(at) < 2 || wanted != "*" && strings.Join(at[1:], ".") != wanted {
				if len(at) > maxDepth {
					return malformed("its elements are nested too deeply")
				}
				continue
			}
			at = at[:len(at)-1]
			row, err := element(d, t, 0)
			if err != nil {
				return notXML(err)
			}
			if err := yield(marshal(row)); err != nil {
				return err
			}
		case xml.EndElement:
			at = at[:len(at)-1]
		}
	}
}

// decoded converts a text to valid XML. Names of servers have control characters, and half letters
// where they were cut. Each is in a character set of its own, whatever the whole declares: QStat
// writes names as servers send them.
func decoded(r io.Reader) io.Reader {
	texts := &elements{in: bufio.NewReader(discovery.SkipBOM(r))}
	return transform.NewReader(texts, runes.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' && c != '\r' || c == '\ufffe' || c == '\uffff' {
			return unicode.ReplacementChar
		}
		return c
	}))
}

// elements reads a text up to the next tag at a time.
type elements struct {
	in   *bufio.Reader
	next string
}

func (e *elements) Read(b []byte) (int, error) {
	if e.next == "" {
		raw, err := e.in.ReadSlice('<')
		if len(raw) == 0 {
			return 0, err
		}
		e.next = charset.UTF8(string(raw))
	}
	n := copy(b, e.next)
	e.next = e.next[n:]
	return n, nil
}

// element returns an element of a row, and reads to its end.
func element(d *xml.Decoder, start xml.StartElement, depth int) (any, error) {
	if depth == maxDepth {
		return nil, malformed("its elements are nested too deeply")
	}
	fields := make(map[string]any)
	add := func(name string, value any) {
		switch known := fields[name].(type) {
		case nil:
			fields[name] = value
		case []any:
			fields[name] = append(known, value)
		default:
			fields[name] = []any{known, value}
		}
	}
	for _, a := range start.Attr {
		add(a.Name.Local, a.Value)
	}
	var text strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			inner, err := element(d, t, depth+1)
			if err != nil {
				return nil, err
			}
			add(t.Name.Local, inner)
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if words := strings.TrimSpace(text.String()); len(fields) == 0 {
				return words, nil
			} else if words != "" {
				add("text", words)
			}
			return fields, nil
		}
	}
}

func notXML(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, discovery.ErrMalformed):
		return err
	case errors.Is(err, io.EOF):
		return malformed("it is no XML, or breaks off before its first element")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return malformed("it breaks off")
	case errors.As(err, &syntax):
		return malformed("it is no XML: %s in line %d", syntax.Msg, syntax.Line)
	}
	return err
}

// readServers yields lines "addserver HOST PORT …" as {"host":"…","port":"…"}.
func readServers(r io.Reader, yield func([]byte) error) error {
	return lines(r, func(line string) error {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "addserver" {
			return nil
		}
		return yield(marshal(map[string]string{"host": words[1], "port": words[2]}))
	})
}

// maxLine is the longest line, in bytes, that is read.
const maxLine = 64 << 10

func lines(r io.Reader, yield func(string) error) error {
	s := bufio.NewScanner(discovery.SkipBOM(r))
	s.Buffer(nil, maxLine)
	for s.Scan() {
		line, _, _ := strings.Cut(s.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := yield(line); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return malformed("a line of it is longer than %d KiB", maxLine>>10)
	}
	return s.Err()
}

// The messages of FiveM's list and their fields (citizenfx/fivem,
// ext/cfx-ui/src/app/servers/master.js).
const (
	serverEndPoint = 1
	serverData     = 2

	dataMaxClients       = 1
	dataClients          = 2
	dataHostname         = 4
	dataGametype         = 5
	dataMapname          = 6
	dataServer           = 9
	dataVars             = 12
	dataConnectEndPoints = 18

	entryKey   = 1
	entryValue = 2
)

// readFrames yields FiveM's servers: each a length of four bytes, the lowest first, and
// a message.
func readFrames(r io.Reader, yield func([]byte) error) error {
	in := bufio.NewReader(r)
	var size [4]byte
	var frame []byte
	for {
		if _, err := io.ReadFull(in, size[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return broken(err)
		}
		n := binary.LittleEndian.Uint32(size[:])
		if n > maxRow {
			return malformed("a server of it is longer than %d MiB", maxRow>>20)
		}
		if uint32(cap(frame)) < n {
			frame = make([]byte, n)
		}
		frame = frame[:n]
		if _, err := io.ReadFull(in, frame); err != nil {
			return broken(err)
		}
		if err := yield(marshal(fivem(frame))); err != nil {
			return err
		}
	}
}

func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("it breaks off")
	}
	return err
}

// fivem returns a server of FiveM's list. It leaves out the rest of a message that
// breaks off.
func fivem(frame []byte) any {
	data, vars := make(map[string]any), make(map[string]string)
	row := map[string]any{"Data": data}
	var endpoints []string
	fields(frame, func(field protowire.Number, value []byte, _ uint64) {
		switch field {
		case serverEndPoint:
			row["EndPoint"] = string(value)
		case serverData:
			fields(value, func(field protowire.Number, value []byte, number uint64) {
				switch field {
				case dataMaxClients:
					data["svMaxclients"] = number
				case dataClients:
					data["clients"] = number
				case dataHostname:
					data["hostname"] = charset.UTF8(string(value))
				case dataGametype:
					data["gametype"] = charset.UTF8(string(value))
				case dataMapname:
					data["mapname"] = charset.UTF8(string(value))
				case dataServer:
					data["server"] = string(value)
				case dataVars:
					var key, text string
					fields(value, func(field protowire.Number, value []byte, _ uint64) {
						switch field {
						case entryKey:
							key = string(value)
						case entryValue:
							text = charset.UTF8(string(value))
						}
					})
					vars[key] = text
				case dataConnectEndPoints:
					endpoints = append(endpoints, string(value))
				}
			})
		}
	})
	data["vars"], data["connectEndPoints"] = vars, endpoints
	return row
}

// fields calls yield with each field of a protobuf message: its bytes, or its number.
func fields(message []byte, yield func(protowire.Number, []byte, uint64)) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		var value []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return
		}
		yield(field, value, number)
		message = message[n:]
	}
}
