package lobby

import (
	"context"

	"muster/discovery/sentence"
	"muster/host/wire"
)

// namedProviders is how many providers the question names; it counts the others.
const namedProviders = 2

// consents asks the player whether machines of providers may see their address. First are the places that
// would be asked first; the room says how many there will be.
func (y *Player) consents(ctx context.Context, first wire.Venues) bool {
	screen := y.Desk.Screen
	switch {
	case y.Agrees:
		return true
	case !y.Desk.hasPerson():
		screen.Tell("term.places-unasked", "flag", "--yes")
		return false
	}
	places := y.places.Load()
	if places == nil || places.Machines == 0 {
		places = countOf(first)
	}
	question := sentence.Of("term.places-ask", "n", places.Machines, "providers", named(places.Providers))
	answer, ok := y.Launcher.Console.Ask(ctx, screen.Language.Say(question)+" ")
	if isYes := ok && y.Launcher.Console.Yes(answer); isYes || ctx.Err() != nil {
		return isYes
	}
	screen.Tell("term.places-declined")
	return false
}

// countOf counts places by their providers. A place that names none is the provider of its machine.
func countOf(places wire.Venues) *wire.Places {
	all, at := &wire.Places{Machines: len(places)}, map[string]int{}
	for _, place := range places {
		name := place.Name
		if len(place.Offers) > 0 {
			name = place.Offers[0].Provider
		}
		if _, is := at[name]; !is {
			at[name] = len(all.Providers)
			all.Providers = append(all.Providers, wire.ProviderCount{Name: name})
		}
		all.Providers[at[name]].N++
	}
	return all
}

// named lists providers: the first ones by name, and how many there are besides.
func named(providers []wire.ProviderCount) (list []sentence.Sentence) {
	for i, p := range providers {
		if left := len(providers) - i; i == namedProviders && left > 1 {
			return append(list, sentence.Of("term.places-more", "n", left))
		}
		list = append(list, sentence.Plain(p.Name))
	}
	return list
}

// offersOf lists who has servers at a place.
func offersOf(place wire.Candidate) (offers []string) {
	for _, o := range place.Offers {
		text := o.Provider
		if o.Region != "" {
			text += " (" + o.Region + ")"
		}
		offers = append(offers, text)
	}
	return offers
}

// hasPlace reports whether a round has found a place for a server.
func hasPlace(s wire.Snapshot) bool { return s.Way != nil && s.Way.Place != nil }
