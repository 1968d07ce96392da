// Package venue reads candidate places for one's own server, measures them, and answers at one.
package venue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"muster/discovery"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/term"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// longest bounds the file, in bytes, and lookUpTime the lookup of a name.
	longest    = 64 << 10
	lookUpTime = 5 * time.Second
)

// Read reads candidate places from a file; - is standard input.
func Read(ctx context.Context, file string, in io.Reader) (wire.Venues, error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read the places in %s: %w", discovery.CleanText(file), hint.Reason(err))
		}
		defer opened.Close()
		in = opened
	}
	text, err := io.ReadAll(io.LimitReader(input.Text(in), longest))
	if err != nil {
		return nil, fmt.Errorf("cannot read the places: %w", err)
	}
	places, err := wire.ParseVenues(string(text), func(host string) (netip.Addr, error) { return lookUp(ctx, host) })
	if err == nil && len(places) == 0 {
		return nil, fmt.Errorf("there are no places in %s: write one a line, NAME, ADDRESS", discovery.CleanText(file))
	}
	return places, err
}

// lookUp resolves a name, preferring IPv4, which nearly all players have.
func lookUp(ctx context.Context, host string) (netip.Addr, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return netip.Addr{}, fmt.Errorf("nobody knows where %s is: %w", discovery.CleanText(host), hint.Reason(err))
	}
	best := addrs[0].Unmap()
	for _, addr := range addrs {
		if addr = addr.Unmap(); addr.Is4() {
			return addr, nil
		}
	}
	return best, nil
}

// Compare measures places from this machine and shows a single player's view of servers there, nearest first. It
// also shows the nearest existing server; 0 means none.
func Compare(ctx context.Context, screen *term.Screen, places wire.Venues, nearest time.Duration,
	ask func(discovery.Protocol) (*prober.Prober, error)) error {
	rtts := make([]time.Duration, len(places))
	for i, v := range places {
		protocol := game.Game{ProtocolName: v.Protocol}.Protocol()
		if protocol == nil {
			screen.Say("%s is asked by %s, which this muster does not speak", v.Name, v.Protocol)
			continue
		}
		asker, err := ask(protocol)
		if err != nil {
			return err
		}
		err = asker.Run(ctx, []discovery.Server{{Addr: v.Addr.AddrPort}}, discovery.NewConventional(1),
			func(r discovery.Result) { rtts[i] = r.RTT })
		if err = errors.Join(err, asker.Close()); err != nil {
			return err
		}
	}
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if (rtts[a] > 0) != (rtts[b] > 0) { // places that do not answer come last
			return cmp.Compare(rtts[b], rtts[a])
		}
		return cmp.Compare(rtts[a], rtts[b])
	})
	var parts []string
	for _, i := range order {
		if rtts[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f ms", places[i].Name, float64(rtts[i])/float64(time.Millisecond)))
		} else {
			parts = append(parts, places[i].Name+" does not answer")
		}
	}
	text := "a server of your own would give: " + strings.Join(parts, ", ")
	if nearest > 0 {
		text += fmt.Sprintf("; the nearest there is gives %.0f", float64(nearest)/float64(time.Millisecond))
	}
	screen.Say("%s", screen.Wrap(text, 0))
	return nil
}
