package host

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/public"
	"muster/host/store"
	"muster/host/wire"
)

// onFullDisk returns a host, public or not, with some rooms and a store whose disk fills up.
func onFullDisk(t *testing.T, public *public.Limits) (s *FakeStore, h *Host, rooms []*actor, log *bytes.Buffer) {
	t.Helper()
	s, log = NewFakeStore(), &bytes.Buffer{}
	h, err := New(Config{
		Store: s, Public: public, Logger: slog.New(slog.NewTextHandler(log, nil)),
		List: func(context.Context, string) ([]discovery.Server, error) { return someServers(2), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		code, _, err := h.Open(friday(0))
		if err != nil {
			t.Fatal(err)
		}
		rooms = append(rooms, h.actor(code))
	}
	time.Sleep(publishEvery)
	s.set(func() { s.fails = fmt.Errorf("store: %w", syscall.ENOSPC) })
	return s, h, rooms, log
}

func (h *Host) ready() (status int, text string) {
	w := httptest.NewRecorder()
	operators{rooms: h.rooms}.serveReady(w, nil)
	return w.Code, w.Body.String()
}

// TestFullDiskOnPublicHost checks that on a public host nobody sees a step that could not be
// written, until it is. /readyz and a line a minute report the disk.
func TestFullDiskOnPublicHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h, rooms, log := onFullDisk(t, &public.Limits{Rooms: 100, PerAddress: 100, Players: 64})
		defer h.Close()
		var told []<-chan error
		for _, a := range rooms {
			told = append(told, a.joins("ann"))
		}
		time.Sleep(50 * time.Second)
		for i, a := range rooms {
			if err, is := isDone(told[i]); is {
				t.Fatalf("ann hears %v before her place is kept", err)
			}
			if people, words := a.sees(); len(people) > 0 || words != heldSentence {
				t.Errorf("people see %v, %q", people, words)
			}
		}
		if status, text := h.ready(); status != 503 || text != "the disk is full: what binds waits until it is kept\n" {
			t.Errorf("/readyz says %d %q", status, text)
		}
		if _, _, err := h.rooms.open(rooms[0].opener, friday(0)); err == nil {
			t.Error("a room is opened that is not kept")
		}
		time.Sleep(20 * time.Second)
		if lines := strings.Count(log.String(), "\n"); lines != 2 || strings.Count(log.String(), "the disk is full: what binds waits") != 2 {
			t.Errorf("in 70 seconds the log has %d lines: %s", lines, log)
		}
		s.isWell()
		time.Sleep(2 * time.Second)
		for i, a := range rooms {
			if err, is := isDone(told[i]); !is || err != nil {
				t.Errorf("ann hears %v once it is kept", err)
			}
			if people, words := a.sees(); len(people) != 1 || !words.IsZero() || !strings.Contains(string(s.Of(a.code)), `"ann"`) {
				t.Errorf("then people see %v, %q", people, words)
			}
		}
		time.Sleep(longestRest) // the refused room is forgotten by then
		if status, text := h.ready(); status != 200 {
			t.Errorf("then /readyz says %d %q", status, text)
		}
		if !strings.Contains(log.String(), "the disk takes rooms again") || len(h.Rooms()) != len(rooms) {
			t.Errorf("there are %d rooms; the log has %s", len(h.Rooms()), log)
		}
	})
}

// TestDiskHint checks that the log sends nobody to a disk if NATS does not answer, unless JetStream
// says that space is short.
func TestDiskHint(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "the disk is full: what binds waits"},
		{syscall.EIO, "free space, or mend the disk"},
		{fmt.Errorf("%w: %w: insufficient resources", store.ErrAway, syscall.ENOSPC), "free space, or mend the disk"},
		{store.ErrAway, "look whether the NATS servers run"},
		{context.DeadlineExceeded, "look whether the NATS servers run"},
	} {
		var log bytes.Buffer
		d := disk{log: slog.New(slog.NewTextHandler(&log, nil))}
		d.noteFailure("CODE", tt.err, time.Now(), true)
		if !strings.Contains(log.String(), tt.want) {
			t.Errorf("%v: %s", tt.err, &log)
		}
	}
}

// TestFullDiskOnOwnComputer checks that on a player's own computer the session goes on. The group
// reads that the room is not saved, and /readyz says so, too.
func TestFullDiskOnOwnComputer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h, rooms, log := onFullDisk(t, nil)
		defer h.Close()
		if err := <-rooms[0].joins("ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Second)
		view, _ := rooms[0].views.get()
		if note := "the host can’t save the room: the disk is full. It goes on, but wouldn’t survive " +
			"a restart; trying again"; !strings.Contains(fmt.Sprint(view.Snapshot.Log), note) || !view.Snapshot.Room.Held.IsZero() {
			t.Errorf("the group reads %v", view.Snapshot.Log)
		}
		if status, text := h.ready(); status != 503 || text != "the disk is full: rooms go on, and are not kept\n" {
			t.Errorf("/readyz says %d %q", status, text)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 {
			t.Errorf("in 50 seconds the log has %d lines: %s", lines, log)
		}
		s.isWell()
		time.Sleep(longestRest + time.Second)
		if status, text := h.ready(); status != 200 {
			t.Errorf("then /readyz says %d %q", status, text)
		}
		if stage := view.Snapshot.Room.Stage; stage != wire.Gathering {
			t.Errorf("the room is %s", stage)
		}
	})
}
