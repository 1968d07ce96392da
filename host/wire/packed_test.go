package wire_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"muster/host/wire"
)

// TestPack checks that a room's state comes through packed, and that short messages and binary ones
// stay as they are.
func TestPack(t *testing.T) {
	var packer wire.Packer
	people := []byte(`[`)
	for i := range 40 {
		people = fmt.Appendf(people, `{"name":"player %d","peer":true,"connected":true},`, i)
	}
	room := wire.Room{"people": append(people[:len(people)-1], ']')}
	plain, err := wire.Marshal(room)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time with a writer that was used
		packed := packer.Pack(plain)
		if !packed.IsDeflated() || 4*len(packed.Data) > len(plain.Data) {
			t.Errorf("%d bytes became %d", len(plain.Data), len(packed.Data))
		}
		if got, err := wire.Unmarshal(packed); err != nil || !reflect.DeepEqual(got, room) {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, f := range []wire.Frame{{Data: []byte(`{"type":"again"}`)}, wire.BinaryFrame(make([]byte, 4096))} {
		if packed := packer.Pack(f); !reflect.DeepEqual(packed, f) {
			t.Errorf("%+v became %+v", f, packed)
		}
	}
}

// TestUnpackHostile checks that what no host packs is refused.
func TestUnpackHostile(t *testing.T) {
	deflated := func(plain []byte) []byte {
		b := bytes.NewBuffer([]byte{4})
		w, _ := flate.NewWriter(b, flate.BestCompression)
		w.Write(plain)
		w.Close()
		return b.Bytes()
	}
	whole := deflated([]byte(`{"type":"done","round":1}`))
	for name, data := range map[string][]byte{
		"nothing":        {4},
		"cut short":      whole[:len(whole)-4],
		"more behind it": append(whole[:len(whole):len(whole)], 0),
		"no message":     deflated([]byte("[]")),
		"too much":       deflated(make([]byte, 8<<20+1)),
		"packed twice":   deflated(whole),
	} {
		if m, err := wire.Unmarshal(wire.BinaryFrame(data)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}
