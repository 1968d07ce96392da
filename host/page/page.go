// Package page is a room as its readers see it: a snapshot in sections, each of
// which is sent again only when it changes.
//
//	room.Snapshot ─▶ View 1 ─▶ View 2 ─▶ …      one for all readers of a room
//	                             │
//	             reader at 1 ────┴─▶ the sections that View 2 made new
package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// View is everything that readers of a room are shown at one moment. It is never
// changed.
type View struct {
	// Edition counts the views of a room from 1; 0 is one before there are any.
	Edition  int
	Snapshot wire.Snapshot
	// Traces are the players' probes of the round, in the order in which they ended.
	Traces []Trace
	// Badges are what pages may do, by the token or secret that they show.
	Badges map[room.Digest]room.Badge
	// Culled are the servers that were culled, by cause, as [wire.CulledServers]. They
	// are reckoned when somebody asks first, in any goroutine, once for a choice.
	Culled   func() map[selection.Cause]json.RawMessage
	record   *room.Record
	sections []section
}

// Trace is how one player's measuring went.
type Trace struct {
	Player string
	Probes []discovery.Result
}

// section is a part of the snapshot as JSON, and the edition in which it was new.
type section struct {
	name    string
	data    json.RawMessage
	edition int
}

// withOwn are games and the room's own, which the host may have no servers of, so that
// people read its name and not its id.
func withOwn(games []wire.Game, of *wire.Settings, name func(game string) string) []wire.Game {
	if slices.ContainsFunc(games, func(g wire.Game) bool { return g.ID == of.Game }) {
		return games
	}
	called := ""
	if of.OwnGame != nil && of.OwnGame.ID == of.Game {
		called = of.OwnGame.Name
	} else if name != nil {
		called = name(of.Game)
	}
	if called == "" {
		return games
	}
	return slices.Concat([]wire.Game{{ID: of.Game, Name: called}}, games)
}

// Host is what a view tells beside the room.
type Host struct {
	// Games are those that the organiser may choose.
	Games []wire.Game
	// Name returns what any game is called, by its id; it may be nil.
	Name func(game string) string
	// Link returns a link that takes a browser to a game server; it may be nil.
	Link func(game string, way wire.Way) string
	// Posts: the host posts by webhooks. Otherwise the form has no fields for them.
	Posts bool
}

// Next returns the room as readers see it now, after this view, or this view if there is
// nothing new.
func (v *View) Next(r *room.Room, of Host) (*View, error) {
	shows := r.View()
	next := &View{Edition: v.Edition + 1, Snapshot: shows.Snapshot, Badges: shows.Badges, Culled: v.Culled, record: shows.Record}
	if v.Culled == nil || v.record != next.record {
		next.Culled = sync.OnceValue(func() map[selection.Cause]json.RawMessage { return culled(next.record) })
	}
	next.Snapshot.Games = withOwn(of.Games, &next.Snapshot.Room.Settings, of.Name)
	if !of.Posts {
		next.Snapshot.Form = slices.DeleteFunc(next.Snapshot.Form, func(f wire.Field) bool {
			return f.Key == wire.WebhookKey || f.Key == wire.NoLinkKey
		})
	}
	if way := next.Snapshot.Way; way != nil && of.Link != nil {
		way.Link = of.Link(next.Snapshot.Room.Game, *way)
	}
	for player, probes := range shows.Traces {
		next.Traces = append(next.Traces, Trace{player, probes})
	}
	isNew := v.Edition == 0 || v.record != next.record || !maps.Equal(v.Badges, next.Badges) ||
		!slices.EqualFunc(v.Traces, next.Traces, func(a, b Trace) bool { return a.Player == b.Player && len(a.Probes) == len(b.Probes) })
	fields := reflect.ValueOf(next.Snapshot)
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Tag.Get("json")
		data, err := json.Marshal(fields.Field(i).Interface())
		if err != nil {
			return v, fmt.Errorf("page: section %s: %w", name, err)
		}
		s := section{name, data, next.Edition}
		if v.Edition > 0 && bytes.Equal(v.sections[i].data, data) {
			s = v.sections[i]
		} else {
			isNew = true
		}
		next.sections = append(next.sections, s)
	}
	if !isNew {
		return v, nil
	}
	return next, nil
}

// Held is this view with a word on what everything waits for.
func (v *View) Held(why string) *View {
	held := *v
	held.Edition++
	held.Snapshot.Room.Held = why
	held.sections = slices.Clone(v.sections)
	for i, s := range held.sections {
		if s.name == roomSection {
			data, _ := json.Marshal(held.Snapshot.Room) // it did before
			held.sections[i] = section{s.name, data, held.Edition}
		}
	}
	return &held
}

// roomSection is the name of the section with where the room stands.
const roomSection = "room"

func culled(record *room.Record) map[selection.Cause]json.RawMessage {
	documents := map[selection.Cause]json.RawMessage{}
	for cause, list := range record.Culled() {
		documents[cause], _ = json.Marshal(list) // texts and finite numbers: it cannot fail
	}
	return documents
}

// AppendSince appends the sections that are newer than an edition to a JSON object
// that is open, each after a comma.
func (v *View) AppendSince(object []byte, edition int) []byte {
	for _, s := range v.sections {
		if s.edition > edition {
			object = fmt.Appendf(object, `,%q:%s`, s.name, s.data)
		}
	}
	return object
}

// News is the [wire.Room] with those sections, as it travels; it is empty if there
// are none.
func (v *View) News(edition int) wire.Frame {
	head := []byte(`{"type":"room"`)
	news := v.AppendSince(head, edition)
	if len(news) == len(head) {
		return wire.Frame{}
	}
	return wire.Frame{Data: append(news, '}')}
}
