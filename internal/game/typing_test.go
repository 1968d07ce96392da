package game

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/host/wire"
)

// TestTyped checks what a player types for servers with and without a password, and on another port than it is asked.
func TestTyped(t *testing.T) {
	server := Target{Address: netip.MustParseAddrPort("192.0.2.7:7777"), QueryPort: 27015, Password: "open-sesame"}
	public := server
	public.Password = ""
	hostile := server
	hostile.Password = "x; quit"
	tests := []struct {
		typing Typing
		to     Target
		want   []string
	}{
		{Typing{"console", []string{"password {password}", "connect {address}"}}, server,
			[]string{"password open-sesame", "connect 192.0.2.7:7777"}},
		{Typing{"console", []string{"password {password}", "connect {address}"}}, public, []string{"connect 192.0.2.7:7777"}},
		{Typing{"console", []string{"password {password}", "connect {address}"}}, hostile, nil},
		{Typing{"direct", []string{"{host}", "{port}"}}, public, []string{"192.0.2.7", "7777"}},
		{Typing{"steam", []string{"{query}"}}, public, []string{"192.0.2.7:27015"}},
		{Typing{"list", []string{"{name}"}}, public, []string{"Ann's; quit {server}"}},
	}
	for _, tt := range tests {
		if err := tt.typing.check(); err != nil {
			t.Errorf("%v: %v", tt.typing, err)
		}
		got, err := Game{ID: "g", ProtocolName: "a2s", Type: &tt.typing}.typed(tt.to, "Ann's; quit\n {server}")
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("%v: got %q, %v, want %q", tt.typing, got, err, tt.want)
		}
	}
}

// TestTypingRefuses checks that a table cannot name an unknown place or placeholder, or nothing to type.
func TestTypingRefuses(t *testing.T) {
	for _, typing := range []string{
		"{ where = 'somewhere', text = ['{address}'] }",
		"{ where = 'direct', text = [] }",
		"{ where = 'direct', text = ['{adress}'] }",
		"{ where = 'console', text = ['{name}'] }",
	} {
		if _, err := Load(strings.NewReader("[game.x]\nprotocol='a2s'\nport=1\ntype = "+typing+"\n"), "mine.toml"); err == nil {
			t.Errorf("%s was taken", typing)
		}
	}
}

// TestTableTyped checks that pages show what to type without a password, and nothing for games without it.
func TestTableTyped(t *testing.T) {
	table := load(t, "[game.x]\nprotocol='a2s'\nport=1\ntype = { where = 'console', text = ['password {password}', 'connect {address}'] }\n")
	way := wire.Way{Connect: "192.0.2.7:27015", Server: "Ann's"}
	want := &wire.Typed{Where: "console", Texts: []string{"connect 192.0.2.7:27015"}}
	if got := table.Typed("x", way); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := table.Typed("tf2", way); got != nil {
		t.Errorf("tf2 has %+v", got)
	}
	if got := table.Typed("x", wire.Way{}); got != nil {
		t.Errorf("no way has %+v", got)
	}
}

// TestJoined checks that games do not lose the sources for their port and for joining.
func TestJoined(t *testing.T) {
	joined := 0
	for _, g := range load(t, "").All() {
		if g.IsJoined() {
			joined++
		} else {
			t.Logf("%s lacks a source for its port or for joining", g.ID)
		}
	}
	if joined < 371 {
		t.Errorf("only %d games have both sources", joined)
	}
}
