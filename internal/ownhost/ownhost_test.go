package ownhost

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/wire"
	"muster/internal/hint"
)

// given returns a command line with these flags.
func given(flags ...string) func(string) bool {
	return func(flag string) bool { return slices.Contains(flags, flag) }
}

// TestContinues checks which previous room the organiser's request resumes.
func TestContinues(t *testing.T) {
	cup := wire.Settings{Game: "openarena", Name: "Cup"}
	for name, c := range map[string]struct {
		old, now wire.Settings
		flags    []string
		want     bool
	}{
		"the same":             {cup, cup, []string{"room"}, true},
		"without a name":       {cup, wire.Settings{Game: "openarena"}, nil, true},
		"another game":         {cup, wire.Settings{Game: "ddnet"}, nil, false},
		"another name":         {cup, wire.Settings{Game: "openarena", Name: "League"}, []string{"room"}, false},
		"by its code":          {wire.Settings{Game: "openarena"}, wire.Settings{Game: "openarena", Name: "TABOMI"}, []string{"room"}, true},
		"opened to all":        {cup, wire.Settings{Game: "openarena", Name: "Cup", Open: true}, []string{"room"}, false},
		"standing, not called": {wire.Settings{Game: "openarena", Every: "friday"}, wire.Settings{Game: "openarena"}, nil, false},
		"standing, by name": {wire.Settings{Game: "openarena", Name: "Cup", Every: "friday"}, cup,
			[]string{"room"}, true},
		"standing, by date": {wire.Settings{Game: "openarena", Every: "friday"}, wire.Settings{Game: "openarena", Every: "monday"},
			[]string{"every"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Request{Settings: c.now, Given: given(c.flags...)}).continues("TABOMI", c.old); got != c.want {
				t.Errorf("it continues: %v, want %v", got, c.want)
			}
		})
	}
}

// TestOver checks that a resumed room keeps its settings, except those that the command line sets.
func TestOver(t *testing.T) {
	old := wire.Settings{Game: "openarena", Name: "Cup", GuestsVote: true, Places: wire.Venues{{Name: "Paris"}}}
	now := wire.Settings{Game: "openarena", Name: "League", Places: wire.Venues{{Name: "Berlin"}}}
	for name, c := range map[string]struct {
		flags       []string
		name, place string
	}{
		"nothing":    {nil, "Cup", "Paris"},
		"its name":   {[]string{"room"}, "League", "Paris"},
		"its places": {[]string{"places"}, "Cup", "Berlin"},
		"a search":   {[]string{"where"}, "Cup", "Paris"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Request{Settings: now, Given: given(c.flags...)}.applyTo(old)
			if got.Name != c.name || got.Places[0].Name != c.place || !got.GuestsVote {
				t.Errorf("the settings are %+v, want %s in %s", got, c.name, c.place)
			}
		})
	}
}

// TestCommand checks that the command line names the room and where it is.
func TestCommand(t *testing.T) {
	const want = `muster host ddnet --room "Ann's \"Cup\"" --here`
	if got := (Request{More: " --here"}).command("ddnet", `Ann's "Cup"`); got != want {
		t.Errorf("the command is %s, want %s", got, want)
	}
}

// TestListen checks that a host that cannot listen says what to do.
func TestListen(t *testing.T) {
	free, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	for address, want := range map[string]string{
		free.Addr().String(): "another muster host",
		"192.0.2.1:0":        "an address of this machine",
	} {
		listener, err := Listen(address)
		if err == nil {
			listener.Close()
		}
		if err == nil || !strings.Contains(hint.Of(err), want) {
			t.Errorf("%s: %v, with the hint %q, want %q", address, err, hint.Of(err), want)
		}
	}
}

// TestOverForAPlace checks that a resumed room which looks for a place from now on has places.
func TestOverForAPlace(t *testing.T) {
	now := wire.Settings{Game: "openarena", Seeks: wire.SeekPlace, Places: wire.Venues{{Name: "Berlin"}}}
	got := Request{Settings: now, Given: given("where")}.applyTo(wire.Settings{Game: "openarena"})
	if got.Seeks != wire.SeekPlace || len(got.Places) != 1 {
		t.Errorf("the settings are %+v", got)
	}
}

// TestLinger checks how long a host that ends waits for pages which still load.
func TestLinger(t *testing.T) {
	for name, c := range map[string]struct {
		asks  []time.Duration // when files are asked for, after the host wants to end
		lasts time.Duration   // how long each takes
		want  time.Duration
	}{
		"no page":               {want: 0},
		"one long ago":          {asks: []time.Duration{-4 * time.Second}, want: 0},
		"one just now":          {asks: []time.Duration{-time.Second}, want: 2 * time.Second},
		"its next files":        {asks: []time.Duration{-time.Second, time.Second}, want: 4 * time.Second},
		"over a slow line":      {asks: []time.Duration{-time.Second}, lasts: 3 * time.Second, want: 5 * time.Second},
		"one that goes on":      {asks: []time.Duration{-time.Second}, lasts: time.Minute, want: maxLinger},
		"one that comes later":  {asks: []time.Duration{time.Second}, want: 0},
		"many, one after other": {asks: []time.Duration{-1e9, 1e9, 3e9, 5e9, 7e9, 9e9}, want: maxLinger},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pages{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(c.lasts) })}
				begins := time.Now().Add(time.Minute)
				var asking sync.WaitGroup
				defer asking.Wait()
				for _, at := range c.asks {
					asking.Go(func() {
						time.Sleep(time.Until(begins.Add(at)))
						p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
					})
				}
				time.Sleep(time.Until(begins))
				p.settle(t.Context())
				if waited := time.Since(begins); waited != c.want {
					t.Errorf("it waits %v, want %v", waited, c.want)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &pages{last: time.Now()}
	p.settle(ctx) // an interrupted host ends at once
}
