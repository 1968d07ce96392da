package facts

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
func (p *Parts) carry(s *saved.Room, saves bool) {
	saved.Carry(saves, &s.Settings, &p.Settings)
	saved.Carry(saves, &s.Round, &p.Number)
	saved.Carry(saves, &s.Measuring, &p.Measuring)
	saved.Carry(saves, &s.Broken, &p.IsBroken)
	saved.Carry(saves, &s.Roster, p.Roster.State())
	saved.Carry(saves, &s.Origins, p.Origins.State())
	saved.Carry(saves, &s.Attendance, p.Attendance.State())
	saved.Carry(saves, &s.Sides, p.Sides.State())
	saved.Carry(saves, &s.Nearby, p.Nearby.State())
	saved.Carry(saves, &s.Brought, p.Lists.State())
	saved.Carry(saves, &s.Editions, p.Editions.State())
	saved.Carry(saves, &s.Estimates, p.Estimates.State())
	saved.Carry(saves, &s.Choice, p.Choice.State())
	saved.Carry(saves, &s.Trust, p.Trust.State())
	saved.Carry(saves, &s.Ballot, p.Ballot.State())
	saved.Carry(saves, &s.Bans, p.Bans.State())
	saved.Carry(saves, &s.Evened, p.Evened.State())
	saved.Carry(saves, &s.InGame, p.InGame.State())
	saved.Carry(saves, &s.Launch, p.Launches.State())
	saved.Carry(saves, &s.Candidates, p.Candidates.State())
	saved.Carry(saves, &s.FoundNone, &p.FoundNone)
}

// Save returns the parts' sections of the saved room. They share memory that the parts still
// changes: encode them at once.
func (p *Parts) Save() (s saved.Room, err error) {
	p.carry(&s, true)
	s.Password, s.Webhook, s.League = p.Settings.Password, p.Settings.Webhook, p.Settings.League
	if s.Listing.SavedList, err = p.List.Save(p.Number, p.Servers, p.Facts().Asked); err != nil {
		return s, err
	}
	players := p.Attendance.Players()
	if s.Infos, err = p.Heard.Save(players); err != nil {
		return s, err
	}
	for _, player := range players {
		w := p.Evidence[player]
		one := saved.Player{ID: player, ProbeLimit: w.ProbeLimit(), Shares: w.IsSharing()}
		if one.Evidence, err = w.Save(); err != nil {
			return s, err
		}
		s.Players = append(s.Players, one)
	}
	return s, nil
}

// Restore returns the saved parts. The list is the topology of the saved list. Any bytes are safe:
// if something is missing, Restore returns an error.
func Restore(s *saved.Room, list *topology.Tree) (p Parts, err error) {
	p = Parts{Roster: roster.New(roster.Keys{}), Round: NewRound(s.Round)}
	p.carry(s, false)
	p.Settings.Password, p.Settings.Webhook, p.Settings.League = s.Password, s.Webhook, s.League
	if p.List, p.Servers, err = listing.RestoreList(s.Listing.SavedList, list); err != nil {
		return p, err
	}
	listed := len(p.Servers.List)
	var players []people.ID
	for _, saved := range s.Players {
		w, err := evidence.Restore(saved.Evidence, listed)
		if err != nil {
			return p, fmt.Errorf("%q: %w", saved.ID, err)
		}
		w.LimitProbes(saved.ProbeLimit)
		w.Share(saved.Shares)
		players = append(players, saved.ID)
		p.Evidence[saved.ID] = &w
	}
	if err := p.validate(players, listed); err != nil {
		return p, err
	}
	if p.Heard, err = infos.Restore(s.Infos, players, listed); err != nil {
		return p, err
	}
	p.Servers = p.Heard.About(p.Servers)
	p.RefreshFacts()
	return p, p.Choice.State().Place(p.Servers.List)
}

// validate returns the first fault of restored parts, or nil. The number of listed servers bounds
// all indexes.
func (p *Parts) validate(players []people.ID, listed int) error {
	if p.Number < 0 || p.Number > wire.MaxRound {
		return fmt.Errorf("a round %d", p.Number)
	}
	if err := p.Roster.State().Validate(); err != nil {
		return err
	}
	isPlayer, seated := map[people.ID]bool{}, 0
	for one := range p.Roster.People() {
		if isPlayer[one.ID] = one.IsPlayer; !one.IsPlayer {
			continue
		}
		if seated++; seated > len(players) || players[seated-1] != one.ID {
			return fmt.Errorf("%q does not play here", one.Name)
		}
	}
	if seated != len(players) {
		return fmt.Errorf("%d players of %d", seated, len(players))
	}
	for _, err := range []error{
		p.Origins.State().Validate(isPlayer),
		p.Attendance.State().Validate(players),
		p.Sides.State().Validate(slices.Collect(maps.Keys(isPlayer))),
		p.Nearby.State().Validate(players, listed),
		p.Trust.State().Validate(players, listed),
		p.Launches.State().Validate(players),
		p.Ballot.State().Validate(listed),
		p.Bans.State().Validate(listed),
		p.Evened.State().Validate(),
		p.InGame.State().Validate(),
		p.Candidates.State().Validate(listed),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}
