package group

import (
	"fmt"
	"maps"
	"slices"

	"muster/discovery/plan/topology"
	"muster/host/room/evidence"
	"muster/host/room/infos"
	"muster/host/room/listing"
	"muster/host/room/people"
	"muster/host/room/roster"
	"muster/host/room/saved"
	"muster/host/wire"
)

// carry saves the parts' states in their sections of a room, or restores them.
func (g *Group) carry(s *saved.Room, saves bool) {
	saved.Carry(saves, &s.Settings, &g.Settings)
	saved.Carry(saves, &s.Round, &g.Number)
	saved.Carry(saves, &s.Measuring, &g.Measuring)
	saved.Carry(saves, &s.Broken, &g.IsBroken)
	saved.Carry(saves, &s.Roster, g.Roster.State())
	saved.Carry(saves, &s.Origins, g.Origins.State())
	saved.Carry(saves, &s.Attendance, g.Attendance.State())
	saved.Carry(saves, &s.Sides, g.Sides.State())
	saved.Carry(saves, &s.Nearby, g.Nearby.State())
	saved.Carry(saves, &s.Brought, g.Lists.State())
	saved.Carry(saves, &s.Editions, g.Editions.State())
	saved.Carry(saves, &s.Estimates, g.Estimates.State())
	saved.Carry(saves, &s.Choice, g.Choice.State())
	saved.Carry(saves, &s.Trust, g.Trust.State())
	saved.Carry(saves, &s.Ballot, g.Ballot.State())
	saved.Carry(saves, &s.Bans, g.Bans.State())
	saved.Carry(saves, &s.Launch, g.Launches.State())
}

// Save returns the group's sections of the saved room. They share memory that the group still
// changes: encode them at once.
func (g *Group) Save() (s saved.Room, err error) {
	g.carry(&s, true)
	s.Password, s.Webhook, s.League = g.Settings.Password, g.Settings.Webhook, g.Settings.League
	if s.Listing.SavedList, err = g.List.Save(g.Number, g.Servers, g.Asked); err != nil {
		return s, err
	}
	players := g.Attendance.Players()
	if s.Infos, err = g.Heard.Save(players); err != nil {
		return s, err
	}
	for _, player := range players {
		w := g.Evidence[player]
		p := saved.Player{ID: player, Discreet: w.ProbeLimit(), Shares: w.IsSharing()}
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
	g = Group{Roster: roster.New(roster.Keys{}), Round: NewRound(s.Round)}
	g.carry(s, false)
	g.Settings.Password, g.Settings.Webhook, g.Settings.League = s.Password, s.Webhook, s.League
	if g.List, g.Servers, err = listing.RestoreList(s.Listing.SavedList, list); err != nil {
		return g, err
	}
	listed := len(g.Servers.List)
	var players []people.ID
	for _, p := range s.Players {
		w, err := evidence.Restore(p.Evidence, listed)
		if err != nil {
			return g, fmt.Errorf("%q: %w", p.ID, err)
		}
		w.LimitProbes(p.Discreet)
		w.Share(p.Shares)
		players = append(players, p.ID)
		g.Evidence[p.ID] = &w
	}
	if err := g.validate(players, listed); err != nil {
		return g, err
	}
	if g.Heard, err = infos.Restore(s.Infos, players, listed); err != nil {
		return g, err
	}
	g.Servers = g.Heard.About(g.Servers)
	g.RefreshFacts()
	return g, g.Choice.State().Place(g.Servers.List)
}

// validate returns what is wrong with a restored group of these players and a list of so many
// servers, or nil.
func (g *Group) validate(players []people.ID, listed int) error {
	if g.Number < 0 || g.Number > wire.MaxRound {
		return fmt.Errorf("a round %d", g.Number)
	}
	if err := g.Roster.State().Validate(); err != nil {
		return err
	}
	isPlayer, seated := map[people.ID]bool{}, 0
	for p := range g.Roster.People() {
		if isPlayer[p.ID] = p.IsPlayer; !p.IsPlayer {
			continue
		}
		if seated++; seated > len(players) || players[seated-1] != p.ID {
			return fmt.Errorf("%q does not play here", p.Name)
		}
	}
	if seated != len(players) {
		return fmt.Errorf("%d players of %d", seated, len(players))
	}
	for _, err := range []error{
		g.Origins.State().Validate(isPlayer),
		g.Attendance.State().Validate(players),
		g.Sides.State().Validate(slices.Collect(maps.Keys(isPlayer))),
		g.Nearby.State().Validate(players, listed),
		g.Trust.State().Validate(players, listed),
		g.Launches.State().Validate(players),
		g.Ballot.State().Validate(listed),
		g.Bans.State().Validate(listed),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}
