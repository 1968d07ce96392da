package host

import (
	"net/netip"
	"net/url"

	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// Post is an announcement that a room wants to post in its group's channel.
type Post struct {
	// Room tells rooms apart without their codes. Opener is the network that opened the room on
	// this host, invalid if unknown.
	Room   string
	Opener netip.Addr
	// League is the name of the league whose room it is, empty for people's rooms.
	League string
	// URL is the webhook's URL, which is a secret.
	URL          string
	Announcement wire.Announcement
	// Told must be called once, on another goroutine, with the result. Everybody in the room reads an
	// error; see [wire.Told].
	Told func(error)
}

// errNoPosts is the error at a host that does not post, such as one that has taken a room over from
// a host that does.
var errNoPosts = wire.Refuse(wire.ReasonAction, "refused.posts")

// poster posts rooms' announcements in their groups' channels.
type poster struct {
	// announce is [Config.Announce]; if it is nil, nothing is posted.
	announce func(Post)
	// publicURL is how friends reach the host, or nil. gameName returns a game's name.
	publicURL *url.URL
	gameName  func(game string) string
	// join is [Config.Join].
	join func(game string, way wire.Way) wire.Way
}

// announce posts an announcement, and tells the room the result.
func (a *actor) announce(said wire.Announcement) {
	settings := a.room.Settings()
	if settings.Webhook == "" {
		return
	}
	told := func(err error) {
		in := room.Announced{}
		if err != nil {
			in.Trouble = wire.Told(err)
		}
		a.post(func() { a.step(in, asker{}) })
	}
	if a.poster.announce == nil {
		a.work.Go(func() { told(errNoPosts) })
		return
	}
	keys := a.room.Keys()
	a.poster.announce(Post{
		Room: access.PublicID(keys.Link), Opener: a.opener, League: settings.League, URL: settings.Webhook,
		Announcement: a.poster.addressed(said, settings, keys), Told: told,
	})
}

// addressed returns a room's announcement as it is posted. It adds the room's link if people reach
// the host by https, because an unencrypted link does not belong in a channel.
func (p poster) addressed(said wire.Announcement, settings wire.Settings, keys room.Keys) wire.Announcement {
	if p.publicURL != nil && p.publicURL.Scheme == "https" && !settings.NoLink {
		at := entrance{url: *p.publicURL}
		at.url.Path = "/"
		said.Link = at.link(keys)
	}
	if said.Match != nil {
		match := *said.Match
		match.SetID(access.PublicID(keys.Link))
		match.Spectate = spectate(p.join, &match)
		said.Match = &match
	}
	if p.gameName != nil && settings.OwnGame == nil {
		if roomFor := p.gameName(settings.Game); roomFor != "" {
			said.Game = roomFor
			said.Text = said.Sentence()
		}
	}
	return said
}
