package wire

import (
	"fmt"
	"strings"
	"time"
)

// AnnouncementFormat names the JSON form of an [Announcement].
const AnnouncementFormat = "muster.announcement/1"

// Announced is what an announcement is about.
type Announced string

// These are the kinds of announcements.
const (
	// AnnouncedOpen says that the room is open, and friends can come.
	AnnouncedOpen Announced = "open"
	// AnnouncedChoice says that the group goes to a server.
	AnnouncedChoice Announced = "choice"
	// AnnouncedSeats says that a server has seats for the group.
	AnnouncedSeats Announced = "seats"
	// AnnouncedReminder says when the group meets again.
	AnnouncedReminder Announced = "reminder"
)

// Announcement is what a room tells its group's own channel, such as one on Discord. It has no
// token, secret, password or address. Its texts are names that strangers chose for themselves and
// their servers, so a program that shows them must escape them.
type Announcement struct {
	// Format is [AnnouncementFormat].
	Format string    `json:"format"`
	Kind   Announced `json:"kind"`
	At     time.Time `json:"at"`
	// Text says everything in a sentence.
	Text string `json:"text"`
	// Room is the room's name, empty without one; its code is left out. Game is what people call
	// the game.
	Room string `json:"room,omitempty"`
	Game string `json:"game"`
	// Link is the room's page, by https. It admits everyone who follows it. It is empty if there is
	// none, or if the organiser does not want it posted.
	Link string `json:"link,omitempty"`
	// Server is where the group goes, or may go; nil if that is unknown.
	Server *AnnouncedServer `json:"server,omitempty"`
	// Players are the players that the choice was made for, or those who are here.
	Players []AnnouncedPlayer `json:"players,omitempty"`
	// Seats is how many seats are free, in announcements of seats. Next is when the group meets, in
	// reminders.
	Seats int       `json:"seats,omitempty"`
	Next  time.Time `json:"next,omitzero"`
}

// AnnouncedServer is a game server as outsiders see it; its pings are in ms.
type AnnouncedServer struct {
	Name   string  `json:"name,omitempty"`
	Map    string  `json:"map,omitempty"`
	MeanMS float64 `json:"mean_ms,omitempty"`
	MaxMS  float64 `json:"max_ms,omitempty"`
}

// AnnouncedPlayer is a player as outsiders see them.
type AnnouncedPlayer struct {
	Name string `json:"name"`
	// PingMS is the ping to the server, in ms; 0 if it is unknown.
	PingMS float64 `json:"ping_ms,omitempty"`
}

// Sentence returns the text of an announcement whose other fields are set.
func (a Announcement) Sentence() string {
	where := "a server"
	if a.Server != nil && a.Server.Name != "" {
		where = a.Server.Name
	}
	switch a.Kind {
	case AnnouncedChoice:
		text := fmt.Sprintf("We play %s on %s", a.Game, where)
		if a.Server != nil && a.Server.Map != "" {
			text += ", map " + a.Server.Map
		}
		if a.Server != nil && a.Server.MeanMS > 0 {
			text += fmt.Sprintf(": %.0f ms on average, %.0f at worst", a.Server.MeanMS, a.Server.MaxMS)
		}
		return text + "."
	case AnnouncedSeats:
		seats := fmt.Sprintf("%d seats are free", a.Seats)
		if a.Seats == 1 {
			seats = "A seat is free"
		}
		return fmt.Sprintf("%s on %s.", seats, where)
	case AnnouncedReminder:
		text := fmt.Sprintf("We play %s on %s.", a.Game, a.Next.Format("Monday, 2 January, at 15:04 MST"))
		var coming []string
		for _, p := range a.Players {
			coming = append(coming, p.Name)
		}
		if len(coming) > 0 {
			text += " Coming: " + strings.Join(coming, ", ") + "."
		}
		return text
	}
	if a.Room != "" {
		return fmt.Sprintf("%s is open: we look for a server of %s.", a.Room, a.Game)
	}
	return fmt.Sprintf("A room is open: we look for a server of %s.", a.Game)
}

// Posts says how a room's announcements fare, for everyone to see. It names the channel in a word,
// and never its URL.
type Posts struct {
	// To is a name such as "Discord".
	To string `json:"to"`
	// At is when the newest announcement arrived, zero before the first. Trouble says in a sentence
	// why the next one failed.
	At      time.Time `json:"at,omitzero"`
	Trouble string    `json:"trouble,omitempty"`
}
