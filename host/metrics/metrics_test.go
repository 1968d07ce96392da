package metrics

import (
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/discovery/sentence"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// scrape returns what Prometheus reads, and fails the test for each of the lines that is not in it.
func scrape(t *testing.T, m *Metrics, lines ...string) (text string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text = w.Body.String()
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	return text
}

// TestLimits checks that each limit belongs to a sentence that people read, that each is there before
// anybody reaches it, and that other refusals add no label.
func TestLimits(t *testing.T) {
	m, english := New(), catalogue.Sentences()
	for key, limit := range limits {
		if english[key] == "" {
			t.Errorf("no sentence has the key %s", key)
		}
		scrape(t, m, `muster_limited_total{limit="`+limit+`"} 0`)
	}
	m.Refused(*wire.Refuse(wire.ReasonFull, "refused.rooms-taken", "n", 3))
	m.Refused(*wire.Refuse(wire.ReasonCode, "refused.code", "code", "BAKODI"))
	m.Refused(wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain("max_rooms")})
	text := scrape(t, m, `muster_limited_total{limit="max_rooms"} 1`, `muster_refusals_total{reason="full"} 1`,
		`muster_refusals_total{reason="code"} 1`, `muster_refusals_total{reason="malformed"} 1`)
	names := map[string]bool{}
	for _, limit := range limits {
		names[limit] = true
	}
	if n := strings.Count(text, "muster_limited_total{"); n != len(names) {
		t.Errorf("%d limits are shown, and there are %d", n, len(names))
	}
}

// TestTakeovers checks that takeovers are counted by the reason for which the other host lost the
// room.
func TestTakeovers(t *testing.T) {
	m := New()
	scrape(t, m, `muster_takeovers_total{cause="ended"} 0`, `muster_takeovers_total{cause="released"} 0`)
	m.TakenOver(store.Place{Host: "a"})
	m.TakenOver(store.Place{Host: "a"})
	m.TakenOver(store.Place{Host: "a", Released: true})
	m.Lost()
	scrape(t, m, `muster_takeovers_total{cause="ended"} 2`, `muster_takeovers_total{cause="released"} 1`, "muster_rooms_lost_total 1")
}

// TestFigures checks that figures of other parts are read at each scrape, with their labels.
func TestFigures(t *testing.T) {
	m, left := New(), 7
	m.Show(func() []Figure {
		return []Figure{
			{Name: "muster_left", Help: "What is left.", Values: One(left)},
			{Name: "muster_came_total", Help: "What came.", Values: One(uint64(3))},
			{Name: "muster_age_seconds", Help: "Ages.", Labels: []string{"game"}, Values: []Value{
				{1.5, []string{"openarena"}}, {2, []string{"xonotic"}},
			}},
			{Name: "muster_up", Help: "Up.", Values: Yes(left == 7)},
			{Name: "muster_none", Help: "Nothing."},
		}
	})
	scrape(t, m, "# TYPE muster_left gauge", "muster_left 7", "# TYPE muster_came_total counter", "muster_came_total 3",
		`muster_age_seconds{game="openarena"} 1.5`, `muster_age_seconds{game="xonotic"} 2`, "muster_up 1")
	left--
	if text := scrape(t, m, "muster_left 6", "muster_up 0"); strings.Contains(text, "muster_none") {
		t.Error("a figure without values is shown")
	}
}

// TestListening checks that a connection counts until it is closed, and no more after that.
func TestListening(t *testing.T) {
	m := New()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := m.Listening(inner)
	defer l.Close()
	for range 2 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	scrape(t, m, "muster_connections 2")
	first.Close()
	first.Close()
	scrape(t, m, "muster_connections 1")
}
