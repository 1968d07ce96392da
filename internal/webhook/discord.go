package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/discovery"
	"muster/host/wire"
)

// bodyOf returns the body of a post: Discord's form, or the announcement itself.
func bodyOf(post Post) ([]byte, error) {
	a := post.Announcement
	if !isHTTPS(a.Link) {
		a.Link = ""
	}
	if wire.IsDiscord(post.URL) {
		return json.Marshal(discordOf(a))
	}
	return json.Marshal(a)
}

// message is a message in the form of Discord's webhooks.
type message struct {
	Content string  `json:"content,omitempty"`
	Embeds  []embed `json:"embeds"`
	// Mentions stops texts from notifying anybody.
	Mentions struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
}

type embed struct {
	Title       string    `json:"title"`
	Description string    `json:"description"`
	URL         string    `json:"url,omitempty"`
	Timestamp   time.Time `json:"timestamp,omitzero"`
	Fields      []field   `json:"fields,omitempty"`
}

type field struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}

// Discord accepts this many letters, and rejects a longer message as a whole.
const (
	maxDescription = 4096
	maxField       = 1024
)

// titleOf returns a message's title. It contains no words of strangers.
func titleOf(kind wire.Announced) string {
	switch kind {
	case wire.AnnouncedChoice:
		return "Where we play"
	case wire.AnnouncedSeats:
		return "Seats are free"
	case wire.AnnouncedReminder:
		return "We meet again"
	}
	return "The room is open"
}

func discordOf(a wire.Announcement) message {
	a.Room, a.Game = escape(a.Room), escape(a.Game)
	if a.Server != nil {
		server := *a.Server
		server.Name, server.Map = escape(server.Name), escape(server.Map)
		a.Server = &server
	}
	text := a.Sentence()
	if a.Kind == wire.AnnouncedReminder { // each reader sees it in their own time zone
		text = fmt.Sprintf("We play %s on <t:%d:F>.", a.Game, a.Next.Unix())
	}
	if a.Kind == wire.AnnouncedOpen && a.Link != "" {
		text += " The title leads into the room."
	}
	e := embed{Title: titleOf(a.Kind), Description: cut(text, maxDescription), URL: a.Link, Timestamp: a.At}
	var who []string
	length := 0
	for i, p := range a.Players {
		name := escape(p.Name)
		if p.PingMS > 0 {
			name += fmt.Sprintf(" %.0f ms", p.PingMS)
		}
		if length += utf8.RuneCountInString(name) + len(", "); length > maxField-len(" and 64 more") {
			who = append(who, fmt.Sprintf("and %d more", len(a.Players)-i))
			break
		}
		who = append(who, name)
	}
	if len(who) > 0 {
		e.Fields = append(e.Fields, field{Name: "Who", Value: strings.Join(who, ", ")})
	}
	d := message{Embeds: []embed{e}}
	d.Mentions.Parse = []string{}
	return d
}

// maxName is how many letters of a name are shown. Only the two longest names of servers have more.
const maxName = 100

// escape escapes a stranger's text so that Discord shows it literally: no bold, link, mention or emoji. A backslash
// before ASCII punctuation is Markdown's own way, and it also breaks the beginning of a URL. Control characters, and
// those that turn the direction of writing, are left out.
func escape(text string) string {
	var b strings.Builder
	for _, c := range cut(discovery.CleanText(text), maxName) {
		if c > ' ' && c < utf8.RuneSelf && !isAlphanumeric(c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func isAlphanumeric(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// cut cuts a text to a number of letters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
