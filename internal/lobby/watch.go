package lobby

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/wire"
)

const (
	// silence is how long a host may be silent; it sends something every two seconds.
	silence = 12 * time.Second
	// The pauses between attempts to reconnect double from firstPause to lastPause. patience is how
	// long the host may be away, the same as for players' programs.
	firstPause, lastPause = 250 * time.Millisecond, 5 * time.Second
	patience              = 30 * time.Minute
	// maxFrame is the longest frame that is read, in bytes. Frames contain the players'
	// measurements, which are skipped.
	maxFrame = 8 << 20
)

// Watch yields the newest state of a room whenever it changes, until ctx or the room ends. It sees
// what pages see. It reconnects by itself; away receives each loss. The last value is the error
// that ended it, unless ctx did.
func (c *Client) Watch(ctx context.Context, of Key, away func(error)) iter.Seq2[wire.Snapshot, error] {
	return func(yield func(wire.Snapshot, error) bool) {
		pause, seen, isShown := firstPause, time.Now(), false
		for {
			goesOn := true
			err := c.follow(ctx, of, func(s wire.Snapshot) bool {
				pause, seen, isShown = firstPause, time.Now(), true
				goesOn = yield(s, nil)
				return goesOn
			})
			var refusal wire.Refusal
			isRefused := errors.As(err, &refusal)
			passes := isRefused && slices.Contains([]string{wire.ReasonLimited, wire.ReasonBusy, wire.ReasonMoved},
				refusal.Reason) || !isRefused && isShown
			switch {
			case ctx.Err() != nil || !goesOn:
				return
			case !passes, time.Since(seen) > patience:
				yield(wire.Snapshot{}, err)
				return
			}
			away(err)
			select {
			case <-time.After(pause + rand.N(pause/4)):
			case <-ctx.Done():
				return
			}
			pause = min(2*pause, lastPause)
		}
	}
}

// follow shows a room over one connection.
func (c *Client) follow(ctx context.Context, of Key, show func(wire.Snapshot) bool) error {
	at := c.base
	at.Scheme, at.Path = map[string]string{"http": "ws", "https": "wss"}[at.Scheme], "/live"
	dialer := websocket.Dialer{HandshakeTimeout: askTime, TLSClientConfig: c.tls}
	ws, _, err := dialer.DialContext(ctx, at.String(), nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	defer context.AfterFunc(ctx, func() { ws.Close() })()
	ws.SetReadLimit(maxFrame)
	first := map[string]string{"code": of.Code, "key": of.Link, "token": of.Credential}
	if err := ws.WriteJSON(first); err != nil {
		return err
	}
	var room wire.Snapshot
	for {
		if err := ws.SetReadDeadline(time.Now().Add(silence)); err != nil {
			return err
		}
		kind, data, err := ws.ReadMessage()
		switch {
		case err != nil:
			return err
		case kind != websocket.TextMessage:
			continue
		}
		news, err := read(data)
		if err != nil {
			return err
		}
		if err := room.Merge(news); err != nil {
			return err
		}
		if len(news) > 0 && !show(room) {
			return nil
		}
	}
}

// read returns what is new of a room in a frame for pages; a refusal is an error.
func read(data []byte) (wire.Room, error) {
	var news wire.Room
	if err := json.Unmarshal(data, &news); err != nil {
		return nil, fmt.Errorf("%w: %v", wire.ErrMalformed, err)
	}
	var kind string
	json.Unmarshal(news["type"], &kind) // an invalid type is an unknown one
	switch kind {
	case "state":
		for _, name := range []string{"type", "now", "you"} { // those are no sections of the room
			delete(news, name)
		}
		return news, nil
	case "refused":
		message, err := wire.Unmarshal(wire.Frame{Data: data})
		if refusal, is := message.(wire.Refusal); is {
			err = refusal
		}
		return nil, err
	}
	return nil, nil // of a later version
}
