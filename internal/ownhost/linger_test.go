package ownhost

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

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
