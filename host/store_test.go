package host_test

import (
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/host"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// TestRestartOnStore: a host that was stopped has its rooms again, but for those
// that are over and those that it cannot read.
func TestRestartOnStore(t *testing.T) {
	noLeak(t)
	file := filepath.Join(t.TempDir(), "rooms.db")
	open := func() store.Store {
		opened, err := store.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	kept := open()
	if _, err := store.Open(file); err == nil || err.Error() != "store: "+file+" is in use by another host" {
		t.Errorf("a second host opens the store: %v", err)
	}
	old, err := room.New(room.Keys{Code: "GAGAGA", Secret: "secret"}, friday(2), time.Now().Add(-25*time.Hour)).Save()
	if err := errors.Join(err, kept.Save("GAGAGA", old), kept.Save("BROKEN", []byte("{"))); err != nil {
		t.Fatal(err)
	}
	h, server := serve(t, host.Config{List: listOf(2), Store: kept})
	code, secret := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	server.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	kept = open()
	rooms, err := kept.Load()
	if err != nil || len(rooms) != 3 || rooms[code] == nil || !strings.HasPrefix(string(rooms["GAGAGA"]), `{"over":`) || string(rooms["BROKEN"]) != "{" {
		t.Errorf("the store has %q, %v", slices.Collect(mapsKeys(rooms)), err)
	}
	h, server = serve(t, host.Config{List: listOf(2), Store: kept})
	if got := h.Rooms(); !reflect.DeepEqual(got, []string{code}) {
		t.Fatalf("the host has the rooms %q", got)
	}
	again := dial(t, server)
	again.conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: "ann", Token: ann.token})
	expect[wire.Welcome](again)
	request, _ := http.NewRequest("POST", server.URL+"/api/rooms/"+code+"/go", nil)
	request.Header.Set("Authorization", "Bearer "+secret)
	if response, err := http.DefaultClient.Do(request); err != nil || response.StatusCode != http.StatusNoContent {
		t.Errorf("the organiser's secret is worth %v, %v", response.Status, err)
	} else {
		response.Body.Close()
	}
	again.plays(10)
}

func mapsKeys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestBrokenStore(t *testing.T) {
	noLeak(t)
	broken := errors.New("disk on fire")
	if _, err := host.New(host.Config{List: listOf(1), Store: failingStore{broken}}); !errors.Is(err, broken) {
		t.Errorf("New says %v", err)
	}
}

type failingStore struct{ err error }

func (s failingStore) Load() (map[string][]byte, error) { return nil, s.err }

func (s failingStore) Save(string, []byte) error { return s.err }

func (s failingStore) Delete(string) error { return s.err }

func (s failingStore) Close() error { return s.err }

// TestCrashAfterOpening: a room is in the store before anybody is told its code.
func TestCrashAfterOpening(t *testing.T) {
	noLeak(t)
	kept := &memory{rooms: map[string][]byte{}}
	h, server := serve(t, host.Config{List: listOf(2), Store: kept})
	defer server.Close()
	code, secret := h.Open(friday(2))
	data := kept.of(code) // what a crash leaves
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	again, server := serve(t, host.Config{List: listOf(2), Store: &memory{rooms: map[string][]byte{code: data}}})
	defer server.Close()
	if got := again.Keys(code).Secret; data == nil || got != secret {
		t.Errorf("after a crash the organiser's secret is %q, want %q", got, secret)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// memory is a store that is lost with the test.
type memory struct {
	mu    sync.Mutex // guards following
	rooms map[string][]byte
}

func (m *memory) of(code string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rooms[code]
}

func (m *memory) Load() (map[string][]byte, error) { return maps.Clone(m.rooms), nil }

func (m *memory) Save(code string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rooms[code] = data
	return nil
}

func (m *memory) Delete(code string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rooms, code)
	return nil
}

func (m *memory) Close() error { return nil }
