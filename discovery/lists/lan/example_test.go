package lan_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"muster/discovery/lists/lan"
)

// A host announces a room for as long as it is open.
func ExampleAnnounce() {
	ctx, closeRoom := context.WithCancel(context.Background())
	rooms, done := make(chan lan.Room), make(chan error)
	go func() { done <- lan.Announce(ctx, rooms, slog.Default()) }()

	room := lan.Room{Name: "Friday night", Game: "openarena", Organiser: "Ann", Players: 1, Seats: 4, Port: 7777}
	rooms <- room
	room.Players = 2 // somebody has joined
	rooms <- room

	closeRoom()
	if err := <-done; err != nil {
		fmt.Println(err)
	}
}

// A player looks around for three seconds.
func ExampleBrowse() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var found []lan.Found
	for rooms, err := range lan.Browse(ctx, slog.Default()) {
		if err != nil {
			fmt.Println(err)
		}
		found = rooms
	}
	for _, f := range found {
		fmt.Println(f.Name, f.Game, f.Players, f.Organiser, f.Addrs[0])
	}
}
