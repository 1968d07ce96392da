package operating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"muster/host/pressure"
)

// fake are the rooms of one of two hosts: each has its own, and knows where the other's are.
type fake struct {
	host  string
	rooms map[string]string // the host of each room
	did   []string
}

func (f *fake) List() (rooms []Room) {
	for id, host := range f.rooms {
		if host == f.host {
			rooms = append(rooms, Room{ID: id, Host: host})
		}
	}
	return rooms
}

func (f *fake) Where(id string) (string, error) {
	if host := f.rooms[id]; host != "" {
		return host, nil
	}
	return "", ErrUnknown
}

func (f *fake) Explain(id string) (Explanation, error) {
	if f.rooms[id] != f.host {
		return Explanation{}, ErrUnknown
	}
	return Explanation{Room: Room{ID: id, Host: f.host}}, nil
}

func (f *fake) Close(_ context.Context, id, reason string) error {
	f.did = append(f.did, "close "+id+" "+reason)
	return nil
}

func (f *fake) Move(_ context.Context, id, to string) error {
	if to != "one" && to != "two" {
		return ErrHost
	}
	f.did = append(f.did, "move "+id+" "+to)
	return nil
}

func (f *fake) Limits() []pressure.Row {
	return []pressure.Row{{Network: netip.MustParsePrefix("192.0.2.0/24"), Limit: pressure.Codes, Times: 1, First: noon, Last: noon}}
}

// between passes requests on to desks by host.
type between map[string]*Desk

func (b between) RoundTrip(r *http.Request) (*http.Response, error) {
	d := b[r.URL.Host]
	if d == nil {
		return nil, errors.New("silent")
	}
	w := httptest.NewRecorder()
	d.Inside(w, r)
	return w.Result(), nil
}

const annsKey, bensKey = "ann-0123456789abcdef", "ben-0123456789abcdef"

// desks returns the desk of the first of two hosts, its log, and the rooms of both.
func desks(hosts ...string) (*Desk, *bytes.Buffer, *fake, *fake) {
	rooms := map[string]string{"A": "one", "B": "two"}
	one, two := &fake{host: "one", rooms: rooms}, &fake{host: "two", rooms: rooms}
	var log bytes.Buffer
	keys := func() (Keys, error) { return ReadKeys(strings.NewReader("ann " + annsKey + "\nben " + bensKey)) }
	names := func() []string { return hosts }
	d := &Desk{Own: "one", Rooms: one, Hosts: names, Keys: keys, Log: slog.New(slog.NewTextHandler(&log, nil))}
	d.Others = between{"two": {Own: "two", Rooms: two, Hosts: names}}
	return d, &log, one, two
}

func ask(d *Desk, key, method, path, body string) string {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Result().Body)
	return fmt.Sprint(w.Code, " ", strings.TrimSpace(string(text)))
}

// TestDesk checks what an operator gets from a cluster of two hosts, and what the log keeps of it.
func TestDesk(t *testing.T) {
	for name, test := range map[string]struct {
		method, path, body string
		answer             string // a part of it
		did                string // by the host that has the room
		audit              string
	}{
		"list":   {"GET", "/rooms", "", `"id":"B","host":"two"`, "", `what=list outcome=done`},
		"limits": {"GET", "/limits", "", `"network":"192.0.2.0/24","limit":"wrong codes","times":2`, "", `what=limits outcome=done`},
		"explain here": {
			"GET", "/rooms/A", "",
			`200 {"format":"muster.room-explained/1","room":{"id":"A","host":"one"`, "", `what=explain room=A outcome=done`,
		},
		"explain afar": {"GET", "/rooms/B", "", `"room":{"id":"B","host":"two"`, "", `what=explain room=B outcome=done`},
		"explain none": {"GET", "/rooms/C", "", `404 {"error":"no room has this id`, "", `what=explain room=C outcome="no room has this id`},
		"close here": {
			"POST", "/rooms/A/close", `{"reason":"rules"}`,
			`200 {"outcome":"closed"}`, "close A rules", `what=close room=A detail=rules outcome=done`,
		},
		"close afar": {
			"POST", "/rooms/B/close", `{"reason":"load"}`,
			`200 {"outcome":"closed"}`, "close B load", `what=close room=B detail=load outcome=done`,
		},
		"no reason": {"POST", "/rooms/B/close", `{}`, `409 {"error":"--reason is one of`, "", `what=close room=B outcome="--reason`},
		"a long word": {
			"POST", "/rooms/A/close", `{"reason":"` + strings.Repeat("x", 999) + `"}`,
			`409`, "", `detail=` + strings.Repeat("x", idLength) + ` outcome`,
		},
		"move": {
			"POST", "/rooms/A/move", `{"to":"two"}`,
			`200 {"outcome":"moved to two"}`, "move A two", `what=move room=A detail=two outcome=done`,
		},
		"move nowhere": {
			"POST", "/rooms/B/move", `{"to":"x\n\"y"}`,
			`409 {"error":"no such host is ready`, "", `room=B detail=xy outcome="no such host`,
		},
		"no JSON":      {"POST", "/rooms/A/move", `to=two`, `409 {"error":"the request is no JSON object"}`, "", `outcome="the request`},
		"too long":     {"POST", "/rooms/A/move", strings.Repeat(" ", maxBody+1) + `{}`, `409`, "", `outcome="the request`},
		"no such path": {"POST", "/rooms", `{}`, `405`, "", ""},
		"odd id":       {"GET", "/rooms/%2e%2e%2f%0a", "", `404`, "", `room="" outcome="no room`},
	} {
		t.Run(name, func(t *testing.T) {
			d, log, one, two := desks("one", "two")
			if got := ask(d, annsKey, test.method, test.path, test.body); !strings.Contains(got, test.answer) {
				t.Errorf("%s, want %s", got, test.answer)
			}
			if did := strings.Join(append(one.did, two.did...), ","); did != test.did {
				t.Errorf("did %q, want %q", did, test.did)
			}
			line := log.String()
			if !strings.Contains(line, test.audit) || test.audit != "" && (!strings.Contains(line, "level=INFO+2 msg=operator audit=true who=ann") ||
				strings.Count(line, "\n") != 1) || strings.Contains(line, annsKey) {
				t.Errorf("the log has %q, want one line with %s", line, test.audit)
			}
		})
	}
}

// TestSilent checks that a list says whose rooms are missing.
func TestSilent(t *testing.T) {
	d, _, _, _ := desks("one", "three", "two")
	if got := ask(d, bensKey, "GET", "/rooms", ""); !strings.Contains(got, `"silent":["three"]`) || !strings.Contains(got, `"id":"A"`) {
		t.Error(got)
	}
	d.Rooms.(*fake).rooms["D"] = "three"
	if got := ask(d, bensKey, "GET", "/rooms/D", ""); !strings.Contains(got, "three has the room, and does not answer") {
		t.Error(got)
	}
}

// TestWrongKeys checks that wrong keys are refused, logged without being shown, and limited, and that none
// of that delays the right one.
func TestWrongKeys(t *testing.T) {
	d, log, one, _ := desks()
	for i := range 3 * wrongAtOnce {
		key := []string{"", annsKey[1:], annsKey + "x"}[i%3]
		want := "401"
		if i >= wrongAtOnce {
			want = "429"
		}
		if got := ask(d, key, "POST", "/rooms/A/close", `{"reason":"rules"}`); !strings.HasPrefix(got, want) {
			t.Fatalf("try %d: %s", i, got)
		}
		if i == 0 && !strings.Contains(log.String(), `outcome="wrong key"`) {
			t.Errorf("the log has %q", log)
		}
	}
	if strings.Count(log.String(), "wrong key") != wrongAtOnce || strings.Contains(log.String(), annsKey[1:]) || one.did != nil {
		t.Errorf("%v: %s", one.did, log)
	}
	if got := ask(d, annsKey, "GET", "/rooms", ""); !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	d.Keys = func() (Keys, error) { return nil, errors.New("gone") }
	if got := ask(d, annsKey, "GET", "/rooms", ""); !strings.HasPrefix(got, "409") || !strings.Contains(log.String(), "keys are not read") {
		t.Error(got)
	}
}
