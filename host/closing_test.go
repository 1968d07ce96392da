package host_test

import (
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"muster/host"
	"muster/host/store"
	"muster/host/wire"
)

// TestClosedRoom checks that callers with the code of an ended room learn that it is over, and not
// that the code is wrong, even after a restart of the host. People in the room are sent away.
func TestClosedRoom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	store := open(t, file)
	h, server := serve(t, host.Config{List: listOf(1), Store: store})
	code, _, _ := h.Open(friday(2))
	other, _, _ := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	h.CloseRoom(code)
	over := wire.Refusal{
		Reason:  wire.ReasonClosed,
		Message: "room " + code + " is over",
		Hint:    "ask the organiser for the new room’s link",
	}
	if got := inEnglish(expect[wire.Refusal](ann)); got != over {
		t.Errorf("ann is told %+v", got)
	}
	check := func(server *httptest.Server) {
		t.Helper()
		for who, want := range map[string]wire.Refusal{
			code: over,
			"NOSUCH": {
				Reason:  wire.ReasonCode,
				Message: `no room has the code "NOSUCH"`,
				Hint:    "ask the organiser for the code; letter case does not matter",
			},
		} {
			p := says(t, server, "", wire.Hello{Code: who, Name: "bob", Token: ann.token})
			if got := inEnglish(expect[wire.Refusal](p)); got != want {
				t.Errorf("with %s bob is told %+v, want %+v", who, got, want)
			}
		}
		for path, want := range map[string]int{code: http.StatusGone, "NOSUCH": http.StatusNotFound, other: http.StatusOK} {
			if status, _ := asks(t, server, "GET", "/api/rooms/"+path, "", nil); status != want {
				t.Errorf("the page of %s is answered %d, want %d", path, status, want)
			}
		}
		page := openPage(t, server, code, "")
		page.until("why there is nothing", page.says("reason", wire.ReasonClosed))
	}
	check(server)
	server.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	_, server = serve(t, host.Config{List: listOf(1), Store: open(t, file)})
	check(server)
}

func open(t *testing.T, file string) store.Store {
	t.Helper()
	store, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestEndOfSession checks that the organiser can end the session. Players learn who ended it, pages
// see it with the session's list, and later callers learn that the room is over.
func TestEndOfSession(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(1)})
	code, secret, _ := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	page := openPage(t, server, code, "")
	page.until("ann is there", page.says("people", "ann"))
	seen, stop := iter.Pull(h.Watch(t.Context(), code))
	defer stop()
	last, isOpen := seen() // it watches before the end
	orders(t, server, code, "end", secret, map[string]any{})
	if got := expect[wire.Refusal](ann); got.Reason != wire.ReasonEnded || got.Message != "the organiser has ended the night. Good night!" {
		t.Errorf("ann is told %+v", got)
	}
	page.until("the night has ended", page.says("room", `"ended":"`))
	for isOpen {
		var next wire.Snapshot
		if next, isOpen = seen(); isOpen {
			last = next
		}
	}
	if last.Room.Ended.IsZero() {
		t.Error("who watches the room has not seen its end")
	}
	bob := says(t, server, "", wire.Hello{Code: code, Name: "bob"})
	if got := expect[wire.Refusal](bob); got.Reason != wire.ReasonClosed {
		t.Errorf("bob comes later, and is told %+v", got)
	}
}
