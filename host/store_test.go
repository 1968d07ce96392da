package host_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/leak"
)

// TestRestartOnStore checks that a host has its rooms again after a stop, except for ended and
// unreadable ones.
func TestRestartOnStore(t *testing.T) {
	t.Parallel()
	leak.Check(t)
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
	if err != nil {
		t.Fatal(err)
	}
	for code, data := range map[string][]byte{"GAGAGA": old, "BROKEN": []byte("{")} {
		var claim store.Claim
		if claim, err = kept.Create(t.Context(), code, "", data); err == nil {
			err = claim.Release(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	h, server := serve(t, host.Config{List: listOf(2), Store: kept})
	code, secret, _ := h.Open(friday(2))
	ann := join(t, server, code, "ann")
	server.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	kept = open()
	codes := []string{"BROKEN", code}
	slices.Sort(codes)
	if got := slices.Collect(kept.Adopt(t.Context())); !slices.Equal(got, codes) || kept.Find("GAGAGA").State != store.Over {
		t.Errorf("the store has %q, GAGAGA %v", got, kept.Find("GAGAGA"))
	}
	if claim, data, err := kept.Claim(t.Context(), "BROKEN"); string(data) != "{" || claim.Release(t.Context()) != nil {
		t.Errorf("what cannot be read is %q now, %v", data, err)
	}
	h, server = serve(t, host.Config{List: listOf(2), Store: kept})
	if got := h.Rooms(); !reflect.DeepEqual(got, []string{code}) {
		t.Fatalf("the host has the rooms %q", got)
	}
	again := says(t, server, "", wire.Hello{Code: code, Name: "ann", Token: ann.token})
	expect[wire.Welcome](again)
	if status, said := orders(t, server, code, "go", secret, nil); status != http.StatusNoContent {
		t.Errorf("the organiser's secret is worth %d, %v", status, said)
	}
	again.plays(10)
}

// TestBrokenStore checks that a host serves its other rooms when the store fails to return one.
func TestBrokenStore(t *testing.T) {
	leak.Check(t)
	broken := errors.New("disk on fire")
	var log bytes.Buffer
	kept := host.NewFakeStore()
	kept.Put("BAKODI", []byte("{}"))
	kept.Lock(broken)
	h, server := serve(t, host.Config{List: listOf(1), Store: kept, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer server.Close()
	if code, _, err := h.Open(friday(1)); err != nil || len(h.Rooms()) != 1 || h.Rooms()[0] != code {
		t.Errorf("it has %q, %v", h.Rooms(), err)
	}
	if err := h.Close(); err != nil || !strings.Contains(log.String(), broken.Error()) {
		t.Errorf("the log has %s, %v", &log, err)
	}
}

// TestCrashAfterOpening checks that a room is in the store before anybody learns its code.
func TestCrashAfterOpening(t *testing.T) {
	leak.Check(t)
	kept := host.NewFakeStore()
	h, server := serve(t, host.Config{List: listOf(2), Store: kept})
	defer server.Close()
	code, secret, _ := h.Open(friday(2))
	data := kept.Of(code) // as a crash leaves it
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	left := host.NewFakeStore()
	left.Put(code, data)
	again, server := serve(t, host.Config{List: listOf(2), Store: left})
	defer server.Close()
	if got := again.Keys(code).Secret; data == nil || got != secret {
		t.Errorf("after a crash the organiser's secret is %q, want %q", got, secret)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
