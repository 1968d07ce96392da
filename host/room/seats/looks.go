package seats

import (
	"slices"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// This file chooses the player who looks next, and draws the conclusions from what players saw.

// look is a look under way.
type look struct {
	By      people.ID     `json:"by"`
	Servers []int         `json:"servers"`
	At      roomtime.Time `json:"at"`
}

// lookers returns the players who can look at a server and have not yet reported its seats. It
// prefers players whose looks were useful.
func (w *Watch) lookers(s *watched, f Facts) []people.ID {
	var all, useful []people.ID
	for _, player := range f.Servers[s.Server].Lookers {
		if hasWord(s.Words, player) {
			continue
		}
		all = append(all, player)
		if w.state.Demerits[player] < maxDemerits {
			useful = append(useful, player)
		}
	}
	if len(useful) > 0 {
		return useful
	}
	return all
}

// blame notes that a player's look was useless.
func (w *Watch) blame(player people.ID) {
	if w.state.Demerits == nil {
		w.state.Demerits = map[people.ID]int{}
	}
	w.state.Demerits[player]++
}

// nextLook asks the next player to look at the servers that are due. A server under check gets a
// look of its own, because not every player may check it.
func (w *Watch) nextLook(f Facts, now roomtime.Time) []Event {
	by, servers := people.ID(""), []int(nil)
	for _, checks := range []bool{true, false} {
		if by != "" {
			break
		}
		for i := range w.state.Servers {
			s := &w.state.Servers[i]
			if !s.Dropped.IsZero() || now.Before(s.due()) || checks != (len(s.Words) > 0) {
				continue
			}
			can := w.lookers(s, f)
			switch {
			case len(can) == 0 && checks: // the others who could have checked have left
				return w.decide(s, f, now)
			case len(can) == 0:
				continue
			case by == "":
				by = can[w.state.Turn%len(can)]
			case checks || !slices.Contains(can, by):
				continue
			}
			servers = append(servers, s.Server)
			if len(s.Words) == 0 {
				s.looked = now
			}
			s.Asked++
			s.Since++
		}
	}
	if by == "" {
		return nil
	}
	w.state.Turn++
	w.state.Look = &look{By: by, Servers: servers, At: now}
	return []Event{Ask{by, servers}}
}

// Asks reports whether a player is looking at the moment.
func (w *Watch) Asks(player people.ID) bool {
	return w.state.Going != nil || w.state.Look != nil && w.state.Look.By == player
}

// Heard takes the answer of a player who was asked to look.
func (w *Watch) Heard(by people.ID, seen []wire.Finalist, f Facts, now roomtime.Time) []Event {
	switch {
	case !w.Asks(by):
		return nil
	case w.state.Going == nil:
		return w.take(seen, f, now)
	}
	for _, finalist := range seen {
		if finalist.Server == w.state.Going.Server && !hasWord(w.state.Going.Words, by) {
			w.state.Going.Words = append(w.state.Going.Words, word{by, freeIn(finalist)})
		}
	}
	return nil
}

// take ends the look under way with its answers, which may lack servers.
func (w *Watch) take(seen []wire.Finalist, f Facts, now roomtime.Time) []Event {
	ended := *w.state.Look
	w.state.Look = nil
	var events []Event
	for i := range w.state.Servers {
		s := &w.state.Servers[i]
		if !slices.Contains(ended.Servers, s.Server) {
			continue
		}
		free := -1
		if at := slices.IndexFunc(seen, func(f wire.Finalist) bool { return f.Server == s.Server }); at >= 0 {
			free = freeIn(seen[at])
		}
		s.Words = append(s.Words, word{ended.By, free})
		if events = append(events, w.decide(s, f, now)...); w.state.Going != nil {
			break
		}
	}
	return events
}

// decide draws the conclusion from the players' reports on a server.
func (w *Watch) decide(s *watched, f Facts, now roomtime.Time) []Event {
	if !s.Instead {
		switch judge(s.Words, f.Need, len(w.lookers(s, f))) {
		case check:
			s.Next = now.Add(checkAfter)
			return nil
		case open:
			return []Event{w.open(s, f, now)}
		}
	}
	words := s.Words
	s.settle(now, now.Sub(w.state.Began))
	if s.Instead || len(words) == 1 {
		return nil
	}
	for _, word := range words {
		if word.Free >= f.Need {
			w.blame(word.By)
			w.state.News = sentence.Of("seats.contradicted", "player", word.By, "n", word.Free, "server", f.Servers[s.Server].Name)
		}
	}
	return nil
}
