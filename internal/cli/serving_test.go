package cli

import (
	"bytes"
	"testing"
)

func TestDiscreet(t *testing.T) {
	for line, want := range map[string]string{
		"http: TLS handshake error from 198.51.100.7:5555: EOF\n":     "http: TLS handshake error from somebody: EOF\n",
		"http: TLS handshake error from [2001:db8::7]:5555: EOF\n":    "http: TLS handshake error from somebody: EOF\n",
		"http: panic serving 198.51.100.7:5555: runtime error\n":      "http: panic serving somebody: runtime error\n",
		"http: response.Write on hijacked connection from net.go:1\n": "http: response.Write on hijacked connection from somebody\n",
		"http: Accept error: too many open files; retrying in 5ms\n":  "http: Accept error: too many open files; retrying in 5ms\n",
	} {
		var out bytes.Buffer
		if n, err := (discreet{&out}).Write([]byte(line)); n != len(line) || err != nil || out.String() != want {
			t.Errorf("%q, %d, %v; want %q", out.String(), n, err, want)
		}
	}
}
