package host

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const (
	// maxName is the longest player name, in bytes.
	maxName = 32
	// maxMembers is how many players a room without a number of its own takes:
	// as many as the largest game servers.
	maxMembers = 64
)

// Join lets a player in, or back in with the token of before, and returns the
// member's name. freshToken becomes the token of a new member. The refusal, if
// any, says why not.
func (r *Room) Join(hello wire.Hello, from Origin, freshToken string, now time.Time) (name string, effects []effect, refusal *wire.Refusal) {
	name = playerName(hello.Name)
	m := r.member(name)
	if refusal := r.turnAway(name, m, hello.Token); refusal != nil {
		return "", nil, refusal
	}
	if m == nil {
		m = r.admit(name, freshToken, now)
	} else {
		r.welcomeBack(m, now)
	}
	before := m.Origin.Near
	r.locate(m, from)
	r.shutOut(m, before)
	effects = []effect{send{m.Name, wire.Welcome{Version: wire.Version, Name: m.Name, Token: m.Token}}}
	return m.Name, append(effects, r.catchUp(m, now)...), nil
}

// turnAway says why a player cannot come in under a name, which m has if it is
// not nil.
func (r *Room) turnAway(name string, m *Member, token string) *wire.Refusal {
	switch {
	case r.Closed:
		return closed(r.Code)
	case name == "":
		return &wire.Refusal{Reason: wire.ReasonName, Message: "a player needs a name", Hint: "say --name NAME"}
	case m != nil && !sameToken(m.Token, token):
		return &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("the room has a player %q already", m.Name), Hint: "choose another name with --name NAME"}
	case m == nil && r.Locked:
		return r.lockedOut()
	case m == nil && len(r.Members) >= r.places():
		return &wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("all %d players of the room are there", r.places()), Hint: "ask the organiser to open a room for more"}
	}
	return nil
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

// places is how many players the room takes.
func (r *Room) places() int {
	if r.Settings.Players > 0 {
		return r.Settings.Players
	}
	return maxMembers
}

// isComplete tells that everyone is there whom the group waits for.
func (r *Room) isComplete() bool {
	return len(r.Members) == r.Settings.Players && r.allActive(func(m *Member) bool { return m.Connected })
}

// tickGathering gives the places of players who are gone to others.
func (r *Room) tickGathering(now time.Time) {
	r.Members = slices.DeleteFunc(r.Members, func(m *Member) bool {
		gone := !m.Connected && now.Sub(m.Heard) > goneAfter
		if gone {
			r.note(now, "%s has been gone for %v: the place is free", m.Name, goneAfter)
		}
		return gone
	})
}

func (r *Room) admit(name, token string, now time.Time) *Member {
	m := &Member{Name: name, Token: token, Organiser: !r.hasOrganiser(), Connected: true, Heard: now}
	m.Results = make([]discovery.Result, len(r.Servers))
	m.LeftOut = r.Stage == wire.Chosen
	r.Members = append(r.Members, m)
	if m.LeftOut {
		r.note(now, "%s is here, too late for a say in this round", name)
	} else {
		r.note(now, "%s is here", name)
	}
	return m
}

func (r *Room) hasOrganiser() bool {
	return slices.ContainsFunc(r.Members, func(m *Member) bool { return m.Organiser }) ||
		slices.ContainsFunc(r.Guests, func(g *Guest) bool { return g.Organiser })
}

// welcomeBack notes that a member has a new connection. Who was left out may
// measure on; once the choice is under way it is too late for that.
func (r *Room) welcomeBack(m *Member, now time.Time) {
	if !m.Connected || m.LeftOut {
		r.note(now, "%s is back", m.Name)
	}
	m.Connected, m.Heard = true, now
	if r.isMeasuring() {
		m.LeftOut = m.Doubt != nil
	}
}

// catchUp tells a member what the others know, and starts the round if the
// group is complete.
func (r *Room) catchUp(m *Member, now time.Time) []effect {
	switch r.Stage {
	case wire.Gathering:
		if r.isComplete() {
			return r.list(now)
		}
	case wire.Measuring, wire.Refining:
		return append([]effect{send{m.Name, r.listMessage(m)}}, r.measureMessages(m)...)
	case wire.Chosen:
		if !m.LeftOut {
			return []effect{send{m.Name, r.listMessage(m)}, send{m.Name, r.finalistsMessage(m, now)}}
		}
	case wire.Launching:
		if m.Launch == "" || m.Launch == wire.LaunchAsking {
			return []effect{send{m.Name, r.launchFor(m)}}
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
	r.release(m)
	if r.Stage != wire.Launching {
		r.note(now, "lost the connection to %s", name)
	}
}
