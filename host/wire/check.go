package wire

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
)

// checker is a message that a hostile program may have filled with nonsense.
type checker interface{ check() error }

// MaxSamples is how many samples a peer takes of a finalist: one a second for a minute.
const MaxSamples = 60

const (
	// maxFinalists is how many servers a peer looks at again.
	maxFinalists = 64
	// maxTurn is the longest that a peer may have to wait for its turn.
	maxTurn = discovery.Millis(time.Minute)
)

// MaxAsked is how many servers a host may ask for at once: a few rounds' worth.
const MaxAsked = 1024

// maxHosts is how many addresses a host may have beside the one that the peer used.
const maxHosts = 8

// MaxEditions is the number of games for which a peer may report its player's edition.
const MaxEditions = 16

func (h Hello) check() error {
	if h.Discreet < 0 || h.Discreet > 0 && h.Discreet < MinDiscreet {
		return fmt.Errorf("a player who asks %d servers", h.Discreet)
	}
	if !h.Side.IsValid() {
		return fmt.Errorf("a side %q", string(h.Side))
	}
	if len(h.Editions) > MaxEditions {
		return fmt.Errorf("versions of %d games", len(h.Editions))
	}
	for _, e := range h.Editions {
		if e.Protocol < 0 || e.Protocol > discovery.MaxProtocol {
			return fmt.Errorf("protocol %d", e.Protocol)
		}
	}
	return nil
}

func (o Outside) check() error {
	if o.Port == 0 {
		return errors.New("a router's port 0")
	}
	return nil
}

func (w Welcome) check() error {
	if len(w.Hosts) > maxHosts {
		return fmt.Errorf("%d addresses of a host", len(w.Hosts))
	}
	return nil
}

// MaxNear is how many servers of its own networks a player's program may report. No household has
// more, and a LAN party has its own host.
const MaxNear = 32

// check accepts only servers of private networks, because lists should name those that everybody
// reaches.
func (n Near) check() error {
	if len(n.Servers) > MaxNear {
		return fmt.Errorf("%d servers of a player's own network", len(n.Servers))
	}
	for _, s := range n.Servers {
		if s.Addr.Port() == 0 || s.Addr.Addr().Zone() != "" || s.Addr.Addr().Is4In6() ||
			discovery.ReachOf(s.Addr.Addr()) != discovery.NetworkReach {
			return fmt.Errorf("%v is no server of a local network", s.Addr)
		}
	}
	return nil
}

func (f Finalists) check() error {
	switch {
	case len(f.Servers) > maxFinalists:
		return fmt.Errorf("%d finalists", len(f.Servers))
	case f.Max < 0 || f.Max > discovery.MaxServers:
		return fmt.Errorf("%d servers of a list at most", f.Max)
	case f.Samples < 1 || f.Samples > MaxSamples:
		return fmt.Errorf("%d samples", f.Samples)
	case f.After < 0 || f.After > maxTurn || f.Every < 0 || f.Every > maxTurn, f.Gap < 0 || f.Gap > maxTurn:
		return fmt.Errorf("samples after %v, every %v, %v apart", time.Duration(f.After), time.Duration(f.Every), time.Duration(f.Gap))
	}
	return nil
}

// MaxBrought is how many favourites one player may bring, and how many hidden servers. People know
// fewer by name.
const MaxBrought = 100

func (b Bring) check() error { return b.Check() }

// Check says why a player cannot bring this, nil if they can.
func (b Bring) Check() error {
	if n := max(len(b.Favourites), len(b.Hidden)); n > MaxBrought {
		return fmt.Errorf("%d servers brought at once", n)
	}
	for _, one := range slices.Concat(b.Favourites, b.Hidden) {
		if one.Addr.Port() == 0 || hostport.HasZone(one.Addr.Addr()) || discovery.ReachOf(one.Addr.Addr()) == discovery.NoReach {
			return fmt.Errorf("%v is no server's address", one.Addr)
		}
	}
	return nil
}

// MaxLate is the largest delay of timers that a peer may report.
const MaxLate = time.Second

func (m Measure) check() error {
	if m.Max < 0 || m.Max > discovery.MaxServers {
		return fmt.Errorf("%d servers of a list at most", m.Max)
	}
	return nil
}

func (l Late) check() error {
	if l.By < 0 || time.Duration(l.By) > MaxLate {
		return fmt.Errorf("timers that ring %v late", time.Duration(l.By))
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
	if len(a.Names) > MaxAsked {
		return fmt.Errorf("the names of %d servers at once", len(a.Names))
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
	case f.Sent < len(f.RTTs) || f.Sent > MaxSamples:
		return fmt.Errorf("%d answers to %d samples", len(f.RTTs), f.Sent)
	case (f.State == discovery.Answered) != (len(f.RTTs) > 0):
		return fmt.Errorf("a server that is %v has %d RTTs", f.State, len(f.RTTs))
	case slices.ContainsFunc(f.RTTs, func(ms float64) bool { return ms < 0 || ms > longest }):
		return fmt.Errorf("RTTs of %v ms", f.RTTs)
	}
	return nil
}

// check makes sure that the address is an address, because it becomes an argument of a program.
func (l Launch) check() error {
	_, err := hostport.Parse(l.Address)
	return err
}

// longestMap bounds a map's name in a captain's move, in bytes.
const longestMap = 4 * maxMapName

func (s Say) check() error {
	switch {
	case s.What == SayVote, s.What == SayVeto && s.Addr.IsValid(), s.What == SayReady, s.What == SayWait:
		return nil
	case s.What == SayMove && s.Number > 0 && s.Addr.IsValid() == (s.Map == "") && len(s.Map) <= longestMap:
		return nil
	case s.What == SayMoveOn && s.Addr.IsValid() && s.Answer.IsValid():
		return nil
	case s.What == SayCome, s.What == SayNotCome, s.What == SayLiked, s.What == SayDisliked:
		return nil
	}
	return fmt.Errorf("what %q with addr %v, number %d and map %q has no meaning", string(s.What), s.Addr, s.Number, s.Map)
}

// longestWhy bounds a sentence of a player's program, in bytes of its arguments.
const longestWhy = 2048

func (l Launched) check() error { return cmp.Or(l.State.check(), checkWhy(l.Detail)) }

func (a Able) check() error { return checkWhy(a.Why) }

func checkWhy(s sentence.Sentence) error {
	if len(s.With) > longestWhy {
		return fmt.Errorf("a sentence of %d bytes", len(s.With))
	}
	return nil
}

func (s LaunchState) check() error {
	switch s {
	case LaunchAsking, LaunchStarted, LaunchDeclined, LaunchByHand, LaunchFailed:
		return nil
	}
	return fmt.Errorf("state is %q, and must be asking, launched, declined, by-hand or failed", string(s))
}

// cleanTexts makes every text of a message safe to show, including the keys of maps, because a
// stranger's texts end up on a terminal. It walks the message by reflection, so that no field can
// be forgotten.
func cleanTexts(v reflect.Value) {
	if v.Type() == reflect.TypeFor[sentence.Args]() {
		return // JSON, whose texts are cleaned when they are said
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			cleanTexts(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			return // numbers
		}
		for i := range v.Len() {
			cleanTexts(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cleanTexts(v.Field(i))
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			cleanTexts(value)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(clean(key.String())).Convert(key.Type()), value)
		}
	}
}

// clean is [discovery.CleanText], but faster for short texts of printable ASCII without white
// space.
func clean(s string) string {
	if len(s) <= maxText && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
		return s
	}
	return discovery.CleanText(s)
}
