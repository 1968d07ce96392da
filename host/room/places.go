package room

import "muster/host/room/places"

// Survey asks everyone to measure the candidate places, once more if they have.
type Survey struct{}

func (Survey) steers() {}

func (Survey) do(r *Room, _ caller) error {
	news, err := r.survey.Begin(r.placesScene(), r.now)
	r.surveys(news)
	return err
}

// placesScene returns what the survey of places has to know of the room.
func (r *Room) placesScene() places.Scene {
	sc := places.Scene{Places: r.settings.Places, Selection: r.round.choice.Newest(), Criteria: r.settings.Criteria()}
	sc.Criteria.Weights = r.tuning.Weights
	turns := map[*player]int{}
	for _, group := range r.round.natGroups(r.round.players) {
		for turn, p := range group {
			turns[p] = turn
		}
	}
	for _, p := range r.round.players {
		mark, from := r.round.mark(p), r.round.origins.Of(p.name)
		sc.Players = append(sc.Players, places.Player{
			Name: p.name, Connected: mark.Here, LeftOut: mark.Out != "",
			Addr: from.Addr, Beside: from.Beside(), Turn: turns[p],
		})
	}
	return sc
}

// surveys does what the survey of places wants.
func (r *Room) surveys(n places.News) {
	for _, note := range n.Notes {
		r.note("%s", note)
	}
	for _, ask := range n.Asks {
		r.send(r.round.player(ask.To), ask.Survey)
	}
}
