package rpc

import (
	"context"
	"io"
	"strconv"
	"sync"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/lobby"
	"muster/internal/rpc/jsonrpc"
	"muster/peer"
)

// room is a room that this program is in, through a command that runs.
type room struct {
	server *Server
	number int
	cancel context.CancelFunc
	done   chan struct{} // closed when the command has ended
	// plays says that the person has a player there, sides that the room has two sides.
	plays, sides bool
	// entered answers the call that opened or joined the room.
	entered func(Entered)

	mu sync.Mutex // guards what follows
	// friends is the room's link, and own the person's. page is the credential of the person's
	// player, empty without one.
	own, friends invite.Link
	name, page   string
	isIn         bool
	newest       *wire.Snapshot
	client       *lobby.Client
	last         chan struct{}        // closed when the last order is done; nil before the first
	launches     map[int]chan Confirm // those that wait for an answer
	launch       int                  // the newest
}

// Entered says which room the person is in.
type Entered struct {
	Room int `json:"room" doc:"the room's number in this program, which the other methods want"`
	// Code is empty if the person came into an open room without one.
	Code  string            `json:"code" doc:"the room's code"`
	Link  string            `json:"link" doc:"the link for friends"`
	Sides map[string]string `json:"sides,omitempty" doc:"in a match, the links of the two sides: a and b"`
	Page  string            `json:"page" doc:"the person's own page: whoever has this link is this person"`
	Name  string            `json:"name,omitempty" doc:"what the person is called there; empty without a player"`
}

// entry returns what a launcher needs to know of the room. The caller holds the lock.
func (r *room) entry() Entered {
	own, friends := r.own, r.friends
	if r.newest != nil && own.Code == "" {
		own.Code, friends.Code = r.newest.Room.Code, r.newest.Room.Code
	}
	e := Entered{Room: r.number, Code: own.Code, Link: friends.String(), Name: r.name, Page: own.Personal(own.Secret)}
	if r.page != "" {
		e.Page = own.Personal(r.page)
	}
	if r.sides {
		e.Sides = map[string]string{}
		for _, side := range []wire.Side{wire.SideA, wire.SideB} {
			friends.Side = string(side)
			e.Sides[string(side)] = friends.String()
		}
	}
	return e
}

// enter runs a command that leads into a room. The call is answered once the person is in.
func (c *call) enter(command string, args []argument, plays, sides bool) {
	s := c.Server
	ctx, cancel := context.WithCancel(s.ctx)
	r := &room{server: s, cancel: cancel, done: make(chan struct{}), plays: plays, sides: sides, launches: map[int]chan Confirm{}}
	r.entered = func(e Entered) { c.reply(e, nil) }
	s.mu.Lock()
	isFull := len(s.rooms) >= maxRooms
	if !isFull {
		s.lastRoom++
		r.number = s.lastRoom
		s.rooms[r.number] = r
	}
	s.mu.Unlock()
	if isFull {
		cancel()
		c.reply(nil, jsonrpc.Errorf(TooMany, "one launcher may be in %d rooms at once", maxRooms))
		return
	}
	// The call's context ends when it is cancelled, and when it is answered.
	stop := context.AfterFunc(c.ctx, func() {
		r.mu.Lock()
		isIn := r.isIn
		r.mu.Unlock()
		if !isIn {
			cancel()
		}
	})
	s.start(func() {
		defer stop()
		defer cancel()
		err := s.config.Command(ctx, s.arguments(command, args), io.Discard, r.terminal(), r.front())
		s.mu.Lock()
		delete(s.rooms, r.number)
		s.mu.Unlock()
		close(r.done)
		if err != nil && ctx.Err() != nil {
			err = context.Canceled
		}
		r.mu.Lock()
		isIn := r.isIn
		r.mu.Unlock()
		switch closed := (Closed{Room: r.number}); {
		case !isIn && err == nil:
			c.reply(nil, jsonrpc.Errorf(Failed, "the room was over before the person was in"))
		case !isIn:
			c.reply(nil, errorOf(s.speaks(), err, args))
		default:
			if err != nil && ctx.Err() == nil {
				closed.Error = errorOf(s.speaks(), err, args)
			}
			r.tell("closed", closed)
		}
	})
}

// tell tells the launcher what is new in the room.
func (r *room) tell(method string, news jsonrpc.News) {
	r.server.out.Notify(method+" "+strconv.Itoa(r.number), method, news)
}

// terminal returns the terminal of the room's command. The command asks no questions there, because
// the launcher answers everything beforehand.
func (r *room) terminal() home.Terminal {
	t := home.Quiet()
	t.Out = home.Lines(func(line string) { r.tell("say", Say{Room: r.number, Texts: []string{line}}) })
	return t
}

// front returns what shows the room.
func (r *room) front() *lobby.Front {
	return &lobby.Front{Enters: r.enters, Sees: r.sees, Launch: r.launchGame}
}

// enters notes the room's links. A person without a player is in by now.
func (r *room) enters(own invite.Link, friends *invite.Link) {
	r.mu.Lock()
	r.own, r.friends, r.client = own, own, lobby.ClientOf(own)
	r.friends.Secret = ""
	if friends != nil {
		r.friends = *friends
	}
	isIn := !r.plays && !r.isIn
	r.isIn = r.isIn || isIn
	entry := r.entry()
	r.mu.Unlock()
	if isIn {
		r.entered(entry)
	}
}

// sees passes on what happens.
func (r *room) sees(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		r.mu.Lock()
		wasIn := r.isIn
		r.name, r.page, r.isIn = e.Name, e.Page, true
		entry := r.entry()
		r.mu.Unlock()
		if wasIn {
			r.tell("connection", Connection{Room: r.number, Connected: true})
		} else {
			r.entered(entry)
		}
	case peer.RoomChanged:
		r.mu.Lock()
		r.newest = &e.Room
		r.mu.Unlock()
		r.tell("room", Room{Room: r.number, Document: e.Room.Document()})
	case peer.Progress:
		r.tell("progress", Progress{Room: r.number, Asked: e.Probed, Answered: e.Answered, Listed: e.Listed})
	case peer.Disconnected:
		why := ""
		if e.Err != nil {
			why = hint.Text(r.server.speaks(), e.Err)
		}
		r.tell("connection", Connection{Room: r.number, Why: why, Gone: e.Gone, RetryMS: e.Retry.Milliseconds()})
	}
}

// launchGame asks the launcher to take its player to a server. Muster starts the game only if the
// launcher says so.
func (r *room) launchGame(ctx context.Context, to wire.Launch, doubt sentence.Sentence,
	tell func(wire.LaunchState, sentence.Sentence), muster *game.Launcher) {
	answer := make(chan Confirm, 1)
	r.mu.Lock()
	r.launch++
	number := r.launch
	r.launches[number] = answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.launches, number)
		r.mu.Unlock()
	}()
	r.tell("launch", Launch{
		Room: r.number, Launch: number, Round: to.Round, Game: to.Game, Address: to.Address, QueryPort: to.QueryPort,
		Name: to.Name, Password: to.Password, Doubt: r.server.speaks().Say(doubt),
	})
	tell(wire.LaunchAsking, sentence.Sentence{})
	select {
	case <-ctx.Done():
	case c := <-answer:
		if c.State == confirmMuster {
			muster.Launch(ctx, to, sentence.Sentence{}, tell) // the launcher knows the doubt
			return
		}
		// A host refuses a long text, and with it the player.
		tell(confirmed[c.State], sentence.Plain(discovery.CleanText(c.Why)))
	}
}

// confirm answers a launch. Only the first answer counts, and asking is none: the room knows that much.
func (r *room) confirm(c Confirm) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer, waits := r.launches[c.Launch]
	if !waits {
		why := jsonrpc.Errorf(NotThere, "launch %d of this room does not wait for an answer", c.Launch)
		why.Data = Trouble{Field: "launch"}
		return why
	}
	if c.State != confirmAsking {
		delete(r.launches, c.Launch)
		answer <- c // it has room for one
	}
	return nil
}

// turn takes the next turn at the room's host: orders reach it in the order of the launcher's calls.
func (r *room) turn() (before <-chan struct{}, done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, mine := r.last, make(chan struct{})
	if last == nil {
		last = make(chan struct{})
		close(last)
	}
	r.last = mine
	return last, func() { close(mine) }
}

// order sends an action to the room's host in the person's name.
func (r *room) order(ctx context.Context, action string, with any) error {
	r.mu.Lock()
	client, key := r.client, lobby.Steers(r.own, r.page)
	if key.Code == "" && r.newest != nil {
		key.Code = r.newest.Room.Code
	}
	r.mu.Unlock()
	if client == nil {
		return noRoom(r.number)
	}
	return client.Order(ctx, key, action, with)
}

// state returns the newest state of the room, nil before there is one.
func (r *room) state() *wire.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest
}
