package wire

import (
	"math"
	"strconv"
	"time"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
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
// token, secret or password, and no address but that of a match's server. Its texts are names that strangers chose for themselves and
// their servers, so a program that shows them must escape them.
type Announcement struct {
	// Format is [AnnouncementFormat].
	Format string    `json:"format"`
	Kind   Announced `json:"kind"`
	At     time.Time `json:"at"`
	// Text is the whole announcement in one sentence.
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
	// Match is the record of a match of two sides that the choice is for; nil for none.
	Match *MatchRecord `json:"match,omitempty"`
}

// AnnouncedServer is a game server as outsiders see it; its pings are in ms.
type AnnouncedServer struct {
	Name   string  `json:"name,omitempty"`
	Map    string  `json:"map,omitempty"`
	MeanMS float64 `json:"mean_ms,omitempty"`
	MaxMS  float64 `json:"max_ms,omitempty"`
	// IsPlace says that there is no server yet, and this is a place where one would suit the group.
	IsPlace bool `json:"place,omitempty"`
}

// AnnouncedPlayer is a player as outsiders see them.
type AnnouncedPlayer struct {
	Name string `json:"name"`
	// PingMS is the ping to the server, in ms; 0 if it is unknown.
	PingMS float64 `json:"ping_ms,omitempty"`
}

// Sentence returns the text of an announcement whose other fields are set. It is in English, because
// a channel has readers of many languages.
func (a Announcement) Sentence() string { return catalogue.InEnglish().Say(a.says()) }

func (a Announcement) says() sentence.Sentence {
	server := AnnouncedServer{}
	if a.Server != nil {
		server = *a.Server
	}
	switch a.Kind {
	case AnnouncedChoice:
		if server.IsPlace {
			return server.Placed()
		}
		pairs := []any{"game", a.Game, "place", server.place(), "server", server.Name, "map", server.Map}
		if server.MeanMS > 0 {
			pairs = append(pairs, "pings", "known", "ms", math.RoundToEven(server.MeanMS), "worst", math.RoundToEven(server.MaxMS))
		}
		return sentence.Of("post.choice", pairs...)
	case AnnouncedSeats:
		return sentence.Of("post.seats", "n", a.Seats, "place", server.place(), "server", server.Name)
	case AnnouncedReminder:
		game := sentence.Plain(a.Game)
		if a.Game == "" {
			game = sentence.Of("post.a-game")
		}
		pairs := []any{"game", game, "day", dayOf(a.Next), "time", a.Next.Format("15:04"), "zone", a.Next.Format("MST")}
		var coming []string
		for _, p := range a.Players {
			coming = append(coming, p.Name)
		}
		if len(coming) > 0 {
			return sentence.Of("post.reminder-coming", append(pairs, "players", coming)...)
		}
		return sentence.Of("post.reminder", pairs...)
	}
	switch {
	case a.Game == "" && a.Room == "":
		return sentence.Of("post.open-place-nameless")
	case a.Game == "":
		return sentence.Of("post.open-place", "room", a.Room)
	case a.Room == "":
		return sentence.Of("post.open-nameless", "game", a.Game)
	}
	return sentence.Of("post.open", "room", a.Room, "game", a.Game)
}

// Placed says where a server should be, with the group's pings.
func (s AnnouncedServer) Placed() sentence.Sentence {
	return sentence.Of("post.place", "place", s.Name, "ms", math.RoundToEven(s.MeanMS), "worst", math.RoundToEven(s.MaxMS))
}

// place says which words there are for a server.
func (s AnnouncedServer) place() string {
	switch {
	case s.Name != "" && s.Map != "":
		return "both"
	case s.Name != "":
		return "server"
	case s.Map != "":
		return "map"
	}
	return "none"
}

// dayOf returns a date in its own zone.
func dayOf(at time.Time) sentence.Sentence {
	return sentence.Of("date.day", "weekday", sentence.Of("date.weekday."+strconv.Itoa(int(at.Weekday()))), "day", at.Day(),
		"month", sentence.Of("date.month."+strconv.Itoa(int(at.Month()))))
}

// Posts says how a room's announcements fare, for everyone to see. It names the channel in a word,
// and never its URL.
type Posts struct {
	// To is a name such as "Discord".
	To sentence.Sentence `json:"to"`
	// At is when the newest announcement arrived, zero before the first. Trouble says why the next
	// one failed.
	At      time.Time         `json:"at,omitzero"`
	Trouble sentence.Sentence `json:"trouble,omitzero"`
}
