package peer_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/peer"
)

// TestSilentFinalist checks that a finalist that falls silent is asked once a sample, delays nobody, and is not chosen.
func TestSilentFinalist(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	prober := &deafLook{seat: ann, deaf: address(0)}
	ann.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return prober, nil }
	peer.Impatient(&ann.options, 200*time.Millisecond)
	defer ann.sit()()
	if err := ann.done(); err != nil {
		t.Fatal(err)
	}
	if prober.asked != 3 {
		t.Errorf("the silent finalist was asked %d times, want 3", prober.asked)
	}
	room := tb.room("the launch", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if want := address(1).String(); room.Connect != want {
		t.Errorf("everyone goes to %s, want %s", room.Connect, want)
	}
}

// deafLook is a seat's prober that gets no answer from one server in the second look.
type deafLook struct {
	*seat
	deaf  netip.AddrPort
	asked int
}

func (d *deafLook) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if len(servers) == listed {
		return d.seat.Run(ctx, servers, plan, seen)
	}
	waits := false
	err := d.seat.Run(ctx, servers, plan, func(r discovery.Result) {
		if servers[r.Server].Addr == d.deaf {
			d.asked++
			waits = true
			return
		}
		seen(r)
	})
	if waits {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}
