package host_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host"
	"muster/host/public"
	"muster/host/store"
	"muster/host/wire"
)

const twoMonths = 8 * 7 * 24 * time.Hour

// TestStandingRoom checks that a room on a public host is there again a week later, after a
// restart, by its link and its members' own links. Callers with only the code or the link learn
// nothing of the members.
func TestStandingRoom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	begins := func() (*host.Host, *httptest.Server) {
		kept, err := store.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		config := everybody(public.Limits{Idle: time.Hour, Standing: public.Standing{Rooms: 2, PerAddress: 1, Keep: twoMonths}})
		config.Store = kept
		return serveToo(t, config)
	}
	h, server := begins()
	_, room, _ := opens(t, server, "203.0.113.7",
		`{"game":"openarena","every":"fri 20:00 Europe/Berlin","name":"=Friday","players":1,"strategy":"conventional"}`)
	keys := h.Keys(room.Code)
	ann := joinAs(t, server, room.Code, "=ann()", keys.Secret)
	page, token := ann.page, ann.token
	ann.plays(20)
	order := func(action, body, credential string) (int, string) {
		return asks(t, server, "POST", "/api/rooms/-/"+action, body,
			map[string]string{"Muster-Code": room.Code, "Muster-Key": keys.Link, "Authorization": "Bearer " + credential})
	}
	if status, said := order("end", "{}", keys.Secret); status != http.StatusNoContent {
		t.Fatalf("the night does not end: %d, %s", status, said)
	}
	if got := expect[wire.Refusal](ann); got.Reason != wire.ReasonEnded {
		t.Errorf("ann is told %+v", got)
	}
	for action, body := range map[string]string{"come": `{"comes":true}`, "like": `{"liked":true}`} {
		if status, said := order(action, body, page); status != http.StatusNoContent {
			t.Errorf("%s is answered %d, %s", action, status, said)
		}
	}
	if status, said := order("settings", `{"settings":{"players":3}}`, keys.Secret); status != http.StatusNoContent {
		t.Errorf("the settings are answered %d, %s", status, said)
	}

	// The host restarts, and people come in the week between.
	server.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h, server = begins()
	defer server.Close()
	defer h.Close()
	if got := h.Keys(room.Code); got != keys {
		t.Fatalf("after a restart the room's keys are %v, want %v", got, keys)
	}
	for who, test := range map[string]struct {
		header map[string]string
		want   int
	}{
		"ann": {map[string]string{"Muster-Code": room.Code, "Muster-Key": keys.Link,
			"Authorization": "Bearer " + page}, http.StatusOK},
		"ann without the link": {map[string]string{"Muster-Code": room.Code, "Authorization": "Bearer " + page}, http.StatusOK},
		"the organiser's link": {map[string]string{"Muster-Code": room.Code, "Authorization": "Bearer " + keys.Secret}, http.StatusOK},
		"who has the link":     {map[string]string{"Muster-Code": room.Code, "Muster-Key": keys.Link}, http.StatusForbidden},
		// This opens nothing on a page.
		"ann's program":           {map[string]string{"Muster-Code": room.Code, "Authorization": "Bearer " + token}, http.StatusForbidden},
		"a stranger by the code":  {map[string]string{"Muster-Code": room.Code}, http.StatusNotFound},
		"a stranger with a token": {map[string]string{"Muster-Code": room.Code, "Authorization": "Bearer AAAAAAAAAAAAAAAA"}, http.StatusNotFound},
	} {
		status, said := asks(t, server, "GET", "/api/rooms/-/evenings", "", test.header)
		if status != test.want || (status == http.StatusOK) != strings.Contains(said, "=ann()") {
			t.Errorf("%s is answered %d, want %d: %s", who, status, test.want, said)
		}
		if status != http.StatusOK {
			continue
		}
		var history wire.History
		if err := json.Unmarshal([]byte(said), &history); err != nil || history.Format != "muster.evenings/1" ||
			len(history.Sessions) != 1 || len(history.Sessions[0].Stays[0].Players) != 1 ||
			strings.Contains(said, "who") || strings.Contains(said, "127.0.0.1") {
			t.Errorf("%s reads %s, %v", who, said, err)
		}
		_, table := asks(t, server, "GET", "/api/rooms/-/evenings?format=csv", "", test.header)
		rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Errorf("as a table %s reads %q, %v", who, table, err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") {
					t.Errorf("%q is a formula", cell)
				}
			}
		}
	}
	if s, _ := h.Room(room.Code); s.Meeting == nil || s.Meeting.Sessions != 1 || s.Meeting.Who[0].Comes == nil || !*s.Meeting.Who[0].Liked {
		t.Errorf("after a restart the room shows %+v", s.Meeting)
	}

	// A member comes and the room wakes up, so its code admits people again.
	again := says(t, server, "", wire.Hello{Code: room.Code, Name: "=ann()", Token: token})
	if w := expect[wire.Welcome](again); w.Page != page {
		t.Errorf("ann comes back as %+v", w)
	}
	join(t, server, room.Code, "cat")

	// These are the limits of strangers.
	if status, refusal, _ := opens(t, server, "198.51.100.8", `{"game":"openarena","every":"whenever"}`); status != http.StatusCreated {
		t.Errorf("the second room that stays: %d, %+v", status, refusal)
	}
	if status, refusal, _ := opens(t, server, "192.0.2.9",
		`{"game":"openarena","every":"whenever"}`); status != http.StatusServiceUnavailable || refusal.Reason != wire.ReasonFull {
		t.Errorf("the third room that stays: %d, %+v", status, refusal)
	}
	_, plain, _ := opens(t, server, "192.0.2.9", `{"game":"openarena"}`)
	status, said := asks(t, server, "POST", "/api/rooms/-/settings", `{"settings":{"every":"whenever"}}`,
		map[string]string{"Muster-Code": plain.Code, "Authorization": "Bearer " + h.Keys(plain.Code).Secret})
	if status != http.StatusConflict || !strings.Contains(said, "are taken") {
		t.Errorf("another room is made to stay: %d, %s", status, said)
	}
}

// TestStandingByChange checks that a room that becomes a standing one later counts like one that
// was opened so, and frees its place when it no longer stays.
func TestStandingByChange(t *testing.T) {
	h, server := serve(t, everybody(public.Limits{PerAddress: 4, Standing: public.Standing{Rooms: 9, PerAddress: 1, Keep: twoMonths}}))
	var rooms [2]string
	for i := range rooms {
		_, opened, _ := opens(t, server, "203.0.113.7", `{"game":"openarena"}`)
		rooms[i] = opened.Code
	}
	for i, step := range []struct {
		room  int
		every string
		want  int
	}{
		{0, "whenever", http.StatusNoContent}, {1, "whenever", http.StatusConflict}, {1, "mars", http.StatusConflict},
		{0, "", http.StatusNoContent}, {1, "mars", http.StatusConflict}, {1, "whenever", http.StatusNoContent},
		{0, "whenever", http.StatusConflict},
		{1, "\u200b\u2060", http.StatusNoContent}, {0, "whenever", http.StatusNoContent},
		{1, "\u200b", http.StatusNoContent}, {1, "whenever", http.StatusConflict},
	} {
		code := rooms[step.room]
		body, _ := json.Marshal(map[string]any{"settings": map[string]string{"every": step.every}})
		status, said := asks(t, server, "POST", "/api/rooms/-/settings", string(body),
			map[string]string{"Muster-Code": code, "Authorization": "Bearer " + h.Keys(code).Secret})
		if status != step.want {
			t.Errorf("step %d is answered %d, %s, want %d", i, status, said, step.want)
		}
	}
}

// TestNoStandingRooms checks that an operator may forbid standing rooms.
func TestNoStandingRooms(t *testing.T) {
	_, server := serve(t, everybody(public.Limits{}))
	if status, refusal, _ := opens(t, server, "192.0.2.9",
		`{"game":"openarena","every":"whenever"}`); status != http.StatusServiceUnavailable || !strings.Contains(
		refusal.Message, "keeps no rooms") {
		t.Errorf("a room that stays: %d, %+v", status, refusal)
	}
	for _, wrong := range []string{"fri 20:00", "fri 20:00 Mars/Base", strings.Repeat("fri,", 1000)} {
		body := fmt.Sprintf(`{"game":"openarena","every":%q}`, wrong)
		if status, refusal, _ := opens(t, server, "192.0.2.9", body); status != http.StatusBadRequest {
			t.Errorf("%.40s: %d, %+v", body, status, refusal)
		}
	}
}
