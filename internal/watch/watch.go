// Package watch asks servers repeatedly, but gently, and reports when a full one has a free seat.
//
//	full ── look, look, … ──▶ a seat is free: told once, until it is full again
//	        every 5 s, later 15 s
package watch

import (
	"context"
	"time"

	"muster/discovery"
)

const (
	// Max is how many servers a watch takes: a screenful.
	Max = 20
	// often is the pause between looks, and seldom the pause after a while. Players come and go by the minute, and each
	// look is a packet or two a server.
	often, seldom = 5 * time.Second, 15 * time.Second
	// soon is how many looks use the short pause: five minutes.
	soon = 60
)

// Asker asks servers by a plan, as [muster/discovery/prober.Prober] does.
type Asker interface {
	Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, heard func(discovery.Result)) error
}

// News is what a look learned about a server.
type News struct {
	discovery.Result
	// Freed says that the server was full and now has a seat.
	Freed bool
}

// Servers watches servers until ctx ends, which is no error, or until heard returns false. It pauses before the first
// look as well: infos are what the servers have just said, in their order.
func Servers(ctx context.Context, ask Asker, servers []discovery.Server, infos []*discovery.Info, heard func(News) (more bool)) error {
	full := make([]bool, len(servers))
	for i, info := range infos {
		full[i] = IsFull(info)
	}
	for looks := 0; ; looks++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause(looks)):
		}
		more := true
		err := ask.Run(ctx, servers, discovery.NewConventional(len(servers)), func(r discovery.Result) {
			news := News{Result: r}
			if r.State == discovery.Answered && r.Info != nil { // otherwise it may be changing its map
				news.Freed = full[r.Server] && !IsFull(r.Info)
				full[r.Server] = IsFull(r.Info)
			}
			more = heard(news) && more
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case !more:
			return nil
		}
	}
}

// pause returns how long to wait after a number of looks.
func pause(looks int) time.Duration {
	if looks < soon {
		return often
	}
	return seldom
}

// IsFull reports whether a server's seats are taken. A server that does not say is not full.
func IsFull(info *discovery.Info) bool {
	return info != nil && info.MaxPlayers > 0 && info.Free() == 0
}
