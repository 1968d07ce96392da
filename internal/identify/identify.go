// Package identify finds out how a server that nobody listed is asked, and what game it may be: it asks one address by
// every protocol.
package identify

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/internal/game"
)

const (
	// tries is how often each UDP question goes out.
	tries = 2
	// more is how many packets a protocol that answers may get besides: challenges sent back, the question once more if the
	// server has told nothing, and a farewell.
	more = 12
	// pause lies between two protocols: many servers answer an address only ten times at once.
	pause = 100 * time.Millisecond
	// patience is the silence after the last question that counts as no answer.
	patience = 700 * time.Millisecond
	// rest is how long a server is left alone that answered, and told nothing of itself.
	rest = 1200 * time.Millisecond
)

// ask asks an address in every way until a server has told its name, and returns the answers in the order of the ways. It
// sends what [game.Count] says for so many tries. A protocol that answers gets at most a dozen packets besides; see more.
func ask(ctx context.Context, ways []game.QueryMethod, at netip.AddrPort, log *slog.Logger) ([]game.Answer, error) {
	var (
		all     sync.WaitGroup
		options = prober.Options{Retries: tries - 1, Timeout: patience, Allowance: prober.NewAllowance(), Logger: log}
		found   = make([]*game.Answer, len(ways))
		failed  = make([]error, len(ways))
	)
	asking, enough := context.WithCancel(ctx)
	defer enough()
	for i, way := range ways {
		all.Go(func() {
			found[i], failed[i] = askBy(asking, way, at, options)
			if found[i].IsNamed() {
				enough()
			}
		})
		select {
		case <-time.After(pause):
		case <-asking.Done():
		}
		if asking.Err() != nil {
			break
		}
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var answers []game.Answer
	for _, a := range found {
		if a != nil {
			answers = append(answers, *a)
		}
	}
	if len(answers) == 0 {
		return nil, errors.Join(failed...) // nil if all were silent
	}
	return answers, nil
}

// askBy asks an address in one way. The answer is nil if there is none. A server that answers too much at a time tells
// nothing of itself, and is asked once more.
func askBy(ctx context.Context, way game.QueryMethod, at netip.AddrPort, options prober.Options) (*game.Answer, error) {
	options.Protocol, options.Names = way.Game().Protocol(), way.Game().Names()
	server := discovery.Server{Addr: netip.AddrPortFrom(at.Addr(), way.Port(at.Port()))}
	answer, err := askOne(ctx, options, server)
	if answer == nil || answer.Info != nil {
		return answer.In(way), err
	}
	select {
	case <-time.After(rest):
	case <-ctx.Done():
		return answer.In(way), nil
	}
	options.Retries = -1
	if again, err := askOne(ctx, options, server); again != nil && err == nil {
		answer = again
	}
	return answer.In(way), nil
}

// askOne asks a server, and returns what it answered, or nil.
func askOne(ctx context.Context, options prober.Options, server discovery.Server) (answer *game.Answer, err error) {
	engine, err := prober.New(options)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	err = engine.Run(ctx, []discovery.Server{server}, discovery.NewConventional(1), func(r discovery.Result) {
		if r.State == discovery.Answered {
			answer = &game.Answer{Info: r.Info}
		}
	})
	return answer, err
}
