package group

import (
	"fmt"

	"muster/discovery/plan/topology"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/bans"
	"muster/host/room/brought"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/estimates"
	"muster/host/room/evidence"
	"muster/host/room/infos"
	"muster/host/room/launch"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/roster"
	"muster/host/room/saved"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
)

// Save returns the group's sections of the saved room.
func (g *Group) Save() (s saved.Room, err error) {
	s = saved.Room{
		Settings: g.Settings, Password: g.Settings.Password, Webhook: g.Settings.Webhook, League: g.Settings.League,
		Roster: g.Roster.Save(), Editions: g.Editions.Save(), Estimates: g.Estimates.Save(), Brought: g.Lists.Save(),
		Sides: g.Sides.Save(),

		Round: g.Number, Origins: g.Origins.Save(), Nearby: g.Nearby.Save(), Measuring: g.Measuring, Broken: g.IsBroken,
		Choice: g.Choice.Save(), Previous: g.Choice.Previous(), Attendance: g.Attendance.Save(),
		Ballot: g.Ballot.Save(), Bans: g.Bans.Save(), Launch: g.Launches.Save(), Trust: g.Trust.Save(),
	}
	if s.Listing.SavedList, err = g.List.Save(g.Number, g.Servers, g.Asked); err != nil {
		return s, err
	}
	players := g.Attendance.Players()
	if s.Infos, err = g.Heard.Save(players); err != nil {
		return s, err
	}
	for _, name := range players {
		w := g.Evidence[name]
		p := saved.Player{Name: name, Discreet: w.Discreet(), Shares: w.IsSharing()}
		if p.Evidence, err = w.Save(); err != nil {
			return s, err
		}
		s.Players = append(s.Players, p)
	}
	return s, nil
}

// Restore returns the group that was saved, with the topology of its list. Any bytes are safe:
// a group that lacks something is an error.
func Restore(s *saved.Room, list *topology.Tree) (g Group, err error) {
	g = Group{
		Settings: s.Settings, Editions: editions.Restore(s.Editions), Estimates: estimates.Restore(s.Estimates),
		Lists: brought.Restore(s.Brought), Round: NewRound(s.Round),
	}
	g.Settings.Password, g.Settings.Webhook, g.Settings.League = s.Password, s.Webhook, s.League
	g.IsBroken, g.Measuring = s.Broken, s.Measuring
	if g.Number < 0 || g.Number > wire.MaxRound {
		return g, fmt.Errorf("a round %d", g.Number)
	}
	if g.List, g.Servers, err = listing.RestoreList(s.Listing.SavedList, list); err != nil {
		return g, err
	}
	listed := len(g.Servers.List)
	if g.Ballot, err = ballot.Restore(s.Ballot, listed); err != nil {
		return g, err
	}
	if g.Bans, err = bans.Restore(s.Bans, listed); err != nil {
		return g, err
	}
	var players []string
	for _, p := range s.Players {
		w, err := evidence.Restore(p.Evidence, listed)
		if err != nil {
			return g, fmt.Errorf("%s: %w", p.Name, err)
		}
		w.BeDiscreet(p.Discreet)
		w.Share(p.Shares)
		players = append(players, p.Name)
		g.Evidence[p.Name] = &w
	}
	if err := g.restoreRoster(s.Roster, s.Origins, players); err != nil {
		return g, err
	}
	if g.Sides, err = sides.Restore(s.Sides, g.names()); err != nil {
		return g, err
	}
	if g.Attendance, err = attendance.Restore(s.Attendance, players); err != nil {
		return g, err
	}
	if g.Launches, err = launch.Restore(s.Launch, players); err != nil {
		return g, err
	}
	if g.Trust, err = trust.Restore(s.Trust, players, listed); err != nil {
		return g, err
	}
	places := map[string]nearby.Place{}
	for _, name := range players {
		places[name] = placeOf(g.Origins.Of(name))
	}
	if g.Nearby, err = nearby.Restore(s.Nearby, places, listed); err != nil {
		return g, err
	}
	if g.Heard, err = infos.Restore(s.Infos, players, listed); err != nil {
		return g, err
	}
	g.Servers = g.Heard.About(g.Servers)
	g.Weigh()
	g.Choice, err = choice.Restore(s.Choice, s.Previous, g.Servers.List)
	return g, err
}

// restoreRoster reads who is in the room, and where they come from.
func (g *Group) restoreRoster(s roster.Saved, origins origin.Saved, players []string) (err error) {
	if g.Roster, err = roster.Restore(s); err != nil {
		return err
	}
	isPlayer, seated := map[string]bool{}, 0
	for p := range g.Roster.People() {
		if isPlayer[p.Name] = p.IsPlayer; !p.IsPlayer {
			continue
		}
		if seated++; seated > len(players) || players[seated-1] != p.Name {
			return fmt.Errorf("%q does not play here", p.Name)
		}
	}
	if seated != len(players) {
		return fmt.Errorf("%d players of %d", seated, len(players))
	}
	g.Origins, err = origin.Restore(origins, isPlayer)
	return err
}
