// Package operator asks a running public host about its rooms for its operator, and shows the answers in
// a terminal.
package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"muster/host/operating"
	"muster/internal/hint"
)

// askTime is how long an answer may take: a move waits for the other host.
const askTime = 30 * time.Second

// Client asks a host.
type Client struct {
	// At is the host's address for operators, and Key a key that it takes.
	At, Key string
}

// Rooms lists the rooms.
func (c Client) Rooms(ctx context.Context) (found operating.Listing, err error) {
	return found, c.ask(ctx, http.MethodGet, "/rooms", nil, &found)
}

// Limits lists the networks that ran into limits.
func (c Client) Limits(ctx context.Context) (found operating.Limits, err error) {
	return found, c.ask(ctx, http.MethodGet, "/limits", nil, &found)
}

// Explain returns the reasons for the state of a room.
func (c Client) Explain(ctx context.Context, id string) (found operating.Explained, err error) {
	return found, c.ask(ctx, http.MethodGet, "/rooms/"+id, nil, &found)
}

// Close ends a room for a reason, and Move gives it to another host.
func (c Client) Close(ctx context.Context, id, reason string) (done operating.Done, err error) {
	return done, c.ask(ctx, http.MethodPost, "/rooms/"+id+"/close", operating.Order{Reason: reason}, &done)
}

// Move gives a room to another host.
func (c Client) Move(ctx context.Context, id, to string) (done operating.Done, err error) {
	return done, c.ask(ctx, http.MethodPost, "/rooms/"+id+"/move", operating.Order{To: to}, &done)
}

func (c Client) ask(ctx context.Context, method, path string, order, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var body io.Reader
	if order != nil {
		data, err := json.Marshal(order)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.At+path, body)
	if err != nil {
		return fmt.Errorf("%q is no room's id", path)
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request) // past any proxy
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return hint.With(errors.New("muster serve does not run: nothing answers at "+c.At), "it has ended without time to say so; start it again")
	case err != nil:
		return fmt.Errorf("muster serve does not answer: %w", hint.Reason(err))
	}
	defer response.Body.Close()
	return operating.ReadAnswer(response, answer)
}
