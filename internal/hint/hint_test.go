package hint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"

	"muster/host/wire"
)

// TestLines checks that players read what is wrong and what to do, and no package, call or control
// character.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{fmt.Errorf("peer: wire: malformed\x1b[2J"), []string{"muster: malformed[2J"}},
		{With(errors.New("host: no room"), "ask for\x07 another"), []string{"muster: no room", "hint: ask for another"}},
		{fmt.Errorf("joining: %w", With(errors.New("no room"), "ask")), []string{"muster: joining: no room", "hint: ask"}},
		{errors.Join(errors.New("sim: one"), errors.New("two")), []string{"muster: one", "muster: two"}},
		{wire.Refusal{
			Message: "the host speaks version 3",
			Hint:    "use the same release",
			Link:    "https://muster.example/get/",
		}, []string{"muster: the host speaks version 3", "hint: use the same release: https://muster.example/get/"}},
		{wire.Refusal{Message: "the room is full", Hint: "wait"}, []string{"muster: the room is full", "hint: wait"}},
		{fmt.Errorf("prober: %w", context.Canceled), []string{"muster: stopped"}},
	} {
		if got := Lines(tt.err); !slices.Equal(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestReason(t *testing.T) {
	for want, err := range map[string]error{
		"connection refused":        &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"use of closed connection":  &net.OpError{Op: "read", Err: errors.New("use of closed connection")},
		"no such file or directory": fmt.Errorf("reading: %w", &os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}),
		"odd":                       errors.New("odd"),
	} {
		if got := Reason(err).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
