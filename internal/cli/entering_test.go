package cli_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"muster/host"
)

// TestJoinWithoutCode: an open room asks nobody for a code; another does, and
// again until it is right.
func TestJoinWithoutCode(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { rooms.Close(); server.Close() })
	at := strings.TrimPrefix(server.URL, "http://")
	code, _ := rooms.Open(host.Settings{Game: "openarena"})

	ann := begin(t, "join", at, "--name", "ann")
	ann.says(t, "the room's code: ")
	ann.types(t, "GUESS")
	ann.says(t, `no room has the code "GUESS"`)
	ann.types(t, strings.ToLower(code[:3])+"-"+code[3:])
	ann.says(t, "ann is here")

	rooms.Open(host.Settings{Game: "openarena", Open: true})
	bob := begin(t, "join", at, "--name", "bob")
	bob.says(t, "bob is here")
	if strings.Contains(bob.err.String(), "code: ") {
		t.Errorf("bob is asked for a code:\n%s", bob.err)
	}
}

// TestPipedCode: what was piped in is the answer.
func TestPipedCode(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { rooms.Close(); server.Close() })
	code, _ := rooms.Open(host.Settings{Game: "openarena"})
	ann := begin(t, "join", server.URL, "--name", "ann")
	ann.types(t, code) // before anybody asks: the pipe waits for its reader
	ann.says(t, "ann is here")
}
