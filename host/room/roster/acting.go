package roster

import (
	"net/netip"
	"slices"

	"muster/host/room/nickname"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Caller is somebody who shows a credential: a person in the room, or a stranger without a name. A
// caller with the organiser's secret may not be in the room yet.
type Caller struct {
	Name                             string
	IsPlayer, IsOrganiser, IsRegular bool
}

// IsSomebody reports whether the caller is in the room.
func (c Caller) IsSomebody() bool { return c.Name != "" }

// Title returns the log's name for a caller who decides for the room.
func (c Caller) Title() string {
	if c.IsSomebody() {
		return c.Name
	}
	return "the organiser"
}

// Caller returns the person with a credential. The secret belongs to the room's organiser, on any
// device.
func (r *Roster) Caller(credential string) Caller {
	isSecret := isSame(r.state.Keys.Secret, credential)
	ticket := ""
	if credential != "" {
		ticket = TicketOf(credential)
	}
	for p, isPlayer := range r.state.everyone() {
		if isSame(p.Page, credential) || isSame(p.ticket, ticket) || isSecret && p.Organiser {
			return Caller{p.Name, isPlayer, p.Organiser, p.Regular}
		}
	}
	return Caller{IsOrganiser: isSecret}
}

// ErrOrganiserOnly and ErrNickname tell people why their word does not count.
var (
	ErrOrganiserOnly = wire.Refuse(wire.ReasonSecret, "refused.organiser-only")
	ErrNickname      = wire.Refuse(wire.ReasonName, "refused.nickname")
)

// errIsOrganiser tells people that the room would be without an organiser.
func errIsOrganiser(name string) error {
	return wire.Refuse(wire.ReasonAction, "refused.is-organiser", "player", name)
}

// Visit is a page that asks for a nickname, or shows a credential that stood in its link.
type Visit struct {
	Name string
	// Secret is the organiser's secret, or a person's credential.
	Secret string
	// Was is an earlier credential of somebody whom the room no longer knows. IsOwner says that the
	// lists still have what that person brought.
	Was     string
	IsOwner bool
	// Token is for a new guest, and From where the page is.
	Token string
	From  netip.Addr
}

// Entry is the person that the page belongs to from now on.
type Entry struct {
	Name, Token string
	IsNew       bool
}

// Enter gives a page a nickname, or the person whose credential it shows.
func (r *Roster) Enter(v Visit, by Caller, now roomtime.Time) (entry Entry, events []Event, err error) {
	switch shown := r.Caller(v.Secret); {
	case shown.IsSomebody(): // a personal link: the page belongs to that person now
		if by.Name != shown.Name && !by.IsOrganiser {
			events = r.Drop(by.Name)
		}
		by = shown
	case shown.IsOrganiser && by.IsSomebody():
		one, _ := r.state.find(by.Name)
		r.state.appoint(one)
	case shown.IsOrganiser:
		by = shown
	}
	if by.IsSomebody() {
		one, _ := r.state.find(by.Name)
		return Entry{one.Name, one.Page, false}, events, nil
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
	if v.IsOwner && !r.Caller(v.Was).IsSomebody() {
		token = v.Was // the lists and their program know them by it again
	}
	g := &person{Name: name, Arrival: r.state.freeArrival(), Page: token, mark: MarkOf(token), From: v.From, Seen: now}
	r.state.Guests = append(r.state.Guests, g)
	if by.IsOrganiser {
		r.state.appoint(g)
	}
	events = append(events, Came{Name: name, Owner: OwnerOf(token)})
	if !isFull { // or a flood of nicknames would flood the log
		events = append(events, tell("room.page-open", "player", name))
	}
	return Entry{name, token, true}, events, nil
}

// refuseGuest returns why a page does not get a nickname, or nil.
func (r *Roster) refuseGuest(name string, by Caller) error {
	if name == "" {
		return wire.Refuse(wire.ReasonName, "refused.nickname-empty")
	}
	one, isPlayer := r.state.find(name)
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

// displace makes room for a guest from an address. If need be, the guest who was away longest gives
// way. It reports whether the room or the address was full.
func (r *Roster) displace(from netip.Addr) (events []Event, isFull bool, err error) {
	most := guestsByAddress
	if !from.IsValid() {
		most = guestsUnknown
	}
	nicknames := slices.DeleteFunc(slices.Clone(r.state.Guests), func(g *person) bool { return g.Regular })
	rivals := slices.DeleteFunc(slices.Clone(nicknames), func(g *person) bool { return g.From != from })
	switch {
	case len(rivals) >= most:
	case len(nicknames) >= mostGuests:
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
	return r.Drop(longest.Name), true, nil
}

// Named returns the person that an order is about: the caller, or a person whom the organiser names.
func (r *Roster) Named(by Caller, name string) (Caller, error) {
	if name == "" {
		return by, nil
	}
	one, isPlayer := r.state.find(name)
	switch {
	case !by.IsOrganiser:
		return Caller{}, ErrOrganiserOnly
	case one == nil:
		return Caller{}, wire.Refuse(wire.ReasonAction, "refused.not-present", "name", nickname.Clean(name))
	}
	return Caller{one.Name, isPlayer, one.Organiser, one.Regular}, nil
}

// Rename gives a person another name. A player's name is in use everywhere while a round goes on,
// so it changes with the next round.
func (r *Roster) Rename(by Caller, name string, isGathering bool, now roomtime.Time) ([]Event, error) {
	if !by.IsSomebody() {
		return nil, ErrNickname
	}
	one, _ := r.state.find(by.Name)
	switch name = nickname.Clean(name); {
	case name == "":
		return nil, wire.Refuse(wire.ReasonName, "refused.name-empty")
	case r.state.isTaken(name, one):
		return nil, wire.Refuse(wire.ReasonNameTaken, "refused.somebody-is", "name", name).
			Advising("refused.somebody-is-hint")
	case now.Sub(one.renamed) < renameEvery:
		return nil, wire.Refuse(wire.ReasonAction, "refused.rename-often", "for", renameEvery)
	case by.IsPlayer && !isGathering:
		one.Becomes, one.renamed = name, now
		return []Event{tell("room.will-be", "player", by.Name, "name", name)}, nil
	}
	return r.state.rename(one, by.IsPlayer, name, now), nil
}

// Quit lets a guest leave the room. The organiser stays: somebody must be able to steer.
func (r *Roster) Quit(by Caller) ([]Event, error) {
	switch {
	case !by.IsSomebody():
		return nil, ErrNickname
	case by.IsOrganiser:
		return nil, errIsOrganiser(by.Name)
	}
	return append([]Event{tell("room.left", "player", by.Name)}, r.Drop(by.Name)...), nil
}

// Hide keeps somebody's country from the others, or shows it again.
func (r *Roster) Hide(by Caller, somewhere bool) error {
	if !by.IsSomebody() {
		return ErrNickname
	}
	one, _ := r.state.find(by.Name)
	one.Somewhere = somewhere
	return nil
}

// HandOn makes a player the organiser, with a new secret.
func (r *Roster) HandOn(name, secret string) ([]Event, error) {
	p, isPlayer := r.state.find(name)
	if !isPlayer {
		return nil, wire.Refuse(wire.ReasonAction, "refused.no-player", "name", nickname.Clean(name))
	}
	r.state.Keys.Secret = secret
	r.state.appoint(p)
	return []Event{tell("room.organiser-now", "player", p.Name)}, nil
}

// Renew gives the organiser another secret. Others who have the old one can no longer decide.
func (r *Roster) Renew(by Caller, secret string) []Event {
	var one *person
	if by.IsSomebody() {
		one, _ = r.state.find(by.Name)
	}
	r.state.Keys.Secret = secret
	r.state.appoint(one)
	return []Event{tell("room.link-new")}
}

// Remove takes a guest out of the room, and lets a player's place go with [Roster.Unseat].
func (r *Roster) Remove(name string) ([]Event, error) {
	one, isPlayer := r.state.find(name)
	name = nickname.Clean(name)
	switch {
	case one == nil:
		return nil, wire.Refuse(wire.ReasonAction, "refused.not-present", "name", name)
	case !isPlayer && one.Organiser:
		return nil, errIsOrganiser(one.Name)
	}
	events := []Event{tell("room.removed", "player", name), Removed{name}}
	if isPlayer {
		one.Regular = false
		return events, nil
	}
	return append(events, r.Drop(one.Name)...), nil
}

// Meant returns the person that an order to forget somebody means: the caller, or a person whom the
// organiser names. If that person has left, only the name is known.
func (r *Roster) Meant(by Caller, name string) (Person, error) {
	switch name = nickname.Clean(name); {
	case name == "" && !by.IsSomebody():
		return Person{}, ErrNickname
	case name == "":
		name = by.Name
	case !by.IsOrganiser:
		return Person{}, ErrOrganiserOnly
	}
	one := r.Person(name)
	if one.IsOrganiser {
		return Person{}, errIsOrganiser(one.Name)
	}
	if one.Name == "" {
		one.Name = name
	}
	return one, nil
}

// Lock lets nobody new in, or opens the room again.
func (r *Roster) Lock(locked bool) []Event {
	if r.state.Locked == locked {
		return nil
	}
	if r.state.Locked = locked; locked {
		return []Event{tell("room.locked")}
	}
	return []Event{tell("room.unlocked")}
}
