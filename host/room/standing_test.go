package room_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
)

// standing returns a room that meets on Fridays. Ann is its organiser.
func standing(t *testing.T, every string) *session {
	s := settings(0)
	s.Every = every
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	return n
}

// playsSession plays one session: the players join, ms[i] away from the only server, and go there.
func (n *session) playsSession(ms []int, names ...string) {
	n.Helper()
	n.join(names...)
	n.goes()
	n.listed(1)
	n.informs(names[0], 64)
	for i, name := range names {
		n.measures(name, ms[i])
	}
	n.done(names...)
	n.verifies(names[0])
	for _, name := range names[1:] {
		n.verifies(name)
	}
	n.inStage(wire.Launching)
}

// The promised times: when a room opens for its date, reminds of it and takes it for past; when an
// empty room sleeps; how long programs look for a lost room.
const (
	opensBefore, remindBefore, dateStays = 30 * time.Minute, 4 * time.Hour, time.Hour
	sleepAfter, returnsWithin            = 2 * time.Hour, 30 * time.Minute
	mostRegulars                         = 64
)

var friday = []time.Time{ // eight is a Friday
	time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC),
	time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC),
	time.Date(2026, 12, 4, 19, 0, 0, 0, time.UTC),
}

// TestSessions checks that a standing room keeps what it should from one session to the next.
func TestSessions(t *testing.T) {
	n := standing(t, "fri 20:00 Europe/Berlin")
	n.playsSession([]int{40, 20}, "ann", "bob")
	bob, keys := n.pageOf("bob"), n.room.Keys()
	yes, no := true, false
	if err := n.acts(bob, room.Like{Liked: &yes}); err != nil {
		t.Error(err)
	}
	n.until(n.now.Add(time.Hour))
	if err := n.acts(n.pageOf("ann"), room.End{}); err != nil {
		t.Fatal(err)
	}
	if n.room.Use(n.now.Add(365*24*time.Hour)).IsOver || !n.isAsleep() || n.room.TakesCode() {
		t.Error("the room is not asleep")
	}
	if slices.Sort(n.dismissed); !slices.Equal(n.dismissed, []string{"ann", "bob"}) {
		t.Errorf("sent home are %v", n.dismissed)
	}
	if m := n.view().Meeting; !m.Next.Equal(friday[1]) || m.Sessions != 1 || m.Last.MeanMS != 30 || len(m.Who) != 2 || !*m.Who[1].Liked {
		t.Errorf("shown is %+v", m)
	}
	if people := n.view().People; len(people) != 1 || people[0].Name != "ann" {
		t.Errorf("in the room are %v: who is away is nobody who looks on", people)
	}
	// The week between the sessions.
	if err := n.acts(bob, room.Come{Comes: &yes}); err != nil {
		t.Error(err)
	}
	if err := n.acts(keys.Secret, room.Come{Comes: &no}); err != nil {
		t.Error(err)
	}
	if refusal := n.tryJoin("Bob", ""); reason(refusal) != wire.ReasonNameTaken {
		t.Errorf("somebody else is bob: %v", refusal)
	}
	n.restarts(24 * time.Hour)
	m := n.view().Meeting
	if n.room.Keys() != keys || !*m.Who[1].Comes || *m.Who[0].Comes || m.Who[1].Name != "bob" {
		t.Errorf("after a restart: %v, %+v", n.room.Keys(), m)
	}
	// The date.
	if ticks := n.until(friday[1].Add(-opensBefore)); n.isAsleep() || ticks > 20 {
		t.Errorf("half an hour before its date the room sleeps, or was up %d times", ticks)
	}
	n.noted("the next game night is near", "it’s nearly time: the room is open")
	n.join("bob")
	if p := n.person("bob"); n.pageOf("bob") != bob || !p.Peer || len(n.view().Meeting.Who) != 2 {
		t.Errorf("bob comes back as another: %+v, of %+v", p, n.view().Meeting.Who)
	}
	n.until(friday[1].Add(dateStays + time.Minute))
	if m := n.view().Meeting; !m.Next.Equal(friday[2]) || m.Who[0].Comes != nil {
		t.Errorf("an hour after it the next date is %v, and who comes %+v", m.Next, m.Who)
	}
	n.playsSession([]int{50, 30}, "ann", "bob")
	n.gone("ann")
	n.gone("bob")
	left := n.now
	n.until(n.now.Add(sleepAfter + time.Minute))
	if !n.isAsleep() || len(n.room.History().Sessions) != 2 {
		t.Fatalf("two hours after the last has left nobody has ended the session; the log:\n%s", n.log())
	}
	e := n.room.History()
	if len(e.Sessions) != 2 || !e.Sessions[1].Ended.Equal(left) || !e.Sessions[1].Stays[0].Until.Equal(left) {
		t.Errorf("the history is %+v", e)
	}
	var table bytes.Buffer
	if err := e.CSV(&table); err != nil {
		t.Fatal(err)
	}
	want := `began,at,until,game,server,connect,country,map,player,ping_ms,liked
2026-11-20T20:00:00Z,2026-11-20T20:00:00Z,2026-11-20T21:00:00Z,openarena,server 0 (192.0.2.0:27960),192.0.2.0:27960,,oa_dm1,ann,40.0,
2026-11-20T20:00:00Z,2026-11-20T20:00:00Z,2026-11-20T21:00:00Z,openarena,server 0 (192.0.2.0:27960),192.0.2.0:27960,,oa_dm1,bob,20.0,true
2026-11-27T20:01:00Z,2026-11-27T20:01:00Z,2026-11-27T20:01:00Z,openarena,server 0 (192.0.2.0:27960),192.0.2.0:27960,,oa_dm1,bob,30.0,
2026-11-27T20:01:00Z,2026-11-27T20:01:00Z,2026-11-27T20:01:00Z,openarena,server 0 (192.0.2.0:27960),192.0.2.0:27960,,oa_dm1,ann,50.0,
`
	if table.String() != want {
		t.Errorf("as a table:\n%swant\n%s", table.String(), want)
	}
	same(t, n.room, restored(t, n.room))
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "192.0.2.7") {
		t.Error("an address of a player is kept")
	}
}

// TestOnDates checks that each reminder comes once, whatever happens in between, and that the room
// opens itself.
func TestOnDates(t *testing.T) {
	reminders := func(n *session) int { return strings.Count(n.log(), "the next game night is near") }
	asleep := func(t *testing.T, every string) *session {
		n := standing(t, every)
		n.join("ann")
		n.orders(room.End{})
		return n
	}
	t.Run("for months", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		ticks := n.until(eight.AddDate(0, 6, 0))
		if got := reminders(n); got != 25 {
			t.Errorf("%d reminders on 25 Fridays", got)
		}
		if n.room.Use(n.now).IsOver || n.room.Use(n.now).Unused < 180*24*time.Hour || n.room.Use(n.now).Unused > 183*24*time.Hour {
			t.Errorf("half a year without anybody counts as %v", n.room.Use(n.now).Unused)
		}
		if ticks > 26*20 {
			t.Errorf("a room in which nobody is had the time %d times", ticks)
		}
	})
	t.Run("restarts before, at and after", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		for _, at := range []time.Duration{-remindBefore - time.Minute, -remindBefore + time.Minute, -time.Hour,
			-opensBefore + time.Minute, 0, time.Minute, 10 * time.Minute} {
			n.until(friday[1].Add(at))
			n.restarts(time.Second)
		}
		if got := reminders(n); got != 1 || n.isAsleep() {
			t.Errorf("%d reminders; asleep: %v", got, n.isAsleep())
		}
	})
	t.Run("a host that was away then", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.restarts(friday[1].Sub(n.now) - time.Hour) // late, but not too late
		if got := reminders(n); got != 1 {
			t.Errorf("%d reminders an hour before", got)
		}
		n = asleep(t, "fri 20:00 Europe/Berlin")
		n.restarts(friday[1].Sub(n.now) + 2*time.Hour)
		if got := reminders(n); got != 0 || !n.view().Meeting.Next.Equal(friday[2]) {
			t.Errorf("%d reminders of a date that is over; next is %v", got, n.view().Meeting.Next)
		}
	})
	t.Run("a clock that jumps", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.now = n.now.AddDate(9, 0, 0)
		n.step(room.Tick{})
		if unused := n.room.Use(n.now).Unused; unused > 25*time.Hour {
			t.Errorf("nine years that nobody has lived count as %v", unused)
		}
		n.now = n.now.AddDate(-9, 0, 1)
		n.step(room.Tick{})
		if next := n.view().Meeting.Next; !next.Equal(friday[1]) {
			t.Errorf("the clock is right again, and the next date %v", next)
		}
		n.until(friday[1])
		if got := reminders(n); got != 1 || n.isAsleep() {
			t.Errorf("%d reminders; asleep: %v", got, n.isAsleep())
		}
	})
	t.Run("a clock that was ahead while somebody was there", func(t *testing.T) {
		for _, every := range []string{"fri 20:00 Europe/Berlin", ""} {
			n := standing(t, every)
			n.now = n.now.AddDate(9, 0, 0)
			n.join("ann", "bob")
			n.gone("ann")
			n.gone("bob")
			n.now = n.now.AddDate(-9, 0, 0)
			n.restarts(0)
			n.until(n.now.Add(room.KeepEmpty + time.Hour))
			if n.isAsleep() != (every != "") || n.room.Use(n.now).IsOver != (every == "") {
				t.Errorf("%q: nobody is there for a day; asleep: %v, over: %v", every, n.isAsleep(), n.room.Use(n.now).IsOver)
			}
		}
	})
	t.Run("one date, and none", func(t *testing.T) {
		n := asleep(t, "2026-11-27 20:00 Europe/Berlin")
		n.until(friday[1].Add(3 * time.Hour))
		if next := n.view().Meeting.Next; !next.IsZero() || reminders(n) != 1 {
			t.Errorf("after its only date the next is %v", next)
		}
		yes := true
		if err := n.orders(room.Come{Comes: &yes}); err == nil {
			t.Error("ann comes, and to nothing")
		}
		n = asleep(t, "whenever")
		n.until(friday[2])
		if !n.view().Meeting.Next.IsZero() || reminders(n) != 0 || !n.isAsleep() || n.room.Use(n.now).IsOver {
			t.Error("a room without a date has one, or is over")
		}
	})
	t.Run("a session that ends early", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.until(friday[1].Add(-10 * time.Minute))
		n.join("ann")
		n.orders(room.End{})
		n.until(friday[1].Add(30 * time.Minute))
		if !n.isAsleep() {
			t.Error("the room opened again of itself for the date that it had been open for")
		}
	})
	t.Run("settings that say otherwise", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		if err := n.orders(room.Change{Settings: []byte(`{"every":"sun 18:00 UTC"}`)}); err != nil {
			t.Fatal(err)
		}
		if next := n.view().Meeting.Next; next.Weekday() != time.Sunday {
			t.Errorf("the next date is %v", next)
		}
		n.noted("the organiser has changed when we meet: we meet every Sunday at 18:00 (UTC)")
		if log := n.log(); strings.Contains(log, "the organiser wants") {
			t.Errorf("the log tells of what was not changed: %s", log)
		}
		for _, wrong := range []string{`{"every":"2020-01-01 20:00 UTC"}`, `{"every":"sun 18:00"}`, `{"every":"tomorrow"}`, `{"every":7}`} {
			if n.orders(room.Change{Settings: []byte(wrong)}) == nil {
				t.Errorf("%s is a schedule", wrong)
			}
		}
		if err := n.orders(room.Change{Settings: []byte(`{"every":""}`)}); err != nil {
			t.Fatal(err)
		}
		if n.view().Meeting != nil || n.room.Use(n.now.Add(room.KeepEmpty-time.Minute)).IsOver ||
			!n.room.Use(n.now.Add(room.KeepEmpty+time.Minute)).IsOver {
			t.Error("a room that stays no more is not kept for a day, as others are")
		}
	})
}

// TestMissedEnd checks that a program that was not connected when the session ended is told so, and
// does not open the room again. A player who comes to play does open it.
func TestMissedEnd(t *testing.T) {
	back := func(n *session, name string) *wire.Refusal {
		hello := wire.Hello{Version: wire.Version, Code: n.room.Keys().Code, Name: name, Token: n.tokens[name], Program: name + "'s", Line: 2}
		var refusal *wire.Refusal
		errors.As(n.step(room.Join{Hello: hello, Token: "token of " + name}), &refusal)
		return refusal
	}
	ended := func() *session {
		n := standing(t, "fri 20:00 Europe/Berlin")
		n.playsSession([]int{40, 20}, "ann", "bob")
		n.join("cat") // cat has not played
		n.gone("bob")
		n.gone("cat")
		n.orders(room.End{})
		n.restarts(time.Minute)
		return n
	}
	n := ended()
	for _, name := range []string{"bob", "cat"} {
		if refusal := back(n, name); reason(refusal) != wire.ReasonEnded || !n.isAsleep() {
			t.Errorf("%s is back after the end: %v; asleep: %v", name, refusal, n.isAsleep())
		}
	}
	n.join("bob") // by another start of the program
	if n.isAsleep() || back(n, "cat") != nil {
		t.Error("who comes to play does not open the room, or its others are told that it has ended")
	}
	n = ended()
	n.tokens["dan"] = "a token of somebody who was not there"
	if refusal := back(n, "dan"); refusal != nil || n.isAsleep() {
		t.Errorf("somebody who was not there is told %v", refusal)
	}
	n = ended()
	n.until(n.now.Add(returnsWithin))
	if refusal := back(n, "bob"); refusal != nil || n.isAsleep() {
		t.Errorf("long after the end bob is told %v", refusal)
	}
	n = ended()
	if err := n.acts(n.room.Keys().Secret, room.Wake{}); err != nil || n.isAsleep() || back(n, "bob") != nil {
		t.Errorf("the button does not open the room: %v", err)
	}
}

// TestRegulars checks that players who have played keep their place, name and link, and that nobody
// else gets them.
func TestRegulars(t *testing.T) {
	n := standing(t, "fri 20:00 Europe/Berlin")
	n.playsSession([]int{40, 20}, "ann", "bob")
	bob := n.pageOf("bob")
	n.join("passer-by")
	n.enters("zoe", "")
	n.orders(room.End{})
	if who := n.view().Meeting.Who; len(who) != 2 {
		t.Errorf("regulars are %v: who has not played is none", who)
	}
	n.orders(room.Lock{Locked: true})
	n.tokens["bob"] = "another computer's token, which is long enough"
	n.as["bob"] = bob
	n.join("bob")
	if n.isAsleep() || n.pageOf("bob") != bob {
		t.Error("bob's own link does not admit as bob, or does not wake the room")
	}
	n.join("ann")
	n.orders(room.End{})
	n.as["bob"] = ""
	n.join("bob") // with the token of that computer
	if n.pageOf("bob") != bob {
		t.Error("the second computer is forgotten")
	}
	if refusal := n.tryJoin("mallory", ""); reason(refusal) != wire.ReasonLocked {
		t.Errorf("a stranger in a locked room: %v", refusal)
	}
	if err := n.acts("nobody's", room.Wake{}); err == nil {
		t.Error("a stranger opens the room")
	}
	// The organiser removes a player who has left for good.
	n.orders(room.Lock{Locked: false})
	n.join("ann")
	n.orders(room.End{})
	if err := n.orders(room.Remove{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	if who := n.view().Meeting.Who; len(who) != 1 {
		t.Errorf("after bob was removed the regulars are %v", who)
	}
	if err := n.acts(bob, room.Wake{}); err == nil {
		t.Error("who was removed opens the room by the link of before")
	}
	// A guest who says that they come is kept until the date.
	n.orders(room.Wake{})
	n.enters("zoe", "")
	yes := true
	if err := n.page("zoe", room.Come{Comes: &yes}); err != nil {
		t.Fatal(err)
	}
	n.orders(room.End{})
	n.until(friday[1].Add(-time.Minute))
	if who := n.view().Meeting.Who; len(who) != 2 || who[1].Name != "zoe" {
		t.Errorf("a minute before the date come %v", who)
	}
	n.until(friday[1].Add(sleepAfter + 2*time.Hour))
	if who := n.view().Meeting.Who; len(who) != 1 {
		t.Errorf("hours after the date come %v", who)
	}
}

// TestRenamedAtTheEnd checks that a player who asked for another name from the next round on has it
// in the next session. The servers that the player brought go along.
func TestRenamedAtTheEnd(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20}, "ann", "bob")
	n.says("bob", wire.Bring{Game: "openarena", Favourites: bringing(1)})
	if err := n.acts(n.pageOf("bob"), room.Rename{Name: "bert"}); err != nil {
		t.Fatal(err)
	}
	n.orders(room.End{})
	n.tokens["bert"] = n.tokens["bob"]
	n.join("bert")
	if by := n.view().Lists.Favourites[0].By; !slices.Equal(by, []string{"bert"}) {
		t.Errorf("what bert brought is %q's", by)
	}
	n.says("bert", wire.Bring{Game: "openarena"})
	if lists := n.view().Lists; len(lists.Favourites) != 0 {
		t.Errorf("bert cannot take back %+v", lists.Favourites)
	}
}

// TestRoundNumbers checks that round numbers never repeat from one session to the next. A
// program that missed the end of one would mistake the next session's list, look and launch for
// those that it knew. It would not take its player anywhere.
func TestRoundNumbers(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20}, "ann", "bob")
	n.gone("bob")
	before := n.launched.Round
	n.orders(room.End{})
	n.orders(room.Wake{})
	n.revive()
	n.playsSession([]int{40, 20}, "ann", "bob")
	if now := n.launched.Round; now <= before {
		t.Errorf("after round %d the next session has round %d", before, now)
	}
}

// TestForget checks that people who want to be forgotten are gone from people, history and log,
// under all their names.
func TestForget(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	n.orders(room.End{})
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	n.acts(n.pageOf("bob"), room.Rename{Name: "robert"})
	bob := n.pageOf("bob")
	for _, name := range []string{"ann", "bob"} {
		if err := n.acts(n.pageOf(name), room.Bring{Favourites: bringing(0)}); err != nil {
			t.Fatal(err)
		}
	}
	n.orders(room.End{})
	holds := func(name string) bool {
		data, err := n.room.Save()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(data, []byte(name))
	}
	if !holds("bob") || !holds("robert") {
		t.Fatal("bob was never there")
	}
	if err := n.acts(bob, room.Forget{}); err != nil {
		t.Fatal(err)
	}
	if holds("bob") || holds("robert") {
		data, _ := n.room.Save()
		t.Errorf("bob is forgotten, and in %s", data)
	}
	if seats := n.room.History().Sessions[1].Stays[0].Players; len(seats) != 2 {
		t.Errorf("of the others is left %v", seats)
	}
	n.join("cat")
	cat := n.pageOf("cat")
	if err := n.acts(cat, room.Forget{Name: "ann"}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat forgets ann: %v", err)
	}
	if err := n.orders(room.Forget{Name: "nobody"}); err == nil {
		t.Error("nobody is forgotten")
	}
	if err := n.orders(room.Forget{Name: "ann"}); err == nil {
		t.Error("the organiser is forgotten")
	}
	if err := n.orders(room.Forget{Name: "cat"}); err != nil {
		t.Fatal(err)
	}
	if holds(`"cat"`) || !slices.Contains(n.dismissed, "cat") {
		t.Error("cat, who was here, is not forgotten")
	}
}

// TestNicknames checks that guests' nicknames are posted nowhere, and that forgetting a guest
// removes no other text.
func TestNicknames(t *testing.T) {
	s := settings(0)
	s.Every, s.Webhook = "fri 20:00 Europe/Berlin", hook
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	n.playsSession([]int{40, 20}, "ann", "bob")
	ann, bob := n.pageOf("ann"), n.pageOf("bob")
	n.join("IS") // this player brings a server, and leaves the name to a guest
	n.says("IS", wire.Bring{Game: "openarena", Favourites: bringing(0)})
	if err := n.acts(n.pageOf("IS"), room.Quit{}); err != nil {
		t.Fatal(err)
	}
	n.enters("is", "")
	yes := true
	for _, who := range []string{ann, bob, "is's token"} {
		if err := n.acts(who, room.Come{Comes: &yes}); err != nil {
			t.Fatal(err)
		}
	}
	n.orders(room.End{})
	if who := n.view().Meeting.Who; len(who) != 3 {
		t.Errorf("the page names %v", who)
	}
	n.told = nil
	n.until(n.view().Meeting.Next.Add(-time.Hour))
	posted := slices.IndexFunc(n.told, func(a wire.Announcement) bool { return a.Kind == wire.AnnouncedReminder })
	if posted < 0 {
		t.Fatalf("nobody is reminded; told %v", n.told)
	}
	if got := n.told[posted].Players; !slices.Equal(got, []wire.AnnouncedPlayer{{Name: "ann"}, {Name: "bob"}}) {
		t.Errorf("posted are %v", got)
	}
	said := n.log()
	if err := n.acts("is's token", room.Forget{}); err != nil {
		t.Fatal(err)
	}
	if n.log() != said || len(n.view().Lists.Favourites) != 1 || n.hasGuest("is") {
		t.Errorf("a guest called is leaves of the log\n%s\nof lists %v, and guests %v", n.log(), n.view().Lists.Favourites, n.guests())
	}
}

// TestSleepingRoomIsRestored checks that a room that slept in any stage of a session is whole.
func TestSleepingRoomIsRestored(t *testing.T) {
	stages := map[string]func(n *session){
		"gathering": func(n *session) { n.join("ann", "bob") },
		"listing":   func(n *session) { n.join("ann", "bob"); n.goes() },
		"measuring": func(n *session) { n.join("ann", "bob"); n.goes(); n.listed(3) },
		"launching": func(n *session) { n.playsSession([]int{40, 20}, "ann", "bob") },
	}
	for name, begin := range stages {
		t.Run(name, func(t *testing.T) {
			n := standing(t, "fri 20:00 Europe/Berlin")
			n.origins["bob"] = room.Origin{Addr: netip.MustParseAddr("203.0.113.77"), Country: "DE"}
			begin(n)
			n.orders(room.End{})
			data, err := n.room.Save()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte("203.0.113.77")) {
				t.Error("bob's address is kept over the week")
			}
			back, err := room.Restore(data, topology.New)
			if err != nil {
				t.Fatal(err)
			}
			same(t, n.room, back)
			n.listed(3) // the list that it had asked for
			n.inStage(wire.Gathering)
			n.until(friday[1].Add(-opensBefore))
			n.playsSession([]int{40, 20}, "ann", "bob")
		})
	}
}

// TestRegularsAreBounded checks that the newest player gets the place of the regular who was away
// longest.
func TestRegularsAreBounded(t *testing.T) {
	n := standing(t, "whenever")
	for i := range 7 {
		names, ms := []string{"ann"}, []int{40}
		for j := range 11 {
			names, ms = append(names, fmt.Sprintf("p%d-%d", i, j)), append(ms, 40)
		}
		n.now = n.now.Add(time.Minute)
		n.playsSession(ms, names...)
		n.orders(room.End{})
	}
	who := n.view().Meeting.Who
	left := map[string]int{}
	for _, c := range who {
		left[c.Name[:min(2, len(c.Name))]]++
	}
	if len(who) != mostRegulars+1 || left["p6"] != 11 || left["p0"] != 0 || left["p1"] != mostRegulars-55 {
		t.Errorf("of 77 regulars are left %v", left)
	}
}
