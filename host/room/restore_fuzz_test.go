package room_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/room/roomtest"
)

// FuzzRestore reads rooms that anything may have written: an older program, a failing disk,
// somebody's editor. If the bytes pass for a room, it can be shown and saved again, and goes on.
func FuzzRestore(f *testing.F) {
	golden, err := os.ReadFile("testdata/room-1.json")
	if err != nil {
		f.Fatal(err)
	}
	for at := range uint16(40) {
		f.Add(golden, 7*at, []byte(`-1`))
		f.Add(golden, 7*at, []byte(`null`))
	}
	for seed := range uint64(4) {
		e := newFuzzSession(&testing.T{}, randomChoices(seed))
		e.Room = room.New(room.Keys{Code: "BAKODI", Secret: "secret"}, settings(2), e.Now)
		for len(e.choices) > 0 {
			e.happens()
		}
		f.Add(roomtest.Saved(f, e.Room), uint16(seed), []byte(`{"x":[1e9,"y"]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, value []byte) {
		data = withValue(data, int(at), value)
		r, err := room.Restore(data, topology.New)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r.Snapshot()); err != nil {
			t.Fatal(err)
		}
		r = restored(t, r) // as this program writes it
		same(t, r, restored(t, r))
		e := newFuzzSession(t, nil)
		e.Room, e.Now = r, r.Snapshot().Room.Since.Add(time.Second)
		e.step(room.Resume{})
		e.ends()
	})
}

// withValue returns a document with another value at one of its places, if both are JSON. A fuzzer
// that changes bytes hardly ever finds a whole document.
func withValue(data []byte, at int, value []byte) []byte {
	var document, other any
	if json.Unmarshal(data, &document) != nil || json.Unmarshal(value, &other) != nil {
		return data
	}
	var change func(v any) any
	change = func(v any) any {
		if at--; at == 0 {
			return other
		}
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				v[key] = change(v[key])
			}
		case []any:
			for i := range v {
				v[i] = change(v[i])
			}
		}
		return v
	}
	changed, err := json.Marshal(change(document))
	if err != nil {
		return data
	}
	return changed
}
