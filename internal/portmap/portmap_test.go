package portmap

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// door is a way that tells what was asked of it.
type door struct {
	called string
	delay  time.Duration
	ports  []uint16 // outside, one each time it is opened; 0 fails
	opened int
	closed []netip.AddrPort
}

func (d *door) name() string { return d.called }

func (d *door) open(ctx context.Context, port uint16, life time.Duration) (Mapping, error) {
	time.Sleep(d.delay)
	if ctx.Err() != nil {
		return Mapping{}, ctx.Err()
	}
	outside := d.ports[min(d.opened, len(d.ports)-1)]
	d.opened++
	if outside == 0 {
		return Mapping{}, errors.New("shut")
	}
	return Mapping{External: netip.AddrPortFrom(netip.MustParseAddr("203.0.113.7"), outside), Port: port, By: d.called, Life: life}, nil
}

func (d *door) close(_ context.Context, m Mapping) error {
	d.closed = append(d.closed, m.External)
	return nil
}

func outside(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("203.0.113.7"), port)
}

// A mapping is renewed at half its life, told again when it moves, and taken
// back at the end.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shut := &door{called: "shut", ports: []uint16{0}}
		slow := &door{called: "slow", delay: time.Second, ports: []uint16{7777}}
		quick := &door{called: "quick", ports: []uint16{7777, 7777, 0, 7779}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		var told []netip.AddrPort
		err := keep(ctx, []way{shut, slow, quick}, 7777, slog.New(slog.DiscardHandler), func(m Mapping) { told = append(told, m.External) })
		if err != nil {
			t.Fatal(err)
		}
		if want := []netip.AddrPort{outside(7777), outside(7779)}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
		if want := []netip.AddrPort{outside(7779)}; !slices.Equal(quick.closed, want) {
			t.Errorf("taken back %v, want %v", quick.closed, want)
		}
		// At 0, ½ h, 1 h (fails), 1¼ h, 1¾ h.
		if quick.opened != 5 || slow.opened != 0 || len(slow.closed) != 0 {
			t.Errorf("opened %d times, the slow one %d", quick.opened, slow.opened)
		}
	})
}

// A second port, opened by a way that was slower, is shut again.
func TestFirstShutsOthers(t *testing.T) {
	one, two := &door{called: "one", ports: []uint16{7777}}, &door{called: "two", ports: []uint16{7778}}
	w, m, err := first(t.Context(), []way{one, two}, 7777, slog.New(slog.DiscardHandler))
	if err != nil || len(one.closed)+len(two.closed) != 1 && one.opened+two.opened == 2 {
		t.Errorf("%v %+v %v; closed %v and %v", w, m, err, one.closed, two.closed)
	}
}

func TestNoRouter(t *testing.T) {
	err := keep(t.Context(), []way{&door{called: "shut", ports: []uint16{0}}}, 7777, slog.New(slog.DiscardHandler), func(Mapping) { t.Error("a mapping is told of") })
	if !errors.Is(err, ErrNoRouter) {
		t.Error(err)
	}
}
