package host

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/host/wire"
	"muster/selection"
)

// countdown is how long everyone sees it coming.
const countdown = 5 * time.Second

// Agreement is the moment between the choice and the launch, in rooms whose
// organiser wants one: people vote, veto and say that they are ready.
type Agreement struct {
	// LaunchAt is when the countdown ends, zero while there is none.
	LaunchAt time.Time `json:"launch_at,omitzero"`
	// Looked is when everyone was last asked to look at the finalists, and Repeats
	// how often before launches that had been until people began to agree.
	Looked  time.Time `json:"looked"`
	Repeats int       `json:"repeats,omitempty"`
}

// Played is a server that the room went to.
type Played struct {
	Round   int            `json:"round"`
	At      time.Time      `json:"at"`
	Game    string         `json:"game"`
	Server  string         `json:"server"`
	Connect string         `json:"connect"`
	Map     string         `json:"map,omitempty"`
	By      selection.Rule `json:"by"`
	MeanMS  float64        `json:"mean_ms"`
	MaxMS   float64        `json:"max_ms"`
	Players []string       `json:"players"`
}

// agreeOrLaunch lets people have their say, if the organiser wants that.
func (r *Room) agreeOrLaunch(server int, now time.Time) []effect {
	if !r.Settings.Agree {
		return r.launch(server, now)
	}
	r.Agreement = &Agreement{Looked: now, Repeats: r.Final.Repeats}
	r.searchOn()
	r.note(now, "%s is ahead: vote, veto, and say on the page when you are ready", r.serverName(server))
	return nil
}

// ballot is what may be voted for: the first of the ranking that had their
// second look.
func (r *Room) ballot() []selection.Ranked {
	var ballot []selection.Ranked
	for _, ranked := range r.Selection.Ranking[:min(finalists, len(r.Selection.Ranking))] {
		if r.Final != nil && slices.Contains(r.Final.Seen, r.placeOf(ranked)) {
			ballot = append(ballot, ranked)
		}
	}
	return ballot
}

// favourite is the server most voted for, of several the best by the rule.
func (r *Room) favourite() selection.Ranked {
	votes := map[netip.AddrPort]int{}
	for _, g := range r.Guests {
		votes[g.Vote]++
	}
	best := *r.Selection.Chosen
	for _, ranked := range r.ballot() {
		if votes[ranked.Addr] > votes[best.Addr] {
			best = ranked
		}
	}
	return best
}

var errNoVote = errors.New("there is nothing to decide now")

// Vote takes a guest's vote for one of the first few; the zero address takes it
// back.
func (r *Room) Vote(g *Guest, addr netip.AddrPort, now time.Time) error {
	if r.Agreement == nil {
		return errNoVote
	}
	onBallot := func(ranked selection.Ranked) bool { return ranked.Addr == addr }
	if addr.IsValid() && !slices.ContainsFunc(r.ballot(), onBallot) {
		return fmt.Errorf("only the first %d can be voted for", finalists)
	}
	before := r.favourite().Addr
	g.Vote = addr
	if after := r.favourite().Addr; after != before {
		r.note(now, "the votes are for %s", r.serverName(r.indexOf(after)))
		r.stopCountdown(now)
	}
	return nil
}

// Veto takes a guest's veto of a server or a map: once a round, and only if
// something is left to play on.
func (r *Room) Veto(g *Guest, veto selection.Veto, now time.Time) ([]effect, error) {
	switch {
	case r.Agreement == nil:
		return nil, errNoVote
	case g.Vetoed:
		return nil, errors.New("one veto a round")
	case !veto.Server.IsValid() && veto.Map == "":
		return nil, errors.New("a veto is of a server or of a map")
	}
	veto.Player = g.Name
	r.Vetoes = append(r.Vetoes, veto)
	selected := r.selectFor(r.chosenFor())
	if selected.Chosen == nil {
		r.Vetoes = r.Vetoes[:len(r.Vetoes)-1]
		return nil, errors.New("nothing would be left to play on")
	}
	g.Vetoed = true
	r.note(now, "%s vetoes %s", g.Name, cmp.Or(veto.Map, r.vetoedName(veto.Server)))
	return r.rechoose(selected, now), nil
}

func (r *Room) vetoedName(addr netip.AddrPort) string {
	if server := r.indexOf(addr); server >= 0 {
		return r.serverName(server)
	}
	return addr.String()
}

// chosenFor are the members for whom the choice was made.
func (r *Room) chosenFor() []*Member {
	return r.activeWho(func(m *Member) bool { return slices.Contains(r.Selection.Players, m.Name) })
}

// rechoose puts another choice in the place of the last one. Servers that had
// no second look get it.
func (r *Room) rechoose(selected selection.Selection, now time.Time) []effect {
	r.Selection, r.Agreement, r.Launch, r.WhatIf = &selected, nil, nil, nil
	r.Final = cmp.Or(r.Final, &Final{})
	for _, m := range r.Members {
		m.Launch, m.Detail = "", ""
	}
	for _, g := range r.Guests {
		g.Ready, g.Vote, g.ByHand = false, netip.AddrPort{}, false
	}
	if r.Stage == wire.Launching {
		r.enter(wire.Chosen, now)
	}
	return r.verifyOrLaunch(now)
}

// Ready notes that a guest is ready, or is not. When all that are here are, the
// countdown begins.
func (r *Room) Ready(g *Guest, ready bool, now time.Time) {
	g.Ready = ready
	switch {
	case r.Agreement == nil:
	case !ready:
		r.stopCountdown(now)
	case r.everyoneReady() && r.Agreement.LaunchAt.IsZero():
		r.startCountdown(now, "everyone is ready")
	}
}

// everyoneReady tells that all who have the page open are; who has only the
// program is asked by it.
func (r *Room) everyoneReady() bool {
	return !slices.ContainsFunc(r.Guests, func(g *Guest) bool { return g.Pages > 0 && !g.Ready })
}

func (r *Room) startCountdown(now time.Time, why string) {
	r.Agreement.LaunchAt = now.Add(countdown)
	r.note(now, "%s: the launch is in %v", why, countdown)
}

func (r *Room) stopCountdown(now time.Time) {
	if !r.Agreement.LaunchAt.IsZero() {
		r.Agreement.LaunchAt = time.Time{}
		r.note(now, "the countdown is stopped")
	}
}

// goAgreeing is the organiser's word while people agree.
func (r *Room) goAgreeing(now time.Time) []effect {
	if r.Agreement.LaunchAt.IsZero() {
		r.startCountdown(now, "the organiser says go")
	}
	return nil
}

// tickAgreeing launches when the countdown ends. Until it begins, the search for
// something better goes on; then the finalists are looked at for the last time.
func (r *Room) tickAgreeing(now time.Time) []effect {
	switch at := r.Agreement.LaunchAt; {
	case at.IsZero():
		return r.tickAnytime(now)
	case now.Before(at):
		return r.lookBeforeLaunch(now)
	}
	return r.launchFavourite(now)
}

// rankedAt is what the ranking says of a server.
func (r *Room) rankedAt(server int) selection.Ranked {
	for _, ranked := range r.Selection.Ranking {
		if ranked.Addr == r.Servers[server].Addr {
			return ranked
		}
	}
	return *r.Selection.Chosen
}

// remember keeps where the room went, for the history of the evening.
func (r *Room) remember(server int, now time.Time) {
	ranked := r.rankedAt(server)
	played := Played{
		Round: r.Round, At: now, Game: r.Settings.Game, Server: r.serverName(server), Connect: r.connect(server).String(),
		By: r.Selection.By, MeanMS: ranked.MeanMS, MaxMS: ranked.MaxMS, Players: r.Selection.Players,
	}
	if info := r.Infos[server]; info != nil {
		played.Map = info.Map
	}
	again := func(p Played) bool { return p.Round == r.Round }
	r.Evening = append(slices.DeleteFunc(r.Evening, again), played)
}
