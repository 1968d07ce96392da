package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/netinfo"
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
	// atHost: on the host's own machine. steers: it is the organiser's.
	atHost, steers bool
	// somewhere: the others are not to be told which country the player is in.
	somewhere bool
	// beacon is this machine as it answers as one.
	beacon shining
	// shares is whether the room gets the player's lists of servers.
	shares sharing
	// lan is whether the local network is looked over for servers.
	lan listing.LAN
	// ctx is play's. isIn: the host has let the player in. to is the link of its room.
	ctx  context.Context
	isIn bool
	to   invite.Link
	// own is the room's game if the organiser has added it to the table.
	own atomic.Pointer[wire.OwnGame]
	// browses: the player's own page opens as soon as the player is in.
	browses bool
	// sees is told of everything, too; nil is told nothing.
	sees func(peer.Event)
}

// play joins a room and stays until ctx ends or the room is over. It is an error
// if ctx ends before the host has let the player in. A file keeps the player's place
// in the room over a restart of the program.
func (y *playing) play(ctx context.Context, to invite.Link) error {
	y.to, y.ctx = to, ctx
	defer y.voter.room.Store(nil)
	place := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", to.Host, to.Code, y.launcher.Player))
	file, noFolder := stateFile(filepath.Join("tokens", hex.EncodeToString(place[:8])))
	token, noToken := readState(file)
	if noToken != nil && !errors.Is(noToken, fs.ErrNotExist) { // the first time there is none
		y.warn(fmt.Errorf("the room takes you for somebody new: %w. If your name is taken, join with another --name, or ask the organiser to remove your old place", noToken))
	}
	warn := sync.OnceFunc(func() {
		y.screen.Say("muster: warning: your place in the room will not survive a restart of this program")
	})
	options := peer.Options{
		URL: to.Endpoint(), Code: to.Code, Key: to.Key, As: to.Secret, Name: y.launcher.Player, Token: string(token),
		SaveToken: func(text string) {
			if noFolder == nil && replaceFile(file, []byte(text)) != nil {
				warn()
			}
		},
		Say: y.voter.says, Asks: y.home == nil && term.IsTerminal(y.in) && y.screen.IsTerminal,
		NewProber: y.newProber, NewPlaceProber: y.newPlaceProber, Able: y.able, Brings: y.brings, Launch: y.launcher.Launch, Events: y.show, Once: y.once, Logger: y.logger(), Somewhere: y.somewhere, Beacon: y.beacon.port, Outside: y.beacon.reached, Discreet: y.probing.discreet,
	}
	y.narrator.discreet = y.probing.discreet
	if options.Editions = y.launcher.Games.Own(); y.launcher.Version != "" {
		options.Editions = y.launcher.Games.Editions(y.launcher.Version)
	}
	if !y.atHost {
		options.Seek, options.Near = y.seek(to), y.near
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
	if !netinfo.Source4().IsValid() && netinfo.Source6().IsValid() {
		y.screen.Say("%s", y.screen.Wrap("this network has IPv6 only, and most game servers have none: if the others find nothing that you reach, you come along without a say; another network, or a VPN with IPv4, helps", 0))
	}
	defer y.screen.Rests()
	err := peer.Run(ctx, options)
	var refusal wire.Refusal
	if errors.As(err, &refusal) && y.narrator.ends(refusal) {
		return errEnded
	}
	if err == nil && !y.isIn {
		return ctx.Err() // the user would not wait
	}
	return err
}

// errEnded is why a player's part is over whose organiser has ended the night: nothing is
// wrong, and the player has been told.
var errEnded = errors.New("the night is over")

// unlessEnded is an error, if it is one.
func unlessEnded(err error) error {
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// show tells what happens. Once in the room, what is typed is for the room.
func (y *playing) show(e peer.Event) {
	if joined, in := e.(peer.Joined); in {
		if !y.isIn && !y.steers {
			y.to.Secret = joined.Page
			y.narrator.help = y.keys(playerHelp(y.to))
		}
		y.isIn, y.narrator.name, y.narrator.votes = true, joined.Name, true
		y.launcher.Console.Listen()
	}
	if changed, is := e.(peer.RoomChanged); is {
		y.own.Store(changed.Room.Room.OwnGame)
		y.voter.room.Store(&changed.Room)
		if y.browses && y.isIn {
			y.browses = false
			to := y.to
			to.Code = changed.Room.Room.Code // who came into an open room had none
			personal := to.Personal(to.Secret)
			y.present(y.ctx, personal, func() string { return ticket(y.ctx, personal) })
		}
	}
	if y.sees != nil {
		y.sees(e)
	}
	y.narrator.show(e)
}

// able says whether this machine can start a game, and whether the player types a server's
// password. The player reads why it cannot, with what to do about it.
func (y *playing) able(ctx context.Context, id string) wire.Able {
	able := wire.Able{TypesPassword: y.launcher.Types(ctx, id)}
	err := y.launcher.Ready(ctx, id)
	if err == nil || ctx.Err() != nil {
		return able
	}
	var start *game.StartError
	if errors.As(err, &start) {
		err = start.Plain()
	}
	for _, line := range hint.Lines(err) {
		y.screen.Say("%s", y.screen.Wrap(line, 0))
	}
	able.Why = hint.Plain(err.Error())
	return able
}

// near looks for servers of a game on the networks of this machine. The game is of this
// machine's own table: a host names no port at which everybody here is to be asked.
func (y *playing) near(ctx context.Context, id string) []wire.NearServer {
	g, err := y.launcher.Games.Find(id)
	if err != nil || y.lan == listing.Off {
		return nil
	}
	around, err := lan.Servers(ctx, g.Protocol(), g.LANPorts(), y.logger())
	if err != nil {
		y.logger().Debug("cannot look for servers on the local network", "err", err)
	}
	var found []wire.NearServer
	for _, s := range around {
		found = append(found, wire.NearServer{Addr: s.Addr, Info: s.Info})
	}
	return found
}

func (y *playing) newProber(id string, rests func(time.Duration)) (peer.Prober, error) {
	g, err := y.launcher.Games.Find(id)
	if own := y.own.Load(); err != nil && own != nil && own.ID == id {
		if g = (game.Game{ProtocolName: own.Protocol}); g.Protocol() != nil {
			y.screen.Say("%s", y.screen.Wrap(fmt.Sprintf("%s is a game that the organiser has added: this muster measures its servers, and does not know how it starts; add it to %s", own.Name, configFile("games.toml")), 0))
			err = nil
		}
	}
	if err != nil {
		return nil, hint.With(fmt.Errorf("the room plays %q, which this muster does not know", discovery.CleanText(id)),
			"update muster, or add the game to "+configFile("games.toml"))
	}
	return y.probing.prober(y.program, g.Protocol(), rests)
}

// newPlaceProber asks candidate places by a protocol of any game's servers, or of beacons.
func (y *playing) newPlaceProber(protocol string) (peer.Prober, error) {
	known := game.Game{ProtocolName: protocol}.Protocol()
	if known == nil {
		return nil, fmt.Errorf("a place is asked by %q, which this muster does not know", discovery.CleanText(protocol))
	}
	return y.probing.prober(y.program, known, nil)
}

// narrator tells on a screen what happens in a room. One goroutine at a time
// calls it.
type narrator struct {
	screen *term.Screen
	// help is what the player can do at the stage that a room has come to, or
	// waits for; nil if nobody plays here.
	help func(wire.Snapshot) string
	// steers is told what the screen shows; nil if nobody steers from here.
	steers *steering

	// newest is the newest note that the screen has told.
	newest wire.Note
	// hasEnded: the screen has said that the night is over.
	hasEnded bool
	stage    wire.Stage
	away     bool
	// lost is when the connection was, zero while it stands. isGone: the screen has said
	// that the host runs no more where it was.
	lost   time.Time
	isGone bool
	// outlook is how far a search is that the host coordinates, and asked how many
	// servers the player has asked, or the players on average.
	outlook string
	asked   int
	// own is how far the player is.
	own peer.Progress
	// name is the player's here, who votes at this terminal.
	name  string
	votes bool
	told  ballot
	// discreet is how many servers may see the player's address, 0 for no bound.
	discreet int
	// voice is the link of the voice channel that the screen has told.
	voice string
	// met is what the screen has told of the next evening.
	met string
	// notes is told each state, for Home; nil if Home is not to know.
	notes func(wire.Snapshot)
}

// organiserHelp says what the organiser's keys do besides starting. An organiser who plays
// is asked something else at the launch.
func organiserHelp(plays bool) func(wire.Snapshot) string {
	help := map[wire.Stage]string{
		wire.Measuring: chooseNow,
		wire.Refining:  chooseNow,
		wire.Failed:    tryAgain,
		wire.Waiting:   waitNoMore,
	}
	if !plays {
		help[wire.Launching] = afterwards
	}
	return func(s wire.Snapshot) string {
		text := help[s.Room.Stage]
		if again := retry(s); again != "" {
			text = again + "; Enter: now"
		}
		if s.Room.Stage == wire.Failed && s.Choice != nil && slices.ContainsFunc(s.Choice.Advice, func(a wire.Advice) bool { return a.Action == "await" }) {
			text += "; " + waitToo
		}
		return text
	}
}

// retry says when a room that failed tries again by itself, if it does.
func retry(s wire.Snapshot) string {
	if s.Room.Retry.IsZero() {
		return ""
	}
	return fmt.Sprintf("trying again in %v", max(0, s.Room.Retry.Sub(s.Room.Since).Round(time.Second)))
}

// nextRound is for a player after the launch.
const nextRound = "stay here for the next round; Ctrl-C leaves"

// playerHelp says what a player waits for who came in by a link, and where the page
// is.
func playerHelp(to invite.Link) func(wire.Snapshot) string {
	return func(s wire.Snapshot) string {
		switch s.Room.Stage {
		case wire.Gathering:
			to.Code = s.Room.Code
			start := "the organiser starts when everyone is here"
			if s.Room.Players > 0 {
				start = fmt.Sprintf("it starts by itself when %d are here", s.Room.Players)
			}
			return "you are in; " + start + "\nthe page, to watch and to vote: " + to.Personal(to.Secret)
		case wire.Failed:
			if again := retry(s); again != "" {
				return again + ", by itself; Ctrl-C leaves"
			}
			return "the organiser can look for something else and begin again; Ctrl-C leaves"
		case wire.Waiting:
			return "your game opens, or asks you first, once there are seats; Ctrl-C leaves"
		}
		return ""
	}
}

// pauseUnsaid is for how long the host may be away before a player needs to know.
const pauseUnsaid = 5 * time.Second

// show tells of what the player's own program does.
func (n *narrator) show(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		if n.away {
			n.screen.Say("connected again")
		}
		n.away, n.isGone, n.lost = false, false, time.Time{}
	case peer.Waiting:
		n.screen.Say("%s", n.screen.Wrap(discovery.CleanText(e.Message), 0))
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
			n.screen.Say("%s", n.screen.Wrap("the host runs no more where it was: the night may be over. Trying again for five minutes, nothing is lost; Ctrl-C leaves", 0))
		case n.away:
		case errors.As(e.Err, &refusal) && refusal.Reason == wire.ReasonMoved:
			n.screen.Say("the room goes on at another host, or once this one is back: connecting again, nothing is lost")
		case errors.As(e.Err, &refusal) && refusal.Reason == wire.ReasonBusy:
			n.screen.Say("the host can let nobody in just now; trying again by itself")
		case errors.As(e.Err, &refusal): // and no other passes
			n.screen.Say("the host does not hear codes from here for the moment: too many wrong ones were tried. Trying again by itself; the room's whole link, or its QR code, is let in at once")
		default:
			n.screen.Say("lost the connection to the host; trying again for half an hour, nothing is lost; Ctrl-C leaves")
		}
		n.away = true
	case peer.Progress:
		n.asked, n.own = e.Probed, e
		if n.stage == wire.Refining {
			n.search()
		} else {
			n.screen.Moves("measuring", e.Probed, e.Listed, fmt.Sprintf("%d answered", e.Answered))
		}
	case peer.Exposing:
		n.screen.Say("%s", discovery.Before(e.Most, n.discreet, e.Listed))
	case peer.ExposingPlaces:
		n.screen.Say("%s", discovery.BeforePlaces(e.Places, n.discreet))
	case peer.Shown:
		n.screen.Say("%s", e.Exposed)
	case peer.Answered:
		n.screen.Say("%s", n.screen.Wrap(discovery.CleanText(e.Message), 0))
	case peer.RoomChanged:
		n.room(e.Room)
	}
}

// ends reports whether a refusal means that the night is over, and says so to who has not
// been told: the organiser has ended it, perhaps before their own player was in, or the room
// had ended when the connection came back.
func (n *narrator) ends(why wire.Refusal) bool {
	text := why.Message
	switch {
	case why.Reason == wire.ReasonEnded:
	case why.Reason == wire.ReasonClosed && !n.lost.IsZero():
		text = "while the connection was lost the night has ended: " + text + ". Good night! If the others play on, ask the organiser for the link of the new room"
	case why.Reason == wire.ReasonClosed && n.steers != nil:
		text = "the night has ended. Good night!"
	default:
		return false
	}
	if !n.hasEnded {
		n.screen.Say("%s", n.screen.Wrap(discovery.CleanText(text), 0))
	}
	return true
}

// search tells how far a search is that the host coordinates. Nobody knows how
// many servers it will ask for.
func (n *narrator) search() {
	if n.outlook != "" {
		n.screen.Moves("asked", n.asked, term.Unknown, n.outlook)
	}
}

// room tells what is new.
func (n *narrator) room(s wire.Snapshot) {
	if n.stage != s.Room.Stage || s.Room.Held != "" {
		n.screen.Rests()
	}
	if s.Room.Held != "" {
		n.screen.Say("%s", n.screen.Wrap(discovery.CleanText(s.Room.Held), 0))
	}
	for _, note := range n.unread(s.Log) {
		n.screen.Say("%s", n.screen.Wrap(discovery.CleanText(note.Text), 0))
	}
	n.hasEnded = !s.Room.Ended.IsZero()
	if n.stage != s.Room.Stage {
		n.stage = s.Room.Stage
		n.turn(s)
	}
	if link := s.Room.Voice; link != n.voice {
		if n.voice = link; wire.Voice(link) != "" {
			n.screen.Say("voice, by %s: %s", wire.Voice(link), link)
		}
	}
	n.meets(s)
	if n.notes != nil {
		n.notes(s)
	}
	n.vote(s)
	if n.steers != nil {
		if help := n.steers.shows(s, time.Now()); help != "" && n.help != nil {
			n.screen.Say("%s", n.screen.Faint(help))
		}
	}
	if s.Room.Stage == wire.Waiting && s.Seats != nil {
		n.seats(s)
	}
	if s.Room.Search != nil {
		n.outlook = s.Room.Outlook
		n.asked = max(n.asked, askedEach(s))
		n.search()
	}
}

// seats tells how a wait for seats stands, where a line can move: elsewhere its notes do.
func (n *narrator) seats(s wire.Snapshot) {
	free, asked := -1, 0
	for _, on := range s.Seats.Servers {
		free, asked = max(free, on.Free), asked+on.Asked
	}
	if free >= 0 {
		n.screen.Moves("free", min(free, s.Seats.Need), s.Seats.Need, fmt.Sprintf("of the seats you need; the servers were asked %d times by all of you together", asked))
	}
}

// mostAtFirst is how many notes of the room's log are told to who comes in: what is going
// on, and not the evening again that a restart, or somebody who is late, has missed. So
// few that they are shortLog are told all: they say who is here.
const mostAtFirst, shortLog = 3, 8

// unread are the notes that the screen has not told, and notes which that is. The log
// forgets its oldest, and that of a room that was restored may have fewer than it had: where
// the one that was told last is gone, the newest do.
func (n *narrator) unread(log []wire.Note) []wire.Note {
	from := len(log)
	for from > 0 && !(log[from-1].At.Equal(n.newest.At) && log[from-1].Text == n.newest.Text) {
		from--
	}
	if from == 0 && len(log) > shortLog {
		from = len(log) - mostAtFirst
	}
	if len(log) > 0 {
		n.newest = log[len(log)-1]
	}
	return log[from:]
}

// askedEach is how many servers the players have asked on average.
func askedEach(s wire.Snapshot) int {
	asked, players := 0, s.Players()
	for _, p := range players {
		asked += p.Probed
	}
	return asked / max(1, len(players))
}

// enoughSilent servers are more than chance.
const enoughSilent = 5

// turn tells what a new stage means: why this server, or what prevents one, and
// whom nothing has answered why that may be.
func (n *narrator) turn(s wire.Snapshot) {
	if own := n.own; s.Room.Stage == wire.Chosen || s.Room.Stage == wire.Failed {
		n.own = peer.Progress{}
		if own.Answered == 0 && own.Probed > 0 && own.Probed >= min(enoughSilent, own.Listed) {
			n.screen.Say("%s", n.screen.Wrap(fmt.Sprintf("no server answered this machine, of %d asked: does a firewall or this network block UDP?", own.Probed), 0))
		}
	}
	if s.Choice != nil && (s.Room.Stage == wire.Launching || s.Room.Stage == wire.Failed) {
		for _, sentence := range s.Choice.Explain {
			const indent = "  "
			n.screen.Say("%s", n.screen.Faint(indent+n.screen.Wrap(discovery.CleanText(sentence), len(indent))))
		}
	}
	if n.help == nil || !s.Room.Ended.IsZero() { // whose room sleeps is on their way out
		return
	}
	if help := n.help(s); help != "" {
		n.screen.Say("%s", n.screen.Faint(help))
	}
}
