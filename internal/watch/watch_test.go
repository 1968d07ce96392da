package watch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

// script is an Asker whose servers follow a script, look by look.
type script struct {
	began time.Time
	at    []time.Duration
	looks [][]discovery.Result
	err   error
}

func (s *script) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, heard func(discovery.Result)) error {
	s.at = append(s.at, time.Since(s.began))
	look := s.looks[min(len(s.at), len(s.looks))-1]
	for _, r := range look {
		heard(r)
	}
	if len(s.at) > len(s.looks) {
		return s.err
	}
	return ctx.Err()
}

func says(server, players, seats int) discovery.Result {
	return discovery.Result{Server: server, State: discovery.Answered, Info: &discovery.Info{Players: players, MaxPlayers: seats}}
}

// TestServers checks that a free seat is reported once, for servers that were full. A server that does not answer, or
// does not tell, has no new seat. A long watch looks less often.
func TestServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("no socket")
		s := &script{began: time.Now(), err: failed, looks: [][]discovery.Result{
			{says(0, 8, 8), says(1, 3, 8), says(2, 9, 0)},
			{says(0, 7, 8), says(1, 8, 8), says(2, 1, 0)},
			{says(0, 6, 8), {Server: 1, State: discovery.Lost}, {Server: 2, State: discovery.Answered}},
			{says(0, 8, 8), says(1, 7, 8)},
			{says(0, 0, 8)},
		}}
		var freed []int
		var when []time.Duration
		err := Servers(t.Context(), s, make([]discovery.Server, 3),
			[]*discovery.Info{{Players: 8, MaxPlayers: 8}, {MaxPlayers: 8}, nil}, func(n News) bool {
				if n.Freed {
					freed, when = append(freed, n.Server), append(when, time.Since(s.began))
				}
				return true
			})
		if !errors.Is(err, failed) || !slices.Equal(freed, []int{0, 1, 0}) ||
			!slices.Equal(when, []time.Duration{10 * time.Second, 20 * time.Second, 25 * time.Second}) {
			t.Errorf("%v of %v at %v", err, freed, when)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		s := &script{began: time.Now(), looks: slices.Repeat([][]discovery.Result{{says(0, 8, 8)}}, 1000)}
		if err := Servers(ctx, s, make([]discovery.Server, 1), nil, func(News) bool { return true }); err != nil {
			t.Error(err)
		}
		if s.at[59] != 5*time.Minute || s.at[60] != 5*time.Minute+15*time.Second || len(s.at) < 60+200 || len(s.at) > 60+220 {
			t.Errorf("%d looks in an hour, at %v", len(s.at), s.at)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &script{began: time.Now(), looks: [][]discovery.Result{{says(0, 8, 8)}, {says(0, 1, 8)}, {says(0, 1, 8)}}}
		err := Servers(t.Context(), s, make([]discovery.Server, 1), []*discovery.Info{{Players: 8, MaxPlayers: 8}}, func(n News) bool {
			return !n.Freed
		})
		if err != nil || len(s.at) != 2 {
			t.Errorf("who has what was waited for goes on: %v, %v", err, s.at)
		}
	})
}

// TestIsFull checks that bots take seats, and that a server that does not tell its seats is not full.
func TestIsFull(t *testing.T) {
	for _, tt := range []struct {
		info *discovery.Info
		want bool
	}{
		{&discovery.Info{Players: 8, MaxPlayers: 8}, true}, {&discovery.Info{Players: 9, MaxPlayers: 8}, true},
		{&discovery.Info{Players: 8, Bots: 8, MaxPlayers: 8}, true},
		{&discovery.Info{Players: 7, MaxPlayers: 8}, false}, {&discovery.Info{Players: 5}, false}, {nil, false},
	} {
		if got := IsFull(tt.info); got != tt.want {
			t.Errorf("%+v: %v", tt.info, got)
		}
	}
}
