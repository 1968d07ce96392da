package host

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"muster/host/openers"
)

// openingsPath is the path that hosts use between each other. No one else may.
const openingsPath = "/openings"

// counting reaches the host that counts an address's rooms: this one, or another.
type counting struct {
	own *openers.Openers
	// hosts returns the names of all hosts of the service, none if this one is alone. others sends
	// them requests.
	hosts  func() []string
	others http.RoundTripper
}

// ask asks the host that counts for an address. If that host does not answer, this one counts
// instead, because any count is better than none.
func (c *counting) ask(ctx context.Context, about openers.Opening) *openers.TooMany {
	if why, answered := c.askOther(ctx, about); answered {
		return why
	}
	return c.own.Hear(about)
}

// askOther asks another host that counts for an address. answered is false if there is none, or it
// does not answer.
func (c *counting) askOther(ctx context.Context, about openers.Opening) (why *openers.TooMany, answered bool) {
	counts := openers.Counting(about.From, c.hosts())
	if counts == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, ownerDial)
	defer cancel()
	body, err := json.Marshal(about)
	if err != nil {
		return nil, false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+counts+openingsPath, bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	answer, err := c.others.RoundTrip(request)
	if err != nil {
		return nil, false
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, false
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, answer.Body, maxOrder)).Decode(&why)
	return why, err == nil
}

// serve answers other hosts.
func (c *counting) serve(w http.ResponseWriter, r *http.Request) {
	var about openers.Opening
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&about); err != nil || c.own == nil {
		http.Error(w, "that is no opening", http.StatusBadRequest)
		return
	}
	answer(w, http.StatusOK, c.own.Hear(about))
}
