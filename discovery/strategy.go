package discovery

import (
	"fmt"
	"slices"
)

// Strategy is the name of a way to order the probes. Flags and files hold it as text.
type Strategy string

// The strategies of the papers, and ours.
const (
	// Conventional probes all servers in the order of the list.
	Conventional Strategy = "conventional"
	// ByCountry ranks countries by one probe each (ATNAC 2006, §IV.B).
	ByCountry Strategy = "country"
	// ByCountryPrefix ranks clusters of country and prefix by several probes
	// each (Client-side Adaptive Search Optimisation, 2008, Algorithm 1).
	ByCountryPrefix Strategy = "country-prefix"
	// ByAS ranks origin ASes by several probes each (NOSSDAV 2008, Algorithm 1).
	ByAS Strategy = "as"
	// Adaptive learns from every reply where the near servers are.
	Adaptive Strategy = "adaptive"
)

// Strategies returns all strategies, the simplest first.
func Strategies() []Strategy {
	return []Strategy{Conventional, ByCountry, ByCountryPrefix, ByAS, Adaptive}
}

// MarshalText returns the strategy's name.
func (s Strategy) MarshalText() ([]byte, error) { return []byte(s), nil }

// UnmarshalText reads the strategy's name.
func (s *Strategy) UnmarshalText(text []byte) (err error) {
	*s, err = oneOf(Strategies(), "strategy", string(text))
	return err
}

// AutoStop is the name of a rule that ends probing before the end of the list. Flags
// and files hold it as text.
type AutoStop string

// The rules of the papers, and ours.
const (
	// StopDefault is percentile, and confident for the adaptive strategy.
	StopDefault AutoStop = ""
	// StopPercentile stops when the lowest RTTs of the last replies exceed the limit
	// (Algorithm 2 of both papers of 2008).
	StopPercentile AutoStop = "percentile"
	// StopSmooth stops after an unbroken run of RTTs over the limit (2008, §5.2).
	StopSmooth AutoStop = "smooth"
	// StopConfident stops when hardly any near server can be left.
	StopConfident AutoStop = "confident"
	// StopOff probes every server.
	StopOff AutoStop = "off"
)

// AutoStops returns all rules that have a name.
func AutoStops() []AutoStop {
	return []AutoStop{StopPercentile, StopSmooth, StopConfident, StopOff}
}

// Of returns the rule that ends a strategy if the caller asks for a. [StopDefault]
// becomes the strategy's own rule. Conventional probing has none, because no rule could
// trust its order.
func (a AutoStop) Of(s Strategy) AutoStop {
	switch {
	case s == Conventional:
		return StopOff
	case a != StopDefault:
		return a
	case s == Adaptive:
		return StopConfident
	}
	return StopPercentile
}

// MarshalText returns the rule's name.
func (a AutoStop) MarshalText() ([]byte, error) { return []byte(a), nil }

// UnmarshalText reads the rule's name; "" is [StopDefault].
func (a *AutoStop) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*a = StopDefault
		return nil
	}
	*a, err = oneOf(AutoStops(), "auto-stop", string(text))
	return err
}

func oneOf[T ~string](known []T, kind, word string) (T, error) {
	if !slices.Contains(known, T(word)) {
		return "", fmt.Errorf("discovery: unknown %s %q (known: %q)", kind, word, known)
	}
	return T(word), nil
}
