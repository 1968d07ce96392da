package discord

import (
	"cmp"
	"math"
	"strings"
	"unicode/utf8"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// Room is what a card shows.
type Room struct {
	wire.Document
	// GameName is the game's name, and Link leads into the room. Go leads to the server, once there is one.
	GameName, Link, Go string
}

const (
	// maxField is how many letters of a field Discord takes.
	maxField = 1024
	// colour is that of a room, and decided that of a room which knows where to play.
	colour, decided = 0x4a6fa5, 0xd8a53a
)

// Card returns the message that shows a room.
func Card(l *catalogue.Language, ref Ref, r Room) Message {
	e := embed{Title: title(r), URL: r.Link, Description: l.Capital(l.Say(standing(r))), Color: colour}
	e.Fields = append(e.Fields, field{Name: l.Words("lobby.here"), Value: people(l, r)})
	buttons := []button{{Type: buttonType, Style: leading, Label: l.Words("discord.join"), URL: r.Link}}
	if r.Connect != "" && r.Stage == wire.Launching {
		e.Color = decided
		e.Fields = append(e.Fields, field{Name: l.Words("discord.address"), Value: Escape(r.Connect)})
		if r.Go != "" {
			buttons = append(buttons, button{Type: buttonType, Style: leading, Label: l.Words("discord.play"), URL: r.Go})
		}
	}
	if r.Stage == wire.Gathering && here(r) > 0 && ref.isOrganised() { // a room begins no search for nobody
		buttons = append(buttons, button{Type: buttonType, Style: primary, Label: l.Words("lobby.find"), CustomID: ref.Button(Start)})
	}
	buttons = append(buttons, button{Type: buttonType, Style: secondary, Label: l.Words("discord.refresh"), CustomID: ref.Button(Refresh)})
	if ref.isOrganised() {
		buttons = append(buttons, button{Type: buttonType, Style: secondary, Label: l.Words("discord.organise"), CustomID: ref.Button(Organise)})
	}
	return newMessageOf("", []embed{e}, buttons...)
}

// isOrganised reports whether a button can carry the organiser's secret.
func (r Ref) isOrganised() bool { return r.Sealed != "" && strings.HasSuffix(r.text(), r.Sealed) }

// OverCard returns the message in place of the card of a room that is over.
func OverCard(l *catalogue.Language) Message {
	how := l.Words("discord.over-how", "command", "/"+CommandName+" "+Open)
	return newMessageOf("", []embed{{Title: l.Words("discord.over"), Description: how}})
}

func title(r Room) string {
	game := Escape(cmp.Or(r.GameName, r.Game))
	if r.Name == "" || r.Name == r.GameName {
		return game
	}
	return Escape(r.Name) + " · " + game
}

// here counts the players who are in a room.
func here(r Room) (n int) {
	for _, m := range r.Members {
		if m.Connected {
			n++
		}
	}
	return n
}

// standing says how far a room is.
func standing(r Room) sentence.Sentence {
	switch r.Phase.Name {
	case wire.PhaseGathering:
		if n := r.Seats - here(r); n > 0 {
			return sentence.Of("stage.awaited", "n", n)
		}
		return sentence.Of("stage.here", "n", here(r))
	case wire.PhaseVoting:
		return sentence.Of("vote.where")
	case wire.PhaseBanning:
		return sentence.Of("match.stage-none")
	case wire.PhaseReveal, wire.PhaseCountdown:
		return sentence.Of("stage.countdown")
	case wire.PhaseLaunching:
		return where(r)
	case wire.PhaseCoordinating:
		return sentence.Of("stage.refining")
	case wire.PhaseFailed:
		return sentence.Of("stage.no-server")
	}
	return sentence.Of("stage." + string(r.Phase.Name))
}

// where says where a room has gone, with its pings if everybody may see them.
func where(r Room) sentence.Sentence {
	server, place := Escape(cmp.Or(r.Server, r.Connect)), "server"
	pairs := []any{"game", Escape(cmp.Or(r.GameName, r.Game)), "place", place, "server", server, "map", ""}
	if best := chosen(r); best != nil && best.MeanMS > 0 && len(best.RTT) > 0 {
		pairs = append(pairs, "pings", "known", "ms", math.RoundToEven(best.MeanMS), "worst", math.RoundToEven(best.MaxMS))
	}
	return sentence.Of("post.choice", pairs...)
}

// pings are what players measured to the server of a room.
type pings struct {
	MeanMS, MaxMS float64
	RTT           map[string]float64
}

// chosen returns the pings to the server where a room has gone, nil if nobody may see them. The server is not always
// the first of the ranking: people vote.
func chosen(r Room) *pings {
	at, err := hostport.Parse(r.Connect)
	if r.Selection == nil || err != nil {
		return nil
	}
	for _, ranked := range r.Selection.Ranking {
		if ranked.Addr.Addr() == at.Addr() && (ranked.Addr.Port() == at.Port() || ranked.Addr.Port() == r.QueryPort) {
			return &pings{ranked.MeanMS, ranked.MaxMS, ranked.RTT}
		}
	}
	return nil
}

// people lists the players of a room, a line each.
func people(l *catalogue.Language, r Room) string {
	var rtt map[string]float64
	if best := chosen(r); best != nil && r.Stage == wire.Launching {
		rtt = best.RTT
	}
	var lines []string
	length := 0
	for i, m := range r.Members {
		line := Escape(m.Name)
		if ms := rtt[m.Name]; ms > 0 {
			line += " · " + l.Words("discord.ping", "ms", math.RoundToEven(ms))
		}
		if says := doing(r, m); says != "" {
			line += " · " + l.Words(says)
		}
		more := l.Words("list.others", "n", len(r.Members)-i)
		if length += utf8.RuneCountInString(line) + 1; length > maxField-utf8.RuneCountInString(more)-1 {
			lines = append(lines, more)
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return l.Words("people.nobody")
	}
	return strings.Join(lines, "\n")
}

// doing returns the key of the sentence about a player, empty if there is nothing special to say.
func doing(r Room, m wire.Member) string {
	switch {
	case m.LeftOut:
		return "people.left-out"
	case !m.Connected:
		return "person.away"
	case r.Stage == wire.Launching && (m.Launch == wire.LaunchStarted || m.Launch == wire.LaunchByHand || m.Launch == wire.LaunchDeclined):
		return "people.launch." + string(m.Launch)
	}
	return ""
}
