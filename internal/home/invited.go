package home

import (
	"context"
	"slices"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/hint"
	"muster/internal/invite"
)

// Invitation is a room that something outside Home's page wants to take the person to. Any site can
// make the system open such a link, with any text in it. So an invitation is only shown, and the
// person answers it on the page.
type Invitation struct {
	// URL is a muster:// link; anybody may have written it.
	URL string `json:"url,omitempty"`
	// File is set instead of URL: the name of a program that the person downloaded for a room.
	File string `json:"file,omitempty"`
}

// invitation is an invitation as pages show it: a room, or why there is none.
type invitation struct {
	ID   int    `json:"id"`
	Host string `json:"host,omitempty"`
	Code string `json:"code,omitempty"`
	// Taken says that the person downloaded it themselves.
	Taken bool                `json:"taken,omitempty"`
	Wrong []sentence.Sentence `json:"wrong,omitempty"`
	link  string
}

// maxInvitations is how many may wait for an answer. It stops a page that opens link after link.
const maxInvitations = 3

// Invite shows an invitation until it is answered. One that is already shown keeps its place, so that
// nothing moves under the person's finger.
func (h *Home) Invite(i Invitation) {
	shown := shown(i)
	h.change(func(s *state) {
		isShown := slices.ContainsFunc(s.Invitations, func(other invitation) bool { return other.link == shown.link })
		if isShown || len(s.Invitations) == maxInvitations {
			return
		}
		h.lastID++
		shown.ID = h.lastID
		s.Invitations = append(s.Invitations, shown)
	})
}

// shown returns an invitation as pages show it.
func shown(i Invitation) invitation {
	shown := invitation{Taken: i.File != ""}
	to, err := invite.ParseURL(i.URL)
	if shown.Taken {
		to, err = invite.FromFileName(i.File)
	}
	if err != nil {
		shown.Wrong = hint.Sentences(err)
		shown.link = discovery.CleanText(err.Error())
		return shown
	}
	// The host is shown whole, because a cut name could hide where it leads.
	shown.Host, shown.Code, shown.link = to.Host, discovery.CleanText(to.Code), to.Personal(to.Secret)
	return shown
}

// Open takes the person into the room of a program that they downloaded for it and opened
// themselves: that was their yes. They join under the name that config.toml has, or their user
// name, and can change it on the room's page. Anything else is only shown: a link, which anybody may
// have written, and a room for which the person would leave another. If the room does not let them
// in, the invitation is shown, too. follow receives a path that leads the user's browser to the room's
// page, once there is one.
func (h *Home) Open(i Invitation, follow func(path string)) {
	to, err := invite.FromFileName(i.File)
	h.mu.Lock()
	isBusy := h.state.Room.Running
	h.mu.Unlock()
	if i.File == "" || err != nil || isBusy {
		h.Invite(i)
		return
	}
	if h.join(Join{Self: Self{Name: h.config.Name}, Link: to.Personal(to.Secret)}, "", func(error) {
		h.mu.Lock()
		isRefused := h.state.Room.Error != nil
		h.mu.Unlock()
		if isRefused {
			h.Invite(i)
		}
	}) != nil {
		h.Invite(i)
		return
	}
	h.work.Go(func() {
		ctx, cancel := context.WithTimeout(h.ctx, roomWait)
		defer cancel()
		if page, _ := h.awaitRoom(ctx, 0); page != "" {
			follow(h.Ticket() + "?" + toRoom)
		}
	})
}

// invitedRequest is the answer to an invitation.
type invitedRequest struct {
	Self
	ID  int  `json:"id"`
	Yes bool `json:"yes"`
}

// takeInvited joins the room of an invitation like any other, or forgets the invitation.
func (h *Home) takeInvited(_ context.Context, request invitedRequest) (any, error) {
	if err := request.check(); err != nil {
		return nil, err // the invitation stays, so that the person can mend the text
	}
	var of invitation
	var is bool
	h.change(func(s *state) {
		of, is = take(&s.Invitations, func(other invitation) bool { return other.ID == request.ID })
	})
	switch {
	case !request.Yes:
		return nil, nil
	case !is || of.Wrong != nil:
		return nil, hint.Say("home.not-asked")
	}
	return nil, h.join(Join{Self: request.Self, Link: of.link}, "", nil)
}
