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

// HistoryFormat names the form of [History].
const HistoryFormat = "muster.evenings/1"

// History is the history of a standing room, the oldest session first. Only the room's members may
// read it.
type History struct {
	Format   string    `json:"format"`
	Room     string    `json:"room"`
	Sessions []Session `json:"evenings"`
}

// Session is one session of a standing room.
type Session struct {
	Began time.Time `json:"began"`
	// Ended is when the organiser ended the session, or the last program left.
	Ended time.Time `json:"ended,omitzero"`
	Stays []Stay    `json:"stays"`
}

// Stay is a server that the room went to.
type Stay struct {
	At time.Time `json:"at"`
	// Until is when the next round began, or the session ended; zero before that.
	Until  time.Time `json:"until,omitzero"`
	Game   string    `json:"game"`
	Server string    `json:"server"`
	// Connect is the server's address. Country is where the server is, by ISO 3166-1 alpha-2, if
	// that is known.
	Connect string  `json:"connect"`
	Country string  `json:"country,omitempty"`
	Map     string  `json:"map,omitempty"`
	MeanMS  float64 `json:"mean_ms"`
	Players []Seat  `json:"players"`
}

// Seat is a player's part in a session.
type Seat struct {
	// Who identifies the person, even after a change of name. It is saved with the room and shown
	// to no one.
	Who  string `json:"who,omitempty"`
	Name string `json:"name"`
	// PingMS is the ping that the person measured there, in ms; 0 if it is unknown.
	PingMS float64 `json:"ping_ms,omitempty"`
	// Liked is the person's opinion of it; nil if there is none.
	Liked *bool `json:"liked,omitempty"`
}

// Meeting is what everybody in a standing room sees of its dates and history.
type Meeting struct {
	// Next is the next date, zero without one.
	Next time.Time `json:"next,omitzero"`
	// Quorum is how many people must say yes for the room to open, in a room without a date; 0 in
	// others. Pledged is how many have, with those who are there.
	Quorum  int `json:"quorum,omitempty"`
	Pledged int `json:"pledged,omitempty"`
	// Who lists the regulars, and everyone else who has said whether they come.
	Who []Attendee `json:"who"`
	// Sessions is how many sessions the history has. Last is where the newest one went last.
	Sessions int   `json:"evenings"`
	Last     *Last `json:"last,omitempty"`
}

// Attendee is a person who may come.
type Attendee struct {
	Name    string `json:"name"`
	Arrival int    `json:"arrival,omitempty"`
	// Comes is their answer for the next date; nil if there is none. Here says that they are in the
	// room.
	Comes *bool `json:"comes,omitempty"`
	Here  bool  `json:"here,omitempty"`
	// Liked is their opinion of where the room was last. Played says that they were there.
	Played bool  `json:"played,omitempty"`
	Liked  *bool `json:"liked,omitempty"`
}

// Last is where a room was last, without its people.
type Last struct {
	At      time.Time `json:"at"`
	Server  string    `json:"server"`
	Country string    `json:"country,omitempty"`
	Map     string    `json:"map,omitempty"`
	MeanMS  float64   `json:"mean_ms"`
}

// CSV writes the history as a table, a line for each person on each server.
func (e History) CSV(to io.Writer) error {
	w := csv.NewWriter(to)
	// Flush reports the errors of these writes.
	w.Write([]string{"began", "at", "until", "game", "server", "connect", "country", "map", "player", "ping_ms", "liked"})
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, session := range e.Sessions {
		for _, stay := range session.Stays {
			for _, seat := range stay.Players {
				ping, liked := tenths(seat.PingMS), ""
				if seat.Liked != nil {
					liked = strconv.FormatBool(*seat.Liked)
				}
				w.Write([]string{when(session.Began), when(stay.At), when(stay.Until), escapeFormula(stay.Game),
					escapeFormula(stay.Server), escapeFormula(stay.Connect), escapeFormula(stay.Country), escapeFormula(stay.Map), escapeFormula(seat.Name), ping, liked})
			}
		}
	}
	w.Flush()
	return w.Error()
}

// escapeFormula returns a text that no spreadsheet takes for a formula. Formulas begin with one of
// these signs. An apostrophe before it makes the formula a text.
func escapeFormula(text string) string {
	begins, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	if strings.ContainsRune("=+-@|%＝＋－＠", begins) {
		return "'" + text
	}
	return text
}
