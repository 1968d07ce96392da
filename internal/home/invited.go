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

// mostInvitations is how many may wait for an answer. It stops a page that opens link after link.
const mostInvitations = 3

// Invite shows an invitation until it is answered. One that is already shown keeps its place, so
// that nothing moves under the person's finger.
func (h *Home) Invite(i Invitation) {
	shown := invitation{Taken: i.File != ""}
	to, err := invite.ParseURL(i.URL)
	if shown.Taken {
		to, err = invite.FromFileName(i.File)
	}
	if err != nil {
		shown.Wrong = hint.Sentences(err)
		shown.link = discovery.CleanText(err.Error())
	} else {
		// The host is shown whole, because a cut name could hide where it leads.
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

// invitedRequest is the answer to an invitation.
type invitedRequest struct {
	ID  int  `json:"id"`
	Yes bool `json:"yes"`
	// Name is the player's name in the room.
	Name string `json:"name"`
	// CanHost says that this computer may host.
	CanHost bool `json:"can_host"`
}

// takeInvited joins the room of an invitation like any other, or forgets the invitation.
func (h *Home) takeInvited(_ context.Context, request invitedRequest) (any, error) {
	var link string
	h.change(func(s *state) {
		s.Invitations = slices.DeleteFunc(slices.Clone(s.Invitations), func(i invitation) bool {
			if i.ID == request.ID && i.Wrong == nil {
				link = i.link
			}
			return i.ID == request.ID
		})
	})
	switch {
	case !request.Yes:
		return nil, nil
	case link == "":
		return nil, hint.Say("home.not-asked")
	}
	at, _ := h.granted() // the page asks elsewhere who starts games
	args, err := joinRequest{Link: link, Name: request.Name, CanHost: request.CanHost}.args(link, at, "")
	if err != nil {
		return nil, err
	}
	h.play("join", "", args, func() {})
	return nil, nil
}
