package lobby

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/listing"
)

// Opening opens a room on a public host, or reopens one that the user had before.
type Opening struct {
	Desk     *Desk
	Client   *Client
	Base     *url.URL
	Game     game.Game
	Settings wire.Settings
	// Patch holds the organiser's choices for settings that a room can change.
	Patch  map[string]json.RawMessage
	Supply *Supply
	// Named says that the organiser gave the room's name, Fresh that they want a new room.
	Named, Fresh bool
}

// Room returns the organiser's link to the room, and whether the room uses the organiser's own
// list.
func (o *Opening) Room(ctx context.Context) (room invite.Link, brings bool, err error) {
	brings = o.Supply.isOwn(o.Game) && !o.isOfPlaces()
	if o.Fresh {
		return o.open(ctx, brings)
	}
	for old := range keptRooms(o.Base.String(), o.Desk.Warn) {
		l, err := invite.Parse(old.Link, "")
		if err != nil || !o.isWanted(old) {
			continue
		}
		_, err = o.Client.Room(ctx, Key{Code: l.Code, Link: l.Key})
		var refusal wire.Refusal
		switch {
		case errors.As(err, &refusal) && (refusal.Reason == wire.ReasonClosed || refusal.Reason == wire.ReasonCode):
			o.Desk.Screen.Tell("term.room-over", "code", l.Code)
			old.forget()
			continue
		case err != nil:
			return l, false, err
		}
		o.Desk.Screen.Tell("term.room-goes-on", "code", l.Code, "flag", "--new")
		o.goOn(ctx, old, KeyOf(l))
		return l, brings || old.Brings, nil
	}
	return o.open(ctx, brings)
}

// isOfPlaces reports whether the room looks for a place alone, and needs no list.
func (o *Opening) isOfPlaces() bool { return o.Settings.Seeks == wire.SeekPlace }

// isWanted reports whether an earlier room is the one that the organiser wants. A standing room
// must be asked for by its name.
func (o *Opening) isWanted(old kept) bool {
	_, isToStay := o.Patch["every"]
	if _, stays := old.Settings["every"]; stays && !o.Named && !isToStay {
		return false
	}
	return old.Game == o.Settings.Game && (old.Name == o.Settings.Name || !o.Named)
}

// goOn wakes an earlier room and applies the organiser's current settings.
func (o *Opening) goOn(ctx context.Context, old kept, key Key) {
	keep := func() {
		if err := old.keep(o.Base.String()); err != nil {
			o.Desk.Warn(err)
		}
	}
	old.Opened = time.Now().UTC() // otherwise a standing room would be forgotten
	keep()
	if _, stays := old.Settings["every"]; stays {
		if err := o.Client.Order(ctx, key, "wake", nil); err != nil {
			o.Desk.Warn(steersNoMore(err))
		}
	}
	if len(o.Patch) == 0 || reflect.DeepEqual(o.Patch, old.Settings) {
		return
	}
	if err := o.Client.Order(ctx, key, "settings", map[string]any{"settings": o.Patch}); err != nil {
		o.Desk.Warn(hint.Say("term.room-unchanged", "why", steersNoMore(err)))
		return
	}
	old.Settings = o.Patch
	keep()
}

// open opens a new room, with the list of servers if the host cannot fetch one itself.
func (o *Opening) open(ctx context.Context, brings bool) (invite.Link, bool, error) {
	service, err := o.Client.Service(ctx)
	if err != nil {
		return invite.Link{}, false, err
	}
	room := o.wanted()
	isKnown, isListed := service.Knows(o.Game.ID)
	if !isKnown && o.Game.ID != "" {
		room["own_game"] = wire.OwnGame{ID: o.Game.ID, Name: o.Game.Name, Protocol: o.Game.ProtocolName, Port: o.Game.Port}
		o.Desk.Screen.Tell("term.unknown-there", "host", o.Base, "game", o.Game.Name)
	}
	if brings = brings || (!isKnown || !isListed) && !o.isOfPlaces(); brings {
		if err := o.bring(ctx, room, service.MaxServers); err != nil {
			return invite.Link{}, false, err
		}
	}
	l, err := o.Client.Open(ctx, room)
	if err != nil {
		return l, false, err
	}
	mine := kept{Game: o.Settings.Game, Name: o.Settings.Name, Link: l.Personal(l.Secret), Brings: brings,
		Settings: o.Patch, Opened: time.Now().UTC()}
	if err := mine.keep(o.Base.String()); err != nil {
		o.Desk.Warn(hint.Say("term.would-not-find", "why", err))
	}
	return l, brings, nil
}

// bring adds the organiser's own list to the request for a new room.
func (o *Opening) bring(ctx context.Context, room map[string]any, most int) error {
	if err := o.Supply.Lists.FirstList(o.Game, o.Desk.In, o.Desk.Screen); err != nil {
		return err
	}
	servers, err := o.Supply.servers(ctx, o.Game)
	if err != nil {
		return err
	}
	if most > 0 && len(servers) > most {
		return hint.Say("term.list-too-long", "n", len(servers), "host", o.Base, "most", most).
			Advising("term.list-too-long-hint", "flag", "--here")
	}
	room["servers"], room["renews"] = servers, !o.Supply.Lists.HasStdin()
	return nil
}

// wanted returns the room's settings for a public host.
func (o *Opening) wanted() map[string]any {
	o.Settings.LookAround = o.Supply.Lists.LooksAround()
	room := map[string]any{}
	for _, row := range wire.Table() {
		if value := reflect.ValueOf(row.Of(&o.Settings)).Elem(); !value.IsZero() {
			room[row.Key] = value.Interface()
		}
	}
	return room
}

// Supply sends the organiser's own list of servers to a room on a public host, again for each
// round.
type Supply struct {
	Lists *listing.Rooms
	// Near says that the host is on this machine or in its network.
	Near bool
	Warn func(...error)

	stage wire.Stage
	// begun receives the game of each round that begins.
	begun chan string
}

// NewSupply returns a supply for a host at an address.
func NewSupply(lists *listing.Rooms, host string, warn func(...error)) *Supply {
	return &Supply{Lists: lists, Near: IsNear(host), Warn: warn, begun: make(chan string, 1)}
}

// sees notes the room's stage. One goroutine at a time calls it.
func (s *Supply) sees(room wire.Snapshot) {
	before := s.stage
	s.stage = room.Room.Stage
	if s.stage == wire.Listing && before != wire.Listing {
		select {
		case s.begun <- room.Room.Game:
		default: // one is under way
		}
	}
}

// bring sends the room the list whenever a round begins, until ctx ends.
func (s *Supply) bring(ctx context.Context, order func(ctx context.Context, action string, with any) error) {
	for {
		var id string
		select {
		case id = <-s.begun:
		case <-ctx.Done():
			return
		}
		g, err := s.Lists.Games.Find(id)
		if err != nil {
			continue // the organiser chose this game on the page, and the host lists it
		}
		servers, err := s.servers(ctx, g)
		if err == nil {
			err = order(ctx, "servers", map[string]any{"game": g.ID, "servers": servers})
		}
		if err != nil && ctx.Err() == nil {
			s.Warn(hint.Say("term.list-from-before", "why", err))
		}
	}
}

// servers returns the newest list of a game as addresses and names. Addresses in private networks are left
// out, because players there find those servers themselves.
func (s *Supply) servers(ctx context.Context, g game.Game) ([]hostport.AddrPort, error) {
	list, err := s.Lists.List(ctx, g.ID)
	if err != nil {
		return nil, err
	}
	var addrs []hostport.AddrPort
	for _, server := range list {
		if s.Near || discovery.ReachOf(server.Addr.Addr()) == discovery.InternetReach {
			addrs = append(addrs, hostport.At(discovery.Canonical(server.Addr)))
		}
	}
	if n := len(list) - len(addrs); n > 0 {
		s.Warn(hint.Say("term.list-local", "n", n))
	}
	if len(addrs) == 0 {
		return nil, hint.Say("term.list-empty").Advising("term.here-hint", "here", "--here")
	}
	return addrs, nil
}

// isOwn reports whether the host cannot get this list itself: it comes from files, from masters
// that the host does not use, or the game is in the user's own table.
func (s *Supply) isOwn(g game.Game) bool {
	if len(s.Lists.Files)+len(s.Lists.Masters) > 0 {
		return true
	}
	builtIn, err := game.Load(nil, "")
	if err != nil {
		return false
	}
	known, err := builtIn.Find(g.ID)
	return err == nil && !slices.Equal(known.Masters, g.Masters)
}

// IsNear reports whether an address is on this machine or in a private network.
func IsNear(hostport string) bool {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = hostport
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && discovery.ReachOf(addr) != discovery.InternetReach
}
