package host

import (
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// maxName is the longest player name, in bytes.
const maxName = 32

// Join lets a player in, or back in with the token of before, and returns the
// member's name. freshToken becomes the token of a new member. The refusal, if
// any, says why not.
func (r *Room) Join(hello wire.Hello, freshToken string, now time.Time) (name string, effects []effect, refusal *wire.Refusal) {
	name = playerName(hello.Name)
	m := r.member(name)
	switch {
	case name == "":
		return "", nil, &wire.Refusal{Reason: wire.ReasonName, Message: "a player needs a name", Hint: "say --name NAME"}
	case m != nil && !sameToken(m.Token, hello.Token):
		return "", nil, &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("the room has a player %q already", name), Hint: "choose another name with --name NAME"}
	case m == nil && r.isFull():
		return "", nil, &wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("all %d players of the room are there", r.Settings.Players), Hint: "ask the organiser to open a room for more"}
	case m == nil:
		m = r.admit(name, freshToken, now)
	default:
		r.welcomeBack(m, now)
	}
	effects = []effect{send{name, wire.Welcome{Version: wire.Version, Name: name, Token: m.Token}}}
	return name, append(effects, r.catchUp(m, now)...), nil
}

// playerName is a name as the room shows it, safe and short.
func playerName(s string) string {
	name := discovery.CleanText(s)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return strings.TrimSpace(name)
}

func sameToken(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func (r *Room) isFull() bool {
	return r.Settings.Players > 0 && len(r.Members) >= r.Settings.Players
}

func (r *Room) admit(name, token string, now time.Time) *Member {
	m := &Member{Name: name, Token: token, Organiser: len(r.Members) == 0, Connected: true, Heard: now}
	m.Results = make([]discovery.Result, len(r.Servers))
	r.Members = append(r.Members, m)
	r.note(now, "%s is here", name)
	return m
}

func (r *Room) welcomeBack(m *Member, now time.Time) {
	if m.Connected && !m.LeftOut {
		m.Heard = now
		return // the old connection just has not noticed yet
	}
	m.Connected, m.LeftOut, m.Heard = true, false, now
	r.note(now, "%s is back", m.Name)
}

// catchUp tells a member what the others know, and starts the round if the
// group is complete.
func (r *Room) catchUp(m *Member, now time.Time) []effect {
	switch r.Stage {
	case wire.Gathering:
		if r.isFull() && r.allActive(func(m *Member) bool { return m.Connected }) {
			return r.list(now)
		}
	case wire.Measuring:
		return append([]effect{send{m.Name, r.listMessage()}}, r.measureMessages(m)...)
	case wire.Chosen:
		return []effect{send{m.Name, r.listMessage()}, send{m.Name, r.finalistsMessage()}}
	case wire.Launching:
		if m.Launch == "" {
			return []effect{send{m.Name, *r.Launch}}
		}
	}
	return nil
}

// Gone notes that a member's connection ended. The place is kept.
func (r *Room) Gone(name string, now time.Time) {
	m := r.member(name)
	if m == nil || !m.Connected {
		return
	}
	m.Connected, m.Heard = false, now
	if r.Stage != wire.Launching {
		r.note(now, "lost the connection to %s", name)
	}
}
