package wire

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// EveningsFormat is the form of [Evenings].
const EveningsFormat = "muster.evenings/1"

// Evenings is the history of a standing room, the oldest evening first. Nobody but its
// people read it.
type Evenings struct {
	Format   string    `json:"format"`
	Room     string    `json:"room"`
	Evenings []Evening `json:"evenings"`
}

// Evening is one night of a room that stays.
type Evening struct {
	Began time.Time `json:"began"`
	// Ended is when the night was ended, or the last program left.
	Ended time.Time `json:"ended,omitzero"`
	Stays []Stay    `json:"stays"`
}

// Stay is a server that the room went to.
type Stay struct {
	At time.Time `json:"at"`
	// Until is when the next round began, or the night ended; zero while neither has.
	Until  time.Time `json:"until,omitzero"`
	Game   string    `json:"game"`
	Server string    `json:"server"`
	// Connect is the server's address, Country where that is, by ISO 3166-1 alpha-2, as far
	// as it is known.
	Connect string  `json:"connect"`
	Country string  `json:"country,omitempty"`
	Map     string  `json:"map,omitempty"`
	MeanMS  float64 `json:"mean_ms"`
	Players []Seat  `json:"players"`
}

// Seat is somebody who played.
type Seat struct {
	// Who tells the person from others, whatever the name; it is kept with the room and told
	// to nobody.
	Who  string `json:"who,omitempty"`
	Name string `json:"name"`
	// PingMS is what the person measured there, in ms; 0 is not known.
	PingMS float64 `json:"ping_ms,omitempty"`
	// Liked is what the person said of it; nil is nothing.
	Liked *bool `json:"liked,omitempty"`
}

// Meeting is what everybody in a standing room sees of it.
type Meeting struct {
	// Next is the date that is awaited, zero without one.
	Next time.Time `json:"next,omitzero"`
	// Who are the regulars, and who else has said whether they come.
	Who []Comer `json:"who"`
	// Evenings is how many are in the history, and Last where the newest went last.
	Evenings int   `json:"evenings"`
	Last     *Last `json:"last,omitempty"`
}

// Comer is somebody who may come.
type Comer struct {
	Name    string `json:"name"`
	Arrival int    `json:"arrival,omitempty"`
	// Comes is what they say of the next date; nil is nothing. Here: they are in the room.
	Comes *bool `json:"comes,omitempty"`
	Here  bool  `json:"here,omitempty"`
	// Liked is what they said of where the room was last, and Played that they were there.
	Played bool  `json:"played,omitempty"`
	Liked  *bool `json:"liked,omitempty"`
}

// Last is where a room was last, without who was.
type Last struct {
	At      time.Time `json:"at"`
	Server  string    `json:"server"`
	Country string    `json:"country,omitempty"`
	Map     string    `json:"map,omitempty"`
	MeanMS  float64   `json:"mean_ms"`
}

// CSV writes the history as a table, a line for each person on each server.
func (e Evenings) CSV(to io.Writer) error {
	w := csv.NewWriter(to)
	// whose errors Flush has
	w.Write([]string{"began", "at", "until", "game", "server", "connect", "country", "map", "player", "ping_ms", "liked"})
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, evening := range e.Evenings {
		for _, stay := range evening.Stays {
			for _, seat := range stay.Players {
				ping, liked := "", ""
				if seat.PingMS > 0 {
					ping = strconv.FormatFloat(seat.PingMS, 'f', 1, 64)
				}
				if seat.Liked != nil {
					liked = strconv.FormatBool(*seat.Liked)
				}
				w.Write([]string{when(evening.Began), when(stay.At), when(stay.Until), plain(stay.Game),
					plain(stay.Server), plain(stay.Connect), plain(stay.Country), plain(stay.Map), plain(seat.Name), ping, liked})
			}
		}
	}
	w.Flush()
	return w.Error()
}

// plain is a text that no spreadsheet takes for a formula: those begin with one of these
// signs, and behind an apostrophe they are text.
func plain(text string) string {
	begins, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	if strings.ContainsRune("=+-@|%＝＋－＠", begins) {
		return "'" + text
	}
	return text
}
