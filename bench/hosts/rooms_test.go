// Package hosts measures hosts from inside their process: what rooms, pages, searches and hostile strangers cost.
package hosts

import (
	"context"
	"net/netip"
	"os"
	"testing"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/leak"
	"muster/selection"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func friday(players int) wire.Settings {
	return wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func listOf(servers int) func(context.Context, string) ([]discovery.Server, error) {
	return func(context.Context, string) ([]discovery.Server, error) {
		list := make([]discovery.Server, servers)
		for i := range list {
			addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
			list[i] = discovery.Server{Addr: netip.AddrPortFrom(addr, 27960)}
		}
		return list, nil
	}
}
