package player

import "muster/host/wire"

// errands are what is found out about the room's game, as far as the others need to know.
type errands struct {
	// able is the newest word on whether this machine can start a game, and brought what
	// the player brings into the room, as trying and bringing have found out.
	able             wire.Able
	brought          wire.Bring
	trying, bringing errand
}

// errand is something that is found out about a game, for one game at a time: a
// host may change it as often as it likes.
type errand struct {
	game      string // the newest for which it is wanted
	task      int    // under way, 0 for none
	isStopped bool
}

// isNews notes for which game an errand is wanted, and reports whether that is another.
func (e *errand) isNews(game string) bool {
	if game == "" || game == e.game {
		return false
	}
	e.game = game
	return true
}

// begins reports whether an errand can begin as a task. One that is under way ends
// first.
func (e *errand) begins(p *port) bool {
	if e.task == 0 {
		e.task = p.begin()
		return true
	}
	if !e.isStopped {
		e.isStopped = true
		p.do(Stop{e.task})
	}
	return false
}

// ends notes the end of a task, and reports whether what it found is of use.
func (e *errand) ends() bool {
	isOfUse := !e.isStopped
	e.task, e.isStopped = 0, false
	return isOfUse
}

// run finds out once for each game whether this machine can start it, and what the
// player brings into the room.
func (e *errands) run(p *port, game string) {
	if e.trying.isNews(game) {
		e.try(p)
	}
	if e.bringing.isNews(game) {
		e.brought = wire.Bring{}
		e.collect(p)
	}
}

func (e *errands) try(p *port) {
	if e.trying.begins(p) {
		p.do(Try{e.trying.task, e.trying.game})
	}
}

func (e *errands) tried(p *port, in Tried) {
	if !e.trying.ends() {
		e.try(p)
		return
	}
	e.able = in.Able
	e.able.Game = e.trying.game
	p.send(e.able)
}

func (e *errands) collect(p *port) {
	if e.bringing.begins(p) {
		p.do(Collect{e.bringing.task, e.bringing.game})
	}
}

func (e *errands) collected(p *port, in Brought) {
	if !e.bringing.ends() {
		e.collect(p)
		return
	}
	e.brought = in.Bring
	e.sayBrought(p)
}

// sayAgain tells a host what it has not heard of.
func (e *errands) sayAgain(p *port) {
	if e.able.Game != "" {
		p.send(e.able)
	}
	e.sayBrought(p)
}

// sayBrought says what the player brings, if that is anything.
func (e *errands) sayBrought(p *port) {
	if len(e.brought.Favourites)+len(e.brought.Hidden) > 0 {
		p.send(e.brought)
	}
}
