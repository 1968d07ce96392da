package player

// errand is something that is found out about the room's game, for one game at a time: a
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

// isFree reports whether an errand can begin as a task. If one is under way that is to end
// first.
func (p *Player) isFree(e *errand) bool {
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

// try finds out whether this machine can start the game.
func (p *Player) try() {
	if p.isFree(&p.trying) {
		p.do(Try{p.trying.task, p.trying.game})
	}
}

func (p *Player) tried(in Tried) {
	if !p.trying.ends() {
		p.try()
		return
	}
	p.able = in.Able
	p.able.Game = p.trying.game
	p.send(p.able)
}

// collect finds out once for each game what the player brings into the room.
func (p *Player) collect() {
	if p.isFree(&p.bringing) {
		p.do(Collect{p.bringing.task, p.bringing.game})
	}
}

func (p *Player) collected(in Brought) {
	if !p.bringing.ends() {
		p.collect()
		return
	}
	p.brought = in.Bring
	p.sayBrought()
}

// sayBrought says what the player brings, if that is anything.
func (p *Player) sayBrought() {
	if len(p.brought.Favourites)+len(p.brought.Hidden) > 0 {
		p.send(p.brought)
	}
}
