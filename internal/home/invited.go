package home

import (
	"context"
	"errors"
	"slices"

	"muster/discovery"
	"muster/internal/invite"
)

// Invitation is a room that something else than Home's page wants to take the person to:
// any site can have the system open such a link, and can write any text into it. It can
// do no more than be shown, and be answered on the page.
type Invitation struct {
	// URL is a muster:// link, from whoever wrote it.
	URL string `json:"url,omitempty"`
	// File is, in place of that, the name of a program that the person got for a room.
	File string `json:"file,omitempty"`
}

// invitation is one as pages show it: a room, or why there is none.
type invitation struct {
	ID   int    `json:"id"`
	Host string `json:"host,omitempty"`
	Code string `json:"code,omitempty"`
	// Taken: the person themselves got it.
	Taken bool     `json:"taken,omitempty"`
	Wrong []string `json:"wrong,omitempty"`
	link  string
}

// mostInvitations is how many wait for an answer: a page that opens link after link gets
// no further.
const mostInvitations = 3

// Invite shows an invitation until it is answered. One that is shown already stays as it
// is, where it is: what people are about to press does not change under their finger.
func (h *Home) Invite(i Invitation) {
	shown := invitation{Taken: i.File != ""}
	to, err := invite.ParseURL(i.URL)
	if shown.Taken {
		to, err = invite.FromFileName(i.File)
	}
	if err != nil {
		shown.Wrong = errorLines(err)
		shown.link = shown.Wrong[0]
	} else {
		// The host is shown whole: what is cut off would be where it leads to.
		shown.Host, shown.Code, shown.link = to.Host, discovery.CleanText(to.Code), to.Personal(to.Secret)
	}
	h.change(func(s *state) {
		isShown := slices.ContainsFunc(s.Invitations, func(other invitation) bool { return other.link == shown.link })
		if isShown || len(s.Invitations) == mostInvitations {
			return
		}
		h.last++
		shown.ID = h.last
		s.Invitations = append(slices.Clip(s.Invitations), shown)
	})
}

// invitedWish is the answer to an invitation.
type invitedWish struct {
	ID  int  `json:"id"`
	Yes bool `json:"yes"`
	// Name is the player's in the room.
	Name string `json:"name"`
	// CanHost: this computer may host.
	CanHost bool `json:"can_host"`
}

// takeInvited joins the room of an invitation as any other, or forgets it.
func (h *Home) takeInvited(_ context.Context, wish invitedWish) (any, error) {
	var link string
	h.change(func(s *state) {
		s.Invitations = slices.DeleteFunc(slices.Clone(s.Invitations), func(i invitation) bool {
			if i.ID == wish.ID && i.Wrong == nil {
				link = i.link
			}
			return i.ID == wish.ID
		})
	})
	switch {
	case !wish.Yes:
		return nil, nil
	case link == "":
		return nil, errors.New("that is not asked any more")
	}
	at, _ := h.granted() // who is to start games is asked elsewhere
	args, err := joinWish{Link: link, Name: wish.Name, CanHost: wish.CanHost}.args(link, at, "")
	if err != nil {
		return nil, err
	}
	h.play("join", "", args, func() {})
	return nil, nil
}
