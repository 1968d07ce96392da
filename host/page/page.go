// Package page makes the view of a room for its readers: a snapshot in sections. A section is sent
// again only when it changes.
//
//	room.Snapshot ─▶ View 1 ─▶ View 2 ─▶ …      one for all readers of a room
//	                             │
//	             reader at 1 ────┴─▶ the sections that View 2 made new
package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// View is everything that a room shows its readers at one moment. It never changes.
type View struct {
	// Edition numbers the views of a room from 1; 0 stands for no view yet.
	Edition  int
	Snapshot wire.Snapshot
	// Traces are the players' probes of the round, ordered by when they ended.
	Traces []Trace
	// Badges say what pages may do, by the token or secret that they show.
	Badges map[room.Digest]room.Badge
	// IsPrivate says that a reader may see no trace but their own; see [room.View].
	IsPrivate bool
	// Culled returns the servers that were culled, by cause, as [wire.CulledServers]. The first
	// call computes them, once for each choice. Any goroutine may call it.
	Culled   func() map[selection.Cause]json.RawMessage
	record   *room.Record
	sections []section
	// own are the sections of people's own pings by name, in a room where nobody sees others'.
	own map[string]section
}

// Trace is the course of one player's probes.
type Trace struct {
	Player string
	Probes []discovery.Result
}

// section is a part of the snapshot as JSON, with the edition of its last change.
type section struct {
	name    string
	data    json.RawMessage
	edition int
}

// withOwn adds the room's own game to the games, so that people read its name instead of its id
// even if the host has no servers of it.
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

// Host is the part of a view that does not come from the room.
type Host struct {
	// Games are the games that the organiser may choose.
	Games []wire.Game
	// Name returns the name of any game by its id; it may be nil.
	Name func(game string) string
	// Join completes the way to a game's server; it may be nil.
	Join func(game string, way wire.Way) wire.Way
	// IsPublic says that the host is for everybody. Then players' programs announce no room of it.
	IsPublic bool
}

// Next returns the view that follows this one, or this one if nothing has changed.
func (v *View) Next(r *room.Room, of Host) (*View, error) {
	shows := r.View()
	next := &View{
		Edition: v.Edition + 1, Snapshot: shows.Snapshot, Badges: shows.Badges, IsPrivate: shows.IsPrivate,
		Culled: v.Culled, record: shows.Record,
	}
	if v.Culled == nil || v.record != next.record {
		next.Culled = sync.OnceValue(func() map[selection.Cause]json.RawMessage { return culled(next.record) })
	}
	next.Snapshot.Games = withOwn(of.Games, &next.Snapshot.Room.Settings, of.Name)
	if !of.IsPublic {
		next.Snapshot.Room.AnnounceAs = announcedAs(&next.Snapshot.Room, r.Keys().Link)
	}
	if way := next.Snapshot.Way; way != nil && way.Connect != "" && of.Join != nil {
		*way = of.Join(next.Snapshot.Room.Game, *way)
	}
	if moving := next.Snapshot.Moving; moving != nil && of.Join != nil {
		for i := range moving.Places {
			moving.Places[i].Way = of.Join(next.Snapshot.Room.Game, moving.Places[i].Way)
		}
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
		isOver := name == ownSection && v.IsPrivate && !next.IsPrivate // readers have their own pings, and have to forget them
		if v.Edition > 0 && bytes.Equal(v.sections[i].data, data) && !isOver {
			s = v.sections[i]
		} else {
			isNew = true
		}
		next.sections = append(next.sections, s)
	}
	if next.addOwn(v, shows.Own) || isNew {
		return next, nil
	}
	return v, nil
}

// addOwn adds people's own pings, and reports whether some differ from those of the view before.
func (v *View) addOwn(before *View, own map[string]wire.Own) (isNew bool) {
	if !v.IsPrivate {
		return before.IsPrivate
	}
	v.own = map[string]section{}
	for name, pings := range own {
		data, _ := json.Marshal(pings) // cannot fail: texts and finite numbers
		s := section{ownSection, data, v.Edition}
		if was, is := before.own[name]; is && bytes.Equal(was.data, data) {
			s = was
		} else {
			isNew = true
		}
		v.own[name] = s
	}
	return isNew || len(v.own) != len(before.own)
}

// announcedAs returns the room's name in announcements. It is the same wherever the room is
// announced, and reveals nothing of the key that it is made of.
func announcedAs(head *wire.Head, key string) string {
	if head.Announce == wire.No || !head.Ended.IsZero() || key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("muster: the room's name on a network\x00" + key))
	return hex.EncodeToString(sum[:6])
}

// Held returns this view with a reason why everything waits.
func (v *View) Held(why sentence.Sentence) *View {
	held := *v
	held.Edition++
	held.Snapshot.Room.Held = why
	held.sections = slices.Clone(v.sections)
	for i, s := range held.sections {
		if s.name == roomSection {
			data, _ := json.Marshal(held.Snapshot.Room) // cannot fail: it was encoded before
			held.sections[i] = section{s.name, data, held.Edition}
		}
	}
	return &held
}

// roomSection is the name of the section that says where the room stands, and ownSection that of the
// reader's own pings.
const roomSection, ownSection = "room", "own"

func culled(record *room.Record) map[selection.Cause]json.RawMessage {
	documents := map[selection.Cause]json.RawMessage{}
	for cause, list := range record.Culled() {
		documents[cause], _ = json.Marshal(list) // cannot fail: texts and finite numbers
	}
	return documents
}

// AppendSince appends the sections newer than an edition to an open JSON object, each after a
// comma.
func (v *View) AppendSince(object []byte, edition int) []byte {
	for _, s := range v.sections {
		if s.edition > edition && (!v.IsPrivate || s.name != ownSection) {
			object = fmt.Appendf(object, `,%q:%s`, s.name, s.data)
		}
	}
	return object
}

// AppendOwn appends a person's own pings to an open JSON object, after a comma. It does so only if
// they are newer than an edition and hidden from everybody else.
func (v *View) AppendOwn(object []byte, name string, edition int) []byte {
	switch s, has := v.own[name]; {
	case !v.IsPrivate:
	case !has && edition == 0: // a reader who has become nobody must not keep somebody's
		return fmt.Appendf(object, `,%q:null`, ownSection)
	case has && s.edition > edition:
		return fmt.Appendf(object, `,%q:%s`, s.name, s.data)
	}
	return object
}

// News returns the [wire.Room] message with those sections for a player. It is empty if there are
// none.
func (v *View) News(edition int, player string) wire.Frame {
	head := []byte(`{"type":"room"`)
	news := v.AppendOwn(v.AppendSince(head, edition), player, edition)
	if len(news) == len(head) {
		return wire.Frame{}
	}
	return wire.Frame{Data: append(news, '}')}
}
