package wire

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

// checker is a message that a hostile program may have filled with nonsense.
type checker interface{ check() error }

const (
	// maxFinalists is how many servers a peer looks at again, and maxSamples how
	// often: no more than a moment's work.
	maxFinalists = 64
	maxSamples   = 20
	// maxTurn is how long a peer may have to wait for its turn.
	maxTurn = discovery.Millis(time.Minute)
)

// MaxAsked is how many servers a host asks for at once: a few rounds' worth.
const MaxAsked = 1024

func (f Finalists) check() error {
	switch {
	case len(f.Servers) > maxFinalists:
		return fmt.Errorf("%d finalists", len(f.Servers))
	case f.Samples < 1 || f.Samples > maxSamples:
		return fmt.Errorf("%d samples", f.Samples)
	case f.After < 0 || f.After > maxTurn || f.Every < 0 || f.Every > maxTurn:
		return fmt.Errorf("samples after %v, every %v", time.Duration(f.After), time.Duration(f.Every))
	}
	return nil
}

func (a Ask) check() error {
	if len(a.Servers) > MaxAsked {
		return fmt.Errorf("%d servers at once", len(a.Servers))
	}
	if a.Own < 0 || a.Own > MaxAsked {
		return fmt.Errorf("%d servers of its own choice", a.Own)
	}
	return nil
}

func (v Verified) check() error {
	if len(v.Servers) > maxFinalists {
		return fmt.Errorf("%d finalists", len(v.Servers))
	}
	for i := range v.Servers {
		if err := v.Servers[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *Finalist) check() error {
	longest := float64(MaxRTT.Milliseconds())
	switch {
	case f.Sent < len(f.RTTs) || f.Sent > maxSamples:
		return fmt.Errorf("%d answers to %d samples", len(f.RTTs), f.Sent)
	case (f.State == discovery.Answered) != (len(f.RTTs) > 0):
		return fmt.Errorf("a server that is %v has %d RTTs", f.State, len(f.RTTs))
	case slices.ContainsFunc(f.RTTs, func(ms float64) bool { return ms < 0 || ms > longest }):
		return fmt.Errorf("RTTs of %v ms", f.RTTs)
	}
	return nil
}

// check makes sure that the address is one: it becomes an argument of a
// program.
func (l Launch) check() error {
	_, err := netip.ParseAddrPort(l.Address)
	return err
}

func (l Launched) check() error { return l.State.check() }

func (s LaunchState) check() error {
	switch s {
	case LaunchAsking, LaunchStarted, LaunchDeclined, LaunchByHand, LaunchFailed:
		return nil
	}
	return fmt.Errorf("unknown launch state %q", string(s))
}
