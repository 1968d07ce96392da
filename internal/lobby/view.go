package lobby

import (
	"errors"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/peer"
)

// View prints what happens in a room. One goroutine at a time calls it.
type View struct {
	Screen *term.Screen
	// Help says what the player can do at the room's stage, or what the room waits for; nil if
	// nobody plays here.
	Help func(wire.Snapshot) sentence.Sentence
	// Typing notes what the screen shows, for what the person types; nil if nobody types here.
	Typing *Typing

	// newest is the newest note that the screen has shown.
	newest wire.Note
	// hasEnded says that the screen has announced the end of the session.
	hasEnded bool
	stage    wire.Stage
	away     bool
	// lost is when the connection was lost, zero while it stands. isGone says that the screen has
	// announced that the host no longer runs at its address.
	lost   time.Time
	isGone bool
	// forecast is what a coordinated search may still gain. asked is how many servers the player has
	// asked, or the players on average.
	forecast string
	asked    int
	// own is the player's own progress.
	own peer.Progress
	// name is the name of the player who votes at this terminal, empty if nobody does.
	name string
	// servers, votes and turn are what the screen has shown of a vote, and of a match.
	servers, votes, turn string
	// proposed is when the proposal to move on was made whose keys the screen has shown.
	proposed time.Time
	// discreet is how many servers may see the player's address, 0 for no limit.
	discreet int
	// voice is the link to the voice channel that the screen has shown.
	voice string
	// next is the next session that the screen has announced.
	next time.Time
	// notes receives each state for Home; nil if Home does not need it.
	notes func(wire.Snapshot)
}

// OrganiserHelp says what the organiser's keys do apart from starting. An organiser who plays gets
// another question at the launch.
func OrganiserHelp(plays bool) func(wire.Snapshot) sentence.Sentence {
	return func(s wire.Snapshot) (help sentence.Sentence) {
		switch in, retries := retriesIn(s); {
		case retries:
			help = sentence.Of("term.retry-or-now", "time", in)
		case s.Room.Stage == wire.Measuring, s.Room.Stage == wire.Refining:
			help = sentence.Of("term.choose-now")
		case s.Room.Stage == wire.Failed:
			help = sentence.Of("term.try-again")
		case s.Room.Stage == wire.Waiting:
			help = sentence.Of("term.wait-no-more")
		case s.Room.Stage == wire.Launching && !plays:
			help = afterwards
		}
		return help
	}
}

// retriesIn returns the time until a failed room tries again. retries is false if it does not.
func retriesIn(s wire.Snapshot) (in time.Duration, retries bool) {
	return max(0, s.Room.Retry.Sub(s.Room.Since).Round(time.Second)), !s.Room.Retry.IsZero()
}

// PlayerHelp says what a player who came by a link waits for.
func PlayerHelp(s wire.Snapshot) (help sentence.Sentence) {
	switch in, retries := retriesIn(s); {
	case s.Room.Stage == wire.Gathering && s.Room.Players > 0:
		help = sentence.Of("term.in-awaited", "n", s.Room.Players)
	case s.Room.Stage == wire.Gathering:
		help = sentence.Of("term.in")
	case retries:
		help = sentence.Of("term.retry-alone", "time", in)
	case s.Room.Stage == wire.Failed:
		help = sentence.Of("term.failed")
	case s.Room.Stage == wire.Waiting:
		help = sentence.Of("term.waiting")
	}
	return help
}

// pauseUnsaid is how long the host may be away before the player is told.
const pauseUnsaid = 5 * time.Second

// Show prints what the player's own program does.
func (n *View) Show(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		if n.away {
			n.Screen.Tell("term.connected-again")
		}
		n.away, n.isGone, n.lost = false, false, time.Time{}
	case peer.Waiting:
		n.Screen.Print(e.Says)
	case peer.Disconnected:
		var refusal wire.Refusal
		refused := errors.As(e.Err, &refusal) && refusal.Reason != wire.ReasonMoved
		if n.lost.IsZero() {
			n.lost = time.Now()
		}
		if !refused && time.Since(n.lost)+e.Retry < pauseUnsaid {
			return // most are back before anybody has read it
		}
		switch {
		case e.Gone && !n.isGone:
			n.isGone = true
			n.Screen.Tell("term.host-gone")
		case n.away:
		case errors.As(e.Err, &refusal):
			n.Screen.Tell("term.trying-again", "why", hint.Sentence(refusal))
		default:
			n.Screen.Tell("term.connection-lost")
		}
		n.away = true
	case peer.Progress:
		n.asked, n.own = e.Probed, e
		if n.stage == wire.Refining {
			n.showSearch()
		} else {
			n.Screen.Moves(n.Screen.Words("term.measuring"), e.Probed, e.Listed, n.Screen.Words("term.answered", "n", e.Answered))
		}
	case peer.Exposing:
		n.Screen.Say("%s", n.Screen.Language.Say(discovery.ExposureNotice(e.Max, n.discreet, e.Listed)))
	case peer.ExposingPlaces:
		places := e.Places
		if n.discreet > 0 {
			places = min(places, n.discreet)
		}
		n.Screen.Tell("term.places-see", "n", places)
	case peer.Shown:
		n.Screen.Say("%s", n.Screen.Language.Say(e.Exposed.Sentence()))
	case peer.Answered:
		n.Screen.Print(e.Says)
	case peer.RoomChanged:
		n.Room(e.Room)
	}
}

// operatorPrefix begins the keys of the sentences with which a host's operator closes a room. The
// organiser did not end that room, and wants to know why it is over.
const operatorPrefix = "refused.operator-"

// ends reports whether a refusal means that the session is over, and prints that unless the player
// knows. The organiser may have ended it before their own player was in, or the room may have ended
// while the connection was lost.
func (n *View) ends(why wire.Refusal) bool {
	says := hint.Sentence(why)
	switch {
	case why.Reason == wire.ReasonEnded:
	case why.Reason == wire.ReasonClosed && !n.lost.IsZero():
		says = sentence.Of("term.ended-meanwhile", "why", says)
	case why.Reason == wire.ReasonClosed && n.Typing.steers() && !strings.HasPrefix(why.Says.Key, operatorPrefix):
		says = sentence.Of("term.ended")
	default:
		return false
	}
	if !n.hasEnded {
		n.Screen.Print(says)
	}
	return true
}

// showSearch shows the progress of a search that the host coordinates. Its total is unknown.
func (n *View) showSearch() {
	if n.forecast != "" {
		n.Screen.Moves(n.Screen.Words("term.asked"), n.asked, term.Unknown, n.forecast)
	}
}

// Room prints what is new.
func (n *View) Room(s wire.Snapshot) {
	if n.stage != s.Room.Stage || !s.Room.Held.IsZero() {
		n.Screen.Rests()
	}
	if !s.Room.Held.IsZero() {
		n.Screen.Print(s.Room.Held)
	}
	for _, note := range n.unread(s.Log) {
		n.Screen.Print(note.Sentence)
	}
	n.hasEnded = !s.Room.Ended.IsZero()
	if n.stage != s.Room.Stage {
		n.stage = s.Room.Stage
		n.explainStage(s)
	}
	if link := s.Room.Voice; link != n.voice {
		if n.voice = link; wire.Voice(link) != "" {
			n.Screen.Say("%s %s", n.Screen.Words("term.voice", "program", wire.Voice(link)), link) // it may be long
		}
	}
	n.showNext(s)
	if n.notes != nil {
		n.notes(s)
	}
	n.showVote(s)
	n.showTurn(s)
	n.showProposal(s)
	if n.Typing != nil {
		n.Typing.note(&s, time.Now())
	}
	if s.Room.Search != nil {
		n.forecast = n.Screen.Language.Say(s.Room.Forecast)
		n.asked = max(n.asked, AskedEach(s))
		n.showSearch()
	}
}

// showNext announces the next session of a standing room, once. While players measure, it waits.
func (n *View) showNext(s wire.Snapshot) {
	m := s.Meeting
	if m == nil || m.Next.IsZero() || m.Next.Equal(n.next) || s.Room.Stage != wire.Gathering && s.Room.Stage != wire.Launching {
		return
	}
	n.next = m.Next
	n.Screen.Tell("term.next-session", "at", m.Next.Local().Format(time.RFC3339))
	n.leadToPage("term.more-on-page")
}

// hint prints a line about what the person can do.
func (n *View) hint(s sentence.Sentence) {
	n.Screen.Say("%s", n.Screen.Faint(n.Screen.Wrap(n.Screen.Language.Say(s), 0)))
}

// leadToPage says what the person's page is for now, by a key with {link}. It says nothing where
// there is no such page, or the person is looking at it.
func (n *View) leadToPage(key string, pairs ...any) {
	if link := n.Typing.link(); link != "" && n.Help != nil {
		n.Screen.Tell(key, append(pairs, "link", link)...)
	}
}

// A player who comes in sees the last maxAtFirst notes of the log: enough to know what is going on
// without reading the whole session again. A log of up to shortLog notes is shown whole, because it
// says who is here.
const maxAtFirst, shortLog = 3, 8

// unread returns the notes that the screen has not shown, and remembers the newest. The log drops
// its oldest notes, and a restored room may have fewer than before. If the last shown note is gone,
// unread returns the newest few.
func (n *View) unread(log []wire.Note) []wire.Note {
	from := len(log)
	for from > 0 && !(log[from-1].At.Equal(n.newest.At) && log[from-1].Sentence == n.newest.Sentence) {
		from--
	}
	if from == 0 && len(log) > shortLog {
		from = len(log) - maxAtFirst
	}
	if len(log) > 0 {
		n.newest = log[len(log)-1]
	}
	return log[from:]
}

// AskedEach returns how many servers the players have asked on average.
func AskedEach(s wire.Snapshot) int {
	asked, players := 0, s.Players()
	for _, p := range players {
		asked += p.Probed
	}
	return asked / max(1, len(players))
}

// enoughSilent is how many silent servers are more than chance.
const enoughSilent = 5

// maxReasons is how many sentences the terminal gives for a choice; the page has them all.
const maxReasons = 2

// explainStage explains a new stage: why this server was chosen, or what prevents a choice. A
// player whom no server answered reads a possible cause.
func (n *View) explainStage(s wire.Snapshot) {
	if own := n.own; s.Room.Stage == wire.Chosen || s.Room.Stage == wire.Failed {
		n.own = peer.Progress{}
		if own.Answered == 0 && own.Probed > 0 && own.Probed >= min(enoughSilent, own.Listed) {
			n.Screen.Tell("term.silence", "n", own.Probed)
		}
	}
	if s.Choice != nil && (s.Room.Stage == wire.Launching || s.Room.Stage == wire.Failed) {
		for _, text := range n.Screen.Language.SayAll(s.Choice.Explain[:min(maxReasons, len(s.Choice.Explain))]) {
			const indent = "  "
			n.Screen.Say("%s", n.Screen.Faint(indent+n.Screen.Wrap(text, len(indent))))
		}
		n.leadToPage("term.more-on-page")
	}
	if hasPlace(s) {
		if offers := offersOf(*s.Way.Place); len(offers) > 0 {
			n.Screen.Say("%s", n.Screen.Wrap(n.Screen.Words("term.place-offers", "offers", offers), 0))
		}
		if n.Typing.steers() {
			n.leadToPage("term.place-next")
		}
	}
	if n.Typing.steers() && s.Room.Stage != wire.Gathering { // what the organiser read there
		n.Screen.Prompt("")
	}
	if n.Help == nil || !s.Room.Ended.IsZero() { // a player whose room sleeps is leaving
		return
	}
	help := n.Help(s)
	switch {
	case help.IsZero():
	case n.Typing.steers():
		n.Screen.Prompt(n.Screen.Faint(n.Screen.Language.Say(help)))
	default:
		n.hint(help)
		if s.Room.Stage == wire.Gathering {
			n.leadToPage("term.page")
		}
	}
}

// IsRoundOver reports whether everyone is on the server, or, with an error, that there is none.
func IsRoundOver(s wire.Snapshot) (is bool, err error) {
	if s.Room.Stage == wire.Failed {
		return true, ErrNothing
	}
	if hasPlace(s) {
		return true, nil
	}
	return s.Room.Stage == wire.Launching && !slices.ContainsFunc(s.Players(), IsOnTheWay), nil
}

// IsOnTheWay reports whether a player's launch is still to come.
func IsOnTheWay(p wire.Person) bool {
	return p.Connected && (p.Launch == "" || p.Launch == wire.LaunchAsking)
}
