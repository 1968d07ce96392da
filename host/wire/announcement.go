package wire

import (
	"fmt"
	"strings"
	"time"
)

// AnnouncementFormat names the JSON form of an [Announcement].
const AnnouncementFormat = "muster.announcement/1"

// Announced is what an announcement is of.
type Announced string

// The kinds of announcements.
const (
	// AnnouncedOpen: the room is open, and friends can come.
	AnnouncedOpen Announced = "open"
	// AnnouncedChoice: the group goes to a server.
	AnnouncedChoice Announced = "choice"
	// AnnouncedSeats: a server has seats for the group.
	AnnouncedSeats Announced = "seats"
	// AnnouncedReminder: the group meets again at a time.
	AnnouncedReminder Announced = "reminder"
)

// Announcement is what a room tells where its group talks, such as a channel of Discord:
// no token, no secret, no password and no address. Its texts are what strangers call
// themselves and their servers: whoever shows them escapes them.
type Announcement struct {
	// Format is [AnnouncementFormat].
	Format string    `json:"format"`
	Kind   Announced `json:"kind"`
	At     time.Time `json:"at"`
	// Text says the whole in a sentence.
	Text string `json:"text"`
	// Room is the room's name, empty without one; its code is not told. Game is what people
	// call it.
	Room string `json:"room,omitempty"`
	Game string `json:"game"`
	// Link is the room's page, by https: it lets in who follows it. It is empty if there is
	// none, or the organiser does not want it told.
	Link string `json:"link,omitempty"`
	// Server is where the group goes, or may; nil if that is not known.
	Server *AnnouncedServer `json:"server,omitempty"`
	// Players are those for whom the choice was made, or who are here.
	Players []AnnouncedPlayer `json:"players,omitempty"`
	// Seats are how many are free, of seats, and Next is when the group meets, of reminders.
	Seats int       `json:"seats,omitempty"`
	Next  time.Time `json:"next,omitzero"`
}

// AnnouncedServer is a game server as outsiders hear of it; its pings are in ms.
type AnnouncedServer struct {
	Name   string  `json:"name,omitempty"`
	Map    string  `json:"map,omitempty"`
	MeanMS float64 `json:"mean_ms,omitempty"`
	MaxMS  float64 `json:"max_ms,omitempty"`
}

// AnnouncedPlayer is a player as outsiders hear of them.
type AnnouncedPlayer struct {
	Name string `json:"name"`
	// PingMS is to the server, in ms; 0 if that is not known.
	PingMS float64 `json:"ping_ms,omitempty"`
}

// Sentence is what an announcement says, of which all but the text is known.
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

// Posts is how a room's announcements fare, as everyone may see: where they go in a word,
// never by which URL.
type Posts struct {
	// To is such as "Discord".
	To string `json:"to"`
	// At is when the newest arrived, zero before; Trouble is why the one after it did not,
	// in a sentence.
	At      time.Time `json:"at,omitzero"`
	Trouble string    `json:"trouble,omitempty"`
}
