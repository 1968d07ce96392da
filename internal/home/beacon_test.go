package home

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
)

// TestBeacon checks that Home shows the line for friends and the count of answers, and does not end
// while this computer answers. Starting again replaces the first beacon.
func TestBeacon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Home{ctx: t.Context()}
		h.config.Command = func(ctx context.Context, args []string, terminal Terminal) error {
			io.WriteString(terminal.Out, "answering\n")
			terminal.Shines(args[1]+"\x1b, 192.0.2.1:7787", 3)
			<-ctx.Done()
			return ctx.Err()
		}
		for range 2 {
			if _, err := h.takeBeacon(t.Context(), beaconRequest{Name: "Frankfurt"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if b := h.state.Beacon; !b.Running || b.Line != "--name=Frankfurt, 192.0.2.1:7787" || b.Answered != 3 || len(b.Lines) != 1 {
				t.Fatalf("the beacon is %+v", b)
			}
		}
		if _, err := h.takeStop(t.Context(), "beacon"); err != nil || h.state.Beacon.Running || h.state.Beacon.Error != nil {
			t.Errorf("%v; it is %+v", err, h.state.Beacon)
		}
		if _, err := h.takeBeacon(t.Context(), beaconRequest{Port: -1}); err == nil {
			t.Error("it answers at no port")
		}
	})
}
