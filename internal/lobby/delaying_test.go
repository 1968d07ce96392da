package lobby

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/term"
)

// TestDelaying checks by which address a game reaches its server.
func TestDelaying(t *testing.T) {
	var d delaying
	desk := &Desk{Screen: term.NewScreen(term.New(io.Discard, func(string) string { return "" }), catalogue.InEnglish()), Logger: slog.New(slog.DiscardHandler)}
	const one, other = "127.0.0.1:27960", "127.0.0.1:27961"
	via := func(server string) string { return d.through(wire.Launch{Address: server}, desk).Address }
	defer d.close()
	if at := via(one); at != one {
		t.Errorf("without a delay: %s", at)
	}
	d.hold(30 * time.Millisecond)
	first := via(one)
	if again := via(one); first == one || again != first {
		t.Errorf("by %s, and again by %s", first, again)
	}
	if elsewhere := via(other); elsewhere == other || elsewhere == first {
		t.Errorf("another server by %s, the first by %s", elsewhere, first)
	}
	d.hold(0)
	if at := via(one); at != one {
		t.Errorf("after the end: %s", at)
	}
}
