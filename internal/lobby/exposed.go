package lobby

import (
	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/peer"
)

// willSee tells a player how many servers will see their address, before any is asked. The round and
// the player bound them; a discreet of 0 is no bound.
func willSee(e peer.Exposing, discreet int) sentence.Sentence {
	most := e.Most
	if discreet > 0 && (most == 0 || discreet < most) {
		most = discreet
	}
	if most == 0 || most >= e.Listed {
		return sentence.Of("term.all-see", "n", e.Listed)
	}
	return sentence.Of("term.some-see", "n", most, "all", e.Listed)
}

// placesWillSee tells a player how many places will see their address, before any is asked. A place is
// where a server could be.
func placesWillSee(e peer.ExposingPlaces, discreet int) sentence.Sentence {
	if discreet > 0 {
		e.Places = min(e.Places, discreet)
	}
	return sentence.Of("term.places-see", "n", e.Places)
}

// saw tells a player how many servers and places saw their address.
func saw(l *catalogue.Language, e discovery.Exposed) string {
	if e.Servers == 0 {
		return l.Words("term.none-saw", "places", e.Places)
	}
	servers, times := sentence.Of("term.saw", "n", e.Servers, "all", e.Listed), sentence.Of("term.times", "n", e.Times)
	var more []sentence.Sentence
	switch {
	case e.Again == 1:
		more = append(more, sentence.Of("term.one-saw-again", "times", times))
	case e.Again > 1 && e.Again < e.Servers:
		more = append(more, sentence.Of("term.some-saw-again", "n", e.Again, "times", times))
	case e.Again > 1:
		servers = sentence.Of("term.all-saw-again", "n", e.Servers, "all", e.Listed, "times", times)
	}
	if e.Places > 0 {
		more = append(more, sentence.Of("term.places-saw", "n", e.Places))
	}
	return joined(l, "term.also", append([]sentence.Sentence{servers}, more...)...)
}
