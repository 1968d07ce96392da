package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/access"
	"muster/host/public"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/await"
)

// TestTakenOver checks players at a host that has lost their room. They learn only that the room
// has moved, come back with their token, and are welcomed with a greater epoch.
func TestTakenOver(t *testing.T) {
	first := host.NewFakeStore()
	one, at := serve(t, host.Config{List: listOf(2), Store: first})
	var log bytes.Buffer // of the host that takes the room over
	two, elsewhere := serveToo(t, host.Config{List: listOf(2), Store: first.On("two"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	code, _, err := one.Open(friday(2))
	if err != nil {
		t.Fatal(err)
	}
	ann := says(t, at, "", wire.Hello{Code: code, Name: "ann"})
	was := expect[wire.Welcome](ann)
	if was.Epoch != 1 {
		t.Errorf("the first epoch is %d", was.Epoch)
	}
	first.Dies()
	waitFor(t, "the room at the other host", func() bool { return len(two.Rooms()) == 1 })
	one.Go(code) // this would start the round
	for m := range ann.Heard {
		switch m := m.(type) {
		case wire.List, wire.Measure:
			t.Errorf("ann is told %T by a host that has lost the room", m)
		case wire.Refusal:
			if m.Reason != wire.ReasonMoved {
				t.Errorf("ann is told %+v", m)
			}
		}
	}
	again := says(t, elsewhere, "", wire.Hello{Code: code, Name: "ann", Token: was.Token})
	if now := expect[wire.Welcome](again); now.Epoch != 2 || now.Name != "ann" {
		t.Errorf("ann comes back as %+v", now)
	}
	id := access.PublicID(two.Keys(code).Link)
	two.Close()
	if want := "room=" + id + " from=one by=two epoch=2"; !strings.Contains(log.String(), want) || strings.Contains(log.String(), code) {
		t.Errorf("the log has no %q, or the code: %s", want, &log)
	}
}

// TestBackTooLate checks a host that reaches its store again when another host has its room. It
// says nothing more about the room, neither to its people nor to callers, because its state is
// outdated.
func TestBackTooLate(t *testing.T) {
	first := host.NewFakeStore()
	one, server := serve(t, host.Config{List: listOf(2), Store: first})
	two, _ := serveToo(t, host.Config{List: listOf(2), Store: first.On("two")})
	code, _, err := one.Open(friday(2))
	if err != nil {
		t.Fatal(err)
	}
	ann := says(t, server, "", wire.Hello{Code: code, Name: "ann"})
	was := expect[wire.Welcome](ann)
	early := openPage(t, server, code, "")
	early.until("the room", early.says("room", `"stage":"gathering"`))
	first.Away(true)
	early.until("that it waits", early.says("room", `"held":{"key":"refused.held"}`))
	first.Dies()
	waitFor(t, "the room at the other host", func() bool { return len(two.Rooms()) == 1 })
	late := openPage(t, server, code, "")
	late.until("that it waits", late.says("message", "nothing is lost"))
	first.Away(false)
	for name, p := range map[string]*page{"a page that was there": early, "a page that came while it waited": late} {
		delete(p.state, "room")
		p.ws.SetReadDeadline(time.Now().Add(20 * time.Second))
		for {
			_, data, err := p.ws.ReadMessage()
			if err != nil {
				break
			}
			if strings.Contains(string(data), `"stage":`) {
				t.Errorf("%s is shown %s", name, data)
			}
		}
	}
	for range ann.Heard {
	}
	again := says(t, server, "", wire.Hello{Code: code, Name: "ann", Token: was.Token})
	for m := range again.Heard {
		if m, is := m.(wire.Welcome); is {
			t.Errorf("ann is welcomed: %+v", m)
		}
	}
}

// TestDrain checks that a host that ends saves its rooms, releases them, and sends people back. A
// store that fails delays it only as long as it may.
func TestDrain(t *testing.T) {
	t.Parallel()
	kept := host.NewFakeStore()
	one, at := serve(t, host.Config{List: listOf(2), Store: kept})
	const rooms = 100
	for range rooms - 1 {
		if _, _, err := one.Open(friday(2)); err != nil {
			t.Fatal(err)
		}
	}
	code, _, _ := one.Open(friday(2))
	ann := join(t, at, code, "ann")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	one.Drain(ctx)
	if ctx.Err() != nil {
		t.Error("it took too long")
	}
	if refusal := expect[wire.Refusal](ann); refusal.Reason != wire.ReasonMoved {
		t.Errorf("ann is told %+v", refusal)
	}
	two, _ := serveToo(t, host.Config{List: listOf(2), Store: kept.On("two")})
	if n := len(two.Rooms()); n != rooms {
		t.Errorf("the next host has %d rooms of %d", n, rooms)
	}
	if s, _ := two.Room(code); len(s.People) != 1 || s.People[0].Name != "ann" {
		t.Errorf("ann's room has %+v", s.People)
	}
	if _, _, err := one.Open(friday(2)); err == nil {
		t.Error("a host that has ended opens a room")
	}
	kept.On("two").Away(true)
	hurry, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	two.Drain(hurry)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("with a store out of reach it took %v", took)
	}
	kept.On("two").Away(false)
	three, _ := serveToo(t, host.Config{List: listOf(2), Store: kept.On("three")})
	three.Go(code) // it must be saved, and the store never answers
	release := kept.Hang()
	hurry, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began = time.Now()
	three.Drain(hurry)
	if three.Close() == nil {
		t.Error("a store that hangs has closed")
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("with a store that hangs it took %v", took)
	}
	release()
	if place := kept.Find(code); place.State == store.Unknown {
		t.Error("the room is gone")
	}
}

// TestListKeptOnce checks that rooms are saved without their common list, and find it again after a
// restart. Rooms whose list the store has lost get a new one.
func TestListKeptOnce(t *testing.T) {
	t.Parallel()
	const servers, rooms = 3000, 3
	kept := host.NewFakeStore()
	one, _ := serve(t, host.Config{List: listOf(servers), Store: kept})
	var codes []string
	measures := func(h *host.Host, code string) func() bool {
		return func() bool {
			s, _ := h.Room(code)
			return s.Room.Stage == wire.Measuring && s.Room.Listed == servers
		}
	}
	for range rooms {
		code, secret, _ := one.Open(friday(0))
		codes = append(codes, code)
		one.Sit(code, "ann", secret)
		one.Go(code)
		waitFor(t, "the list", measures(one, code))
	}
	one.Drain(t.Context())
	if blobs := kept.Blobs(); len(blobs) != 1 {
		t.Fatalf("the store has %d lists", len(blobs))
	}
	for _, code := range codes {
		if data := kept.Of(code); len(data) > 10_000 || !strings.Contains(string(data), `"list_hash":"`) {
			t.Errorf("a room without results takes %d bytes", len(data))
		}
	}
	lists := 0
	counting := func(ctx context.Context, game string) ([]discovery.Server, error) {
		lists++
		return listOf(servers)(ctx, game)
	}
	two, _ := serveToo(t, host.Config{List: counting, Store: kept.On("two")})
	for _, code := range codes {
		waitFor(t, "the list again", measures(two, code))
	}
	two.Drain(t.Context())
	if lists > 0 {
		t.Errorf("%d lists were fetched", lists)
	}
	clear(kept.Blobs())
	three, _ := serveToo(t, host.Config{List: listOf(servers), Store: kept.On("three")})
	for _, code := range codes {
		waitFor(t, "a new list", measures(three, code))
	}
}

// TestNewerRoom checks that a room saved by a newer Muster stays untouched for a host that can read
// it, and that callers learn why they cannot enter.
func TestNewerRoom(t *testing.T) {
	kept := host.NewFakeStore()
	one, _ := serve(t, host.Config{List: listOf(2), Store: kept})
	code, _, _ := one.Open(friday(2))
	one.Drain(t.Context())
	newer := []byte(strings.Replace(string(kept.Of(code)), `"form":"muster.room/`, `"form":"muster.room/9`, 1))
	kept.Put(code, newer)
	var log bytes.Buffer
	two, at := serveToo(t, host.Config{List: listOf(2), Store: kept.On("two"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ann := says(t, at, "", wire.Hello{Code: code, Name: "ann"})
	want := "this room is on a newer Muster than this host"
	if refusal := expect[wire.Refusal](ann); refusal.Message != want || refusal.Reason != wire.ReasonBusy {
		t.Errorf("ann is told %+v", refusal)
	}
	if status, said := asks(t, at, "GET", "/api/rooms/"+code, "", nil); status != http.StatusServiceUnavailable {
		t.Errorf("programs are answered %d, %s", status, said)
	}
	if len(two.Rooms()) > 0 || !bytes.Equal(kept.Of(code), newer) || kept.Find(code).State != store.Orphaned {
		t.Errorf("the host has %v, the store %s, %v", two.Rooms(), kept.Of(code), kept.Find(code))
	}
	if two.Close(); !strings.Contains(log.String(), "a newer Muster has saved it") || strings.Contains(log.String(), code) {
		t.Errorf("the log has %s", &log)
	}
}

// TestLeftMeanwhile checks callers for a room that has just gone to another host. They are told to
// come back, and not that there is no such room, which programs and pages take as final.
func TestLeftMeanwhile(t *testing.T) {
	kept := host.NewFakeStore()
	_, at := serve(t, host.Config{List: listOf(2), Store: kept})
	two, _ := serveToo(t, host.Config{List: listOf(2), Store: kept.On("two")})
	code, _, _ := two.Open(friday(2))
	ann := says(t, at, "", wire.Hello{Code: code, Name: "ann"})
	if refusal := expect[wire.Refusal](ann); refusal.Reason != wire.ReasonMoved {
		t.Errorf("ann is told %+v", refusal)
	}
	if status, _ := asks(t, at, "GET", "/api/rooms/"+code, "", nil); status != http.StatusServiceUnavailable {
		t.Errorf("a request is answered %d", status)
	}
}

// TestPanic checks that a panicking room takes no other down. It restarts once from its last save,
// with all its people; after a second panic it stays down.
func TestPanic(t *testing.T) {
	kept := host.NewFakeStore()
	h, at := serve(t, host.Config{List: listOf(2), Store: kept})
	code, _, _ := h.Open(friday(2))
	other, _, _ := h.Open(friday(2))
	ann, bob := join(t, at, code, "ann"), join(t, at, other, "bob")
	h.Panic(code)
	if refusal := expect[wire.Refusal](ann); refusal.Reason != wire.ReasonMoved {
		t.Errorf("ann is told %+v", refusal)
	}
	waitFor(t, "the room again", func() bool { return kept.Find(code).Epoch == 2 && len(h.Rooms()) == 2 })
	again := says(t, at, "", wire.Hello{Code: code, Name: "ann", Token: ann.token})
	expect[wire.Welcome](again)
	h.Panic(code)
	expect[wire.Refusal](again)
	waitFor(t, "the room's end", func() bool { return len(h.Rooms()) == 1 })
	late := says(t, at, "", wire.Hello{Code: code, Name: "ann", Token: ann.token})
	if refusal := expect[wire.Refusal](late); refusal.Message != "this host can’t read the room" {
		t.Errorf("then ann is told %+v", refusal)
	}
	h.Go(other)
	bob.measures(10)
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	await.Until(t, is, "waited in vain for %s", what)
}

// TestOwnListKept checks that an organiser's long list is kept apart from the room, once for all
// saves, and that frequent new lists do not fill the store.
func TestOwnListKept(t *testing.T) {
	const servers = 2000
	kept := host.NewFakeStore()
	config := everybody(public.Limits{Servers: servers})
	config.Store = kept
	one, at := serve(t, config)
	list := func(port int) (lines []string) {
		for i := range servers {
			lines = append(lines, fmt.Sprintf("192.%d.%d.7:%d", i/256, i%256, port))
		}
		return lines
	}
	body, err := json.Marshal(map[string]any{"game": "openarena", "servers": list(27960)})
	if err != nil {
		t.Fatal(err)
	}
	_, room, _ := opens(t, at, "203.0.113.7", string(body))
	secret := room.OrganiserLink[strings.LastIndexByte(room.OrganiserLink, '.')+1:]
	has := func(h *host.Host, port uint16) {
		t.Helper()
		if s, _ := h.Settings(room.Code); len(s.Servers) != servers || s.Servers[0].Port() != port {
			t.Errorf("the room has a list of %d servers, want %d at port %d", len(s.Servers), servers, port)
		}
		if data := kept.Of(room.Code); len(data) > 3000 || !strings.Contains(string(data), `"own_hash":"`) {
			t.Errorf("the room takes %d bytes", len(data))
		}
	}
	has(one, 27960)
	orders(t, at, room.Code, "servers", secret, map[string]any{"game": "openarena", "servers": list(27961)})
	has(one, 27961)
	for port := range 10 { // not all of these are kept for days
		orders(t, at, room.Code, "servers", secret, map[string]any{"game": "openarena", "servers": list(28000 + port)})
	}
	if blobs := len(kept.Blobs()); blobs > 6 {
		t.Errorf("the store has %d lists", blobs)
	}
	if data := kept.Of(room.Code); !strings.Contains(string(data), "192.0.0.7:28009") {
		t.Error("a list that is not kept apart is not saved with the room")
	}
	before := len(kept.Blobs())
	orders(t, at, room.Code, "servers", "nobody's", map[string]any{"game": "openarena", "servers": list(1)[:10]})
	if len(kept.Blobs()) != before {
		t.Error("strangers have lists kept")
	}
	one.Drain(t.Context())
}

// TestOwnListAgain checks that a room has its organiser's list again after a restart, and that
// people are told if the store has lost it.
func TestOwnListAgain(t *testing.T) {
	kept := host.NewFakeStore()
	config := everybody(public.Limits{Servers: 2000})
	config.Store = kept
	one, at := serve(t, config)
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("192.%d.%d.7:27960", i/256, i%256))
	}
	body, err := json.Marshal(map[string]any{"game": "openarena", "servers": lines})
	if err != nil {
		t.Fatal(err)
	}
	_, room, _ := opens(t, at, "203.0.113.7", string(body))
	one.Drain(t.Context())
	config.Store = kept.On("two")
	two, _ := serveToo(t, config)
	if s, _ := two.Settings(room.Code); len(s.Servers) != 300 || s.Servers[299].String() != "192.1.43.7:27960" {
		t.Errorf("after a restart the list is %v", s.Servers)
	}
	two.Drain(t.Context())
	clear(kept.Blobs())
	config.Store = kept.On("three")
	three, _ := serveToo(t, config)
	waitFor(t, "word of it", func() bool {
		s, _ := three.Room(room.Code)
		return strings.Contains(fmt.Sprint(s.Log), "the organiser’s own list of servers is gone")
	})
}
