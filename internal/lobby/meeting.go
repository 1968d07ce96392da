package lobby

import (
	"math"
	"strings"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// keysOfMeeting returns what a player can type in a standing room; it says nothing if there is nothing
// to comment on.
func keysOfMeeting(m *wire.Meeting) sentence.Sentence {
	words := []any{"come", "come", "not", "not", "liked", "liked", "disliked", "disliked"}
	switch hasNext, hasLast := m != nil && !m.Next.IsZero(), m != nil && m.Last != nil; {
	case hasNext && hasLast:
		return sentence.Of("term.meeting-keys", words...)
	case hasNext:
		return sentence.Of("term.meeting-keys-next", words[:4]...)
	case hasLast:
		return sentence.Of("term.meeting-keys-last", words[4:]...)
	}
	return sentence.Sentence{}
}

// ofMeeting parses a line as one of the words of a standing room.
func ofMeeting(line string, room *wire.Snapshot) (word wire.Say, is bool) {
	what, is := map[string]wire.Word{"come": wire.SayCome, "not": wire.SayNotCome, "no": wire.SayNotCome,
		"liked": wire.SayLiked, "disliked": wire.SayDisliked}[strings.ToLower(strings.TrimSpace(line))]
	return wire.Say{Round: room.Room.Round, What: what}, is && room.Meeting != nil
}

// meetingInWords describes the next date by the reader's clock, who comes, and where the room
// played last. The year appears only if it is not the current one. It is empty if there is nothing
// to say.
func meetingInWords(l *catalogue.Language, m *wire.Meeting, now time.Time) string {
	if m == nil {
		return ""
	}
	var parts []sentence.Sentence
	if !m.Next.IsZero() {
		key, next := "term.next-session", m.Next.In(now.Location())
		if next.Year() != now.Year() {
			key = "term.next-session-year"
		}
		parts = append(parts, sentence.Of(key, "at", next.Format(time.RFC3339), "year", next.Format("2006")))
		var come, stay []string
		for _, one := range m.Who {
			switch {
			case one.Comes == nil:
			case *one.Comes:
				come = append(come, one.Name)
			default:
				stay = append(stay, one.Name)
			}
		}
		if len(come) > 0 {
			parts = append(parts, sentence.Of("term.coming", "players", come))
		}
		if len(stay) > 0 {
			parts = append(parts, sentence.Of("term.not-coming", "players", stay))
		}
	}
	if last := m.Last; last != nil {
		parts = append(parts, sentence.Of("term.last-session", "server", last.Server, "ms", math.Round(last.MeanMS)))
	}
	return joined(l, "list.clauses", parts...)
}

// showMeeting prints the next session whenever it changes. While players measure, it waits.
func (n *View) showMeeting(s wire.Snapshot) {
	if s.Room.Stage != wire.Gathering && s.Room.Stage != wire.Launching {
		return
	}
	words := meetingInWords(n.Screen.Language, s.Meeting, time.Now())
	if words == n.met {
		return
	}
	isFirst := n.met == ""
	if n.met = words; words == "" {
		return
	}
	n.Screen.Say("%s", n.Screen.Wrap(words, 0))
	if keys := keysOfMeeting(s.Meeting); isFirst && n.votes && !keys.IsZero() {
		n.Screen.Say("%s", n.Screen.Faint(n.Screen.Wrap(n.Screen.Language.Say(keys), 0)))
	}
}
