package cli

import (
	"context"
	"fmt"
	"strings"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/game"
	"muster/peer"
)

// playing is one player's part in a room, on this machine's screen.
type playing struct {
	*program
	probing  probing
	launcher *launcher
	games    game.Table
	name     string
	once     bool

	screen screen
}

// play joins a room and stays until ctx ends or the room is over.
func (y *playing) play(ctx context.Context, to invitation) error {
	place := tokenOf(to, y.name)
	y.screen = screen{program: y.program, me: y.name}
	defer y.screen.close()
	return peer.Run(ctx, peer.Options{
		URL: to.endpoint(), Code: to.code, Name: y.name, Token: place.load(),
		SaveToken: func(text string) {
			if err := place.save(text); err != nil {
				y.logger().Warn("token not saved: a restarted program is a new player", "error", err)
			}
		},
		NewProber: y.newProber,
		NewPlan:   planFor,
		Launch:    y.launcher.launch, Events: y.screen.show, Once: y.once, Logger: y.logger(),
	})
}

// planFor is the plan that the host asks for. In a room a plan goes through its
// whole list: servers that one player skipped would be lost to all.
func planFor(m wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
	return discovery.NewPlan(discovery.Strategy(m.Strategy), servers, discovery.PlanOptions{
		Seed: m.Seed, MaxRTT: m.MaxRTT, AutoStop: discovery.StopOff,
	})
}

func (y *playing) newProber(id string) (peer.Prober, error) {
	g, err := y.games.Find(id)
	if err != nil {
		return nil, hinted(fmt.Errorf("the room plays %q, which this muster does not know", discovery.CleanText(id)),
			"update muster, or add the game to "+configFile("games.toml"))
	}
	options, err := y.probing.options(y.program, g.Protocol())
	if err != nil {
		return nil, err
	}
	return prober.New(options)
}

// screen shows a player what happens in the room.
type screen struct {
	*program
	me       string
	noted    int
	round    int
	progress *progress
	away     bool
}

func (s *screen) show(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		s.me = e.Name
		if s.away {
			s.say("connected again")
		}
		s.away = false
	case peer.Disconnected:
		if !s.away {
			s.say("lost the connection to the host (%v); trying again, nothing is lost", e.Err)
		}
		s.away = true
	case peer.Progress:
		if s.progress == nil {
			s.progress = s.program.progress("measuring", e.Listed)
		}
		s.progress.set(e.Probed, fmt.Sprintf("%d answered", e.Answered))
	case peer.RoomChanged:
		s.room(e.Room)
	}
}

// room says what is new in the room's log.
func (s *screen) room(room wire.Room) {
	if room.Stage != wire.Measuring {
		s.close()
	}
	for _, note := range room.Log[min(s.noted, len(room.Log)):] {
		s.say("%s", discovery.CleanText(note.Text))
	}
	s.noted = len(room.Log)
}

func (s *screen) say(format string, args ...any) {
	s.close()
	fmt.Fprintf(s.streams.Err, format+"\n", args...)
}

func (s *screen) close() {
	if s.progress != nil {
		s.progress.finish()
		s.progress = nil
	}
}

// names joins names as people write them.
func names(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
