package room_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// standing returns a room that meets on Fridays. Ann is its organiser.
func standing(t *testing.T, every string) *session {
	s := settings(0)
	s.Every = every
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	return n
}

// playsSession plays one session: the players join, ms[i] away from the only server, and go there.
func (n *session) playsSession(ms []int, names ...string) {
	n.Helper()
	n.Join(names...)
	n.Goes()
	n.Listed(1)
	n.Informs(names[0], 64)
	for i, name := range names {
		n.Measures(name, ms[i])
	}
	n.Done(names...)
	n.Verifies(names[0])
	for _, name := range names[1:] {
		n.Verifies(name)
	}
	n.InStage(wire.Launching)
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
	bob, keys := n.PageOf("bob"), n.Room.Keys()
	yes, no := true, false
	if err := n.Acts(bob, room.Like{Liked: &yes}); err != nil {
		t.Error(err)
	}
	n.Until(n.Now.Add(time.Hour))
	if err := n.Acts(n.PageOf("ann"), room.End{}); err != nil {
		t.Fatal(err)
	}
	if n.Room.Use(n.Now.Add(365*24*time.Hour)).IsOver || !n.IsAsleep() || n.Room.TakesCode() {
		t.Error("the room is not asleep")
	}
	if slices.Sort(n.Dismissed); !slices.Equal(n.Dismissed, []string{"ann", "bob"}) {
		t.Errorf("sent home are %v", n.Dismissed)
	}
	if m := n.View().Meeting; !m.Next.Equal(friday[1]) || m.Sessions != 1 || m.Last.MeanMS != 30 || len(m.Who) != 2 || !*m.Who[1].Liked {
		t.Errorf("shown is %+v", m)
	}
	if people := n.View().People; len(people) != 1 || people[0].Name != "ann" {
		t.Errorf("in the room are %v: who is away is nobody who looks on", people)
	}
	// The week between the sessions.
	if err := n.Acts(bob, room.Come{Comes: &yes}); err != nil {
		t.Error(err)
	}
	if err := n.Acts(keys.Secret, room.Come{Comes: &no}); err != nil {
		t.Error(err)
	}
	if refusal := n.TryJoin("Bob", ""); reason(refusal) != wire.ReasonNameTaken {
		t.Errorf("somebody else is bob: %v", refusal)
	}
	n.Restarts(24 * time.Hour)
	m := n.View().Meeting
	if n.Room.Keys() != keys || !*m.Who[1].Comes || *m.Who[0].Comes || m.Who[1].Name != "bob" {
		t.Errorf("after a restart: %v, %+v", n.Room.Keys(), m)
	}
	// The date.
	if ticks := n.Until(friday[1].Add(-opensBefore)); n.IsAsleep() || ticks > 20 {
		t.Errorf("half an hour before its date the room sleeps, or was up %d times", ticks)
	}
	n.Noted("the next game night is near", "it’s nearly time: the room is open")
	n.Join("bob")
	if p := n.Person("bob"); n.PageOf("bob") != bob || !p.Peer || len(n.View().Meeting.Who) != 2 {
		t.Errorf("bob comes back as another: %+v, of %+v", p, n.View().Meeting.Who)
	}
	n.Until(friday[1].Add(dateStays + time.Minute))
	if m := n.View().Meeting; !m.Next.Equal(friday[2]) || m.Who[0].Comes != nil {
		t.Errorf("an hour after it the next date is %v, and who comes %+v", m.Next, m.Who)
	}
	n.playsSession([]int{50, 30}, "ann", "bob")
	n.Gone("ann")
	n.Gone("bob")
	left := n.Now
	n.Until(n.Now.Add(sleepAfter + time.Minute))
	if !n.IsAsleep() || len(n.Room.History().Sessions) != 2 {
		t.Fatalf("two hours after the last has left nobody has ended the session; the log:\n%s", n.Story())
	}
	e := n.Room.History()
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
	same(t, n.Room, restored(t, n.Room))
	data := roomtest.Saved(t, n.Room)
	if strings.Contains(string(data), "192.0.2.7") {
		t.Error("an address of a player is kept")
	}
}

// TestOnDates checks that each reminder comes once, whatever happens in between, and that the room
// opens itself.
func TestOnDates(t *testing.T) {
	reminders := func(n *session) int { return strings.Count(n.Story(), "the next game night is near") }
	asleep := func(t *testing.T, every string) *session {
		n := standing(t, every)
		n.Join("ann")
		n.Orders(room.End{})
		return n
	}
	t.Run("for months", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		ticks := n.Until(eight.AddDate(0, 6, 0))
		if got := reminders(n); got != 25 {
			t.Errorf("%d reminders on 25 Fridays", got)
		}
		if n.Room.Use(n.Now).IsOver || n.Room.Use(n.Now).Unused < 180*24*time.Hour || n.Room.Use(n.Now).Unused > 183*24*time.Hour {
			t.Errorf("half a year without anybody counts as %v", n.Room.Use(n.Now).Unused)
		}
		if ticks > 26*20 {
			t.Errorf("a room in which nobody is had the time %d times", ticks)
		}
	})
	t.Run("restarts before, at and after", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		for _, at := range []time.Duration{-remindBefore - time.Minute, -remindBefore + time.Minute, -time.Hour,
			-opensBefore + time.Minute, 0, time.Minute, 10 * time.Minute} {
			n.Until(friday[1].Add(at))
			n.Restarts(time.Second)
		}
		if got := reminders(n); got != 1 || n.IsAsleep() {
			t.Errorf("%d reminders; asleep: %v", got, n.IsAsleep())
		}
	})
	t.Run("a host that was away then", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.Restarts(friday[1].Sub(n.Now) - time.Hour) // late, but not too late
		if got := reminders(n); got != 1 {
			t.Errorf("%d reminders an hour before", got)
		}
		n = asleep(t, "fri 20:00 Europe/Berlin")
		n.Restarts(friday[1].Sub(n.Now) + 2*time.Hour)
		if got := reminders(n); got != 0 || !n.View().Meeting.Next.Equal(friday[2]) {
			t.Errorf("%d reminders of a date that is over; next is %v", got, n.View().Meeting.Next)
		}
	})
	t.Run("a clock that jumps", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.Now = n.Now.AddDate(9, 0, 0)
		n.Step(room.Tick{})
		if unused := n.Room.Use(n.Now).Unused; unused > 25*time.Hour {
			t.Errorf("nine years that nobody has lived count as %v", unused)
		}
		n.Now = n.Now.AddDate(-9, 0, 1)
		n.Step(room.Tick{})
		if next := n.View().Meeting.Next; !next.Equal(friday[1]) {
			t.Errorf("the clock is right again, and the next date %v", next)
		}
		n.Until(friday[1])
		if got := reminders(n); got != 1 || n.IsAsleep() {
			t.Errorf("%d reminders; asleep: %v", got, n.IsAsleep())
		}
	})
	t.Run("a clock that was ahead while somebody was there", func(t *testing.T) {
		for _, every := range []string{"fri 20:00 Europe/Berlin", ""} {
			n := standing(t, every)
			n.Now = n.Now.AddDate(9, 0, 0)
			n.Join("ann", "bob")
			n.Gone("ann")
			n.Gone("bob")
			n.Now = n.Now.AddDate(-9, 0, 0)
			n.Restarts(0)
			n.Until(n.Now.Add(room.KeepEmpty + time.Hour))
			if n.IsAsleep() != (every != "") || n.Room.Use(n.Now).IsOver != (every == "") {
				t.Errorf("%q: nobody is there for a day; asleep: %v, over: %v", every, n.IsAsleep(), n.Room.Use(n.Now).IsOver)
			}
		}
	})
	t.Run("one date, and none", func(t *testing.T) {
		n := asleep(t, "2026-11-27 20:00 Europe/Berlin")
		n.Until(friday[1].Add(3 * time.Hour))
		if next := n.View().Meeting.Next; !next.IsZero() || reminders(n) != 1 {
			t.Errorf("after its only date the next is %v", next)
		}
		yes := true
		if err := n.Orders(room.Come{Comes: &yes}); err == nil {
			t.Error("ann comes, and to nothing")
		}
		n = asleep(t, "whenever")
		n.Until(friday[2])
		if !n.View().Meeting.Next.IsZero() || reminders(n) != 0 || !n.IsAsleep() || n.Room.Use(n.Now).IsOver {
			t.Error("a room without a date has one, or is over")
		}
	})
	t.Run("a session that ends early", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		n.Until(friday[1].Add(-10 * time.Minute))
		n.Join("ann")
		n.Orders(room.End{})
		n.Until(friday[1].Add(30 * time.Minute))
		if !n.IsAsleep() {
			t.Error("the room opened again of itself for the date that it had been open for")
		}
	})
	t.Run("settings that say otherwise", func(t *testing.T) {
		n := asleep(t, "fri 20:00 Europe/Berlin")
		if err := n.Orders(room.Change{Settings: []byte(`{"every":"sun 18:00 UTC"}`)}); err != nil {
			t.Fatal(err)
		}
		if next := n.View().Meeting.Next; next.Weekday() != time.Sunday {
			t.Errorf("the next date is %v", next)
		}
		n.Noted("the organiser has changed when we meet: we meet every Sunday at 18:00 (UTC)")
		if log := n.Story(); strings.Contains(log, "the organiser wants") {
			t.Errorf("the log tells of what was not changed: %s", log)
		}
		for _, wrong := range []string{`{"every":"2020-01-01 20:00 UTC"}`, `{"every":"sun 18:00"}`, `{"every":"tomorrow"}`, `{"every":7}`} {
			if n.Orders(room.Change{Settings: []byte(wrong)}) == nil {
				t.Errorf("%s is a schedule", wrong)
			}
		}
		if err := n.Orders(room.Change{Settings: []byte(`{"every":""}`)}); err != nil {
			t.Fatal(err)
		}
		if n.View().Meeting != nil || n.Room.Use(n.Now.Add(room.KeepEmpty-time.Minute)).IsOver ||
			!n.Room.Use(n.Now.Add(room.KeepEmpty+time.Minute)).IsOver {
			t.Error("a room that stays no more is not kept for a day, as others are")
		}
	})
}

// TestMissedEnd checks that a program that was not connected when the session ended is told so, and
// does not open the room again. A player who comes to play does open it.
func TestMissedEnd(t *testing.T) {
	back := func(n *session, name string) *wire.Refusal {
		hello := n.Hello(name)
		hello.Program, hello.Line = name+"'s", 2
		return n.TryJoinAs(hello)
	}
	ended := func() *session {
		n := standing(t, "fri 20:00 Europe/Berlin")
		n.playsSession([]int{40, 20}, "ann", "bob")
		n.Join("cat") // cat has not played
		n.Gone("bob")
		n.Gone("cat")
		n.Orders(room.End{})
		n.Restarts(time.Minute)
		return n
	}
	n := ended()
	for _, name := range []string{"bob", "cat"} {
		if refusal := back(n, name); reason(refusal) != wire.ReasonEnded || !n.IsAsleep() {
			t.Errorf("%s is back after the end: %v; asleep: %v", name, refusal, n.IsAsleep())
		}
	}
	n.Join("bob") // by another start of the program
	if n.IsAsleep() || back(n, "cat") != nil {
		t.Error("who comes to play does not open the room, or its others are told that it has ended")
	}
	n = ended()
	n.Tokens["dan"] = "a token of somebody who was not there"
	if refusal := back(n, "dan"); refusal != nil || n.IsAsleep() {
		t.Errorf("somebody who was not there is told %v", refusal)
	}
	n = ended()
	n.Until(n.Now.Add(returnsWithin))
	if refusal := back(n, "bob"); refusal != nil || n.IsAsleep() {
		t.Errorf("long after the end bob is told %v", refusal)
	}
	n = ended()
	if err := n.Acts(n.Room.Keys().Secret, room.Wake{}); err != nil || n.IsAsleep() || back(n, "bob") != nil {
		t.Errorf("the button does not open the room: %v", err)
	}
}

// TestRegulars checks that players who have played keep their place, name and link, and that nobody
// else gets them.
func TestRegulars(t *testing.T) {
	n := standing(t, "fri 20:00 Europe/Berlin")
	n.playsSession([]int{40, 20}, "ann", "bob")
	bob := n.PageOf("bob")
	n.Join("passer-by")
	n.Enters("zoe", "")
	n.Orders(room.End{})
	if who := n.View().Meeting.Who; len(who) != 2 {
		t.Errorf("regulars are %v: who has not played is none", who)
	}
	n.Orders(room.Lock{Locked: true})
	n.Tokens["bob"] = "another computer's token, which is long enough"
	n.As["bob"] = bob
	n.Join("bob")
	if n.IsAsleep() || n.PageOf("bob") != bob {
		t.Error("bob's own link does not admit as bob, or does not wake the room")
	}
	n.Join("ann")
	n.Orders(room.End{})
	n.As["bob"] = ""
	n.Join("bob") // with the token of that computer
	if n.PageOf("bob") != bob {
		t.Error("the second computer is forgotten")
	}
	if refusal := n.TryJoin("mallory", ""); reason(refusal) != wire.ReasonLocked {
		t.Errorf("a stranger in a locked room: %v", refusal)
	}
	if err := n.Acts("nobody's", room.Wake{}); err == nil {
		t.Error("a stranger opens the room")
	}
	// The organiser removes a player who has left for good.
	n.Orders(room.Lock{Locked: false})
	n.Join("ann")
	n.Orders(room.End{})
	if err := n.Orders(room.Remove{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	if who := n.View().Meeting.Who; len(who) != 1 {
		t.Errorf("after bob was removed the regulars are %v", who)
	}
	if err := n.Acts(bob, room.Wake{}); err == nil {
		t.Error("who was removed opens the room by the link of before")
	}
	// A guest who says that they come is kept until the date.
	n.Orders(room.Wake{})
	n.Enters("zoe", "")
	yes := true
	if err := n.OnPage("zoe", room.Come{Comes: &yes}); err != nil {
		t.Fatal(err)
	}
	n.Orders(room.End{})
	n.Until(friday[1].Add(-time.Minute))
	if who := n.View().Meeting.Who; len(who) != 2 || who[1].Name != "zoe" {
		t.Errorf("a minute before the date come %v", who)
	}
	n.Until(friday[1].Add(sleepAfter + 2*time.Hour))
	if who := n.View().Meeting.Who; len(who) != 1 {
		t.Errorf("hours after the date come %v", who)
	}
}

// TestRenamedForLong checks that a player who took another name in a session has it in the next. The
// servers that the player brought go along.
func TestRenamedForLong(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20}, "ann", "bob")
	n.Says("bob", wire.Bring{Game: "openarena", Favourites: bringing(1)})
	if err := n.Acts(n.PageOf("bob"), room.Rename{Name: "bert"}); err != nil {
		t.Fatal(err)
	}
	n.Orders(room.End{})
	n.Tokens["bert"] = n.Tokens["bob"]
	n.Join("bert")
	if by := n.View().Lists.Favourites[0].By; !slices.Equal(by, []string{"bert"}) {
		t.Errorf("what bert brought is %q's", by)
	}
	n.Says("bert", wire.Bring{Game: "openarena"})
	if lists := n.View().Lists; len(lists.Favourites) != 0 {
		t.Errorf("bert cannot take back %+v", lists.Favourites)
	}
}

// TestRoundNumbers checks that round numbers never repeat from one session to the next. A
// program that missed the end of one would mistake the next session's list, look and launch for
// those that it knew. It would not take its player anywhere.
func TestRoundNumbers(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20}, "ann", "bob")
	n.Gone("bob")
	before := n.Launched.Round
	n.Orders(room.End{})
	n.Orders(room.Wake{})
	n.Revive()
	n.playsSession([]int{40, 20}, "ann", "bob")
	if now := n.Launched.Round; now <= before {
		t.Errorf("after round %d the next session has round %d", before, now)
	}
}

// TestForget checks that people who want to be forgotten are gone from people, history and log,
// under all their names.
func TestForget(t *testing.T) {
	n := standing(t, "whenever")
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	n.Orders(room.End{})
	n.playsSession([]int{40, 20, 60}, "ann", "bob", "cat")
	bob := n.PageOf("bob")
	n.Acts(bob, room.Rename{Name: "robert"})
	for _, name := range []string{"ann", "robert"} {
		if err := n.Acts(n.PageOf(name), room.Bring{Favourites: bringing(0)}); err != nil {
			t.Fatal(err)
		}
	}
	n.Orders(room.End{})
	holds := func(name string) bool {
		data := roomtest.Saved(t, n.Room)
		return bytes.Contains(data, []byte(name))
	}
	if !holds("bob") || !holds("robert") {
		t.Fatal("bob was never there")
	}
	if err := n.Acts(bob, room.Forget{}); err != nil {
		t.Fatal(err)
	}
	if holds("bob") || holds("robert") {
		data, _ := n.Room.Save()
		t.Errorf("bob is forgotten, and in %s", data)
	}
	if seats := n.Room.History().Sessions[1].Stays[0].Players; len(seats) != 2 {
		t.Errorf("of the others is left %v", seats)
	}
	n.Join("cat")
	cat := n.PageOf("cat")
	if err := n.Acts(cat, room.Forget{Name: "ann"}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat forgets ann: %v", err)
	}
	if err := n.Orders(room.Forget{Name: "nobody"}); err == nil {
		t.Error("nobody is forgotten")
	}
	if err := n.Orders(room.Forget{Name: "ann"}); err == nil {
		t.Error("the organiser is forgotten")
	}
	if err := n.Orders(room.Forget{Name: "cat"}); err != nil {
		t.Fatal(err)
	}
	if holds(`"cat"`) || !slices.Contains(n.Dismissed, "cat") {
		t.Error("cat, who was here, is not forgotten")
	}
}

// TestNicknames checks that guests' nicknames are posted nowhere, and that forgetting a guest
// removes no other text.
func TestNicknames(t *testing.T) {
	s := settings(0)
	s.Every, s.Webhook = "fri 20:00 Europe/Berlin", hook
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	n.playsSession([]int{40, 20}, "ann", "bob")
	ann, bob := n.PageOf("ann"), n.PageOf("bob")
	n.Join("IS") // this player brings a server, and leaves the name to a guest
	n.Says("IS", wire.Bring{Game: "openarena", Favourites: bringing(0)})
	if err := n.Acts(n.PageOf("IS"), room.Quit{}); err != nil {
		t.Fatal(err)
	}
	n.Enters("is", "")
	yes := true
	for _, who := range []string{ann, bob, "is's token"} {
		if err := n.Acts(who, room.Come{Comes: &yes}); err != nil {
			t.Fatal(err)
		}
	}
	n.Orders(room.End{})
	if who := n.View().Meeting.Who; len(who) != 3 {
		t.Errorf("the page names %v", who)
	}
	n.Told = nil
	n.Until(n.View().Meeting.Next.Add(-time.Hour))
	posted := slices.IndexFunc(n.Told, func(a wire.Announcement) bool { return a.Kind == wire.AnnouncedReminder })
	if posted < 0 {
		t.Fatalf("nobody is reminded; told %v", n.Told)
	}
	if got := n.Told[posted].Players; !slices.Equal(got, []wire.AnnouncedPlayer{{Name: "ann"}, {Name: "bob"}}) {
		t.Errorf("posted are %v", got)
	}
	said := strings.Count(n.Story(), "\n")
	if err := n.Acts("is's token", room.Forget{}); err != nil {
		t.Fatal(err)
	}
	if n.Noted("IS is here", "IS has left"); strings.Count(n.Story(), "\n") != said-1 || strings.Contains(n.Story(), " is has the page") || len(n.View().Lists.Favourites) != 1 || slices.Contains(n.Guests(), "is") {
		t.Errorf("a guest called is leaves of the log\n%s\nof lists %v, and guests %v", n.Story(), n.View().Lists.Favourites, n.Guests())
	}
}

// TestSleepingRoomIsRestored checks that a room that slept in any stage of a session is whole.
func TestSleepingRoomIsRestored(t *testing.T) {
	stages := map[string]func(n *session){
		"gathering": func(n *session) { n.Join("ann", "bob") },
		"listing":   func(n *session) { n.Join("ann", "bob"); n.Goes() },
		"measuring": func(n *session) { n.Join("ann", "bob"); n.Goes(); n.Listed(3) },
		"launching": func(n *session) { n.playsSession([]int{40, 20}, "ann", "bob") },
	}
	for name, begin := range stages {
		t.Run(name, func(t *testing.T) {
			n := standing(t, "fri 20:00 Europe/Berlin")
			n.Origins["bob"] = room.Origin{Addr: netip.MustParseAddr("203.0.113.77"), Country: "DE"}
			begin(n)
			n.Orders(room.End{})
			data := roomtest.Saved(t, n.Room)
			if bytes.Contains(data, []byte("203.0.113.77")) {
				t.Error("bob's address is kept over the week")
			}
			back := roomtest.Read(t, data)
			same(t, n.Room, back)
			n.Listed(3) // the list that it had asked for
			n.InStage(wire.Gathering)
			n.Until(friday[1].Add(-opensBefore))
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
		n.Now = n.Now.Add(time.Minute)
		n.playsSession(ms, names...)
		n.Orders(room.End{})
	}
	who := n.View().Meeting.Who
	left := map[string]int{}
	for _, c := range who {
		left[c.Name[:min(2, len(c.Name))]]++
	}
	if len(who) != mostRegulars+1 || left["p6"] != 11 || left["p0"] != 0 || left["p1"] != mostRegulars-55 {
		t.Errorf("of 77 regulars are left %v", left)
	}
}
