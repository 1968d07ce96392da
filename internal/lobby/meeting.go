package lobby

import (
	"fmt"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// keysOfMeeting returns what a player can type in a standing room; it is empty if there is nothing
// to comment on.
func keysOfMeeting(m *wire.Meeting) string {
	var of []string
	if m != nil && !m.Next.IsZero() {
		of = append(of, "come or not for that date")
	}
	if m != nil && m.Last != nil {
		of = append(of, "liked or disliked for where you were last")
	}
	if len(of) == 0 {
		return ""
	}
	return "type " + strings.Join(of, ", ")
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
func meetingInWords(m *wire.Meeting, now time.Time) string {
	if m == nil {
		return ""
	}
	var parts []string
	if !m.Next.IsZero() {
		next, form := m.Next.In(now.Location()), "Mon 2 Jan 15:04"
		if next.Year() != now.Year() {
			form = "Mon 2 Jan 2006 15:04"
		}
		parts = append(parts, "next evening: "+next.Format(form))
		var come, stay []string
		for _, one := range m.Who {
			switch name := discovery.CleanText(one.Name); {
			case one.Comes == nil:
			case *one.Comes:
				come = append(come, name)
			default:
				stay = append(stay, name)
			}
		}
		for _, part := range []struct {
			word string
			who  []string
		}{{"coming", come}, {"not coming", stay}} {
			if len(part.who) > 0 {
				parts = append(parts, part.word+": "+strings.Join(part.who, ", "))
			}
		}
	}
	if l := m.Last; l != nil {
		parts = append(parts, fmt.Sprintf("last time: %s, %.0f ms", discovery.CleanText(l.Server), l.MeanMS))
	}
	return strings.Join(parts, "; ")
}

// showMeeting prints the next session whenever it changes. While players measure, it waits.
func (n *View) showMeeting(s wire.Snapshot) {
	if s.Room.Stage != wire.Gathering && s.Room.Stage != wire.Launching {
		return
	}
	words := meetingInWords(s.Meeting, time.Now())
	if words == n.met {
		return
	}
	isFirst := n.met == ""
	if n.met = words; words == "" {
		return
	}
	n.Screen.Say("%s", n.Screen.Wrap(words, 0))
	if keys := keysOfMeeting(s.Meeting); isFirst && n.votes && keys != "" {
		n.Screen.Say("%s", n.Screen.Faint(n.Screen.Wrap(keys, 0)))
	}
}
