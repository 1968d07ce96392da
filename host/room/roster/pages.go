package roster

import (
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// OpenPage notes that a page opened that shows a credential.
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

// noteSeen notes that a guest's page is there, or was until now.
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

// TakeClosed reports, once, that a page was closed some time ago and did not merely load again.
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
	// Belongs says that the person is one of a standing room's own people. They have played there,
	// and may read its history.
	Belongs bool `json:"belongs,omitempty"`
	// Password is the game server's, once the room goes there. People type it if they have no
	// program, or if their game takes no password from it.
	Password string `json:"password,omitempty"`
	// Ticket is for the program of somebody with only a page; see [TicketOf].
	Ticket string `json:"-"`
}

// Badges returns what each credential may do. It leaves out the code, which might be guessed. The
// link's key and players' tokens open the room, and nothing else on a page. The password goes to
// all players, and to the guests who are counted in.
func (r *Roster) Badges(password string, isStanding bool, counted []people.ID) map[Digest]Badge {
	badges := map[Digest]Badge{
		DigestOf(r.state.Keys.Link): {}, DigestOf(r.state.Keys.Secret): {Organiser: true, Password: password},
	}
	for p, isPlayer := range r.state.everyone() {
		isOwn := p.Organiser || p.Regular
		b := Badge{Name: p.Name, Organiser: p.Organiser, Guest: !isPlayer && !isOwn, Belongs: isStanding && isOwn}
		if !isPlayer {
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

// BadgeOf returns what a page with a credential may do. A stranger's page that has made a credential
// of its own gets the ticket of it: the program that comes with the ticket makes the page its
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
