package peer

import (
	"context"
	"net/netip"

	"muster/discovery"
	"muster/host/wire"
)

// mostAtAddress is how many servers at the address of a launch are asked for the one
// that takes players there: query ports differ from the game's.
const mostAtAddress = 8

// mostAgain is how often a host may have a game opened once more in a round: people who
// press a button do not press it oftener, and a host that lies opens no more.
const mostAgain = 20

// launch takes the player to the server, once a round, and once more whenever the player
// asks for that on the page, or the room goes elsewhere.
func (s *session) launch(m wire.Launch) {
	if s.launched != nil && s.launched.Round == m.Round {
		isAsked := s.launched.State == wire.LaunchAsking && s.launchedTo == m.Address
		if m.Again <= s.again || s.agains == mostAgain || isAsked {
			s.send(*s.launched)
			return
		}
		s.agains++
	} else {
		s.agains = 0
		s.tellShown()
	}
	s.again, s.launchedTo = m.Again, m.Address
	s.launched = &wire.Launched{Round: m.Round, State: wire.LaunchAsking}
	s.launches++
	r, heard, this := s.round, s.heard(), s.launches
	s.stop() // what was measured was for the choice
	s.tasks++
	s.stopLaunch()
	s.stopLaunch = s.begins(func(ctx context.Context) {
		doubt := s.doubt(ctx, r, m, heard)
		if ctx.Err() != nil {
			return
		}
		s.options.Launch(ctx, m, doubt, func(state wire.LaunchState, detail string) {
			s.post(func() {
				if this == s.launches { // or the room goes elsewhere by now
					s.sayLaunched(wire.Launched{Round: m.Round, State: state, Detail: detail})
				}
			})
		})
		if s.options.Once {
			s.post(func() {
				if this != s.launches {
					return // the room goes elsewhere by now
				}
				if s.finishing = s.conn == nil && !s.saidLaunched; !s.finishing { // else once the host has heard of the launch
					s.leave(errFinished)
				}
			})
		}
	})
}

// errand is something that is found out about the room's game, for one game at a time: a
// host may change it as often as it likes.
type errand struct {
	// game is the newest for which it is wanted, and stop ends finding out; nil if nothing is.
	game string
	stop context.CancelFunc
}

// isNews notes for which game an errand is wanted, and reports whether that is another.
func (e *errand) isNews(game string) bool {
	if game == "" || game == e.game {
		return false
	}
	e.game = game
	return true
}

// runs begins an errand, or has the one under way end first. What find has found it returns
// how to take.
func (s *session) runs(e *errand, find func(ctx context.Context, game string) (take func())) {
	if e.stop != nil {
		e.stop()
		return
	}
	game := e.game
	e.stop = s.begins(func(ctx context.Context) {
		take := find(ctx, game)
		isStopped := ctx.Err() != nil
		s.post(func() {
			if e.stop = nil; isStopped || game != e.game { // the room is for another by now
				s.runs(e, find)
				return
			}
			take()
		})
	})
}

// tries finds out whether this machine can start a game, and tells the host.
func (s *session) tries(game string) {
	if s.options.Able == nil || !s.trying.isNews(game) {
		return
	}
	s.runs(&s.trying, func(ctx context.Context, game string) func() {
		able := s.options.Able(ctx, game)
		able.Game = game
		return func() {
			s.able = able
			s.send(s.able)
		}
	})
}

// brings finds out once for each game what the player brings into the room.
func (s *session) brings(game string) {
	if s.options.Brings == nil || !s.bringing.isNews(game) {
		return
	}
	s.brought = wire.Bring{}
	s.runs(&s.bringing, func(ctx context.Context, game string) func() {
		brought := s.options.Brings(ctx, game)
		return func() {
			s.brought = brought
			s.sayBrought()
		}
	})
}

// sayBrought says what the player brings, if that is anything.
func (s *session) sayBrought() {
	if len(s.brought.Favourites)+len(s.brought.Hidden) > 0 {
		s.send(s.brought)
	}
}

// sayLaunched reports to the host how far the newest launch got, now and after a
// lost connection.
func (s *session) sayLaunched(launched wire.Launched) {
	if launched.Round == s.launched.Round {
		s.launched = &launched
		s.saidLaunched = s.conn != nil && launched.State != wire.LaunchAsking
		s.send(launched)
	}
}

// heard are the servers that answered this player in this round, with what they
// said of themselves. What the host says that they answered does not count.
func (s *session) heard() map[int]*discovery.Info {
	heard := map[int]*discovery.Info{}
	note := func(server int, info *discovery.Info) {
		if info != nil || heard[server] == nil {
			heard[server] = info
		}
	}
	if r := s.round; r != nil && r.ledger != nil {
		results, _, _ := r.ledger.since(r.known)
		for i := range results {
			if results[i].State == discovery.Answered {
				note(results[i].Server, results[i].Info)
			}
		}
	}
	if l := s.look; l != nil && l.found != nil {
		for i := range l.found.Servers {
			if f := &l.found.Servers[i]; f.State == discovery.Answered {
				note(f.Server, f.Info)
			}
		}
	}
	return heard
}

// doubt says why a player should not be taken to an address unasked, if there is a
// reason. A host may name any address and any port. It is believed where a server of
// this round's list takes players that answered this player; who comes late asks it
// first.
func (s *session) doubt(ctx context.Context, r *round, m wire.Launch, heard map[int]*discovery.Info) string {
	address, err := netip.ParseAddrPort(m.Address)
	if err != nil {
		return "that is no address of a server"
	}
	if r == nil || r.number != m.Round {
		return "no server was listed in this round"
	}
	if r.measure != nil && r.measure.Game != m.Game {
		return "another game was looked for"
	}
	takesPlayers := func(index int, info *discovery.Info) bool {
		asked := r.servers[index].Addr.Port()
		if m.QueryPort != 0 && m.QueryPort != asked {
			return false // a link takes that port: it must be this server's, too
		}
		return asked == address.Port() || info != nil && info.GamePort == address.Port()
	}
	var unheard []int // the one at that very port, or asked there, first
	there, answers := false, false
	for index := range r.servers {
		if r.servers[index].Addr.Addr() != address.Addr() || !r.mayAsk(index) {
			continue
		}
		there = true
		switch info, answered := heard[index]; {
		case answered && takesPlayers(index, info):
			return ""
		case answered:
			answers = true
		case r.servers[index].Addr.Port() == address.Port(), r.servers[index].Addr.Port() == m.QueryPort:
			unheard = append([]int{index}, unheard...)
		default:
			unheard = append(unheard, index)
		}
	}
	if !there {
		return "no server of the list is at that address"
	}
	unheard = unheard[:min(len(unheard), mostAtAddress)]
	servers := make([]discovery.Server, len(unheard))
	for i, index := range unheard {
		servers[i] = r.servers[index]
	}
	const attempts = 3 // a packet or two may get lost
	for range attempts {
		found, err := s.sample(ctx, &s.scanner, servers, wire.Finalists{Game: m.Game, Servers: unheard, Samples: 1}, func([]wire.Finalist) {})
		if err != nil {
			return "it could not be asked: " + err.Error()
		}
		for _, f := range found {
			if f.State == discovery.Answered && takesPlayers(f.Server, f.Info) {
				return ""
			}
			answers = answers || f.State == discovery.Answered
		}
	}
	if answers {
		return "the server there takes no players at that port"
	}
	return "it does not answer this computer"
}

// tellShown tells the player who has seen their address in the round.
func (s *session) tellShown() {
	if s.round == nil {
		return
	}
	if shown := s.scanner.exposure.Of(len(s.round.servers)); shown.Servers+shown.Places > 0 {
		s.tell(Shown{shown})
	}
}
