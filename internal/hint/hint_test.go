package hint

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestWords checks that people read no text of Go's own packages, wherever it stands in an error.
func TestWords(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	_, number := strconv.Atoi("x7")
	_, large := strconv.ParseUint("70000", 10, 16)
	_, date := time.Parse(time.DateOnly, "friday")
	_, link := (&url.URL{}).Parse("http://[::1")
	_, rows := csv.NewReader(strings.NewReader("a,b\n\"c")).ReadAll()
	_, columns := csv.NewReader(strings.NewReader("a,b\nc")).ReadAll()
	_, program := exec.LookPath("/nowhere/openarena")
	for want, err := range map[string]error{
		"cannot make the folder /.config: permission denied":       &os.PathError{Op: "mkdir", Path: "/.config", Err: syscall.EACCES},
		"the list: cannot open x: no such file or directory":       fmt.Errorf("the list: %w", &os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}),
		"cannot put a in the place of b: no space left on device":  &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOSPC},
		"127.0.0.1:1: connection refused":                          dial,
		"http://127.0.0.1:1/list: 127.0.0.1:1: connection refused": &url.Error{Op: "Get", URL: "http://127.0.0.1:1/list", Err: dial},
		"http://a/: no answer in time":                             &url.Error{Op: "Get", URL: "http://a/", Err: context.DeadlineExceeded},
		"nowhere.invalid: no such host": &net.OpError{Op: "dial", Net: "tcp",
			Err: &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}},
		`"x7" is no number`:                               number,
		`"70000" is too large a number`:                   large,
		`"friday" is no date or time`:                     date,
		`"http://[::1" is no URL`:                         link,
		"line 2 has a quotation mark too many or too few": rows,
		"line 2 has more or fewer columns than the first": columns,
		"there is no program /nowhere/openarena":          program,
		"players: got string, want a whole number in its range": json.Unmarshal([]byte(`{"players":"four"}`),
			&struct {
				Players int `json:"players"`
			}{}),
		"the JSON ends in the middle":         json.Unmarshal([]byte("{"), &struct{}{}),
		"it is no XML from line 1 on":         xml.Unmarshal([]byte("<a><b>"), &struct{}{}),
		"joining: no answer in time":          fmt.Errorf("joining: %w", os.ErrDeadlineExceeded),
		"it ends in the middle":               io.ErrUnexpectedEOF,
		"the certificate is for another name": x509.HostnameError{Certificate: &x509.Certificate{}, Host: "a"},
	} {
		if got := Text(catalogue.InEnglish(), err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
		if got := catalogue.InEnglish().Say(Sentence(err)); got != want {
			t.Errorf("as a part: %q, want %q", got, want)
		}
	}
	both := errors.Join(fmt.Errorf("one: %w", dial), errors.New("two"))
	if got := Text(catalogue.InEnglish(), both); got != "one: 127.0.0.1:1: connection refused\ntwo" {
		t.Errorf("%q", got)
	}
}
