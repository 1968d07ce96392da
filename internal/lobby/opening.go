package lobby

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"time"

	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
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
	brings = o.Supply.isOwn(o.Game)
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
	if !isKnown {
		room["own_game"] = wire.OwnGame{ID: o.Game.ID, Name: o.Game.Name, Protocol: o.Game.ProtocolName, Port: o.Game.Port}
		o.Desk.Screen.Tell("term.unknown-there", "host", o.Base, "game", o.Game.Name)
	}
	if brings = brings || !isKnown || !isListed; brings {
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
