package room

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/facts"
	"muster/host/room/journal"
	"muster/host/room/people"
	"muster/host/room/places"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/search"
	"muster/host/wire"
)

// Output is something to do for a room. The package documentation has the order.
type Output interface{ isOutput() }

// The outputs.
type (
	Save    struct{}
	Publish struct{}
	// Admit says which player's hello was the input.
	Admit struct{ Player people.ID }
	// Send goes to one player, or to all that are connected if To is empty.
	Send struct {
		To      people.ID
		Message wire.Message
	}
	// Dismiss ends a player's connection with a refusal.
	Dismiss struct {
		Player people.ID
		Why    wire.Refusal
	}
	// Fetch gets the server list of a game, or of the organiser's own servers.
	Fetch struct {
		Game    string
		Servers []netip.AddrPort
		// Also are servers that people have brought. They belong on the list, too.
		Also []netip.AddrPort
	}
	// Plan asks for processor time to look for the next questions, which takes nearly all the time
	// that a room ever needs. Since is when its round began to measure. Background says that nobody
	// waits for it, because the choice is made. The room makes one such request at a time; the
	// answer is a [Turn].
	Plan struct {
		Since      time.Time
		Background bool
	}
	// Answer is the JSON document that answers an order.
	Answer struct{ Document any }
)

func (Save) isOutput()    {}
func (Publish) isOutput() {}
func (Admit) isOutput()   {}
func (Send) isOutput()    {}
func (Dismiss) isOutput() {}
func (Fetch) isOutput()   {}
func (Plan) isOutput()    {}
func (Answer) isOutput()  {}

// Announce tells those of the group who are away, by the room's webhook. The driver adds the link.
// It may tell by an [Announced] whether the announcement arrived.
type Announce struct{ Announcement wire.Announcement }

func (Announce) isOutput() {}

// outbox collects what a Step leads to.
type outbox struct {
	// now is the time of the Step under way, and outputs what it has led to so far. If it binds,
	// the room has to be saved first although the phase stays.
	now      roomtime.Clocks
	outputs  []Output
	mustSave bool
	// journal has the notes to the people in the room.
	journal journal.Journal
	// revision counts the changes of the room's view and saved form.
	revision int
}

// begin begins a Step.
func (o *outbox) begin(now roomtime.Clocks) { o.now, o.outputs, o.mustSave = now, nil, false }

func (o *outbox) emit(output Output) { o.outputs = append(o.outputs, output) }

func (o *outbox) send(player people.ID, m wire.Message) { o.emit(Send{player, m}) }

// publish makes everybody see the state before what follows in this step. It is the state after the
// step, so once is enough.
func (o *outbox) publish() {
	if !slices.Contains(o.outputs, Output(Publish{})) {
		o.emit(Publish{})
	}
}

// ask sends players the servers of a round that their programs are asked to measure.
func (o *outbox) ask(round int, asks []search.Ask) {
	for _, ask := range asks {
		o.send(ask.Player, wire.Ask{Round: round, Servers: append([]int{}, ask.Servers...), Only: ask.Only})
	}
}

// say tells the people in the room some sentences, but for empty ones.
func (o *outbox) say(sentences ...sentence.Sentence) {
	for _, s := range sentences {
		if !s.IsZero() {
			o.revision++
			o.journal.Add(o.now.Wall, s)
		}
	}
}

// plan asks for a turn of the search, unless the room waits for one.
func (o *outbox) plan(g *facts.Parts, p *probing.Probing, isBackground bool) {
	isNew, note := p.AwaitTurn(isBackground, o.now.Room)
	if isNew {
		o.emit(Plan{o.now.Of(g.Measuring), isBackground})
	}
	o.say(note)
}

// brief sends a player the list of the round, unless the program has it. Without the list it looks
// at no server, and doubts where the room sends the player.
func (o *outbox) brief(g *facts.Parts, player people.ID) {
	if g.Attendance.Brief(player, g.Number) {
		o.send(player, g.Facts().ListFor(player))
	}
}

// lookAround asks a player's program to look around its network, unless that is known.
func (o *outbox) lookAround(g *facts.Parts, player people.ID) {
	isWanted := g.Settings.LookAround || g.Settings.LookBeyond && g.Nearby.IsBeyond(player)
	if isWanted && g.Facts().IsHere(player) && g.Nearby.Ask(player, g.Settings.Game, o.now.Room) {
		o.send(player, wire.Look{Game: g.Settings.Game})
	}
}

// lookBeyond asks players' programs which servers of other networks they reach, unless that is known,
// and reports whether it has asked any.
func (o *outbox) lookBeyond(g *facts.Parts, players []people.ID, local []LocalServer) bool {
	if !g.Settings.LookAround && !g.Settings.LookBeyond {
		return false
	}
	here := people.Filtered(players, g.Facts().IsHere)
	asks := g.Nearby.Beyond(here, g.Settings.Game, local, o.now.Room)
	for _, ask := range asks {
		o.send(ask.Player, wire.Look{Game: g.Settings.Game, At: ask.At})
	}
	return len(asks) > 0
}

// sendNews passes on the news of a survey of places.
func (o *outbox) sendNews(n places.News) {
	o.say(n.Notes...)
	for _, ask := range n.Asks {
		o.send(ask.To, ask.Survey)
	}
}
