package ownhost

import (
	"cmp"
	"fmt"
	"reflect"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
)

// Request is the room that the organiser asks for.
type Request struct {
	Settings wire.Settings
	// Given reports whether the command line sets a flag.
	Given func(flag string) bool
	// Fresh says that the organiser wants a new room.
	Fresh bool
	// More is the rest of the command line that locates the room, such as its port.
	More string
}

// Room returns the code of the room from before a restart, with the organiser's present settings, or that of a new
// room. A new room closes the previous ones, and people who still have their links are told. Tell gets the key of a sentence
// that reports which it is, and its arguments.
func (h *Host) Room(r Request, tell func(key string, pairs ...any)) (code string, err error) {
	for _, code := range h.rooms.Rooms() {
		if old, ok := h.rooms.Settings(code); ok && !r.Fresh && r.continues(code, old) {
			settings := r.applyTo(old)
			settings.LookBeyond = r.Settings.LookBeyond
			if !reflect.DeepEqual(settings, old) {
				h.rooms.Resettle(code, settings)
			}
			h.rooms.Steer(code, room.Wake{})
			tell("term.room-resumed", "code", code, "wanted", settings.Wanted(), "flag", "--new")
			return code, nil
		}
	}
	for _, code := range h.rooms.Rooms() {
		if old, ok := h.rooms.Settings(code); ok && old.Every != "" {
			name := sentence.Plain(old.Name)
			if old.Name == "" {
				name = sentence.Of("term.room-named", "code", code)
			}
			tell("term.room-sleeps", "room", name, "game", old.Game, "command", r.command(old.Game, cmp.Or(old.Name, code)))
			continue
		}
		tell("term.room-replaced", "code", code)
		h.rooms.CloseRoom(code)
	}
	code, _, err = h.rooms.Open(r.Settings)
	return code, err
}

// continues reports whether the organiser asks for this previous room. A nameless room goes by its code, which becomes
// its name.
func (r Request) continues(code string, old wire.Settings) bool {
	isNamed := r.Given("room")
	if old.Every != "" && !isNamed && !r.Given("every") { // a standing room must be called by its name
		return false
	}
	return old.Game == r.Settings.Game && old.Open == r.Settings.Open &&
		(cmp.Or(old.Name, code) == cmp.Or(r.Settings.Name, code) || !isNamed)
}

// placesFlag is the flag of candidate places, and their key in the table of settings, which lists no flag for them.
const placesFlag = "places"

// applyTo returns a previous room's settings with the organiser's changes. The others stay, because players may have
// changed them on the page.
func (r Request) applyTo(old wire.Settings) wire.Settings {
	for _, row := range wire.Table() {
		if row.Flag != "" && r.Given(row.Flag) || row.Key == placesFlag && r.Given(placesFlag) {
			reflect.ValueOf(row.Of(&old)).Elem().Set(reflect.ValueOf(row.Of(&r.Settings)).Elem())
		}
	}
	if old.Seeks != "" && len(old.Places) == 0 {
		old.Places = r.Settings.Places
	}
	return old
}

// command returns the command line that opens a room of that game and name on this machine.
func (r Request) command(game, name string) string {
	game = cmp.Or(game, "--where")
	return fmt.Sprintf("muster host %s --room %q%s", game, name, r.More)
}
