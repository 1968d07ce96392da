package host

import (
	"time"

	"muster/host/wire"
)

// View is what everyone may see of the room: no token, no secret, no address
// of a player.
func (r *Room) View() wire.Room {
	v := wire.Room{
		Code: r.Code, Name: r.Settings.Name, Game: r.Settings.Game, Stage: r.Stage, Round: r.Round,
		Seats: r.Settings.Players, By: r.Settings.By, Map: r.Settings.Map, Mode: r.Settings.Mode,
		Open: r.Settings.Open, Listed: len(r.Servers), Members: make([]wire.Member, len(r.Members)),
		Selection: r.Selection, Log: r.Log,
	}
	if n := len(r.Settings.Limits); n > 0 {
		v.MaxRTTMs = float64(r.Settings.Limits[n-1]) / float64(time.Millisecond)
	}
	v.Search = r.searchView()
	if r.Launch != nil {
		v.Connect, v.Server = r.Launch.Address, r.Launch.Name
	}
	knows := r.progress()
	for i, m := range r.Members {
		v.Members[i] = wire.Member{
			Name: m.Name, Organiser: m.Organiser, Connected: m.Connected, Probed: knows[m].probed, Answered: knows[m].answered,
			Done: m.Done, LeftOut: m.LeftOut, Launch: m.Launch, Detail: m.Detail,
		}
	}
	return v
}
