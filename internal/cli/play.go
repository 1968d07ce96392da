package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/term"
	"muster/peer"
)

// playing is one player's part in a room, on this machine's screen.
type playing struct {
	*program
	probing  probing
	launcher *game.Launcher
	narrator *narrator
	once     bool
	// atHost: on the host's own machine.
	atHost bool
	// isIn: the host has let the player in.
	isIn bool
}

// play joins a room and stays until ctx ends or the room is over. It is an error
// if ctx ends before the host has let the player in. A file keeps the player's place
// in the room over a restart of the program.
func (y *playing) play(ctx context.Context, to invite.Link) error {
	place := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", to.Host, to.Code, y.launcher.Player))
	file, noFolder := stateFile(filepath.Join("tokens", hex.EncodeToString(place[:8])))
	token, _ := os.ReadFile(file) // the first time there is none
	warn := sync.OnceFunc(func() {
		y.screen.Say("muster: warning: your place in the room will not survive a restart of this program")
	})
	options := peer.Options{
		URL: to.Endpoint(), Code: to.Code, Name: y.launcher.Player, Token: string(token),
		SaveToken: func(text string) {
			if noFolder == nil && os.WriteFile(file, []byte(text), 0o600) != nil {
				warn()
			}
		},
		NewProber: y.newProber, Launch: y.launcher.Launch, Events: y.show, Once: y.once, Logger: y.logger(),
	}
	if to.Pin != "" {
		options.TLS = peer.Pinned(to.Pin)
	}
	switch { // what the host cannot tell by the connection
	case y.probing.LocalAddr.IsValid():
		options.Probes = wire.ProbesElsewhere
	case y.atHost:
		options.Probes = wire.ProbesAtHost
	}
	defer y.screen.Rests()
	err := peer.Run(ctx, options)
	if err == nil && !y.isIn {
		return ctx.Err() // the user would not wait
	}
	return err
}

// show tells what happens. Once in the room, what is typed is for the room.
func (y *playing) show(e peer.Event) {
	if _, in := e.(peer.Joined); in {
		y.isIn = true
		y.launcher.Console.Listen()
	}
	y.narrator.show(e)
}

func (y *playing) newProber(id string) (peer.Prober, error) {
	g, err := y.launcher.Games.Find(id)
	if err != nil {
		return nil, hint.With(fmt.Errorf("the room plays %q, which this muster does not know", discovery.CleanText(id)),
			"update muster, or add the game to "+configFile("games.toml"))
	}
	return y.probing.prober(y.program, g.Protocol())
}

// narrator tells on a screen what happens in a room. One goroutine at a time
// calls it.
type narrator struct {
	screen *term.Screen
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

// playerHelp says what a player waits for who came in by a link, and where the page
// is.
func playerHelp(to invite.Link) func(wire.Room) string {
	return func(room wire.Room) string {
		switch room.Stage {
		case wire.Gathering:
			to.Code = room.Code
			start := "the organiser starts when everyone is here"
			if room.Seats > 0 {
				start = fmt.Sprintf("it starts by itself when %d are here", room.Seats)
			}
			return "you are in; " + start + "\nthe page, to watch and to vote: " + to.String()
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
			n.screen.Say("connected again")
		}
		n.away = false
	case peer.Disconnected:
		if !n.away {
			n.screen.Say("lost the connection to the host; trying again, nothing is lost")
		}
		n.away = true
	case peer.Progress:
		n.asked, n.own = e.Probed, e
		if n.stage == wire.Refining {
			n.search()
		} else {
			n.screen.Moves("measuring", e.Probed, e.Listed, fmt.Sprintf("%d answered", e.Answered))
		}
	case peer.RoomChanged:
		n.room(e.Room)
	}
}

// search tells how far a search is that the host coordinates. Nobody knows how
// many servers it will ask for.
func (n *narrator) search() {
	if n.outlook != "" {
		n.screen.Moves("asked", n.asked, term.Unknown, n.outlook)
	}
}

// room tells what is new.
func (n *narrator) room(room wire.Room) {
	if n.stage != room.Stage {
		n.screen.Rests()
	}
	for _, note := range room.Log[min(n.noted, len(room.Log)):] {
		n.screen.Say("%s", n.screen.Wrap(discovery.CleanText(note.Text), 0))
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

// turn tells what a new stage means: why this server, or what prevents one, and
// whom nothing has answered why that may be.
func (n *narrator) turn(room wire.Room) {
	if own := n.own; room.Stage == wire.Chosen || room.Stage == wire.Failed {
		n.own = peer.Progress{}
		if own.Answered == 0 && own.Probed > 0 && own.Probed >= min(enoughSilent, own.Listed) {
			n.screen.Say("%s", n.screen.Wrap(fmt.Sprintf("no server answered this machine, of %d asked: does a firewall or this network block UDP?", own.Probed), 0))
		}
	}
	if room.Selection != nil && (room.Stage == wire.Launching || room.Stage == wire.Failed) {
		for _, sentence := range room.Selection.Explain() {
			const indent = "  "
			n.screen.Say("%s", n.screen.Faint(indent+n.screen.Wrap(sentence, len(indent))))
		}
	}
	if n.help == nil {
		return
	}
	if help := n.help(room); help != "" {
		n.screen.Say("%s", n.screen.Faint(help))
	}
}
