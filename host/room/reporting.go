package room

import (
	"muster/host/wire"
)

// report adds what a player measured. Reports of a round before, still on their
// way when it ended, are ignored.
func (Hear) report(r *Room, p *player, report wire.Report) error {
	voting, choosing := r.isVoting(), r.phase.stage() == wire.Chosen
	if report.Round != r.round.number || !r.isMeasuring() && !choosing {
		return nil
	}
	for i := range report.Results {
		if server := report.Results[i].Server; server >= len(r.round.servers.List) {
			return nonsensef("a report of server %d of %d", server, len(r.round.servers.List))
		}
	}
	passed, news := min(max(0, r.now.Sub(r.round.measuring)), wire.LongestTime), false
	for _, probe := range report.Results {
		if choosing && !p.witness.IsUnprobed(probe.Server) || r.round.nearby.IsHidden(p.name, probe.Server) {
			continue // the finalists had their second look
		}
		probe.At += passed - report.Now // the players' pictures share an axis
		isNew, isOwn := p.witness.Report(probe, passed, r.now)
		if isOwn {
			r.round.inform(probe.Server, r.round.hearsay.Weigh(probe.Server))
		}
		if !p.witness.IsAsked(probe.Server) {
			continue
		}
		news = news || isNew
		if r.isMeasuring() || voting {
			r.heard(p, p.witness.At(probe.Server))
		}
	}
	if news {
		if note := r.round.attendance.Report(p.name, r.isMeasuring() && !r.asksMore(), r.now); note != "" {
			r.note("%s", note)
		}
	}
	switch phase := r.phase.(type) {
	case *Measuring:
		phase.advance(r)
	case *Coordinating:
		phase.advance(r)
	}
	return nil
}

// infos takes what a player heard servers say of themselves. Who came too late for a
// say in the round has none here either; who is left out of a measuring is back with
// the next report.
func (Hear) infos(r *Room, p *player, infos wire.Infos) error {
	if infos.Round != r.round.number || r.round.mark(p).Out != "" && !r.isMeasuring() {
		return nil
	}
	for i := range infos.Servers {
		if server := infos.Servers[i].Server; server >= len(r.round.servers.List) {
			return nonsensef("infos of server %d of %d", server, len(r.round.servers.List))
		}
	}
	for i := range infos.Servers {
		r.said(p.name, infos.Servers[i].Server, infos.Servers[i].Info)
	}
	return nil
}
