package room

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/nickname"
	"muster/host/room/roster"
	"muster/host/wire"
)

// person is who is in the room: a player, or a guest with no more than the page. A
// name is one person's, and belongs to who holds the credential.
type person struct {
	name string
	// arrival is the person's place in the order of arrival, which nobody else has: by it
	// the others know them again all evening.
	arrival int
	// somewhere: the others are not told which country the person is in.
	somewhere bool
	// becomes is the name from the next round on, or empty.
	becomes string
	// organiser: the person decides for the room. That is who came with the organiser's
	// secret, or was appointed by such a person.
	organiser bool
	// regular: the person has played here, and keeps place and name in a standing room. comes
	// is what they say of coming to the date comesTo, nil if nothing.
	regular bool
	comes   *bool
	comesTo time.Time
	// page is what pages show that act for this person: it stands in the personal link.
	page string
	// renamed is when the person took another name last.
	renamed time.Time
}

// guest is a person who has only the page. Guests watch: what they say has no weight,
// unless the organiser lets them vote.
type guest struct {
	person
	// from is the address that the guest came from, shown to nobody; the zero value if
	// it stands for many people. seen is when a page was there last.
	from netip.Addr
	seen time.Time
	// token is that of the person's program if it was here, which may come back.
	token string
	// origin is where that is, as of a player.
	origin Origin
}

const (
	// maxGuests bounds the guests. They take no player's place.
	maxGuests = 64
	// guestsByAddress bounds those of one address, and guestsUnknown those of whom it
	// is not known, as behind a tunnel: they may all be the room's.
	guestsByAddress = 8
	guestsUnknown   = 32
	// guestGone is how long a nickname is kept for somebody without an open page.
	guestGone = 30 * time.Minute
	// renameEvery is how often one may take another name: everyone is told.
	renameEvery = 5 * time.Second
)

// everyone yields the players, then the guests, and whether it is a player.
func (r *Room) everyone() iter.Seq2[*person, bool] {
	return func(yield func(*person, bool) bool) {
		for _, p := range r.round.players {
			if !yield(&p.person, true) {
				return
			}
		}
		for _, g := range r.guests {
			if !yield(&g.person, false) {
				return
			}
		}
	}
}

// caller is whoever gives an order.
type caller = roster.Caller

// caller returns whose credential it is. The secret is its organiser's, on any device.
func (r *Room) caller(credential string) caller {
	isSecret := roster.IsSame(r.keys.Secret, credential)
	for p, isPlayer := range r.everyone() {
		if roster.IsSame(p.page, credential) || isSecret && p.organiser {
			return caller{Name: p.name, IsPlayer: isPlayer, IsOrganiser: p.organiser, IsRegular: p.regular}
		}
	}
	return caller{IsOrganiser: isSecret}
}

// person returns the person of a name, or nil.
func (r *Room) person(name string) *person {
	for p := range r.everyone() {
		if p.name == name {
			return p
		}
	}
	return nil
}

// arrives is the place in the order of arrival of somebody new: the first that nobody has.
func (r *Room) arrives() int {
	taken := map[int]bool{}
	for p := range r.everyone() {
		taken[p.arrival] = true
	}
	place := 0
	for taken[place] {
		place++
	}
	return place
}

var (
	errOrganiserOnly = &wire.Refusal{Reason: wire.ReasonSecret, Message: "only the organiser can do this"}
	errNickname      = &wire.Refusal{Reason: wire.ReasonName, Message: "choose a nickname first"}
)

// mustHaveSay returns why somebody has no say, or nil.
func (r *Room) mustHaveSay(by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	return r.round.ballot.Refusal(by.Name, r.electorate())
}

// mayVote returns why somebody cannot say anything of the choice now, or nil.
func (r *Room) mayVote(by caller) error {
	if err := r.mustHaveSay(by); err != nil || r.isVoting() {
		return err
	}
	return errNoVote
}

// isWatching reports whether a person has a page open.
func (r *Room) isWatching(p *person) bool {
	return r.pages[p.page] > 0 || p.organiser && r.pages[r.keys.Secret] > 0
}

// isTaken reports whether somebody else has a name that looks like this one, or will
// have it.
func (r *Room) isTaken(name string, by *person) bool {
	for p := range r.everyone() {
		if p != by && (nickname.Alike(p.name, name) || nickname.Alike(p.becomes, name)) {
			return true
		}
	}
	return false
}

// appoint makes one person the organiser, and nobody else.
func (r *Room) appoint(one *person) {
	for p := range r.everyone() {
		p.organiser = p == one
	}
	r.binds = true
}

// hasOrganiser reports whether somebody is.
func (r *Room) hasOrganiser() bool {
	for p := range r.everyone() {
		if p.organiser {
			return true
		}
	}
	return false
}

// rename gives a person another name.
func (r *Room) rename(p *person, isPlayer bool, name string) {
	from := p.name
	p.name, p.becomes, p.renamed = name, "", r.now
	if isPlayer {
		r.round.attendance.Rename(from, name)
	}
	r.round.ballot.Rename(from, name)
	r.editions.Rename(from, name)
	r.estimates.Rename(from, name)
	r.round.trust.Rename(from, name)
	r.survey.Rename(from, name)
	if name != from {
		r.lists.Come(name, "")
		r.lists.Rename(from, name)
	}
	r.binds = true
	r.note("%s is %s now", from, name)
	if isPlayer {
		r.round.nearby.Rename(from, name)
		r.do(Renamed{from, name})
	}
}

// makeWay has a guest give up a name to the player who comes with it: who plays is
// known by it to all others.
func (r *Room) makeWay(g *guest) {
	mark := " (guest)"
	for i := 2; ; i++ {
		name := strings.TrimSpace(strings.ToValidUTF8(g.name[:min(len(g.name), nickname.MaxBytes-len(mark))], "")) + mark
		if !r.isTaken(name, &g.person) {
			r.rename(&g.person, false, name)
			return
		}
		mark = fmt.Sprintf(" (guest %d)", i)
	}
}

// unseat takes a player's place away. Who stays is a guest from then on.
func (r *Room) unseat(p *player, stays bool) {
	r.round.players = slices.DeleteFunc(r.round.players, func(other *player) bool { return other == p })
	r.round.attendance.Forget(p.name)
	r.editions.Forget(p.name)
	r.round.trust.Forget(p.name)
	r.round.nearby.Drop(p.name)
	r.binds = true
	r.survey.Leave(p.name)
	if stays || p.regular {
		r.guests = append(r.guests, &guest{person: p.person, seen: r.now, token: p.token})
	} else {
		r.round.ballot.Withdraw(p.name, ballot.All&^ballot.Veto)
		r.lists.Leave(p.name, roster.OwnerOf(p.page), roster.OwnerOf(roster.PageOf(p.token)))
	}
}

// owners returns by what the lists know a guest who comes back: the page, and that of the pages
// of whoever comes with the token of before.
func (g *guest) owners() []string {
	if g.token == "" {
		return []string{roster.OwnerOf(g.page)}
	}
	return []string{roster.OwnerOf(g.page), roster.OwnerOf(roster.PageOf(g.token))}
}

// guests are the people with only a page.
type guests []*guest

func (of guests) named(name string) *guest {
	return of.first(func(g *guest) bool { return strings.EqualFold(g.name, name) })
}

func (of guests) first(is func(*guest) bool) *guest {
	if i := slices.IndexFunc(of, is); i >= 0 {
		return of[i]
	}
	return nil
}

// forgetGuests drops guests, and what they said.
func (r *Room) forgetGuests(which func(*guest) bool) {
	r.guests = slices.DeleteFunc(r.guests, func(g *guest) bool {
		gone := which(g)
		if gone {
			r.round.ballot.Withdraw(g.name, ballot.All) // else whoever comes again under another name has a veto more
			r.estimates.Forget(g.name)
			r.lists.Leave(g.name, g.owners()...)
			r.revision++
		}
		return gone
	})
}

// displace makes room for a guest from an address, if need be in the place of whoever
// was away longest, and reports whether it was needed.
func (r *Room) displace(from netip.Addr) (needed bool, refusal *wire.Refusal) {
	most := guestsByAddress
	if !from.IsValid() {
		most = guestsUnknown
	}
	nicknames := slices.DeleteFunc(slices.Clone(r.guests), func(g *guest) bool { return g.regular })
	rivals := slices.DeleteFunc(slices.Clone(nicknames), func(g *guest) bool { return g.from != from })
	switch {
	case len(rivals) >= most:
	case len(nicknames) >= maxGuests:
		rivals = nicknames
	default:
		return false, nil
	}
	var longest *guest
	for _, g := range rivals {
		if !g.organiser && !r.isWatching(&g.person) && (longest == nil || g.seen.Before(longest.seen)) {
			longest = g
		}
	}
	if longest == nil {
		return true, &wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("%d guests are here already", len(rivals)), Hint: "whoever plays is let in: see “Play along”"}
	}
	r.forgetGuests(func(g *guest) bool { return g == longest })
	return true, nil
}

// Enter gives a page a nickname, or the person whose credential stood in its link. Its
// answer has the name, and the token for all that follows.
type Enter struct {
	Name string `json:"name"`
	// Secret is what stood in the page's link: the organiser's secret, or a person's.
	Secret string `json:"secret"`
	// Was is the token of before, of somebody whom the room knows no more.
	Was string `json:"was"`
	// Token is for a new guest, and From where the page is.
	Token  string     `json:"-"`
	From   netip.Addr `json:"-"`
	Origin Origin     `json:"-"`
}

func (a Enter) do(r *Room, by caller) error {
	switch shown := r.caller(a.Secret); {
	case shown.IsSomebody(): // a personal link: whoever the page was before, it is that person's now
		if by.Name != shown.Name {
			r.forgetGuests(func(g *guest) bool { return g.name == by.Name && !g.organiser })
		}
		by = shown
	case shown.IsOrganiser && by.IsSomebody():
		r.appoint(r.person(by.Name))
	case shown.IsOrganiser:
		by = shown
	}
	name := nickname.Clean(a.Name)
	switch {
	case by.IsSomebody():
		r.do(Answer{map[string]string{"name": by.Name, "token": r.person(by.Name).page}})
		return nil
	case name == "":
		return &wire.Refusal{Reason: wire.ReasonName, Message: "a nickname needs a letter or a digit"}
	case r.locked && !by.IsOrganiser:
		return lockedOut()
	case r.guests.named(name) != nil:
		return &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("%s has the page open already", name), Hint: "choose another nickname"}
	case r.isTaken(name, nil):
		return &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("%s plays here", name), Hint: "if that is you, open the page by your personal link, which muster join shows; or choose another nickname"}
	}
	displaced, refusal := r.displace(a.From)
	if refusal != nil {
		return refusal
	}
	if r.lists.Knows(roster.OwnerOf(a.Was)) && !r.caller(a.Was).IsSomebody() {
		a.Token = a.Was // what they brought is theirs again, and by it their program's, too
	}
	g := &guest{person: person{name: name, arrival: r.arrives(), page: a.Token}, from: a.From, seen: r.now, origin: a.Origin}
	r.guests = append(r.guests, g)
	r.lists.Come(name, roster.OwnerOf(a.Token))
	r.binds = true
	if by.IsOrganiser {
		r.appoint(&g.person)
	}
	if !displaced { // or one who floods the room with nicknames would flood its log
		r.note("%s has the page open", name)
	}
	r.do(Answer{map[string]string{"name": name, "token": a.Token}})
	return nil
}

// Rename gives who orders it another name. While a round goes on, a player's is in
// use everywhere, and changes with the next.
type Rename struct {
	Name string `json:"name"`
}

func (a Rename) do(r *Room, by caller) error {
	name, one := nickname.Clean(a.Name), r.person(by.Name)
	_, gathering := r.phase.(*Gathering)
	switch {
	case !by.IsSomebody():
		return errNickname
	case name == "":
		return &wire.Refusal{Reason: wire.ReasonName, Message: "a name needs a letter or a digit"}
	case r.isTaken(name, one):
		return &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("somebody is %s already", name), Hint: "choose another name"}
	case r.now.Sub(one.renamed) < renameEvery:
		return fmt.Errorf("one name every %v", renameEvery)
	case by.IsPlayer && !gathering:
		one.becomes, one.renamed = name, r.now
		r.note("%s will be %s from the next round on", by.Name, name)
	default:
		r.rename(one, by.IsPlayer, name)
	}
	return nil
}

// Quit has who orders it leave the room: the place is free at once. An organiser stays
// as a guest, lest nobody can steer.
type Quit struct{}

func (Quit) do(r *Room, by caller) error {
	switch {
	case !by.IsSomebody():
		return errNickname
	case by.IsPlayer:
		name := by.Name
		if !r.isVoting() { // or it is said with what comes of it
			r.note("%s has left", name)
		}
		r.sendAway(r.round.player(name), wire.Refusal{Reason: wire.ReasonLeft, Message: "you have left the room"})
	case by.IsOrganiser:
		return fmt.Errorf("%s is the organiser: hand that on first", by.Name)
	default:
		r.note("%s has left", by.Name)
		r.forgetGuests(func(g *guest) bool { return g.name == by.Name })
	}
	return nil
}

// sendAway takes a player out of the room. The organiser stays on the page: neither
// the room nor the right to steer hangs on the program that plays.
func (r *Room) sendAway(p *player, why wire.Refusal) {
	r.release(p)
	wasChosenFor := r.isVoting() && slices.Contains(r.round.chosenFor(), p)
	r.unseat(p, p.organiser)
	r.do(Dismiss{p.name, why})
	r.withoutWaiting(p.name)
	if wasChosenFor && len(r.round.chosenFor()) > 0 {
		did := "left"
		if why.Reason == wire.ReasonRemoved {
			did = "is no longer here"
		}
		r.chooseAgain(attendance.Sentence([]string{p.name}, did))
	}
	r.isReady()
}

// PageOpened and PageClosed say that a page opened, or closed, with a credential.
type (
	PageOpened struct{ Token string }
	PageClosed struct{ Token string }
)

func (in PageOpened) step(r *Room) error {
	if by := r.caller(in.Token); by.IsSomebody() || by.IsOrganiser {
		r.pages[in.Token]++
		r.sees(by)
	} else {
		r.onlookers++
	}
	return nil
}

func (in PageClosed) step(r *Room) error {
	if r.pages[in.Token] == 0 {
		r.onlookers = max(0, r.onlookers-1)
	}
	if r.pages[in.Token] > 1 {
		r.pages[in.Token]--
	} else {
		delete(r.pages, in.Token)
		r.pageClosed = r.now
	}
	r.sees(r.caller(in.Token))
	return nil
}

func (r *Room) sees(by caller) {
	if g := r.guests.first(func(g *guest) bool { return g.name == by.Name }); g != nil {
		g.seen = r.now
	}
}
