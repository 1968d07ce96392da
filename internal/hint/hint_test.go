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
	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
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
		if got := Lines(catalogue.InEnglish(), tt.err); !slices.Equal(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestSaid checks that an error of the catalogue is said in the reader's language, also below a text
// that is not, and with an error as an argument.
func TestSaid(t *testing.T) {
	gone := Say("term.left", "time", errors.New("sim: 3 s")).Advising("term.stopped")
	if gone.Error() != "3 s left" || Of(gone) != "stopped" {
		t.Errorf("in English %q, %q", gone, Of(gone))
	}
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{gone, []string{"muster: [3 s léft··]", "[híñt:··] [štóppéd···]"}},
		{fmt.Errorf("sim: joining: %w", gone), []string{"muster: joining: [3 s léft··]", "[híñt:··] [štóppéd···]"}},
		{errors.Join(gone, errors.New("two")), []string{"muster: [3 s léft··]", "muster: two", "[híñt:··] [štóppéd···]"}},
		{With(gone, "ask"), []string{"muster: [3 s léft··]", "[híñt:··] ask"}},
		{*wire.Refuse(wire.ReasonCode, "no.such-key"), []string{"muster: no.such-key"}},
		{context.Canceled, []string{"muster: [štóppéd···]"}},
	} {
		if got := Lines(languages.In(catalogue.Accented), tt.err); !slices.Equal(got, tt.want) {
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
