package room

// More has each player ask so many servers besides: those which could suit the group best,
// as far as can be told from what was measured, however it was. Then the room chooses again.
type More struct {
	Servers int `json:"servers"`
}

func (More) steers() {}

func (a More) do(r *Room, _ caller) error {
	if !r.mayDecideAgain() {
		return errNoAdvice
	}
	g := &r.group
	notes, servers, err := r.probing.Grant(g, a.Servers, r.isVoting())
	if err != nil {
		return err
	}
	r.tell(notes...)
	r.do(Publish{}) // people read the new number before anybody is asked
	r.probing.AskMore(g, r.now)
	r.enter(&Coordinating{More: servers})
	for _, player := range g.Attendance.Players() {
		if !g.Attendance.IsBriefed(player, g.Number) {
			r.send(player, g.ListFor(player))
		}
		r.measure(player)
	}
	return nil
}

// asksMore reports whether players ask more because the organiser wants it: for a choice
// among those for whom the last one was made.
func (r *Room) asksMore() bool {
	c, coordinating := r.phase.(*Coordinating)
	return coordinating && c.More > 0
}
