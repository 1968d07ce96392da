package home

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery/report"
)

const (
	// framePause is the shortest time between two words to one page.
	framePause = 100 * time.Millisecond
	// rowsAtOnce is how many servers go in one frame: what a page reads in a fraction of
	// a frame of the screen.
	rowsAtOnce = 500
	// writeWait is how long one frame may take, pingEvery how often a page that hears
	// nothing is looked for.
	writeWait, pingEvery = 10 * time.Second, 20 * time.Second
	// pageSays is the longest that a page says here: nothing.
	pageSays = 512
)

// rowsFrame are servers of a finding, newest words last.
type rowsFrame struct {
	Kind string               `json:"kind"`
	Find int                  `json:"find"`
	Rows []report.Measurement `json:"rows"`
}

// enrol has a page be woken when something is new; a page that people look at counts.
func (h *Home) enrol(page chan struct{}, counts bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages[page] = counts
}

func (h *Home) leave(page chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, page)
}

// serveLive is a page's stream, in text frames: the state as it is, and what is new of
// the servers found. A page that falls behind is sent more at a time.
func (h *Home) serveLive(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }} // the guard has judged
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer ws.Close()
	page := make(chan struct{}, 1)
	page <- struct{}{}
	h.enrol(page, true)
	defer h.leave(page)
	ctx, cancel := context.WithCancel(h.ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer ws.Close()
	defer cancel()
	reading.Go(func() {
		defer cancel()
		ws.SetReadLimit(pageSays)
		ws.SetPongHandler(func(string) error { return ws.SetReadDeadline(time.Now().Add(2 * pingEvery)) })
		ws.SetReadDeadline(time.Now().Add(2 * pingEvery))
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
		}
	})
	h.tell(ctx, ws, page)
}

// tell writes to a page until that is gone.
func (h *Home) tell(ctx context.Context, ws *websocket.Conn, page chan struct{}) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	find, read := 0, 0
	write := func(frame []byte) error {
		ws.SetWriteDeadline(time.Now().Add(writeWait))
		return ws.WriteMessage(websocket.TextMessage, frame)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			if ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil {
				return
			}
			continue
		case <-page:
		}
		frame, err := h.snapshot()
		if err != nil || write(frame) != nil {
			return
		}
		for {
			rows := h.rows(&find, &read)
			if len(rows) == 0 {
				break
			}
			frame, err := json.Marshal(rowsFrame{"rows", find, rows})
			if err != nil || write(frame) != nil || ctx.Err() != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(framePause):
		}
	}
}

// rows are those that a page has not read, of the newest finding.
func (h *Home) rows(find, read *int) []report.Measurement {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *find != h.found.id {
		*find, *read = h.found.id, 0
	}
	fresh := h.found.rows[*read:]
	fresh = fresh[:min(len(fresh), rowsAtOnce)] // it only grows: what it has is not changed
	*read += len(fresh)
	return fresh
}

// watching is how many pages are open; h.mu is held.
func (h *Home) watching() (pages int) {
	for _, counts := range h.pages {
		if counts {
			pages++
		}
	}
	return pages
}
