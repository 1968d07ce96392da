package host

import (
	"errors"
	"net/netip"

	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// Post is something that a room tells where its group talks.
type Post struct {
	// Room tells rooms apart, and says no code. Opener is the network that opened it here,
	// invalid if that is not known.
	Room   string
	Opener netip.Addr
	// URL is that of the webhook, which is a secret.
	URL          string
	Announcement wire.Announcement
	// Told is to be called once, in another goroutine, with what became of it. An error is
	// a sentence for everybody in the room.
	Told func(error)
}

// errNoPosts is why nothing is posted at a host that posts for nobody, such as one that
// has taken over a room from another that does.
var errNoPosts = errors.New("this host posts for nobody: its operator has not allowed it")

// announce has something posted, with the room's link if people reach the host by https:
// what leads in unencrypted is for no channel.
func (a *actor) announce(said wire.Announcement) {
	settings := a.room.Settings()
	told := func(err error) {
		in := room.Announced{}
		if err != nil {
			in.Trouble = err.Error()
		}
		a.post(func() { a.step(in, asker{}) })
	}
	if settings.Webhook == "" {
		return
	}
	if a.host.config.Announce == nil {
		a.work.Go(func() { told(errNoPosts) })
		return
	}
	if public := a.host.config.PublicURL; public != nil && public.Scheme == "https" && !settings.NoLink {
		at := entrance{url: *public}
		at.url.Path = "/"
		said.Link = at.link(a.room.Keys())
	}
	if name := a.host.config.GameName; name != nil && settings.OwnGame == nil {
		if called := name(settings.Game); called != "" {
			said.Game = called
			said.Text = said.Sentence()
		}
	}
	a.host.config.Announce(Post{Room: access.PublicID(a.room.Keys().Link), Opener: a.opener, URL: settings.Webhook, Announcement: said, Told: told})
}
