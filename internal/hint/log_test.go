package hint

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestPlainLog checks that warnings are sentences, without a stranger's control characters.
func TestPlainLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewLog(&out))
	log.Info("not told")
	log.Warn("some servers cannot be reached", "servers", 3, "of", 40,
		"err", &net.OpError{Op: "write", Err: os.NewSyscallError("sendto", syscall.ENETUNREACH)})
	log.With("room", "BAKODI").Error("host: room not saved", "error", errors.New("disk\x1b[2J full"))
	log.Warn("alone")
	const want = "muster: warning: some servers cannot be reached: network is unreachable (servers 3, of 40)\n" +
		"muster: warning: room not saved: disk[2J full (room BAKODI)\n" +
		"muster: warning: alone\n"
	if got := out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
