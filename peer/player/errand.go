package player

import "muster/host/wire"

// errands find out about the room's game what the others need to know.
type errands struct {
	// able is the newest statement on whether this machine can start a game. brought is what the player brings into the
	// room. trying and bringing produce them.
	able             wire.Able
	brought          wire.Bring
	trying, bringing errand
}

// errand finds out one thing about a game, one game at a time, because a host may change the game at any moment.
type errand struct {
	game      string // the newest game to find out about
	task      int    // the running task, 0 for none
	isStopped bool
}

// isNews notes the game to find out about, and reports whether it has changed.
func (e *errand) isNews(game string) bool {
	if game == "" || game == e.game {
		return false
	}
	e.game = game
	return true
}

// begins reports whether an errand can start as a task. A running task must end first.
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

// ends notes the end of a task, and reports whether its result is still wanted.
func (e *errand) ends() bool {
	isOfUse := !e.isStopped
	e.task, e.isStopped = 0, false
	return isOfUse
}

// run finds out, once for each game, whether this machine can start it and what the player brings into the room.
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

// sayAgain repeats the results to a host that has not heard them.
func (e *errands) sayAgain(p *port) {
	if e.able.Game != "" {
		p.send(e.able)
	}
	e.sayBrought(p)
}

// sayBrought tells the host what the player brings, if anything.
func (e *errands) sayBrought(p *port) {
	if len(e.brought.Favourites)+len(e.brought.Hidden) > 0 {
		p.send(e.brought)
	}
}
