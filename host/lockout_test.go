package host_test

import (
	"net/http"
	"testing"

	"muster/host"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

// TestLockout checks that callers with a link key, token or secret are not delayed at an address
// from which someone guesses codes. Only callers with nothing but a code wait.
func TestLockout(t *testing.T) {
	t.Parallel()
	h, server := serve(t, host.Config{List: listOf(3), Clock: clocktest.Hold(noon).Clock()})
	code, secret, _ := h.Open(friday(4))
	key := h.Keys(code).Link
	ann := join(t, server, code, "ann")
	zoe := enters(t, server, code, "zoe", "")
	ask := func(path, key, credential string) int {
		t.Helper()
		status, _ := asks(t, server, "GET", path, "", map[string]string{"Muster-Key": key, "Authorization": "Bearer " + credential})
		return status
	}
	for range 50 { // in a moment: no more are heard later
		ask("/api/rooms/GUESSED", "", "")
	}
	if status := ask("/api/rooms/"+code, "", ""); status != http.StatusTooManyRequests {
		t.Fatalf("after 50 wrong codes the code alone is answered %d", status)
	}
	hello := func(h wire.Hello) *player {
		p := dial(t, server)
		h.Version, h.Code = wire.Version, code
		p.Conn.Send(h)
		return p
	}
	eve := wire.Hello{Name: "eve", Key: "GUESSED", Token: "GUESSED"}
	if refusal, _ := expect[wire.Message](hello(eve)).(wire.Refusal); refusal.Reason != wire.ReasonLimited {
		t.Errorf("a guesser's hello is heard: %+v", refusal)
	}
	for _, tt := range []struct{ name, key, credential string }{
		{"the link's key", key, ""}, {"the organiser's secret", "", secret}, {"a page's token", "", zoe}, {"a player's token", "", ann.token},
	} {
		if status := ask("/api/rooms/"+code, tt.key, tt.credential); status != http.StatusOK {
			t.Errorf("%s is answered %d", tt.name, status)
		}
	}
	expect[wire.Welcome](hello(wire.Hello{Name: "ann", Token: ann.token}))
	expect[wire.Welcome](hello(wire.Hello{Name: "bob", Key: key}))
	if status, _ := orders(t, server, code, "go", secret, nil); status != http.StatusNoContent {
		t.Errorf("the organiser's go is answered %d", status)
	}
}

// TestOrganiserAmongAskers checks that many requests from the organiser's address do not delay the
// organiser.
func TestOrganiserAmongAskers(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(3), Clock: clocktest.Hold(noon).Clock()})
	code, secret, _ := h.Open(friday(0))
	busy := 0
	for range 210 {
		status, _ := asks(t, server, "GET", "/api/rooms/"+code, "", nil)
		busy += map[int]int{http.StatusTooManyRequests: 1}[status]
	}
	if status, document := orders(t, server, code, "go", secret, nil); busy == 0 || status != http.StatusNoContent {
		t.Errorf("after 210 questions, %d of them refused, the organiser's go is answered %d %v", busy, status, document)
	}
}

// TestTakenName checks that a stranger's page cannot take a connected player's name, and so cannot
// get the room in the player's place.
func TestTakenName(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(3), Clock: clocktest.Hold(noon).Clock()})
	code, secret, _ := h.Open(friday(0))
	ann, bob := joinAs(t, server, code, "ann", secret), join(t, server, code, "bob")
	status, document := orders(t, server, code, "enter", "", map[string]any{"name": "bob"})
	if status != http.StatusConflict {
		t.Fatalf("a stranger's page is bob: %d %v", status, document)
	}
	for _, try := range []struct {
		what, action, credential string
		order                    map[string]any
		want                     int
	}{
		{"the organiser hands the room on", "handon", secret, map[string]any{"name": "bob"}, 204},
		{"by the old secret", "lock", secret, nil, 403},
		{"by ann's page", "lock", ann.page, nil, 403},
		{"by the token of bob's program", "lock", bob.token, nil, 403},
		{"by bob's page", "lock", bob.page, nil, 204},
	} {
		if status, document := orders(t, server, code, try.action, try.credential, try.order); status != try.want {
			t.Errorf("%s: %d %v, want %d", try.what, status, document, try.want)
		}
	}
}
