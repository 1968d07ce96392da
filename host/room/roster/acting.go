package roster

import (
	"net/netip"
	"slices"
	"strings"

	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Caller returns the person with a credential. Without one it returns nobody, who is the organiser
// if the credential is the secret: an organiser need not be in the room yet.
func (r *Roster) Caller(credential string) people.Person {
	isSecret := isSame(r.state.Keys.Secret, credential)
	ticket := ""
	if credential != "" {
		ticket = TicketOf(credential)
	}
	for p, isPlayer := range r.state.everyone() {
		if isSame(p.Page, credential) || isSame(p.ticket, ticket) || isSecret && p.Organiser {
			return r.view(p, isPlayer)
		}
	}
	return people.Person{IsOrganiser: isSecret}
}

// ErrOrganiserOnly and ErrNickname refuse orders of people who are not the organiser, or have no
// name yet.
var (
	ErrOrganiserOnly = wire.Refuse(wire.ReasonSecret, "refused.organiser-only")
	ErrNickname      = wire.Refuse(wire.ReasonName, "refused.nickname")
)

// errIsOrganiser returns the refusal to remove the organiser.
func errIsOrganiser(id people.ID) error {
	return wire.Refuse(wire.ReasonAction, "refused.is-organiser", "player", id)
}

// Visit is a page's wish to enter, with a nickname or with a credential from its link.
type Visit struct {
	Name string
	// Secret is the organiser's secret, or a person's credential.
	Secret string
	// Was is an earlier credential of somebody who has left.
	Was string
	// Token is the token for a new guest. From is the page's address.
	Token string
	From  netip.Addr
}

// Entry is the person that the page belongs to from now on.
type Entry struct {
	ID          people.ID
	Name, Token string
	IsNew       bool
}

// Enter makes a page a new guest's, or that of the person whose credential it shows.
func (r *Roster) Enter(v Visit, by people.Person, now roomtime.Time) (entry Entry, events []Event, err error) {
	switch shown := r.Caller(v.Secret); {
	case shown.IsSomebody(): // a personal link: the page belongs to that person now
		if by.ID != shown.ID && !by.IsOrganiser {
			events = r.Drop(by.ID)
		}
		by = shown
	case shown.IsOrganiser && by.IsSomebody():
		one, _ := r.state.find(by.ID)
		r.state.appoint(one)
	case shown.IsOrganiser:
		by = shown
	}
	if by.IsSomebody() {
		return Entry{by.ID, by.Name, r.PageOf(by.ID), false}, events, nil
	}
	name := nickname.Clean(v.Name)
	if err := r.refuseGuest(name, by); err != nil {
		return entry, nil, err
	}
	events, isFull, err := r.displace(v.From)
	if err != nil {
		return entry, nil, err
	}
	token := v.Token
	if r.state.indexOfFormer(v.Was) >= 0 && !r.Caller(v.Was).IsSomebody() {
		token = v.Was // their program knows this token
	}
	g := r.newcomer(token)
	g.Name, g.From, g.Seen = name, v.From, now
	r.state.Guests = append(r.state.Guests, g)
	if by.IsOrganiser {
		r.state.appoint(g)
	}
	events = append(events, Came{ID: g.ID})
	if !isFull { // or a flood of nicknames would flood the log
		events = append(events, tell("room.page-open", "player", g.ID))
	}
	return Entry{g.ID, name, token, true}, events, nil
}

// refuseGuest returns why a page cannot have a nickname, or nil.
func (r *Roster) refuseGuest(name string, by people.Person) error {
	if name == "" {
		return wire.Refuse(wire.ReasonName, "refused.nickname-empty")
	}
	one, isPlayer := r.state.called(name)
	switch {
	case r.state.Locked && !by.IsOrganiser:
		return lockedOut()
	case one != nil && !isPlayer:
		return wire.Refuse(wire.ReasonNameTaken, "refused.nickname-open", "name", name).
			Advising("refused.nickname-open-hint")
	case r.state.isTaken(name, nil):
		return wire.Refuse(wire.ReasonNameTaken, "refused.nickname-plays", "player", name).
			Advising("refused.nickname-plays-hint")
	}
	return nil
}

// displace makes room for a guest from an address. If the room or the address is full, it drops the
// guest who has been away longest. It reports whether it was full.
func (r *Roster) displace(from netip.Addr) (events []Event, isFull bool, err error) {
	most := guestsByAddress
	if !from.IsValid() {
		most = guestsUnknown
	}
	nicknames := slices.DeleteFunc(slices.Clone(r.state.Guests), func(g *person) bool { return g.Regular })
	rivals := slices.DeleteFunc(slices.Clone(nicknames), func(g *person) bool { return g.From != from })
	switch {
	case len(rivals) >= most:
	case len(nicknames) >= maxGuests:
		rivals = nicknames
	default:
		return nil, false, nil
	}
	var longest *person
	for _, g := range rivals {
		if !g.Organiser && !r.isWatching(g) && (longest == nil || g.Seen.Before(longest.Seen)) {
			longest = g
		}
	}
	if longest == nil {
		return nil, true, wire.Refuse(wire.ReasonFull, "refused.guests-full", "n", len(rivals)).
			Advising("refused.guests-full-hint")
	}
	return r.Drop(longest.ID), true, nil
}

// Target returns the person that an order is about: the caller, or the person whom the organiser
// names.
func (r *Roster) Target(by people.Person, name string) (people.Person, error) {
	if name == "" {
		return by, nil
	}
	one := r.Called(name)
	switch {
	case !by.IsOrganiser:
		return people.Person{}, ErrOrganiserOnly
	case !one.IsSomebody():
		return people.Person{}, wire.Refuse(wire.ReasonAction, "refused.not-present", "name", nickname.Clean(name))
	}
	return one, nil
}

// Rename gives a person another name.
func (r *Roster) Rename(by people.Person, name string, now roomtime.Time) ([]Event, error) {
	if !by.IsSomebody() {
		return nil, ErrNickname
	}
	one, _ := r.state.find(by.ID)
	switch name = nickname.Clean(name); {
	case name == "":
		return nil, wire.Refuse(wire.ReasonName, "refused.name-empty")
	case r.state.isTaken(name, one):
		return nil, wire.Refuse(wire.ReasonNameTaken, "refused.somebody-is", "name", name).
			Advising("refused.somebody-is-hint")
	case now.Sub(one.renamed) < renameEvery:
		return nil, wire.Refuse(wire.ReasonAction, "refused.rename-often", "for", renameEvery)
	}
	return []Event{r.rename(one, name, now)}, nil
}

// Quit takes a guest out of the room. The organiser stays, because somebody must be able to steer.
func (r *Roster) Quit(by people.Person) ([]Event, error) {
	switch {
	case !by.IsSomebody():
		return nil, ErrNickname
	case by.IsOrganiser:
		return nil, errIsOrganiser(by.ID)
	}
	return append([]Event{tell("room.left", "player", by.ID)}, r.Drop(by.ID)...), nil
}

// Hide keeps somebody's country from the others, or shows it again.
func (r *Roster) Hide(by people.Person, somewhere bool) error {
	if !by.IsSomebody() {
		return ErrNickname
	}
	one, _ := r.state.find(by.ID)
	one.Somewhere = somewhere
	return nil
}

// HandOn makes a player the organiser, with a new secret.
func (r *Roster) HandOn(name, secret string) ([]Event, error) {
	p, isPlayer := r.state.called(name)
	if !isPlayer {
		return nil, wire.Refuse(wire.ReasonAction, "refused.no-player", "name", nickname.Clean(name))
	}
	r.state.Keys.Secret = secret
	r.state.appoint(p)
	return []Event{tell("room.organiser-now", "player", p.ID)}, nil
}

// Renew gives the organiser another secret. Others who have the old one can no longer decide.
func (r *Roster) Renew(by people.Person, secret string) []Event {
	var one *person
	if by.IsSomebody() {
		one, _ = r.state.find(by.ID)
	}
	r.state.Keys.Secret = secret
	r.state.appoint(one)
	return []Event{tell("room.link-new")}
}

// Remove takes a guest out of the room. A player only stops being a regular: the caller frees the
// place with [Roster.Unseat].
func (r *Roster) Remove(name string) ([]Event, error) {
	one, isPlayer := r.state.called(name)
	switch {
	case one == nil:
		return nil, wire.Refuse(wire.ReasonAction, "refused.not-present", "name", nickname.Clean(name))
	case !isPlayer && one.Organiser:
		return nil, errIsOrganiser(one.ID)
	}
	events := []Event{tell("room.removed", "player", one.ID), Removed{one.ID}}
	if isPlayer {
		one.Regular = false
		return events, nil
	}
	return append(events, r.Drop(one.ID)...), nil
}

// ForgetTarget returns the person that an order to forget is about: the caller, or the person whom
// the organiser names. If the roster does not know the person, only the name is set.
func (r *Roster) ForgetTarget(by people.Person, name string) (people.Person, error) {
	switch name = nickname.Clean(name); {
	case name == "" && !by.IsSomebody():
		return people.Person{}, ErrNickname
	case name == "":
		name = by.Name
	case !by.IsOrganiser:
		return people.Person{}, ErrOrganiserOnly
	}
	one := r.Called(name)
	if one.IsOrganiser {
		return people.Person{}, errIsOrganiser(one.ID)
	}
	if !one.IsSomebody() {
		one.Name = name
		for _, f := range r.state.Former {
			if strings.EqualFold(f.Name, name) {
				one.ID = f.ID // the newest
			}
		}
	}
	return one, nil
}

// Lock closes the room to new people, or opens it again.
func (r *Roster) Lock(locked bool) []Event {
	if r.state.Locked == locked {
		return nil
	}
	if r.state.Locked = locked; locked {
		return []Event{tell("room.locked")}
	}
	return []Event{tell("room.unlocked")}
}
