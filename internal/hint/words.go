package hint

import (
	"cmp"
	"context"
	"crypto/tls"
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
	"time"

	"muster/host/wire"
)

// textOf returns an error's text, with players' words in place of what Go's own packages say.
func textOf(err error) string { return reworded(err.Error(), err) }

func reworded(text string, err error) string {
	if words := wordsFor(err); words != "" {
		return strings.Replace(text, err.Error(), words, 1)
	}
	switch below := err.(type) {
	case interface{ Unwrap() error }:
		if inner := below.Unwrap(); inner != nil {
			return reworded(text, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range below.Unwrap() {
			text = reworded(text, inner)
		}
	}
	return text
}

// deeds are what a program did with a file when that failed, by the system's name for it.
var deeds = map[string]string{
	"open": "cannot open", "read": "cannot read", "write": "cannot write to", "mkdir": "cannot make the folder", "remove": "cannot remove",
	"stat": "cannot find", "lstat": "cannot find", "chmod": "cannot protect", "truncate": "cannot shorten", "sync": "cannot write to",
	"createtemp": "cannot make a file in", "readdirent": "cannot list", "fork/exec": "cannot start",
}

// wordsFor returns what an error of Go's own packages means to players, or nothing for another one.
func wordsFor(err error) string {
	switch e := err.(type) {
	case *os.PathError:
		deed := deeds[e.Op]
		deed = cmp.Or(deed, "cannot use")
		return fmt.Sprintf("%s %s: %s", deed, e.Path, textOf(e.Err))
	case *os.LinkError:
		return fmt.Sprintf("cannot put %s in the place of %s: %s", e.Old, e.New, textOf(e.Err))
	case *os.SyscallError:
		return textOf(e.Err)
	case *exec.Error:
		return "there is no program " + e.Name
	case *net.DNSError:
		return Reason(e).Error()
	case *net.OpError:
		cause := textOf(e.Err)
		if e.Addr == nil || strings.Contains(cause, e.Addr.String()) {
			return cause
		}
		return e.Addr.String() + ": " + cause
	case *url.Error:
		if e.Op == "parse" {
			return fmt.Sprintf("%q is no URL", e.URL)
		}
		return e.URL + ": " + textOf(e.Err)
	case *strconv.NumError:
		if errors.Is(e.Err, strconv.ErrRange) {
			return fmt.Sprintf("%q is too large a number", e.Num)
		}
		return fmt.Sprintf("%q is no number", e.Num)
	case *time.ParseError:
		return fmt.Sprintf("%q is no date or time", e.Value)
	case *json.SyntaxError, *json.UnmarshalTypeError:
		return wire.InJSON(err).Error()
	case *csv.ParseError:
		if errors.Is(e.Err, csv.ErrFieldCount) {
			return fmt.Sprintf("line %d has more or fewer columns than the first", e.Line)
		}
		return fmt.Sprintf("line %d has a quotation mark too many or too few", e.Line)
	case *xml.SyntaxError:
		return fmt.Sprintf("it is no XML from line %d on", e.Line)
	case *tls.CertificateVerificationError:
		return textOf(e.Err)
	case x509.UnknownAuthorityError:
		return "this machine does not know who signed the certificate"
	case x509.HostnameError:
		return "the certificate is for another name"
	case x509.CertificateInvalidError:
		if e.Reason == x509.Expired {
			return "the certificate has ended, or does not begin yet"
		}
	case tls.RecordHeaderError:
		return "it is not encrypted"
	case net.Error:
		if e.Timeout() {
			return "no answer in time"
		}
	}
	switch err {
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return "no answer in time"
	case io.ErrUnexpectedEOF:
		return "it ends in the middle"
	case io.EOF:
		return "it ends at once"
	}
	return ""
}
