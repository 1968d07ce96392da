package lobby

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/matchfile"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
)

// Starter starts game servers at candidate places with the organiser's command. The command runs on
// this computer alone, and no host learns what it is.
//
//	the room has found a place ─▶ asks ─▶ runs the command ─▶ waits for the server ─▶ sends the room there
type Starter struct {
	Hook game.Hook
	When game.Starts
	// Within is how long a server may take to answer.
	Within time.Duration
	Games  game.Table
	Asking Asking
	// Settings returns the organiser's settings for the room.
	Settings func() wire.Settings

	desk *Desk
	// rooms has the newest state of the room.
	rooms chan wire.Snapshot
	// code is the room's code as this program knows it. A code from the host could contain shell
	// commands.
	code string
}

// StartTime is the default for how long a server may take to answer: a new machine needs a minute
// or two.
const StartTime = 5 * time.Minute

// started is a server that runs or is starting.
type started struct {
	running *game.Running
	addr    netip.AddrPort
	// files is the folder with the match's files, empty if there are none.
	files string
}

// follow starts servers whenever a room needs one, until ctx ends, and then stops the last one. order
// sends the room an action as the organiser.
func (s *Starter) follow(ctx context.Context, console *term.Console, order func(room.Started) error) {
	var now *started
	defer func() { now.stop() }()
	tried := 0
	var begun []time.Time // when servers were started without a question
	for {
		var news wire.Snapshot
		select {
		case news = <-s.rooms:
		case <-ctx.Done():
			return
		}
		if news.Room.Round == tried || !wantsServer(news) {
			continue
		}
		tried = news.Room.Round
		place, knows := wantedPlace(news, s.Settings().Places)
		g, err := s.Games.Find(news.Room.Game)
		if !knows || err != nil {
			s.desk.Screen.Tell("term.start-unknown")
			continue
		}
		now.stop()
		now = nil
		agreed := s.When == game.StartAuto && agreedTo(s.Settings(), news.Room, begun, time.Now())
		if agreed {
			begun = append(begun, time.Now())
		}
		now, err = s.start(ctx, console, g, place, news, agreed, func() bool {
			return isStillWanted(s.rooms, news, place,
				s.Settings().Places)
		})
		if err == nil && now != nil {
			if err = order(room.Started{Game: g.ID, Addr: hostport.At(now.addr)}); err != nil {
				err = hint.Say("term.start-refused", "why", err)
				now.stop()
				now = nil
			}
		}
		if errors.Is(err, errMovedOn) {
			tried = -1 // look at the newest state again
		}
		if err != nil && ctx.Err() == nil {
			s.desk.Screen.Say("%s", hint.Text(s.desk.Screen.Language, err))
		}
	}
}

const (
	// At most startsUnasked servers are started within startsWithin without a question. Otherwise a
	// remote host could start one after the other.
	startsUnasked = 6
	startsWithin  = time.Hour
)

// agreedTo reports whether a server may be started without a question. Its game and map must be
// those that the organiser chose here, and few may have started recently. The organiser is asked
// about anything else that a host says.
func agreedTo(said wire.Settings, of wire.Head, begun []time.Time, now time.Time) bool {
	lately := 0
	for _, at := range begun {
		if now.Sub(at) < startsWithin {
			lately++
		}
	}
	return of.Game == said.Game && of.Map == said.Map && lately < startsUnasked
}

// isStillWanted reports whether the room wants the same as before the organiser was asked. If not,
// it puts the news back for the next reader.
func isStillWanted(rooms chan wire.Snapshot, before wire.Snapshot, place wire.Venue, known wire.Venues) bool {
	select {
	case news := <-rooms:
		wants := false
		if news.Room.Round == before.Room.Round && news.Room.Game == before.Room.Game && wantsServer(news) {
			found, knows := wantedPlace(news, known)
			wants = knows && found.Equal(place)
		}
		if !wants {
			select {
			case rooms <- news:
			default: // there are newer ones
			}
		}
		return wants
	default:
		return true
	}
}

// errMovedOn says that an answer came too late.
var errMovedOn error = hint.Say("term.start-late")

// stop stops a running server; nil is none.
func (n *started) stop() {
	if n != nil {
		n.running.Stop()
		os.RemoveAll(n.files)
	}
}

// wantsServer reports whether a room has found a place, and no server is there yet.
func wantsServer(news wire.Snapshot) bool {
	return hasPlace(news) && news.Way.Connect == ""
}

// wantedPlace returns the place that a room has found, if this program knows it. Players' own computers are not
// among its places.
func wantedPlace(news wire.Snapshot, known wire.Venues) (place wire.Venue, knows bool) {
	at := slices.IndexFunc(known, func(v wire.Venue) bool { return v.Name == news.Way.Place.Name })
	if at < 0 {
		return place, false
	}
	return known[at], true
}

// errNoStart says that the organiser declined.
var errNoStart error = hint.Say("term.start-declined")

// maxPlayers limits how many players a server is started for, whatever a host says.
const maxPlayers = 256

// venue returns what the command learns about the place and the room.
func (s *Starter) venue(g game.Game, place wire.Venue, news wire.Snapshot) game.Venue {
	v := game.Venue{
		Place: place.Name, Address: netip.AddrPortFrom(place.Addr.Addr(),
			g.Port), Room: s.code, Game: g.ID, Map: news.Room.Map,
		Players: min(max(news.Room.Players, len(news.Players())), maxPlayers),
	}
	switch {
	case len(place.Offers) > 0 || place.URL != "": // the machine that was asked is the provider's own
		v.Address = netip.AddrPortFrom(netip.Addr{}, g.Port)
	case place.Protocol == g.ProtocolName:
		v.Address = place.Addr.AddrPort
	}
	return v
}

// start runs the command for a place and waits until the server answers. If agreed is set, the
// organiser is not asked. wanted reports whether the room still wants the server.
func (s *Starter) start(ctx context.Context, console *term.Console, g game.Game, place wire.Venue,
	news wire.Snapshot, agreed bool, wanted func() bool) (server *started, err error) {
	v := s.venue(g, place, news)
	files, err := s.matchFiles(&v, news)
	if err != nil {
		return nil, hint.Say("term.not-started", "why", err)
	}
	defer func() {
		if server == nil {
			os.RemoveAll(files)
		}
	}()
	argv, err := s.Hook.Fill(v)
	if err != nil {
		return nil, hint.Say("term.not-started", "why", err)
	}
	line := game.Show(argv)
	switch {
	case s.When == game.StartNever:
		s.desk.Screen.Say("%s\n%s", s.desk.Screen.Words("term.would-start", "place", place.Name), line)
		return nil, nil
	case !agreed:
		s.desk.Screen.Say("%s\n%s", s.desk.Screen.Words("term.starts", "place", place.Name), s.desk.Screen.Bold(line))
		answer, ok := console.Ask(ctx, s.desk.Screen.Words("start.start-it")+" ")
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !ok:
			return nil, hint.Say("start.start-nobody", "flag", "--start auto")
		case answer == "" || !console.Yes(answer):
			return nil, errNoStart
		case !wanted():
			return nil, errMovedOn
		}
	}
	s.desk.Screen.Say("%s %s", s.desk.Screen.Words("term.starting", "place", place.Name), line)
	running, err := s.Hook.Start(ctx, v)
	if err != nil {
		return nil, hint.Say("term.not-started", "why", err)
	}
	addr, err := s.awaitServer(ctx, g, place.Name, v.Address, running)
	if err != nil {
		running.Stop()
		return nil, err
	}
	s.desk.Screen.Tell("term.started", "place", place.Name)
	return &started{running, addr, files}, nil
}

const (
	// askEvery is how often a starting server is asked, answerTime how long it may take to answer.
	askEvery, answerTime = 2 * time.Second, time.Second
	// tellEvery is how often people read that the server is still starting.
	tellEvery = 20 * time.Second
)

// awaitServer waits until the started server answers, at the address that the command reports.
func (s *Starter) awaitServer(ctx context.Context, g game.Game, place string, addr netip.AddrPort,
	running *game.Running) (netip.AddrPort, error) {
	began, told := time.Now(), time.Now()
	ended, where := running.Ended(), running.Told()
	asker, err := s.Asking.Prober(g.Protocol(), g.Names(), nil)
	if err != nil {
		return addr, err
	}
	defer asker.Close()
	next := time.NewTicker(askEvery)
	defer next.Stop()
	for {
		answered := false
		if addr.IsValid() { // otherwise the command says where it is
			asks, cancel := context.WithTimeout(ctx, answerTime)
			asker.Run(asks, []discovery.Server{{Addr: addr}}, discovery.NewConventional(1),
				func(r discovery.Result) { answered = r.State == discovery.Answered })
			cancel()
		}
		passed := time.Since(began)
		switch {
		case answered:
			return addr, nil
		case ctx.Err() != nil:
			return addr, ctx.Err()
		case passed > s.Within:
			address := place
			if addr.IsValid() {
				address = hostport.Text(addr)
			}
			return addr, hint.Say("term.start-silent", "place", place, "address", address, "time", s.Within)
		case time.Since(told) >= tellEvery:
			told = time.Now()
			s.desk.Screen.Tell("term.still-starting", "place", place, "time", passed.Round(time.Second))
		}
		select {
		case <-next.C:
		case said := <-where:
			addr, where = discovery.Canonical(said), nil
		case <-ended:
			if ended = nil; running.Err() != nil {
				return addr, running.Err()
			}
		case <-ctx.Done():
			return addr, ctx.Err()
		}
	}
}

// newest puts a state into a channel of size one, and replaces an older one there.
func newest(rooms chan wire.Snapshot, s wire.Snapshot) {
	for {
		select {
		case rooms <- s:
			return
		default:
		}
		select {
		case <-rooms:
		default:
		}
	}
}

// matchFiles writes the files about the room's match that the command names, and adds their paths to
// the venue. It returns their folder, which is empty if there are none. Only this user can read them,
// because they have the server's password.
func (s *Starter) matchFiles(v *game.Venue, news wire.Snapshot) (folder string, err error) {
	wanted := slices.DeleteFunc(game.MatchFiles(), func(name string) bool { return !s.Hook.Has(name) })
	if news.Match == nil || len(wanted) == 0 {
		return "", nil
	}
	match := wire.RecordOf(s.code, news.Room.Name, wire.Played{
		Round: news.Room.Round, At: time.Now(), Game: v.Game, Server: v.Place, Connect: hostport.Text(v.Address), Map: v.Map, Match: news.Match,
	})
	settings := s.Settings()
	match.Password = settings.Password
	match.Identify(settings.SteamIDs)
	if folder, err = os.MkdirTemp("", "muster-match-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(folder)
		}
	}()
	v.Files = map[string]string{}
	for _, name := range wanted {
		var text []byte
		if name == "match" {
			text, err = json.Marshal(match)
		} else {
			text, err = matchfile.Of(matchfile.Kind(name), match)
		}
		if err != nil {
			return "", err
		}
		v.Files[name] = filepath.Join(folder, name+".json")
		if err := os.WriteFile(v.Files[name], text, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}
