package roster

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// The room takes a program's own token if it has 128 bits, as letters and digits of five bits each.
// It must not be much longer, because it is kept with the room.
const (
	tokenLength  = 26
	longestToken = 2 * tokenLength
)

// Newcomer is a program that says hello, with the person that it belongs to.
type Newcomer struct {
	// Name is the name that the player wants. It is empty if people could not see or say it.
	Name string
	// Player is the present player with the name or the token. Guest is the guest who comes to
	// play.
	Player, Guest people.ID
	// Mark is the [MarkOf] of the program's player.
	Mark  string
	hello wire.Hello
}

// Recognise finds the player of a program that says hello.
func (r *Roster) Recognise(hello wire.Hello) Newcomer {
	c := Newcomer{Name: nickname.Clean(hello.Name), Mark: MarkOf(PageOf(hello.Token)), hello: hello}
	for _, p := range r.state.Players {
		if strings.EqualFold(p.Name, c.Name) && c.Player == "" {
			c.Player = p.ID
		}
	}
	for _, p := range r.state.Players {
		if p.isOf(hello) {
			c.Player = p.ID // the token counts more than the name
		}
	}
	if g := r.guestOf(hello); g != nil {
		c.Guest, c.Mark = g.ID, g.mark
	}
	return c
}

// guestOf returns the guest whose program says hello, or nil. It recognises the guest by the ticket
// of the guest's page, the organiser's secret, or the token of an earlier place.
func (r *Roster) guestOf(hello wire.Hello) *person {
	i := slices.IndexFunc(r.state.Guests, func(g *person) bool {
		return isSame(TicketOf(g.Page), hello.As) || g.Regular && isSame(g.Page, hello.As) ||
			isSame(g.Token, hello.Token) || g.Organiser && isSame(r.state.Keys.Secret, hello.As) ||
			hello.Token != "" && isSame(g.Page, PageOf(hello.Token))
	})
	if i < 0 {
		return nil
	}
	return r.state.Guests[i]
}

// Refusal returns why a program cannot come in, or nil if it can. places is the number of the
// room's places. isConnected says that the player's program is connected already.
func (r *Roster) Refusal(c Newcomer, places int, isConnected bool) *wire.Refusal {
	if c.Name == "" {
		return wire.Refuse(wire.ReasonName, "refused.player-name").Advising("refused.player-name-hint")
	}
	if c.Player != "" {
		p, _ := r.state.find(c.Player)
		return p.refusal(c.hello, isConnected)
	}
	before, _ := r.state.find(c.Guest)
	isSecret := isSame(r.state.Keys.Secret, c.hello.As)
	switch alike := r.state.lookalike(c.Name); {
	case alike != "":
		return wire.Refuse(wire.ReasonNameTaken, "refused.lookalike", "name", c.Name, "player", alike).
			Advising("refused.other-name-hint")
	case r.state.isReserved(c.Name, before):
		return wire.Refuse(wire.ReasonNameTaken, "refused.reserved", "name", c.Name).Advising("refused.reserved-hint")
	case r.state.Locked && !isSecret && !(before != nil && (before.Organiser || before.Regular)):
		return lockedOut()
	case len(r.state.Players) >= places:
		return wire.Refuse(wire.ReasonFull, "refused.full", "n", places).Advising("refused.full-hint")
	}
	return nil
}

// refusal returns why a program may not connect as a player: it is another's, or the connection is
// an old one.
func (p *person) refusal(hello wire.Hello, isConnected bool) *wire.Refusal {
	isOld := hello.Program != "" && (hello.Program == p.Before || hello.Program == p.Program && hello.Line < p.line)
	switch {
	case !p.isOf(hello):
		return wire.Refuse(wire.ReasonNameTaken, "refused.name-taken", "player", p.ID).
			Advising("refused.other-name-hint")
	case isConnected && isOld: // the hello was long on its way
		return wire.Refuse(wire.ReasonReplaced, "refused.replaced-late", "player", p.ID)
	}
	return nil
}

// isOf reports whether a hello comes from the player's program. A player who has measured with the page may
// come with a program, too, once.
func (p *person) isOf(hello wire.Hello) bool {
	return isSame(p.Token, hello.Token) || p.Browser && !hello.Browser && isSame(TicketOf(p.Page), hello.As)
}

// HasRoom reports whether a new person may come in with only the code.
func (r *Roster) HasRoom(places int) bool { return !r.state.Locked && len(r.state.Players) < places }

// Seat is a player's place.
type Seat struct {
	ID                people.ID
	Name, Token, Page string
	// IsSameProgram says that the same program had the place before.
	IsSameProgram bool
}

// Admit gives a program its player's place again, or gives a new player a place. Fresh is the token
// for a program that has made none.
func (r *Roster) Admit(c Newcomer, fresh string, now roomtime.Time) (Seat, []Event) {
	var events []Event
	p, _ := r.state.find(c.Player)
	if c.Player == "" {
		p, events = r.add(c, fresh, now)
	}
	if isTicket(c.hello.As) && c.Guest == "" && !isSame(r.state.Keys.Secret, c.hello.As) && !r.isTicketOfSomebody(c.hello.As) {
		p.ticket = c.hello.As
	}
	if !isSame(p.Token, c.hello.Token) && p.isOf(c.hello) {
		p.Token = cmp.Or(tokenOf(c.hello), fresh)
	}
	p.Browser = c.hello.Browser
	seat := Seat{
		ID: p.ID, Name: p.Name, Token: p.Token, Page: p.Page,
		IsSameProgram: p.Program != "" && p.Program == c.hello.Program,
	}
	if c.hello.Program != p.Program && c.hello.Program != p.Before {
		p.Before, p.Program = p.Program, c.hello.Program
	}
	if c.hello.Program == p.Program {
		p.line = c.hello.Line
	}
	p.asks = c.hello.Asks
	p.Somewhere = p.Somewhere || c.hello.Somewhere // or the player said so on the page
	return seat, events
}

// isTicketOfSomebody reports whether a ticket has already let somebody in, because people may pass
// on a program with its ticket.
func (r *Roster) isTicketOfSomebody(ticket string) bool {
	return slices.ContainsFunc(r.state.Players, func(p *person) bool { return isSame(p.ticket, ticket) })
}

// tokenOf returns a program's own token, if it is a good one. It works even if the program never hears the
// welcome.
func tokenOf(hello wire.Hello) string {
	if n := len(hello.Token); n >= tokenLength && n <= longestToken {
		return hello.Token
	}
	return ""
}

// add adds a new player, or makes a guest one.
func (r *Roster) add(c Newcomer, fresh string, now roomtime.Time) (p *person, events []Event) {
	token := cmp.Or(tokenOf(c.hello), fresh)
	page := PageOf(token)
	if p, _ = r.state.find(c.Guest); p != nil {
		r.state.Guests = slices.DeleteFunc(r.state.Guests, func(g *person) bool { return g == p })
	} else {
		p = r.newcomer(page)
	}
	r.names = nil
	p.Name, p.Token, p.From, p.Seen = c.Name, token, netip.Addr{}, roomtime.Time(0)
	for _, g := range r.state.Guests {
		if nickname.Alike(g.Name, c.Name) {
			events = append(events, r.makeWay(g, now))
		}
	}
	if isSame(r.state.Keys.Secret, c.hello.As) && r.Organiser() == "" {
		p.Organiser = true
	}
	r.state.Players = append(r.state.Players, p)
	return p, append(events, Came{ID: p.ID, WasGuest: c.Guest != ""})
}
