package discord

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// Room is a room as the host describes it to everybody with its link.
type Room struct {
	Name     string `json:"name"`
	Game     string `json:"game"`
	GameName string `json:"game_name"`
	// Message says where the room stands, in a sentence of the card's language.
	Message string `json:"message"`
	Stage   string `json:"stage"`
	// Connect is the server's address, once the room has gone there, and QueryPort its port for queries, if that
	// differs. Go takes a browser there.
	Connect   string   `json:"connect"`
	QueryPort uint16   `json:"query_port"`
	Go        string   `json:"go"`
	Members   []Member `json:"members"`
	Selection struct {
		Ranking []Ranked `json:"ranking"`
	} `json:"selection"`
}

// Member is a player of a room.
type Member struct {
	Name      string `json:"name"`
	Connected bool   `json:"connected"`
	LeftOut   bool   `json:"left_out"`
	// Launch is what the player's program has done about the game.
	Launch string `json:"launch"`
}

// Ranked is a server, and the pings of the players to it if everybody may see them.
type Ranked struct {
	Addr netip.AddrPort     `json:"addr"`
	RTT  map[string]float64 `json:"rtt_ms"`
}

// These are the stages that cards tell apart.
const gathering, launching = "gathering", "launching"

const (
	// maxField is how many letters of a field Discord takes.
	maxField = 1024
	// maxSentence is how many letters of a sentence are shown. Escaped it has at most twice as many, which Discord
	// takes.
	maxSentence = 1000
	// colour is a room's colour. decided is the colour of a room that knows where to play.
	colour, decided = 0x4a6fa5, 0xd8a53a
)

// Card returns the message that shows a room. link leads into the room.
func Card(l *Language, ref Ref, r Room, link string) Message {
	e := embed{Title: title(r), URL: link, Description: Escape(Cut(r.Message, maxSentence)), Color: colour}
	e.Fields = append(e.Fields, field{Name: l.Say("here"), Value: people(l, r)})
	buttons := []button{{Type: buttonType, Style: leading, Label: l.Say("join"), URL: link}}
	if r.Connect != "" && r.Stage == launching {
		e.Color = decided
		e.Fields = append(e.Fields, field{Name: l.Say("address"), Value: EscapeName(r.Connect)})
		if r.Go != "" {
			buttons = append(buttons, button{Type: buttonType, Style: leading, Label: l.Say("play"), URL: r.Go})
		}
	}
	if r.Stage == gathering && isSomebodyHere(r) && ref.isOrganised() { // a room begins no search for nobody
		buttons = append(buttons, button{Type: buttonType, Style: primary, Label: l.Say("find"), CustomID: ref.Button(Start)})
	}
	buttons = append(buttons, button{Type: buttonType, Style: secondary, Label: l.Say("refresh"), CustomID: ref.Button(Refresh)})
	if ref.isOrganised() {
		buttons = append(buttons, button{Type: buttonType, Style: secondary, Label: l.Say("organise"), CustomID: ref.Button(Organise)})
	}
	return newMessageOf("", []embed{e}, buttons...)
}

// isOrganised reports whether a button can carry the organiser's secret.
func (r Ref) isOrganised() bool { return r.Sealed != "" && strings.HasSuffix(r.text(), r.Sealed) }

// OverCard returns the message in place of the card of a room that is over.
func OverCard(l *Language) Message {
	how := l.Say("over-how", "command", "/"+CommandName+" "+Open)
	return newMessageOf("", []embed{{Title: l.Say("over"), Description: how}})
}

func title(r Room) string {
	game := EscapeName(cmp.Or(r.GameName, r.Game))
	if r.Name == "" || r.Name == r.GameName {
		return game
	}
	return EscapeName(r.Name) + " · " + game
}

func isSomebodyHere(r Room) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool { return m.Connected })
}

// pings returns the pings to the server where a room has gone, if everybody may see them. The server is not always the
// first of the ranking: people vote.
func pings(r Room) map[string]float64 {
	at, err := netip.ParseAddrPort(r.Connect)
	if err != nil || r.Stage != launching {
		return nil
	}
	for _, of := range r.Selection.Ranking {
		if of.Addr.Addr() == at.Addr() && (of.Addr.Port() == at.Port() || of.Addr.Port() == r.QueryPort) {
			return of.RTT
		}
	}
	return nil
}

// people lists the players of a room, a line each.
func people(l *Language, r Room) string {
	rtt := pings(r)
	var lines []string
	length := 0
	for i, m := range r.Members {
		line := EscapeName(m.Name)
		if ms := rtt[m.Name]; ms > 0 {
			line += " · " + l.Say("ping", "ms", math.RoundToEven(ms))
		}
		if says := doing(r, m); says != "" {
			line += " · " + l.Say(says)
		}
		more := l.Say("others", "n", len(r.Members)-i)
		if length += utf8.RuneCountInString(line) + 1; length > maxField-utf8.RuneCountInString(more)-1 {
			lines = append(lines, more)
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return l.Say("nobody")
	}
	return strings.Join(lines, "\n")
}

// doing returns the key of what to say about a player, empty if there is nothing special.
func doing(r Room, m Member) string {
	switch {
	case m.LeftOut:
		return "left-out"
	case !m.Connected:
		return "away"
	case r.Stage == launching && (m.Launch == "launched" || m.Launch == "by-hand" || m.Launch == "declined"):
		return m.Launch
	}
	return ""
}
