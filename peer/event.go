package peer

import (
	"time"

	"muster/host/wire"
)

// Event is something the player's screen may show.
type Event interface{ isEvent() }

// Joined: the host let the player in, under this name.
type Joined struct{ Name string }

// RoomChanged: the newest state of the room.
type RoomChanged struct{ Room wire.Room }

// Progress: how far the player's own measuring is.
type Progress struct{ Probed, Answered, Listed int }

// Disconnected: the connection broke, the next attempt comes after Retry.
type Disconnected struct {
	Err   error
	Retry time.Duration
}

func (Joined) isEvent()       {}
func (RoomChanged) isEvent()  {}
func (Progress) isEvent()     {}
func (Disconnected) isEvent() {}
