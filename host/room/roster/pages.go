package roster

import (
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// OpenPage notes that a page with a credential has opened.
func (r *Roster) OpenPage(credential string, now roomtime.Time) {
	if by := r.Caller(credential); by.IsSomebody() || by.IsOrganiser {
		r.pages[credential]++
		r.noteSeen(by, now)
	} else {
		r.onlookers++
	}
}

// ClosePage notes that a page closed.
func (r *Roster) ClosePage(credential string, now roomtime.Time) {
	switch r.pages[credential] {
	case 0:
		r.onlookers = max(0, r.onlookers-1)
		r.pageClosed = now
	case 1:
		delete(r.pages, credential)
		r.pageClosed = now
	default:
		r.pages[credential]--
	}
	r.noteSeen(r.Caller(credential), now)
}

// noteSeen notes that a guest's page is or was open now.
func (r *Roster) noteSeen(by people.Person, now roomtime.Time) {
	if one, isPlayer := r.state.find(by.ID); one != nil && !isPlayer {
		one.Seen = now
	}
}

// IsWatched reports whether any page is open.
func (r *Roster) IsWatched() bool { return len(r.pages) > 0 || r.onlookers > 0 }

// isWatching reports whether any page of a person is open.
func (r *Roster) isWatching(p *person) bool {
	return r.pages[p.Page] > 0 || p.Organiser && r.pages[r.state.Keys.Secret] > 0
}

// PageClosed returns when a page was closed last, zero if none was since [Roster.TakeClosed].
func (r *Roster) PageClosed() roomtime.Time { return r.pageClosed }

// TakeClosed reports, once, that a page was closed at least some time ago, so that it is no mere
// reload.
func (r *Roster) TakeClosed(after time.Duration, now roomtime.Time) bool {
	if r.pageClosed.IsZero() || now.Sub(r.pageClosed) < after {
		return false
	}
	r.pageClosed = roomtime.Time(0)
	return true
}

// Badge says what a page may do.
type Badge struct {
	Name      string `json:"name,omitempty"`
	Organiser bool   `json:"organiser,omitempty"`
	// Guest says that the person does not play.
	Guest bool `json:"guest,omitempty"`
	// Belongs says that the person is a member of a standing room: the organiser or a regular.
	// Members may read the history.
	Belongs bool `json:"belongs,omitempty"`
	// Password is the game server's password, after the launch. People type it if no program can do
	// so for them.
	Password string `json:"password,omitempty"`
	// Ticket is the ticket for a guest's program; see [TicketOf].
	Ticket string `json:"-"`
}

// Badges returns the badge of each credential. The code has none, because it can be guessed. The
// link's key and players' tokens only open the page. All players and counted guests get the
// password.
func (r *Roster) Badges(password string, isStanding bool, counted []people.ID) map[Digest]Badge {
	badges := map[Digest]Badge{
		DigestOf(r.state.Keys.Link): {}, DigestOf(r.state.Keys.Secret): {Organiser: true, Password: password},
	}
	for p, isPlayer := range r.state.everyone() {
		isOwn := p.Organiser || p.Regular
		b := Badge{Name: p.Name, Organiser: p.Organiser, Guest: !isPlayer && !isOwn, Belongs: isStanding && isOwn}
		if !isPlayer || p.Browser {
			b.Ticket = TicketOf(p.Page)
		}
		if !b.Guest || slices.Contains(counted, p.ID) {
			b.Password = password
		}
		badges[DigestOf(p.Page)] = b
		if p.ticket != "" {
			badges[digestOfTicket(p.ticket)] = b
		}
		if p.Organiser {
			badges[DigestOf(r.state.Keys.Secret)] = b
		}
	}
	for _, token := range r.Tokens() {
		badges[DigestOf(token)] = Badge{}
	}
	delete(badges, DigestOf(""))
	return badges
}

// BadgeOf returns the badge of a page with a credential. If nobody has the credential, the page has
// made it, and the badge has its ticket: a program that joins with the ticket makes the page its
// player's.
func BadgeOf(badges map[Digest]Badge, credential string) Badge {
	b, is := badges[DigestOf(credential)]
	if is || credential == "" {
		return b
	}
	ticket := TicketOf(credential)
	if b, is := badges[digestOfTicket(ticket)]; is {
		return b
	}
	return Badge{Ticket: ticket}
}
