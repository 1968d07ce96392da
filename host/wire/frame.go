package wire

import (
	"bytes"
	"compress/flate"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Frame is one message in its encoded form: JSON or binary.
type Frame struct {
	Binary bool
	Data   []byte
}

// BinaryFrame returns the frame of stored binary data.
func BinaryFrame(data []byte) Frame { return Frame{true, data} }

// Unpack reads a stored binary frame with a message of one kind. The error names the other kind, or
// wraps [ErrMalformed].
func Unpack[M Message](data []byte) (m M, err error) {
	message, err := Unmarshal(BinaryFrame(data))
	if err != nil {
		return m, err
	}
	m, is := message.(M)
	if !is {
		return m, fmt.Errorf("a %T where a %T should be", message, m)
	}
	return m, nil
}

// IsKind reports whether a text from [Marshal] is a message of the same kind as m.
func IsKind(text []byte, m Message) bool {
	return bytes.HasPrefix(text, fmt.Appendf(nil, `{"type":%q`, m.kind()))
}

// IsDeflated reports whether the frame claims to be a list or a packed message, which only hosts send.
func (f Frame) IsDeflated() bool {
	return f.Binary && len(f.Data) > 0 && (f.Data[0] == kindList || f.Data[0] == kindPacked)
}

// These are the first bytes of binary frames.
const (
	kindList   = 1
	kindReport = 2
	kindInfos  = 3
	kindPacked = 4
	kindMemory = 5
)

// ErrMalformed is the error that errors for malformed frames wrap.
var ErrMalformed = errors.New("wire: malformed message")

// Marshal encodes a message as a frame. It checks no bounds: [Unmarshal] does, at the other side. The
// error is that of a value which JSON does not have, such as NaN.
func Marshal(m Message) (Frame, error) {
	switch m := m.(type) {
	case List:
		return BinaryFrame(AppendList(nil, m)), nil
	case Report:
		return BinaryFrame(AppendReport(make([]byte, 0, 32+6*len(m.Results)), m)), nil
	case Infos:
		return BinaryFrame(AppendInfos(nil, m)), nil
	case Memory:
		return BinaryFrame(AppendMemory(nil, m)), nil
	}
	return marshalJSON(m)
}

// marshalJSON writes the message's type and its fields as one object.
func marshalJSON(m Message) (Frame, error) {
	fields, err := json.Marshal(m)
	if err != nil {
		return Frame{}, fmt.Errorf("wire: %s: %w", m.kind(), err)
	}
	data := fmt.Appendf(nil, `{"type":%q`, m.kind())
	if len(fields) > len("{}") {
		data = append(data, ',')
	}
	return Frame{Data: append(data, fields[1:]...)}, nil
}

// ErrUnknown is the error that errors for messages of an unknown kind wrap. A later version may
// send such messages, so readers skip them.
var ErrUnknown = errors.New("wire: unknown message")

// Unmarshal reads a frame. Its errors wrap [ErrMalformed] or [ErrUnknown]. The texts that it
// returns are safe to show.
func Unmarshal(f Frame) (Message, error) {
	switch {
	case !f.Binary:
		return unmarshalJSON(f.Data)
	case len(f.Data) == 0:
		return nil, fmt.Errorf("%w: empty frame", ErrMalformed)
	}
	switch body := f.Data[1:]; f.Data[0] {
	case kindList:
		return parseList(body)
	case kindReport:
		return parseReport(body)
	case kindInfos:
		return parseInfos(body)
	case kindMemory:
		return parseMemory(body)
	case kindPacked:
		return parsePacked(body)
	}
	return nil, fmt.Errorf("%w: kind %d", ErrUnknown, f.Data[0])
}

func unmarshalJSON(data []byte) (Message, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, InJSON(err))
	}
	switch head.Type {
	case Hello{}.kind():
		return into[Hello](data)
	case Seek{}.kind():
		return into[Seek](data)
	case Found{}.kind():
		return into[Found](data)
	case Welcome{}.kind():
		return into[Welcome](data)
	case Refusal{}.kind():
		return into[Refusal](data)
	case Measure{}.kind():
		return into[Measure](data)
	case Ask{}.kind():
		return into[Ask](data)
	case Done{}.kind():
		return into[Done](data)
	case Rests{}.kind():
		return into[Rests](data)
	case Late{}.kind():
		return into[Late](data)
	case Finalists{}.kind():
		return into[Finalists](data)
	case Verified{}.kind():
		return into[Verified](data)
	case Launch{}.kind():
		return into[Launch](data)
	case Delay{}.kind():
		return into[Delay](data)
	case Status{}.kind():
		return into[Status](data)
	case Pings{}.kind():
		return into[Pings](data)
	case Bring{}.kind():
		return into[Bring](data)
	case Able{}.kind():
		return into[Able](data)
	case Outside{}.kind():
		return into[Outside](data)
	case Launched{}.kind():
		return into[Launched](data)
	case Say{}.kind():
		return into[Say](data)
	case Answer{}.kind():
		return into[Answer](data)
	case Look{}.kind():
		return into[Look](data)
	case Near{}.kind():
		return into[Near](data)
	case Survey{}.kind():
		return into[Survey](data)
	case Surveyed{}.kind():
		return into[Surveyed](data)
	case Wait{}.kind():
		return into[Wait](data)
	case Again{}.kind():
		return into[Again](data)
	case Room{}.kind():
		m, err := into[Room](data)
		if news, is := m.(Room); is {
			delete(news, "type")
		}
		return m, err
	}
	if head.Type == "" {
		return nil, fmt.Errorf("%w: no type", ErrMalformed)
	}
	return nil, fmt.Errorf("%w: type %q", ErrUnknown, head.Type)
}

func into[M Message](data []byte) (Message, error) {
	var m M
	err := json.Unmarshal(data, &m)
	if c, ok := any(m).(checker); ok && err == nil {
		err = c.check()
	}
	cleanTexts(reflect.ValueOf(&m))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrMalformed, m.kind(), InJSON(err))
	}
	return m, nil
}

// InJSON says in JSON's words what is wrong with a document, because the author of another program does
// not know Go's types. Other errors it returns as they are.
func InJSON(err error) error {
	var broken *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &broken) && strings.HasPrefix(broken.Error(), "unexpected end"):
		return errors.New("the JSON ends in the middle")
	case errors.As(err, &broken):
		return fmt.Errorf("it is no JSON from byte %d on", broken.Offset)
	case !errors.As(err, &wrong):
		return err
	}
	want, kind := "a string", wrong.Type.Kind()
	if reflect.PointerTo(wrong.Type).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		kind = reflect.String
	}
	switch kind {
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice, reflect.Array:
		want = "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		want = "an object"
	case reflect.Float32, reflect.Float64:
		want = "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = "a whole number in its range"
	}
	text := fmt.Sprintf("got %s, want %s", wrong.Value, want)
	if wrong.Field != "" {
		text = wrong.Field + ": " + text
	}
	return errors.New(text)
}

// A packed frame is a control message, deflated:
//
//	kind │ JSON, deflated
//
// A room's state is mostly names of fields, so it packs to a quarter. On a line of 12 kB a second
// that decides whether a player follows the room.
const (
	// worthPacking is the least size of a message that is packed, in bytes. A shorter one fits in a
	// single packet as it is.
	worthPacking = 1 << 10
	// maxPacked bounds a packed message once it is inflated.
	maxPacked = 8 << 20
)

// Packer packs messages for peers whose [Hello] says that they inflate them. The zero value is ready.
// It may be used by several goroutines at a time.
type Packer struct {
	writers sync.Pool // of *flate.Writer, which take 1 MB each
}

// Pack returns the frame packed, or as it is if it is short or binary.
func (p *Packer) Pack(f Frame) Frame {
	if f.Binary || len(f.Data) < worthPacking {
		return f
	}
	packed := bytes.NewBuffer([]byte{kindPacked})
	w, is := p.writers.Get().(*flate.Writer)
	if !is {
		w, _ = flate.NewWriter(nil, flate.BestSpeed) // cannot fail: the level is a valid constant
	}
	defer p.writers.Put(w)
	w.Reset(packed)
	w.Write(f.Data) // cannot fail: it writes to a bytes.Buffer
	w.Close()
	return BinaryFrame(packed.Bytes())
}

func parsePacked(b []byte) (Message, error) {
	plain, err := inflate(b, maxPacked)
	if err != nil {
		return nil, fmt.Errorf("%w: packed: %v", ErrMalformed, err)
	}
	return unmarshalJSON(plain)
}
