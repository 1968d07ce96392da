package choice

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// What people see of a choice, and what the room advises.

// Facts are what holds of the room besides.
type Facts struct {
	Servers selection.Servers
	// Editions are what players have of the game, and Players are all of them.
	Editions []selection.Edition
	Players  []string
	Limits   []time.Duration
	// Stands is the choice as it stands, by the rule or by votes, and Target the server where
	// people go, or would; -1 is nowhere.
	Stands selection.Selection
	Target int
	// IsOpen says that the organiser can have the room choose again.
	IsOpen bool
	// Weightiest is the player on whose word alone the choice hangs, if that costs the others
	// a lot.
	Weightiest selection.Influence
	// Others are what else the organiser can do, and come last.
	Others []wire.Advice
}

// View returns what everyone sees of the newest choice, nil before there is one. Where
// nothing suits everyone it says what came nearest, and what the organiser can do: the
// highest limit before whom to leave out. Of a choice that hangs on one player's word it says
// how to choose without. The pings of what came nearest are for the room to add.
func (c *Choice) View(f Facts) *wire.Choice {
	if c.newest == nil {
		return nil
	}
	v := f.view(*c.newest, f.Stands)
	if f.IsOpen {
		f.advise(v)
		if name := f.Weightiest.Player; name != "" && slices.Contains(f.Players, name) {
			v.Advice = append(v.Advice, wire.Advice{
				Text: "choose without " + name + "'s pings", Action: "without", Argument: wire.Argument{Name: name}, Addr: f.Weightiest.Addr.String(),
			})
		}
	}
	for _, advice := range f.Others {
		v.Advice = append(v.Advice, advice)
		if addr, err := netip.ParseAddrPort(advice.Addr); err == nil {
			f.show(v, f.find(addr))
		}
	}
	if f.Target >= 0 {
		v.Target = f.Servers.List[f.Target].Addr.String()
	}
	return v
}

// ViewWhatIf returns what everyone sees of the what-if, nil without one.
func (c *Choice) ViewWhatIf(f Facts) *wire.Choice {
	if c.whatIf == nil {
		return nil
	}
	v := f.view(c.whatIf.Selection, c.whatIf.Selection)
	v.Player = c.whatIf.Player
	return v
}

// view returns a selection with what is known of its servers, whose names stand in the place
// of addresses in what explains how it stands.
func (f *Facts) view(s, stands selection.Selection) *wire.Choice {
	v := &wire.Choice{Selection: s, Explain: stands.Explain(), Decided: stands.Decided, Servers: map[string]wire.ServerCard{}}
	for _, ranked := range s.Ranking {
		f.show(v, ranked.Server)
	}
	if s.Why != nil {
		for _, i := range s.Why.Influences {
			f.show(v, i.Server)
		}
		for _, rival := range s.Why.Rivals {
			f.show(v, rival.Ranked.Server)
		}
	}
	var pairs []string
	for _, addr := range slices.Backward(slices.Sorted(maps.Keys(v.Servers))) { // before what it begins with
		if name := v.Servers[addr].Name; name != "" {
			pairs = append(pairs, addr, fmt.Sprintf("%s (%s)", name, addr))
		}
	}
	replacer := strings.NewReplacer(pairs...)
	for i, sentence := range v.Explain {
		v.Explain[i] = replacer.Replace(sentence)
	}
	return v
}

// show adds the card of a server, with the players who have another version. -1 is none.
func (f *Facts) show(v *wire.Choice, server int) {
	if server < 0 {
		return
	}
	addr := f.Servers.List[server].Addr.String()
	if _, known := v.Servers[addr]; known {
		return
	}
	card := cardOf(&f.Servers, server)
	card.Mark(f.Servers.Info(server), f.Editions)
	v.Servers[addr] = card
}

// find returns where a server stands in the list, or -1.
func (f *Facts) find(addr netip.AddrPort) int {
	return slices.IndexFunc(f.Servers.List, func(s discovery.Server) bool { return s.Addr == addr })
}

// advise says what to give up where nothing suits everyone.
func (f *Facts) advise(v *wire.Choice) {
	s := &v.Selection
	if s.Chosen != nil || s.Why == nil {
		return
	}
	for _, way := range s.Why.Relax {
		advice := wire.Advice{Servers: way.Frees, Addr: way.Addr.String()}
		server := f.find(way.Addr)
		switch {
		case server < 0:
			continue
		case way.Player != "" && way.Give != selection.Unmeasured && len(s.Players) > 1 && slices.Contains(f.Players, way.Player):
			advice.Text, advice.Action, advice.Argument.Name = "go without "+way.Player, "without", way.Player
			if !slices.ContainsFunc(v.Advice, func(a wire.Advice) bool { return a.Argument.Name == way.Player }) {
				v.Advice = append(v.Advice, advice)
			}
		case way.Player == "" && way.Give == selection.OverThreshold && way.LimitMS <= mostAllowed:
			limit := int(math.Ceil(way.LimitMS))
			advice.Text, advice.Action, advice.Argument.LimitMS = fmt.Sprintf("allow %d ms", limit), "allow", limit
			v.Advice = slices.Insert(v.Advice, 0, advice)
			v.Miss = &wire.Miss{Addr: advice.Addr, RTT: map[string]float64{}}
			if n := len(f.Limits); n > 0 {
				v.Miss.LimitMS = discovery.MS(f.Limits[n-1])
			}
		default:
			continue
		}
		f.show(v, server)
	}
}
