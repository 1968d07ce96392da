package room

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/facts"
	"muster/host/room/journal"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/search"
	"muster/host/wire"
)

// Output is something that the driver must do for a room. The package documentation says in which
// order.
type Output interface{ isOutput() }

// These are the outputs.
type (
	Save    struct{}
	Publish struct{}
	// Admit names the player whose hello was the input.
	Admit struct{ Player people.ID }
	// Send is a message to one player or, if To is empty, to all connected players.
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
		// Also are servers that people have brought. The list gets these, too.
		Also []netip.AddrPort
	}
	// Plan asks for processor time to compute the next questions, which takes nearly all the time
	// that a room ever needs. Since is when the round began to measure. Background says that nobody
	// waits for it, because the choice is made. The answer is a [Turn]. The room makes one request
	// at a time.
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

// Announce posts an announcement to the room's webhook, for people who are away. The driver adds
// the link. It may report by an [Announced] whether the announcement arrived.
type Announce struct{ Announcement wire.Announcement }

func (Announce) isOutput() {}

// outbox collects the outputs of a Step.
type outbox struct {
	// now is the time of the present Step, and outputs are its outputs so far. mustSave says that
	// the driver must save the room first, even if the phase stays.
	now      roomtime.Clocks
	outputs  []Output
	mustSave bool
	// journal has the notes to the people in the room.
	journal journal.Journal
	// revision counts the changes of the room's view and saved form.
	revision int
}

func (o *outbox) begin(now roomtime.Clocks) { o.now, o.outputs, o.mustSave = now, nil, false }

func (o *outbox) emit(output Output) { o.outputs = append(o.outputs, output) }

func (o *outbox) send(player people.ID, m wire.Message) { o.emit(Send{player, m}) }

// publish shows everybody the room before they get the later outputs of this step. It shows the
// state after the step, so once is enough.
func (o *outbox) publish() {
	if !slices.Contains(o.outputs, Output(Publish{})) {
		o.emit(Publish{})
	}
}

// ask asks players' programs to measure servers.
func (o *outbox) ask(round int, asks []search.Ask) {
	for _, ask := range asks {
		o.send(ask.Player, wire.Ask{Round: round, Servers: append([]int{}, ask.Servers...), Only: ask.Only})
	}
}

// say tells the people in the room the sentences that are not empty.
func (o *outbox) say(sentences ...sentence.Sentence) {
	for _, s := range sentences {
		if !s.IsZero() {
			o.revision++
			o.journal.Add(o.now.Wall, s)
		}
	}
}

// plan asks for processor time, unless the room already waits for it.
func (o *outbox) plan(g *facts.Parts, p *probing.Probing, isBackground bool) {
	isNew, note := p.AwaitTurn(isBackground, o.now.Room)
	if isNew {
		o.emit(Plan{o.now.Of(g.Measuring), isBackground})
	}
	o.say(note)
}

// brief sends a player the list of the round, unless the program has it. Without the list, a
// program looks at no server and distrusts the launch.
func (o *outbox) brief(g *facts.Parts, player people.ID) {
	if g.Attendance.Brief(player, g.Number) {
		o.send(player, g.Facts().ListFor(player))
	}
}

// lookAround asks a player's program to look for servers on its network, if that is wanted and not
// yet known.
func (o *outbox) lookAround(g *facts.Parts, player people.ID) {
	isWanted := g.Settings.LookAround || g.Settings.LookBeyond && g.Nearby.IsBeyond(player)
	if isWanted && g.Facts().IsHere(player) && g.Nearby.Ask(player, g.Settings.Game, o.now.Room) {
		o.send(player, wire.Look{Game: g.Settings.Game})
	}
}

// lookBeyond asks players' programs which servers of other networks they reach, as far as that is
// not yet known. It reports whether it has asked any.
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
