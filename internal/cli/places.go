package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/input"
)

// placesFlag is the flag of candidate places, and their key in the table of settings.
const placesFlag = "places"

// placeName is a name as a line of a list of places has it, where a comma ends it.
func placeName(name string) string { return strings.ReplaceAll(name, ",", "") }

// bindVenues adds the flag that reads candidate places from a file.
func (p *program) bindVenues(cmd *cobra.Command, to *wire.Venues) {
	cmd.Flags().Var(value{"FILE", "", func(file string) (err error) {
		*to, err = p.readVenues(cmd.Context(), file)
		return err
	}}, placesFlag, "places where a server of yours could be, one a line in `FILE`: NAME, ADDRESS[, PROTOCOL], asked as muster beacon answers unless the line says tcp or the protocol of a game; where no server suits, or one there would be much better, the room says so")
}

const (
	// longestVenues bounds the file, in bytes, and lookUpTime how long one name may take.
	longestVenues = 64 << 10
	lookUpTime    = 5 * time.Second
)

// readVenues reads candidate places from a file; - is standard input.
func (p *program) readVenues(ctx context.Context, file string) (wire.Venues, error) {
	in := p.in
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read the places: %w", hint.Reason(err))
		}
		defer opened.Close()
		in = opened
	}
	text, err := io.ReadAll(io.LimitReader(input.Text(in), longestVenues))
	if err != nil {
		return nil, fmt.Errorf("cannot read the places: %w", err)
	}
	return wire.ParseVenues(string(text), func(host string) (netip.Addr, error) { return lookUpVenue(ctx, host) })
}

// lookUpVenue is the address of a name, IPv4 if it has one: nearly all players have that.
func lookUpVenue(ctx context.Context, host string) (netip.Addr, error) {
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
