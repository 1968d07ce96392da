package home

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery/report"
	"muster/discovery/sentence"
	"muster/internal/markup"
)

const (
	// framePause is the shortest time between two frames to one page.
	framePause = 100 * time.Millisecond
	// rowsAtOnce is how many servers fit in one message, so that the page handles it within a
	// fraction of a screen frame.
	rowsAtOnce = 500
	// writeWait limits the sending of one frame. pingEvery is how often an idle page is pinged.
	writeWait, pingEvery = 10 * time.Second, 20 * time.Second
	// pageSays limits what a page sends here, in bytes; it sends nothing.
	pageSays = 512
)

// rowsFrame contains servers of a finding, the newest results last.
type rowsFrame struct {
	Kind string               `json:"kind"`
	Find int                  `json:"find"`
	Rows []report.Measurement `json:"rows"`
}

// serveLive streams text frames to a page: the state, and newly found servers. A page that falls
// behind gets more in each frame.
func (h *Home) serveLive(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }} // the guard has judged
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer ws.Close()
	h.count(+1)
	defer h.count(-1)
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
	h.tell(ctx, ws)
}

// count counts a page that opens or closes.
func (h *Home) count(more int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages += more
}

// tell writes to a page until the page is gone.
func (h *Home) tell(ctx context.Context, ws *websocket.Conn) {
	first := make(chan struct{})
	close(first)
	changed := (<-chan struct{})(first)
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
		case <-changed:
		}
		frame, next, err := h.snapshot()
		if err != nil || write(frame) != nil {
			return
		}
		changed = next
		for {
			rows := h.unread(&find, &read)
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

// unread returns the rows that a page has not read, at most one frame of them, and advances the
// page's position.
func (h *Home) unread(find, read *int) []report.Measurement {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *find != h.state.Find.ID {
		*find, *read = h.state.Find.ID, 0
	}
	fresh := h.rows[*read:]
	fresh = fresh[:min(len(fresh), rowsAtOnce)] // rows are only added, never changed
	*read += len(fresh)
	return fresh
}

// explain tells the person in a room's tab why it shows no room, in the page's own look. What it says may quote
// strangers.
func explain(w http.ResponseWriter, r *http.Request, says ...sentence.Sentence) {
	l := languageOf(r)
	var p markup.Page
	p.Add(`<!doctype html>
<html lang="%s">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/home/home.css">
<main><section class="card">
`, l.Tag())
	for i, s := range says {
		shape := "<p><bdi>%s</bdi></p>\n"
		if i == 0 {
			shape = "<h1><bdi>%s</bdi></h1>\n"
		}
		p.Add(shape, l.Capital(l.Say(s)))
	}
	p.Add("</section></main>\n</html>\n")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, p.String()) // fails only if the tab is gone
}
