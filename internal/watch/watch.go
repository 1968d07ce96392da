// Package watch looks at servers time and again, gently, and tells when one that was full
// has a seat.
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
	// Most is how many servers a watch is to look at: a screenful.
	Most = 20
	// often is between two looks, and seldom when it goes on for long: players come and go
	// by the minute, and each look is a packet or two a server.
	often, seldom = 5 * time.Second, 15 * time.Second
	// soon is how many looks are often: five minutes.
	soon = 60
)

// Asker asks servers by a plan, as [muster/discovery/prober.Prober] does.
type Asker interface {
	Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, heard func(discovery.Result)) error
}

// News is what a look heard of a server.
type News struct {
	discovery.Result
	// Freed: the server was full, and has a seat.
	Freed bool
}

// Servers looks at servers until ctx ends, which is no error, or heard wants no more.
// Before the first look it waits, as between two others: infos are what the servers just
// said of themselves, in their order.
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
			if r.State == discovery.Answered && r.Info != nil { // else it may be changing its map
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

// pause is how long to wait after so many looks.
func pause(looks int) time.Duration {
	if looks < soon {
		return often
	}
	return seldom
}

// IsFull reports whether a server's seats are taken; one that does not tell is not.
func IsFull(info *discovery.Info) bool {
	return info != nil && info.MaxPlayers > 0 && info.Free() == 0
}
