package openapi

import (
	"reflect"

	"muster/host/room"
	"muster/host/wire"
)

// action is one of the actions of POST /api/rooms/{code}/{action}.
type action struct {
	name    string
	by      string // who may order it
	summary string
	// body is the Go value that the body is read into, nil for an action without one.
	body any
	// required are the fields that the action makes no sense without.
	required []string
	// answer is the Go value of the answer's form, nil for an answer without a body.
	answer    any
	stability Stability
	more      string // what else there is to say
	example   string // of a body
}

// These say who may order an action.
const (
	anyone    = "anybody with the room's code or link"
	person    = "a person of the room"
	voter     = "a person with a say: a player in the choice and, with `guests_vote`, people who only watch"
	player    = "a player"
	regular   = "a person of a standing room"
	captain   = "the captain whose turn it is"
	captains  = "a captain"
	organiser = "the organiser"
)

// Entry is the answer to somebody who comes in by a page.
type Entry struct {
	// Name is the person's name in the room, which may differ from the one asked for.
	Name string `json:"name"`
	// Token is the credential of this person for all later requests. Keep it secret.
	Token string `json:"token"`
}

// NewSecret is the answer to an organiser who renews the link.
type NewSecret struct {
	// Secret is the organiser's new credential. The old one opens nothing any more.
	Secret string `json:"secret"`
}

var actions = []action{
	{"enter", anyone, "Come in by a page", room.Enter{}, nil, Entry{}, Stable,
		"With `secret`, the page is that person's; the organiser's secret makes the person the organiser if nobody is. " +
			"A person who came in before sends `was` or the old token as credential, and gets the place back.",
		`{"name":"zoe"}`},
	{"rename", "a person of the room; the organiser renames anybody", "Change a name", room.Rename{}, []string{"name"}, nil, Stable,
		"", `{"name":"zoë"}`},
	{"leave", person, "Leave the room", room.Quit{}, nil, nil, Stable, "The place is free at once, and the player's program is told.", ""},
	{"go", organiser, "Start, choose, launch, or begin the next round", room.Go{}, nil, nil, Stable, "", `{"stage":"gathering"}`},
	{"end", organiser, "End the session", room.End{}, nil, nil, Stable,
		"Pages and programs are told, and the room is over. A standing room sleeps until its next date.", ""},
	{"settings", organiser, "Change settings", room.Change{}, []string{"settings"}, nil, Stable,
		"All of the given settings change, or none. They count from the next decision on, the game from the next list on.",
		`{"settings":{"by":"fairness","limits_ms":[120]}}`},
	{"lock", organiser, "Let nobody new in, or let people in again", room.Lock{}, []string{"locked"}, nil, Stable, "", `{"locked":true}`},
	{"remove", organiser, "Send a person away", room.Remove{}, []string{"name"}, nil, Stable, "", `{"name":"zoe"}`},
	{"vote", voter, "Vote for a candidate", room.Vote{}, nil, nil, Stable, "", `{"addr":"192.0.2.7:27960"}`},
	{"veto", voter, "Keep a server or a map out of the choice", room.Veto{}, nil, nil, Stable, "", `{"addr":"192.0.2.7:27960"}`},
	{"ready", voter, "Say that one is ready, or is not", room.Ready{}, []string{"ready"}, nil, Stable, "", `{"ready":true}`},
	{"react", person, "Show everybody a sign for two seconds", room.React{}, []string{"sign"}, nil, Stable, "", `{"sign":"heart"}`},
	{"arrived", person, "Say that one has joined the game server by hand", room.Arrived{}, nil, nil, Stable, "", ""},
	{"reopen", player, "Make one's own program open the game once more", room.Reopen{}, nil, nil, Stable, "", ""},
	{"has", player, "Say one's version of the room's game", room.Has{}, nil, nil, Stable, "", `{"version":"5.6.1"}`},
	{"somewhere", person, "Hide or show one's own country", room.Somewhere{}, []string{"somewhere"}, nil, Stable, "", `{"somewhere":true}`},
	{"allow", organiser, "Allow a higher ping, and choose again", room.Allow{}, []string{"limit_ms"}, nil, Stable,
		"While people vote, or after a round that failed.", `{"limit_ms":185}`},
	{"without", organiser, "Leave a player out of the choice, and choose again", room.Without{}, []string{"name"}, nil, Stable,
		"While the group gathers, it holds for the round to come.", `{"name":"chong"}`},
	{"handon", organiser, "Make a player the organiser", room.HandOn{}, []string{"name"}, nil, Stable,
		"The old secret opens nothing any more.", `{"name":"zoe"}`},
	{"renew", organiser, "Change the organiser's secret", room.Renew{}, nil, NewSecret{}, Stable, "", ""},

	{"side", "a person of the room; a captain picks people on neither side, the organiser anybody", "Take a side of a match",
		room.TakeSide{}, []string{"side"}, nil, Stable, "", `{"side":"a"}`},
	{"captain", "the side's captain, and the organiser", "Make a player the captain of their side", room.NameCaptain{},
		[]string{"name"}, nil, Stable, "", `{"name":"bob"}`},
	{"move", captain, "Ban or pick a server or a map", room.Move{}, []string{"number", "what"}, nil, Stable,
		"A move for another turn than the present one is refused.", `{"number":3,"what":"192.0.2.7:27960"}`},
	{"ask_look", captains, "Ask everyone to look at the servers for long, before captains move", room.AskLook{}, nil, nil, Stable,
		"A side may ask once a match.", ""},

	{"come", regular, "Say whether one comes to the next date", room.Come{}, nil, nil, Stable, "", `{"comes":true}`},
	{"like", regular, "Say how one liked the last server", room.Like{}, nil, nil, Stable, "", `{"liked":true}`},
	{"wake", regular, "Open a room that sleeps", room.Wake{}, nil, nil, Stable, "", ""},
	{"forget", "a person of the room; the organiser names anybody", "Take a person out of the room, its history and its log",
		room.Forget{}, nil, nil, Stable, "", `{"name":"ann"}`},

	{"bring", "a player, and the organiser", "Bring servers that one likes, or never wants to see", room.Bring{}, nil, nil, Provisional,
		"", `{"favourites":[{"addr":"192.0.2.7:27960","name":"Aggressor"}]}`},
	{"hide", organiser, "Keep the room from a server", room.Hide{}, []string{"addr", "hidden"}, nil, Provisional, "",
		`{"addr":"192.0.2.7:27960","hidden":true}`},
	{"strike", organiser, "Take a server off everybody's lists", room.Strike{}, []string{"addr"}, nil, Provisional, "",
		`{"addr":"192.0.2.7:27960"}`},
	{"whatif", voter, "Try the choice by other settings", room.WhatIf{}, nil, nil, Provisional,
		"Pages show the result to everybody. Without `by` the last try is taken back. A room takes 10 tries at once, and then one " +
			"every 300 milliseconds.", `{"by":"threshold","limits_ms":[100]}`},
	{"apply", organiser, "Make the settings of the what-if the room's", room.Apply{}, nil, nil, Provisional, "", ""},
	{"trust", organiser, "Vouch for a player's numbers", room.Trust{}, []string{"name"}, nil, Provisional, "", `{"name":"dan"}`},
	{"count", "the organiser; a guest takes back their own", "Count a guest in by estimated pings", room.Count{},
		[]string{"name", "counted"}, nil, Provisional, "", `{"name":"zoe","counted":true}`},
	{"more", organiser, "Ask everyone for more servers, and choose again", room.More{}, []string{"servers"}, nil, Provisional,
		"At most 200 at a time and 1,000 a round.", `{"servers":200}`},
	{"await", organiser, "Wait for seats", room.AwaitSeats{}, nil, nil, Provisional, "", `{"addr":"192.0.2.7:27960"}`},
	{"unwait", organiser, "Stop waiting for seats", room.Unwait{}, nil, nil, Provisional, "", `{"instead":true}`},
	{"survey", organiser, "Let everyone measure the candidate places", room.Survey{}, nil, nil, Provisional, "At most every 30 seconds.", ""},
	{"started", "the organiser's program", "Say that a server was started for the room", room.Started{}, nil, nil, Provisional,
		"The next round has that server alone in its list. Without `addr` the server has stopped.",
		`{"game":"openarena","addr":"192.0.2.7:27960"}`},
	{"servers", "the organiser's program, on a public host", "Replace the organiser's own list", wire.Supply{},
		[]string{"game", "servers"}, nil, Provisional,
		"The list may be as long as `max_servers` of `GET /api/service`, and may come with `Content-Encoding: gzip`. " +
			"Other hosts know no such action and answer 404.",
		`{"game":"openarena","servers":["192.0.2.7:27960"]}`},
}

// Bodies returns the Go types that the bodies of actions are read into, by the names of the actions.
func Bodies() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, a := range actions {
		if a.name == "servers" { // the host turns it into addresses
			types[a.name] = reflect.TypeFor[room.Supply]()
			continue
		}
		types[a.name] = reflect.TypeOf(a.body)
	}
	return types
}

// bodyOf returns the schema of an action's body.
func (r *reflector) bodyOf(a action) *schema {
	t := reflect.TypeOf(a.body)
	if a.name == "whatif" {
		return r.settings(wire.Supposed, "")
	}
	s := &schema{Type: "object"}
	name := "POST " + a.name
	for _, f := range fields(t) {
		of := r.of(f.Type)
		if f.Type.Kind() == reflect.Pointer {
			of = orNull(of)
		}
		switch {
		case t == reflect.TypeFor[room.Change]():
			of = r.settings(wire.OnPage, "")
		case t == reflect.TypeFor[room.TakeSide]() && f.name == "side":
			of = oneOf([]wire.Side{wire.SideA, wire.SideB, ""})
		}
		s.Properties = append(s.Properties, property{f.name, r.described(of, f, name)})
	}
	s.Required = a.required
	r.types[name] = t
	return s
}
