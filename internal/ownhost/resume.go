package ownhost

import (
	"cmp"
	"fmt"
	"reflect"

	"muster/host/room"
	"muster/host/wire"
)

// Request is the room that the organiser wants.
type Request struct {
	Settings wire.Settings
	// Given reports whether the command line says a flag.
	Given func(flag string) bool
	// Fresh: the organiser wants a new room.
	Fresh bool
	// More is what else the command line says of where the room is, such as its port.
	More string
}

// Room returns the code of the room from before a restart, with what the organiser says now,
// or of a new one: then those from before are over, and whoever still has their links hears
// so. Say tells which it is.
func (h *Host) Room(r Request, say func(string, ...any)) (code string, err error) {
	for _, code := range h.rooms.Rooms() {
		if old, ok := h.rooms.Settings(code); ok && !r.Fresh && r.continues(code, old) {
			settings := r.over(old)
			if !reflect.DeepEqual(settings, old) {
				h.rooms.Resettle(code, settings)
			}
			h.rooms.Steer(code, room.Wake{})
			say("going on with room %s from before, %s; --new opens another", code, settings)
			return code, nil
		}
	}
	for _, code := range h.rooms.Rooms() {
		if old, ok := h.rooms.Settings(code); ok && old.Every != "" {
			name := cmp.Or(old.Name, code)
			say("%s (%s) sleeps until its next evening; this opens it:\n%s", cmp.Or(old.Name, "room "+code),
				old.Game, r.command(old.Game, name))
			continue
		}
		say("room %s from before is over; its link leads here no more", code)
		h.rooms.CloseRoom(code)
	}
	code, _, err = h.rooms.Open(r.Settings)
	return code, err
}

// continues reports whether a room from before is the one that the organiser wants again.
// One without a name goes by its code, and has that as its name from then on.
func (r Request) continues(code string, old wire.Settings) bool {
	isNamed := r.Given("room")
	if old.Every != "" && !isNamed && !r.Given("every") { // one that stays is called by name
		return false
	}
	return old.Game == r.Settings.Game && old.Open == r.Settings.Open &&
		(cmp.Or(old.Name, code) == cmp.Or(r.Settings.Name, code) || !isNamed)
}

// placesFlag is the flag of candidate places, and their key in the table of settings: the
// table gives them no flag.
const placesFlag = "places"

// over returns the settings of a room from before, where the organiser says nothing else:
// they may have changed some on the page.
func (r Request) over(old wire.Settings) wire.Settings {
	for _, row := range wire.Table() {
		if row.Flag != "" && r.Given(row.Flag) || row.Key == placesFlag && r.Given(placesFlag) {
			reflect.ValueOf(row.Of(&old)).Elem().Set(reflect.ValueOf(row.Of(&r.Settings)).Elem())
		}
	}
	return old
}

// command is the command line that opens a room of that game and name on this machine.
func (r Request) command(game, name string) string {
	return fmt.Sprintf("muster host %s --room %q%s", game, name, r.More)
}
