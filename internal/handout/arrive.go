package handout

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/release"
	"muster/internal/release/fetch"
)

// arrival is a program on its way from the project's release. The handout's lock guards the outcome.
type arrival struct {
	got, of atomic.Int64
	done    chan struct{}
	program *program
	trouble sentence.Sentence
	wrong   bool
	ended   time.Time
}

// askAgain is the pause before a missing program is requested from the release again, however often strangers press the
// button.
const askAgain = 30 * time.Second

// arrive returns the program for a system from the project's release. It downloads once for everyone who waits. If the
// program is nil, the sentence tells people why, and what to do.
func (h *Handout) arrive(ctx context.Context, system string) (*program, sentence.Sentence) {
	h.mu.Lock()
	a := h.arrivals[system]
	if a == nil || !a.trouble.IsZero() && time.Since(a.ended) > askAgain {
		a = &arrival{done: make(chan struct{})}
		h.arrivals[system] = a
		h.work.Go(func() { h.bring(a, system) })
	}
	h.mu.Unlock()
	select {
	case <-a.done:
		return a.program, a.trouble
	case <-ctx.Done():
		return nil, sentence.Of("get.not-waited")
	}
}

// bring downloads a program. It continues if the visitor who asked leaves, because others will ask.
func (h *Handout) bring(a *arrival, system string) {
	defer close(a.done)
	s := systems[place(system)]
	name := catalogue.InEnglish().Words(s.name)
	file := "muster_" + h.config.Source.Version + s.release
	h.config.Say("somebody wants Muster for %s: getting %s from %s, once for all", name, file, siteOf(h.config.Source.Page))
	data, v, err := h.config.Source.Get(h.ctx, file, func(got, of int64) { a.got.Store(got); a.of.Store(of) })
	if err == nil {
		a.program = h.take(data, system, v)
		h.config.Say("Muster for %s is here, the project's own: the page gives it", name)
		return
	}
	h.mu.Lock()
	a.trouble, a.wrong, a.ended = h.trouble(sentence.Of(s.name), err), errors.Is(err, fetch.ErrWrong), time.Now()
	h.mu.Unlock()
	if h.ctx.Err() == nil {
		h.config.Warn(hint.Say("get.warn-away", "system", sentence.Of(s.name), "why", err, "flag", "--downloads FOLDER"))
	}
}

// take keeps a downloaded program if it is valid.
func (h *Handout) take(data *os.File, system string, v release.Verdict) *program {
	p := h.add(data, data.Name(), system, v)
	if p == nil { // only downloads add programs by now
		data.Close()
		return h.program(system)
	}
	return p
}

// trouble tells people why a program did not arrive, and what to do.
func (h *Handout) trouble(system sentence.Sentence, err error) sentence.Sentence {
	site := siteOf(h.config.Source.Page)
	switch {
	case errors.Is(err, fetch.ErrWrong):
		return sentence.Of("get.wrong", "site", site, "system", system)
	case errors.Is(err, fetch.ErrNone):
		return sentence.Of("get.none-there", "site", site, "version", h.config.Source.Version, "system", system)
	case errors.Is(err, fetch.ErrAway):
		return sentence.Of("get.no-internet", "site", site, "system", system)
	}
	return sentence.Of("get.not-whole", "system", system)
}

// siteOf returns the site of an address, for people.
func siteOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return page
	}
	return strings.TrimPrefix(u.Host, "www.")
}
