package cli_test

import (
	"testing"

	"muster/internal/freeport"
)

// TestHostGoesOn checks that a restarted host continues with its room. Settings on the new command
// line apply; the others stay.
func TestHostGoesOn(t *testing.T) {
	at := freeport.TCP(t)
	file := writeFile(t, "servers", "127.0.0.1:27960\n")
	hosts := func(more ...string) []string {
		return append([]string{"host", "--game", "openarena", "--servers", file, "--listen", at, "--no-play",
			"--no-mdns", "--no-browser"}, more...)
	}
	code := ""
	t.Run("the first time", func(t *testing.T) {
		p := begin(t, hosts("--players", "3", "--max-rtt", "200ms", "--map", "oa_dm1")...)
		code = p.says(t, `(?m)^code +(\w+)$`)[1]
	})
	t.Run("the same again", func(t *testing.T) {
		begin(t, hosts("--players", "3", "--max-rtt", "200ms", "--map", "oa_dm1")...).
			says(t, "going on with room "+code+" from last time, openarena: lowest average, nobody over 200ms, on oa_dm1, for 3; --new opens another")
	})
	t.Run("with another limit", func(t *testing.T) {
		p := begin(t, hosts("--max-rtt", "100ms,150ms", "--by", "minimax")...)
		p.says(t, "going on with room "+code+" from last time, openarena: kindest to the worst off, nobody over 100ms, then 150ms, on oa_dm1, for 3")
		p.says(t, "the organiser wants openarena: kindest to the worst off, nobody over 100ms, then 150ms, on oa_dm1, for 3")
	})
	t.Run("another room", func(t *testing.T) {
		begin(t, hosts("--new")...).says(t, "room "+code+" from last time is over")
	})
}
