package cli

import (
	"fmt"

	"muster/discovery"
	"muster/host/wire"
	"muster/peer"
)

// narrator tells on a screen what happens in a room. One goroutine at a time
// calls it.
type narrator struct {
	screen *screen
	// help is what the player can do at the stage that a room has come to, or
	// waits for; nil if nobody plays here.
	help func(wire.Room) string

	noted int
	stage wire.Stage
	away  bool
	// outlook is how far a search is that the host coordinates, and asked how many
	// servers the player has asked, or the players on average.
	outlook string
	asked   int
	// own is how far the player is.
	own peer.Progress
}

// What the organiser's Enter does in a round, and after it.
const (
	chooseNow    = "Enter chooses from what is measured so far"
	anotherRound = "Enter begins another round"
)

// organiserHelp says what Enter does besides starting. An organiser who plays is
// asked something else at the launch.
func organiserHelp(plays bool) func(wire.Room) string {
	help := map[wire.Stage]string{
		wire.Measuring: chooseNow,
		wire.Refining:  chooseNow,
		wire.Failed:    anotherRound,
	}
	if !plays {
		help[wire.Launching] = anotherRound
	}
	return func(room wire.Room) string { return help[room.Stage] }
}

// nextRound is for a player after the launch.
const nextRound = "stay here for the next round; Ctrl-C leaves"

// playerHelp says what a player waits for who came in by an invitation, and where
// the page is.
func playerHelp(to invitation) func(wire.Room) string {
	return func(room wire.Room) string {
		switch room.Stage {
		case wire.Gathering:
			to.code = room.Code
			start := "the organiser starts when everyone is here"
			if room.Seats > 0 {
				start = fmt.Sprintf("it starts by itself when %d are here", room.Seats)
			}
			return "you are in; " + start + "\nthe page, to watch and to vote: " + to.link()
		case wire.Failed:
			return "the organiser can look for something else and begin again; Ctrl-C leaves"
		}
		return ""
	}
}

// show tells of what the player's own program does.
func (n *narrator) show(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		if n.away {
			n.screen.say("connected again")
		}
		n.away = false
	case peer.Disconnected:
		if !n.away {
			n.screen.say("lost the connection to the host; trying again, nothing is lost")
		}
		n.away = true
	case peer.Progress:
		n.progress(e)
	case peer.RoomChanged:
		n.room(e.Room)
	}
}

// progress tells how far the player is.
func (n *narrator) progress(p peer.Progress) {
	n.asked, n.own = p.Probed, p
	if n.stage == wire.Refining {
		n.search()
		return
	}
	n.screen.moves(p.Probed, p.Listed, fmt.Sprintf("%d answered", p.Answered))
}

// search tells how far a search is that the host coordinates. Nobody knows how
// many servers it will ask for.
func (n *narrator) search() {
	if n.outlook != "" {
		n.screen.moves(n.asked, unknown, n.outlook)
	}
}

// room tells what is new.
func (n *narrator) room(room wire.Room) {
	if n.stage != room.Stage {
		n.screen.rests()
	}
	for _, note := range room.Log[min(n.noted, len(room.Log)):] {
		n.screen.say("%s", wrapped(discovery.CleanText(note.Text), "", width(n.screen.w)))
	}
	n.noted = len(room.Log)
	if n.stage != room.Stage {
		n.stage = room.Stage
		n.turn(room)
	}
	if room.Search != nil {
		n.outlook = room.Search.Sentence(room.By)
		n.asked = max(n.asked, askedEach(room))
		n.search()
	}
}

// askedEach is how many servers the players have asked on average.
func askedEach(room wire.Room) int {
	asked := 0
	for _, m := range room.Members {
		asked += m.Probed
	}
	return asked / max(1, len(room.Members))
}

// enoughSilent servers are more than chance.
const enoughSilent = 5

// silence tells a player whom nothing has answered why that may be.
func (n *narrator) silence() {
	own := n.own
	n.own = peer.Progress{}
	if own.Answered == 0 && own.Probed > 0 && own.Probed >= min(enoughSilent, own.Listed) {
		n.screen.say("%s", wrapped(fmt.Sprintf("no server answered this machine, of %d asked: does a firewall or this network block UDP?", own.Probed), "", width(n.screen.w)))
	}
}

// turn tells what a new stage means: why this server, or what prevents one.
func (n *narrator) turn(room wire.Room) {
	style := n.screen.style(n.screen.w)
	if room.Stage == wire.Chosen || room.Stage == wire.Failed {
		n.silence()
	}
	if room.Selection != nil && (room.Stage == wire.Launching || room.Stage == wire.Failed) {
		for _, sentence := range room.Selection.Explain() {
			n.screen.say("%s", style.faint(wrapped(sentence, "  ", width(n.screen.w))))
		}
	}
	if n.help == nil {
		return
	}
	if help := n.help(room); help != "" {
		n.screen.say("%s", style.faint(help))
	}
}
