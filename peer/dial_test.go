package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestFourFirst: of a host's two families IPv4 is taken, and IPv6 if that fails.
func TestFourFirst(t *testing.T) {
	const hangs = time.Hour
	for _, tt := range []struct {
		name, addr string
		four       time.Duration // until IPv4 answers; under 0 it fails at once
		want       string
		took       time.Duration
	}{
		{"both", "night.example:7777", 50 * time.Millisecond, "[tcp4]", 50 * time.Millisecond},
		{"no IPv4", "night.example:7777", -1, "[tcp4 tcp]", 0},
		{"IPv4 leads nowhere", "night.example:7777", hangs, "[tcp4 tcp]", fourAlone},
		{"an address of IPv4", "192.0.2.1:7777", 0, "[tcp]", 0},
		{"an address of IPv6", "[2001:db8::1]:7777", 0, "[tcp]", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked []string
			ours, theirs := net.Pipe()
			defer ours.Close()
			defer theirs.Close()
			began := time.Now()
			conn, err := fourFirst(func(ctx context.Context, network, addr string) (net.Conn, error) {
				asked = append(asked, network)
				if network == "tcp" {
					return ours, nil
				}
				if tt.four < 0 {
					return nil, errors.New("no suitable address")
				}
				select {
				case <-time.After(tt.four):
					return ours, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			})(t.Context(), "tcp", tt.addr)
			if conn != ours || err != nil || fmt.Sprint(asked) != tt.want || time.Since(began) != tt.took {
				t.Errorf("%s: asked %v, want %s, after %v, want %v: %v", tt.name, asked, tt.want, time.Since(began), tt.took, err)
			}
		})
	}
}
