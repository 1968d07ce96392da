package host

import (
	"errors"
	"net/netip"
	"net/url"

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

// poster posts what rooms tell where their groups talk.
type poster struct {
	// announce is that of [Config]; nil posts nothing.
	announce func(Post)
	// publicURL is where friends reach the host, or nil, and gameName what a game is called.
	publicURL *url.URL
	gameName  func(game string) string
}

// announce posts something, and tells the room what became of it.
func (a *actor) announce(said wire.Announcement) {
	settings := a.room.Settings()
	if settings.Webhook == "" {
		return
	}
	told := func(err error) {
		in := room.Announced{}
		if err != nil {
			in.Trouble = err.Error()
		}
		a.post(func() { a.step(in, asker{}) })
	}
	if a.poster.announce == nil {
		a.work.Go(func() { told(errNoPosts) })
		return
	}
	keys := a.room.Keys()
	a.poster.announce(Post{
		Room: access.PublicID(keys.Link), Opener: a.opener, URL: settings.Webhook,
		Announcement: a.poster.addressed(said, settings, keys), Told: told,
	})
}

// addressed returns what is posted for a room: with its link if people reach the host by
// https, because a link that leads in unencrypted is for no channel.
func (p poster) addressed(said wire.Announcement, settings wire.Settings, keys room.Keys) wire.Announcement {
	if p.publicURL != nil && p.publicURL.Scheme == "https" && !settings.NoLink {
		at := entrance{url: *p.publicURL}
		at.url.Path = "/"
		said.Link = at.link(keys)
	}
	if p.gameName != nil && settings.OwnGame == nil {
		if called := p.gameName(settings.Game); called != "" {
			said.Game = called
			said.Text = said.Sentence()
		}
	}
	return said
}
