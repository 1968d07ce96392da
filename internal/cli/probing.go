package cli

import (
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/prober"
)

// probing are the flags that say how servers are asked.
type probing struct {
	rate     float64
	inFlight int
	retries  int
	timeout  time.Duration
	local    string
}

func (o *probing) bind(flags *pflag.FlagSet) {
	flags.Float64Var(&o.rate, "rate", prober.DefaultRate, "ask `N` new servers a second; more may overflow a home router")
	flags.IntVar(&o.inFlight, "in-flight", prober.DefaultInFlight, "at most `N` servers asked and not yet answered")
	flags.IntVar(&o.retries, "retries", prober.DefaultRetries, "ask up to `N` times more where no reply comes")
	flags.DurationVar(&o.timeout, "timeout", prober.DefaultTimeout, "`DURATION` of silence that counts as no reply")
	flags.StringVar(&o.local, "listen-addr", "", "ask from this `IP` of the machine")
}

// options are the prober's, checked.
func (o *probing) options(p *program, protocol discovery.Protocol) (prober.Options, error) {
	options := prober.Options{
		Protocol: protocol, Rate: o.rate, InFlight: o.inFlight, Retries: o.retries, Timeout: o.timeout, Logger: p.logger(),
	}
	if o.retries == 0 {
		options.Retries = -1 // the prober's zero is its default
	}
	switch {
	case !(o.rate > 0):
		return options, usagef("--rate %v: at least one server has to be asked now and then", o.rate)
	case o.inFlight < 1:
		return options, usagef("--in-flight %d: at least one server has to be under way", o.inFlight)
	case o.retries < 0:
		return options, usagef("--retries %d is below 0", o.retries)
	case o.timeout <= 0:
		return options, usagef("--timeout %v: a reply needs some time", o.timeout)
	}
	if o.local != "" {
		addr, err := netip.ParseAddr(o.local)
		if err != nil {
			return options, usagef("--listen-addr %q is not an IP address", o.local)
		}
		options.LocalAddr = addr
	}
	return options, nil
}
