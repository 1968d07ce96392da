package lobby

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/url"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/invite"
	"muster/peer"
)

// Front shows a room to a person in place of a terminal. It is a program of somebody else's, such as
// a launcher that runs Muster beside itself.
type Front struct {
	// Enters receives the person's own link to the room. If the person has opened the room, it also
	// receives the link for friends.
	Enters func(own invite.Link, friends *invite.Link)
	// Sees receives what happens to the person's player, and the room's states if there is none. It
	// must not block.
	Sees func(peer.Event)
	// Launch takes the player to a server. muster does so as a terminal would, and starts the game.
	Launch func(ctx context.Context, to wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence),
		muster *game.Launcher)
}

// enters tells a front, if there is one, which room the person enters.
func (d *Desk) enters(own invite.Link, friends *invite.Link) {
	if d.Front != nil {
		d.Front.Enters(own, friends)
	}
}

// sees tells a front, if there is one, what happens.
func (d *Desk) sees(e peer.Event) {
	if d.Front != nil {
		d.Front.Sees(e)
	}
}

// launch takes the player to a server.
func (y *Player) launch(ctx context.Context, to wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
	if front := y.Desk.Front; front != nil {
		front.Launch(ctx, to, doubt, tell, y.Launcher)
		return
	}
	y.Launcher.Launch(ctx, y.delaying.through(to, y.Desk), doubt, tell)
}

// ClientOf returns a client for the host of a link.
func ClientOf(l invite.Link) *Client {
	base, trust := &url.URL{Scheme: "http", Host: l.Host}, (*tls.Config)(nil)
	if l.TLS {
		base.Scheme = "https"
	}
	if l.Pin != "" {
		trust = peer.Pinned(l.Pin)
	}
	return NewClient(base, trust)
}

// Steers returns the key with which a person acts in a room: the credential of their player, or the
// secret of their link without one.
func Steers(own invite.Link, page string) Key {
	return Key{own.Code, own.Key, cmp.Or(page, own.Secret)}
}
