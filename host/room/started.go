package room

import (
	"errors"
	"fmt"
	"net/netip"

	"muster/discovery"
)

// Started says where the organiser's program has started a game server, which answers by
// now: the room goes there in a round of its own, in which everyone measures it and looks
// at it as at any other. The zero address says that it runs no more.
type Started struct {
	Game string         `json:"game"`
	Addr netip.AddrPort `json:"addr"`
	// Public: the host is for everybody, and has nobody asked in private networks.
	Public bool `json:"-"`
}

func (Started) steers() {}

func (a Started) do(r *Room, _ caller) error {
	if !a.Addr.IsValid() {
		r.started = netip.AddrPort{}
		return nil
	}
	a.Addr = discovery.Canonical(a.Addr)
	reach := discovery.ReachOf(a.Addr.Addr())
	switch r.phase.(type) {
	case *Failed, *Voting, *Launching:
	default:
		return errors.New("the round goes on: the server that was started comes too late for it, or too early")
	}
	switch {
	case a.Game != r.settings.Game:
		return fmt.Errorf("the room plays %s, and the server that was started another game", r.settings.Game)
	case reach == discovery.NoReach || a.Addr.Port() == 0 || a.Addr.Addr().Zone() != "":
		return fmt.Errorf("%v is no address of a single machine", a.Addr)
	case a.Public && reach != discovery.InternetReach:
		return fmt.Errorf("%v is on a private network: a host on the internet has nobody asked there", a.Addr)
	}
	r.note("a server of our own runs: everyone measures it now")
	r.started = a.Addr
	r.nextRound()
	return nil
}
