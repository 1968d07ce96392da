package room

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/nickname"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

// The organiser's ways out of a choice, which the room advises where nothing suits
// everyone: from what was measured in this round.
type (
	// Allow lets people be as far away as that, in ms.
	Allow struct {
		LimitMS float64 `json:"limit_ms"`
	}
	// Without has the choice be made without a player, who comes along without a say.
	Without struct {
		Name string `json:"name"`
	}
)

func (Allow) steers()   {}
func (Without) steers() {}

// mostAllowed is the highest limit that makes sense, in ms: a second is no game any more.
const mostAllowed = 1000

// errNoAdvice is why there is nothing to be advised.
var errNoAdvice = errors.New("there is no choice now that this could change")

func (a Allow) do(r *Room, _ caller) error {
	limit := math.Ceil(a.LimitMS)
	switch {
	case !r.mayDecideAgain():
		return errNoAdvice
	case !(limit > 0 && limit <= mostAllowed):
		return fmt.Errorf("a limit is between 1 and %d ms", mostAllowed)
	}
	limits := []float64{limit}
	if rules.Of(r.settings.By).NeedsLimit { // the stricter ones are still tried first
		for _, l := range r.settings.Limits {
			if ms := rttMS(l); ms < limit {
				limits = append(limits, ms)
			}
		}
		slices.Sort(limits)
	}
	patch, err := json.Marshal(map[string][]float64{"limits_ms": limits})
	if err != nil {
		return err
	}
	s, err := r.settings.Patched(patch, wire.OnPage)
	if err != nil {
		return err
	}
	r.settings = s
	r.decideAgain(fmt.Sprintf("the organiser allows %.0f ms", limit))
	return nil
}

func (a Without) do(r *Room, _ caller) error {
	p := r.round.player(a.Name)
	switch {
	case !r.mayDecideAgain():
		return errNoAdvice
	case p == nil || r.round.mark(p).Out != "":
		return fmt.Errorf("%s does not count in this choice", nickname.Clean(a.Name))
	case len(r.round.chosenFor()) < 2:
		return errors.New("nobody would be left to choose for")
	}
	r.round.attendance.LeaveOut(attendance.Unwanted, p.name)
	r.round.ballot.Withdraw(p.name, ballot.Vote|ballot.Ready)
	r.decideAgain(fmt.Sprintf("the organiser goes without %s, who comes along without a say", p.name))
	return nil
}

// mayDecideAgain reports whether there is a choice, or none, from what was measured.
func (r *Room) mayDecideAgain() bool {
	_, failed := r.phase.(*Failed)
	return r.round.selection != nil && len(r.round.chosenFor()) > 0 && (failed || r.isVoting())
}

// decideAgain chooses for whoever counts now, from what was measured, and says why.
func (r *Room) decideAgain(why string) {
	selected := r.selectFor(r.round.chosenFor())
	if _, failed := r.phase.(*Failed); failed && selected.Chosen == nil {
		r.round.selection = &selected
		r.note("%s: that is not enough, still no server suits everyone", why)
		return
	}
	r.note("%s: choosing again from what was measured", why)
	r.failures = 0
	r.round.looks.Retry() // what was looked at in vain was for another choice
	r.rechoose(selected)
}

// advise says of a round in which nothing suits everyone what came nearest, and what the
// organiser can do: the highest limit before who might be left out, and more servers last,
// which may also be worth asking where there is a choice. Of a choice that hangs on one
// player's word it says how to choose without.
func (r *Room) advise(c *wire.Choice, s *selection.Selection) {
	r.adviseOf(c, s)
	r.adviseWord(c, s)
	r.adviseWait(c)
	if n := r.worthAsking(); n > 0 {
		c.Advice = append(c.Advice, wire.Advice{Text: r.round.budget.Offer(r.terms(), n), Action: "more", Argument: wire.Argument{Servers: n}})
	}
}

func (r *Room) adviseOf(c *wire.Choice, s *selection.Selection) {
	if s.Chosen != nil || s.Why == nil || !r.mayDecideAgain() {
		return
	}
	for _, way := range s.Why.Relax {
		server := r.round.indexOf(way.Addr)
		advice := wire.Advice{Servers: way.Frees, Addr: way.Addr.String()}
		switch {
		case server < 0:
			continue
		case way.Player != "" && way.Give != selection.Unmeasured && len(s.Players) > 1 && r.round.player(way.Player) != nil:
			advice.Text, advice.Action, advice.Argument.Name = "go without "+way.Player, "without", way.Player
			if !slices.ContainsFunc(c.Advice, func(a wire.Advice) bool { return a.Argument.Name == way.Player }) {
				c.Advice = append(c.Advice, advice)
			}
		case way.Player == "" && way.Give == selection.OverThreshold && way.LimitMS <= mostAllowed:
			limit := int(math.Ceil(way.LimitMS))
			advice.Text, advice.Action, advice.Argument.LimitMS = fmt.Sprintf("allow %d ms", limit), "allow", limit
			c.Advice = slices.Insert(c.Advice, 0, advice)
			c.Miss = r.miss(server)
		default:
			continue
		}
		if _, known := c.Servers[advice.Addr]; !known {
			c.Servers[advice.Addr] = r.card(server)
		}
	}
}

// adviseWord asks the group about the player on whose word alone the choice hangs.
func (r *Room) adviseWord(c *wire.Choice, s *selection.Selection) {
	most, is := r.round.trust.Weightiest(s)
	if !is || r.round.player(most.Player) == nil || !r.mayDecideAgain() {
		return
	}
	c.Advice = append(c.Advice, wire.Advice{Text: "choose without " + most.Player + "'s pings", Action: "without", Argument: wire.Argument{Name: most.Player}, Addr: most.Addr.String()})
}

// miss is a server that only the limit keeps out.
func (r *Room) miss(server int) *wire.Miss {
	m := &wire.Miss{Addr: r.round.servers.List[server].Addr.String(), RTT: map[string]float64{}}
	if n := len(r.settings.Limits); n > 0 {
		m.LimitMS = rttMS(r.settings.Limits[n-1])
	}
	for _, p := range r.round.chosenFor() {
		if result := r.round.knowledge(p).At(server); result.State == discovery.Answered {
			m.RTT[p.name] = rttMS(result.RTT)
		}
	}
	return m
}
