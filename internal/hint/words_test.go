package hint

import (
	"context"
	"crypto/x509"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/catalogue"
)

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
