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

// door is a way that records requests.
type door struct {
	called string
	ports  []uint16 // the outside port of each opening; 0 fails
	opened int
	closed []netip.AddrPort
	// meanwhile, if not nil, runs while the port is opened.
	meanwhile func()
}

func (d *door) name() string { return d.called }

func (d *door) open(_ context.Context, t Transport, port uint16, life time.Duration) (Mapping, error) {
	outside := d.ports[min(d.opened, len(d.ports)-1)]
	d.opened++
	if d.meanwhile != nil {
		d.meanwhile()
	}
	if outside == 0 {
		return Mapping{}, errors.New("shut")
	}
	return Mapping{
		External:  netip.AddrPortFrom(netip.MustParseAddr("203.0.113.7"), outside),
		Port:      port,
		Transport: t,
		Protocol:  d.called,
		Life:      life,
	}, nil
}

func (d *door) close(_ context.Context, m Mapping) error {
	d.closed = append(d.closed, m.External)
	return nil
}

func outside(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("203.0.113.7"), port)
}

// TestKeep checks that a mapping is renewed at half its life, reported again when it moves, and withdrawn at the end.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shut := &door{called: "shut", ports: []uint16{0}}
		open := &door{called: "open", ports: []uint16{7777, 7777, 0, 7779}}
		spare := &door{called: "spare", ports: []uint16{7777}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		var told []netip.AddrPort
		err := keep(ctx, []protocol{shut, open, spare}, UDP, 7777, slog.New(slog.DiscardHandler), func(m Mapping) { told = append(told, m.External) })
		if err != nil {
			t.Fatal(err)
		}
		if want := []netip.AddrPort{outside(7777), outside(7779)}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
		if want := []netip.AddrPort{outside(7779)}; !slices.Equal(open.closed, want) {
			t.Errorf("taken back %v, want %v", open.closed, want)
		}
		// The openings are at 0, ½ h, 1 h (fails), 1¼ h and 1¾ h.
		if open.opened != 5 || spare.opened != 0 {
			t.Errorf("opened %d times, the spare one %d", open.opened, spare.opened)
		}
	})
}

// TestKeepIsCutShort checks that no other way is tried after the program's end.
func TestKeepIsCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	shut := &door{called: "shut", ports: []uint16{0}, meanwhile: cancel}
	spare := &door{called: "spare", ports: []uint16{7777}}
	err := keep(ctx, []protocol{shut, spare}, UDP, 7777, slog.New(slog.DiscardHandler), func(Mapping) { t.Error("a mapping is told of") })
	if !errors.Is(err, context.Canceled) || spare.opened != 0 {
		t.Errorf("%v, and the spare one was opened %d times", err, spare.opened)
	}
	if len(shut.closed) != 1 {
		t.Errorf("the router may have opened the port all the same, and was told to close it %d times", len(shut.closed))
	}
}

// silent is a way that gets no answer.
type silent struct{ door }

func (s *silent) open(context.Context, Transport, uint16, time.Duration) (Mapping, error) {
	return Mapping{External: outside(7777)}, errNoAnswer
}

// TestKeepClosesTheUnanswered checks that a port is closed if a router may have opened it although
// its answer came too late.
func TestKeepClosesTheUnanswered(t *testing.T) {
	for _, ports := range [][]uint16{{7778}, {0}} {
		synctest.Test(t, func(t *testing.T) {
			late, open := &silent{}, &door{called: "open", ports: ports}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			keep(ctx, []protocol{late, open}, UDP, 7777, slog.New(slog.DiscardHandler), func(Mapping) {})
			if want := []netip.AddrPort{outside(7777)}; !slices.Equal(late.closed, want) {
				t.Errorf("the next way opens %v: the silent one was told to close %v, want %v", ports, late.closed, want)
			}
		})
	}
}

func TestNoRouter(t *testing.T) {
	err := keep(t.Context(), []protocol{&door{called: "shut", ports: []uint16{0}}}, UDP, 7777, slog.New(slog.DiscardHandler), func(Mapping) {
		t.Error("a mapping is told of")
	})
	if !errors.Is(err, ErrNoRouter) {
		t.Error(err)
	}
}
