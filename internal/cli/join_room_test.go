package cli_test

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/host"
	"muster/host/wire"
	"muster/internal/cli"
)

// TestJoinWithoutCode checks that an open room asks nobody for a code. Another room asks until the
// code is right.
func TestJoinWithoutCode(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { rooms.Close(); server.Close() })
	at := strings.TrimPrefix(server.URL, "http://")
	code, _, _ := rooms.Open(wire.Settings{Game: "openarena"})

	ann := begin(t, "join", at, "--name", "ann")
	ann.says(t, "the room's code: ")
	ann.types(t, "GUESS")
	ann.says(t, `no room has the code "GUESS"`)
	ann.types(t, strings.ToLower(code[:3])+"-"+code[3:])
	ann.says(t, "ann is here")

	rooms.Open(wire.Settings{Game: "openarena", Open: true})
	bob := begin(t, "join", at, "--name", "bob")
	bob.says(t, "bob is here")
	if strings.Contains(bob.err.String(), "code: ") {
		t.Errorf("bob is asked for a code:\n%s", bob.err)
	}
}

// TestImpatient checks that a player who leaves before the host has answered was never in.
func TestImpatient(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, leave := context.WithCancel(t.Context())
	said := &buffer{}
	code := make(chan int)
	go func() {
		code <- cli.Run(ctx, []string{"join", mute.Addr().String(), "--code", "TABOMI"},
			cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: said})
	}()
	conn, err := mute.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	leave()
	if got, want := <-code, 1; got != want || said.String() != "connecting to "+mute.Addr().String()+" …\nmuster: stopped\n" {
		t.Errorf("exit status %d, want %d:\n%s", got, want, said)
	}
}

// TestPipedCode checks that piped input answers the question for the code.
func TestPipedCode(t *testing.T) {
	rooms, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { rooms.Close(); server.Close() })
	code, _, _ := rooms.Open(wire.Settings{Game: "openarena"})
	ann := begin(t, "join", server.URL, "--name", "ann")
	ann.types(t, code) // before the question: the pipe waits for its reader
	ann.says(t, "ann is here")
}
