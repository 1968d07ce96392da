package room

import (
	"cmp"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/finals"
	"muster/host/room/launch"
	"muster/host/room/moving"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/memory"
)

// MoveOn answers the proposal to move on to the server with the address.
type MoveOn struct {
	Addr   hostport.AddrPort `json:"addr"`
	Answer wire.MoveAnswer   `json:"answer"`
}

func (a MoveOn) do(r *Room, by caller) error { return r.phase.moveOn(r, by, a) }

var errNoProposal = wire.Refuse(wire.ReasonAction, "refused.no-proposal")

// scene returns the facts about the people who play. In a match nobody moves on.
func (l *Launching) scene(r *Room) moving.Scene {
	s := moving.Scene{
		Now: r.now, Server: l.Server, Tree: r.facts.Tree(),
		Basis: func(players []people.ID) selection.Basis {
			r.facts.Refresh()
			return r.facts.BasisWithGuests(players)
		},
		Forecasts: func(players []people.ID) [][]memory.Forecast { return r.facts.Forecasts(players, r.wall) },
	}
	if !r.parts.Settings.IsMatch() {
		s.Here = people.Filtered(r.facts.Playing(), r.facts.IsHere)
	}
	return s
}

func (l *Launching) next(r *Room) (roomtime.Time, bool) {
	at := noDeadline
	if asks, is := r.parts.InGame.Next(); is {
		at = asks
	}
	if moves, is := l.Moving.Next(l.scene(r)); is && moves.Before(at) {
		at = moves
	}
	return at, true
}

// tick asks programs for what a proposal needs, and proposes.
func (l *Launching) tick(r *Room) {
	l.askStatus(r)
	asks, event := l.Moving.Tick(l.scene(r))
	var looks []finals.Ask
	for _, ask := range asks {
		attempt := int(time.Duration(r.now) / time.Second) // higher than any before, as programs want
		looks = append(looks, finals.Ask{Player: ask.Player, Finalists: wire.Finalists{
			Attempt: attempt, Servers: []int{ask.Server}, Samples: 1,
		}})
	}
	shown, _ := r.probing.LimitLooks(r.facts, looks)
	for _, ask := range shown {
		r.out.publish()
		r.out.brief(&r.parts, ask.Player)
		r.out.send(ask.Player, ask.Finalists)
	}
	if event != moving.Nothing {
		r.out.mustSave = true
		r.out.publish()
	}
	switch event {
	case moving.Proposed:
		r.out.say(l.why(r))
	case moving.Withdrawn:
		r.out.say(sentence.Of("moving.withdrawn"))
	}
}

// why says what an open proposal gains.
func (l *Launching) why(r *Room) sentence.Sentence {
	o := l.Moving.Open
	key, ms, whom := "moving.better", o.Less, o.Came
	switch {
	case o.Mends:
		key = "moving.mends"
	case len(o.Winners) == 0:
		key, ms = "moving.by-rule", o.Gain
	case len(o.Came) > 0:
		key = "moving.came"
	case len(o.Gone) > 0:
		key, whom = "moving.gone", o.Gone
	}
	return sentence.Of(key, "players", people.Texts(whom), "server", r.parts.Servers.Called(o.Server),
		"ms", math.RoundToEven(ms), "n", len(o.Winners), "of", o.Of)
}

// lookedAside takes the answer of a program that plays.
func (l *Launching) lookedAside(r *Room, player people.ID, v wire.Verified) {
	if len(v.Servers) != 1 {
		return
	}
	f := v.Servers[0]
	result := discovery.Result{Server: f.Server, State: f.State}
	if result.State == discovery.Answered {
		if len(f.RTTs) != 1 || !(f.RTTs[0] > 0 && f.RTTs[0] <= discovery.MS(wire.MaxRTT)) {
			return
		}
		result.RTT = time.Duration(f.RTTs[0] * float64(time.Millisecond))
	}
	result, counts, moves := l.Moving.Heard(player, f.Server == l.Moving.Place(player, l.Server), result, f.Info, r.now)
	if counts {
		r.probing.NoteAside(r.facts, player, result, f.Info, r.now)
	}
	if moves {
		r.out.mustSave = true
		l.sendOn(r, player)
	}
}

// moveOn takes a player's answer to the open proposal.
func (l *Launching) moveOn(r *Room, by caller, a MoveOn) error {
	o := l.Moving.Open
	switch {
	case !by.IsPlayer || !slices.Contains(r.facts.Playing(), by.ID):
		return ballot.ErrGuest
	case o == nil || r.parts.Servers.List[o.Server].Addr != a.Addr.AddrPort || l.Moving.Place(by.ID, l.Server) != o.From,
		!a.Answer.IsValid():
		return errNoProposal
	}
	if l.Moving.Answer(by.ID, a.Answer) {
		l.sendOn(r, by.ID)
	}
	return nil
}

// sendOn sends a player who wants it to the proposed server. Once most people are there, it is the
// room's.
func (l *Launching) sendOn(r *Room, player people.ID) {
	g := &r.parts
	scene := l.scene(r)
	r.out.say(sentence.Of("moving.moves", "player", player, "server", g.Servers.Called(l.Moving.Open.Server)))
	if server := l.Moving.Move(player, scene); server != l.Server {
		l.Server, l.Launch = server, launch.To(g.Number, g.Settings, &g.Servers, server)
		g.Choice.Go(server, 0, scene.Basis(scene.Here))
		r.arrive(server, wire.Played{Server: l.Launch.Name, Connect: l.Launch.Address, IsMoved: true})
	}
	g.Launches.Restart(player)
	g.Launches.Again(r.now, player)
	l.sendThere(r, player)
}

// viewMoving returns the proposal and the servers where people are, nil if there is nothing to say.
func (l *Launching) viewMoving(r *Room) *wire.Moving {
	g, names, view := &r.parts, r.parts.Roster.Names(), wire.Moving{Places: []wire.MovePlace{}}
	at := map[int][]people.ID{}
	for _, player := range r.facts.Playing() {
		at[l.Moving.Place(player, l.Server)] = append(at[l.Moving.Place(player, l.Server)], player)
	}
	if len(at) > 1 {
		for server, players := range at {
			to := launch.To(g.Number, g.Settings, &g.Servers, server)
			view.Places = append(view.Places, wire.MovePlace{
				Way:     wire.Way{Connect: to.Address, QueryPort: to.QueryPort, Server: to.Name},
				Players: names.All(players),
			})
		}
		slices.SortFunc(view.Places, func(a, b wire.MovePlace) int { return cmp.Compare(a.Way.Connect, b.Way.Connect) })
	}
	if o := l.Moving.Open; o != nil {
		info, answers := g.Servers.Info(o.From), map[string]wire.MoveAnswer{}
		for _, player := range at[o.From] {
			if said := o.Said[player]; said != "" {
				answers[names.Of(player)] = said
			}
		}
		view.Proposal = &wire.MoveProposal{
			Why: names.Word(l.why(r)), Addr: hostport.Text(g.Servers.List[o.Server].Addr), Server: r.facts.Card(o.Server),
			At: r.clocks().Of(o.At), Asked: names.All(at[o.From]), Answers: answers,
			TellsMap: info != nil && info.Map != "",
		}
	}
	if view.Proposal == nil && len(view.Places) == 0 {
		return nil
	}
	return &view
}
