package roster

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
)

var eight = roomtime.Opening

// fixture is a roster that a test drives.
type fixture struct {
	*testing.T
	*Roster
	now roomtime.Time
	// events are the events since the last check.
	events []Event
}

func newFixture(t *testing.T) *fixture {
	return &fixture{T: t, Roster: New(Keys{Code: "BAKODI", Link: "link", Secret: "secret"}), now: eight}
}

// places is the number of players that the tests' room takes.
const places = 40

// hello lets a program in. A new player gets "token of NAME".
func (h *fixture) hello(hello wire.Hello) (Seat, *wire.Refusal) {
	c := h.Recognise(hello)
	if refusal := h.Refusal(c, places, false); refusal != nil {
		return Seat{}, refusal
	}
	seat, events := h.Admit(c, "token of "+c.Name, h.now)
	h.events = append(h.events, events...)
	return seat, nil
}

// join lets new players in.
func (h *fixture) join(names ...string) {
	h.Helper()
	for _, name := range names {
		if _, refusal := h.hello(wire.Hello{Name: name}); refusal != nil {
			h.Fatalf("%s is refused: %v", name, refusal)
		}
	}
}

// enters gives a page a nickname, and "page of NAME" as its credential.
func (h *fixture) enters(name string, v Visit, by string) error {
	v.Name, v.Token = name, cmp.Or(v.Token, "page of "+name)
	_, events, err := h.Enter(v, h.Caller(by), h.now)
	h.events = append(h.events, events...)
	return err
}

// does notes the events of an action.
func (h *fixture) does(events []Event, err error) error {
	h.events = append(h.events, events...)
	return err
}

// The following methods of the roster take names in tests.

func (h *fixture) Person(name string) people.Person { return h.Called(name) }
func (h *fixture) PageOf(name string) string        { return h.Roster.PageOf(h.Called(name).ID) }
func (h *fixture) Keep(name string)                 { h.Roster.Keep(h.Called(name).ID) }
func (h *fixture) LetGo(name string)                { h.Roster.StopKeeping(h.Called(name).ID) }
func (h *fixture) Drop(name string) []Event         { return h.Roster.Drop(h.Called(name).ID) }

func (h *fixture) Unseat(name string, stays bool, now roomtime.Time) []Event {
	return h.Roster.Unseat(h.Called(name).ID, stays, now)
}

// note is a [Note] in English.
type note struct{ string }

func (note) isEvent() {}

// wants compares the events since the last time. They are wanted with names in place of IDs.
func (h *fixture) wants(what string, want ...Event) {
	h.Helper()
	for i, e := range h.events {
		named := func(id people.ID) people.ID { return people.ID(h.Names().Of(id)) }
		switch e := e.(type) {
		case Note:
			h.events[i] = note{catalogue.InEnglish().Say(h.Names().Word(e.Says))}
		case Came:
			h.events[i] = Came{named(e.ID), e.WasGuest}
		case Left:
			h.events[i] = Left{named(e.ID), e.IsPlayer}
		case Removed:
			h.events[i] = Removed{named(e.ID)}
		}
	}
	if !slices.EqualFunc(h.events, want, func(a, b Event) bool { return reflect.DeepEqual(a, b) }) {
		h.Errorf("%s: it comes to %+v, want %+v", what, h.events, want)
	}
	h.events = nil
}

// names returns the players and, after a bar, the guests.
func (h *fixture) names() (names []string) {
	for p := range h.People() {
		if !p.IsPlayer && !slices.Contains(names, "|") {
			names = append(names, "|")
		}
		names = append(names, p.Name)
	}
	return names
}

func (h *fixture) are(what string, want ...string) {
	h.Helper()
	if got := h.names(); !slices.Equal(got, want) {
		h.Errorf("%s: here are %q, want %q", what, got, want)
	}
}

// reason returns a refusal's reason, or nothing.
func reason(err error) string {
	if refusal := (*wire.Refusal)(nil); errors.As(err, &refusal) && refusal != nil {
		return refusal.Reason
	}
	return ""
}

func ip(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}) }

// TestRename checks that a name is taken if anybody has it, and that nobody changes theirs often.
func TestRename(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "bob")
	h.enters("zoe", Visit{}, "")
	h.events = nil
	for _, tt := range []struct {
		by, name string
		reason   string // or "error", or none
	}{
		{"", "dan", wire.ReasonName},
		{"page of zoe", " ", wire.ReasonName},
		{"page of zoe", "Bob", wire.ReasonNameTaken},
		{"page of zoe", "\u0430nn", wire.ReasonNameTaken},
		{h.PageOf("ann"), "anna", ""},
		{"page of zoe", "ANNA", wire.ReasonNameTaken},
		{"page of zoe", "zoë", ""},
		{"page of zoe", "zed", "error"},
		{h.PageOf("bob"), "Bob", ""},
	} {
		events, err := h.Rename(h.Caller(tt.by), tt.name, h.now)
		if got := reason(err); got != tt.reason && tt.reason != "error" || (err == nil) != (tt.reason == "") {
			t.Errorf("%q becomes %q: %v, want %q", tt.by, tt.name, err, tt.reason)
		}
		h.does(events, err)
	}
	h.wants("the names", note{"ann is now anna"}, note{"zoe is now zoë"}, note{"bob is now Bob"})
	h.now = h.now.Add(renameEvery)
	if err := h.does(h.Rename(h.Caller("page of zoe"), "zed", h.now)); err != nil {
		t.Errorf("after a while: %v", err)
	}
	h.are("then", "anna", "Bob", "|", "zed")
}

// TestSamePerson checks that a person keeps the ID under any name, and when they leave and come back
// by a credential of theirs, that nobody else gets it, and that a name is shown for the person who
// had it last.
func TestSamePerson(t *testing.T) {
	h := newFixture(t)
	h.join("ann")
	h.enters("zoe", Visit{}, "")
	ann, zoe := h.Called("ann").ID, h.Called("zoe").ID
	h.Rename(h.Caller(h.PageOf("ann")), "anna", h.now)
	if names := h.Names(); names.Of(ann) != "anna" || names.Of(zoe) != "zoe" || ann == zoe {
		t.Errorf("ann is %q, zoe %q", names.Of(ann), names.Of(zoe))
	}
	h.Unseat("anna", false, h.now)
	h.Drop("zoe")
	if names := h.Names(); names.Of(ann) != "anna" || names.Of(zoe) != "zoe" {
		t.Errorf("after they left ann is %q, zoe %q", names.Of(ann), names.Of(zoe))
	}
	h.hello(wire.Hello{Name: "Anna"})
	if is := h.Called("anna").ID; is == ann || is == zoe || h.Names().Of(ann) != people.Somebody {
		t.Errorf("another Anna is %q, and the first is called %q", is, h.Names().Of(ann))
	}
	h.enters("zed", Visit{Was: "page of zoe", Token: "new"}, "")
	h.hello(wire.Hello{Name: "annie", Token: "token of ann"})
	h.hello(wire.Hello{Name: "eve"})
	if h.Called("zed").ID != zoe || h.Names().Of(zoe) != "zed" {
		t.Errorf("zoe comes back as %q", h.Called("zed").ID)
	}
	if is := h.Called("eve").ID; is == ann || is == zoe {
		t.Errorf("eve is %q", is)
	}
}

// TestFormer checks that the roster remembers few people who have left, those who have played for
// longest, and forgets anyone on demand.
func TestFormer(t *testing.T) {
	h := newFixture(t)
	h.join("ann")
	ann := h.Called("ann").ID
	h.Unseat("ann", false, h.now)
	for i := range maxFormer + 5 {
		name := fmt.Sprint("guest ", i)
		h.enters(name, Visit{}, "")
		h.Drop(name)
	}
	if n := len(h.State().Former); n != maxFormer || h.Names().Of(ann) != "ann" || h.Names().Of(people.Nth(2)) != people.Somebody {
		t.Errorf("%d are remembered, ann as %q, the first guest as %q", n, h.Names().Of(ann), h.Names().Of(people.Nth(2)))
	}
	if h.Forget(ann); h.Names().Of(ann) != people.Somebody {
		t.Errorf("ann is still %q", h.Names().Of(ann))
	}
}

// TestUnseat checks that a person who gives a place up is gone, unless something keeps them.
func TestUnseat(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stays bool
		keep  func(h *fixture)
		left  bool
	}{
		{"somebody", false, func(*fixture) {}, true},
		{"one who stays", true, func(*fixture) {}, false},
		{"a regular", false, func(h *fixture) { h.Keep("ann") }, false},
		{"a regular who is let go", false, func(h *fixture) { h.Keep("ann"); h.LetGo("ann") }, true},
		{"the organiser", false, func(h *fixture) { h.HandOn("ann", "another") }, false},
	} {
		h := newFixture(t)
		h.join("ann", "bob")
		tt.keep(h)
		h.events = h.Unseat("ann", tt.stays, h.now)
		if tt.left {
			h.wants(tt.name, Left{"ann", true})
			h.are(tt.name, "bob")
			continue
		}
		h.wants(tt.name)
		h.are(tt.name, "bob", "|", "ann")
		if seat, refusal := h.hello(wire.Hello{Name: "ann", Token: "token of ann"}); refusal != nil || seat.Page != PageOf("token of ann") {
			t.Errorf("%s does not come back as the same: %v", tt.name, refusal)
		}
		h.are(tt.name+", back", "bob", "ann")
	}
	h := newFixture(t)
	h.join("ann")
	h.Unseat("ann", true, h.now)
	h.events = h.Drop("ann")
	h.wants("a guest who had a program", Left{"ann", false})
	h.enters("zoe", Visit{}, "")
	if h.Unseat("zoe", false, h.now); h.Person("zoe").Name == "" {
		t.Error("a guest has no place to lose")
	}
}

// TestArrival checks that everybody keeps their place in the order of arrival, whoever leaves, is
// renamed or comes to play, and that a new person takes the first free one.
func TestArrival(t *testing.T) {
	h := newFixture(t)
	is := func(when string, want map[string]int) {
		t.Helper()
		got := map[string]int{}
		for p := range h.People() {
			got[p.Name] = p.Arrival
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	h.join("ann", "bob")
	h.enters("zoe", Visit{}, "")
	h.join("cat")
	is("at first", map[string]int{"ann": 0, "bob": 1, "zoe": 2, "cat": 3})
	h.hello(wire.Hello{Name: "zoe", As: TicketOf("page of zoe")})
	is("a guest plays", map[string]int{"ann": 0, "bob": 1, "zoe": 2, "cat": 3})
	h.Unseat("ann", false, h.now)
	h.Rename(h.Caller(h.PageOf("bob")), "rob", h.now)
	h.join("dan")
	is("one has left, one has another name, one is new", map[string]int{"dan": 0, "rob": 1, "zoe": 2, "cat": 3})

	for i, p := range h.State().Players {
		p.Arrival = -i % 2
	}
	if err := h.State().Validate(); err != nil {
		t.Fatal(err)
	}
	places := map[int]bool{}
	for p := range h.People() {
		places[p.Arrival] = true
	}
	if len(places) != 4 || places[-1] {
		t.Errorf("a room that was saved without has %v", places)
	}
}

// TestExpire checks that a nickname is free again once its page has been away for long, unless
// something keeps it.
func TestExpire(t *testing.T) {
	for _, tt := range []struct {
		name string
		keep func(h *fixture)
		gone bool
	}{
		{"somebody", func(*fixture) {}, true},
		{"one with a page", func(h *fixture) { h.OpenPage("page of zoe", h.now) }, false},
		{"one who is seen later", func(h *fixture) { h.OpenPage("page of zoe", h.now); h.ClosePage("page of zoe", h.now.Add(1)) }, false},
		{"the organiser", func(h *fixture) { h.enters("", Visit{Secret: "secret"}, "page of zoe") }, false},
		{"a regular", func(h *fixture) {
			h.hello(wire.Hello{Name: "zoe", As: TicketOf("page of zoe")})
			h.Keep("zoe")
			h.Unseat("zoe", false, h.now)
		}, false},
	} {
		h := newFixture(t)
		h.enters("zoe", Visit{}, "")
		tt.keep(h)
		h.events = nil
		if got, want := h.Next(nil), h.now.Add(guestGone); tt.gone && got != want {
			t.Errorf("%s: the next is gone at %v, want %v", tt.name, got, want)
		}
		if got := h.Next([]people.ID{h.Called("zoe").ID}); !got.IsZero() {
			t.Errorf("%s, awaited, is gone at %v", tt.name, got)
		}
		h.events = h.Expire(nil, h.now.Add(guestGone))
		h.wants(tt.name + " is here yet")
		h.events = h.Expire([]people.ID{h.Called("zoe").ID}, h.now.Add(guestGone+1))
		h.wants(tt.name + " is awaited")
		h.events = h.Expire(nil, h.now.Add(guestGone+1))
		if tt.gone {
			h.wants(tt.name, Left{"zoe", false})
		} else {
			h.wants(tt.name)
		}
	}
}

// TestTokens checks that the tokens of players and of regulars open places.
func TestTokens(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "bob", "cat")
	h.Keep("bob")
	h.Unseat("bob", false, h.now)
	h.Unseat("cat", true, h.now)
	if got, want := h.Tokens(), []string{"token of ann", "token of bob"}; !slices.Equal(got, want) {
		t.Errorf("the tokens are %v, want %v", got, want)
	}
}

// TestBadges checks that a page may do what its person may, tickets are for guests, and the
// password is for those who go to the server.
func TestBadges(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "bob")
	for i, name := range []string{"zoe", "yan", "org"} {
		h.enters(name, Visit{From: ip(i)}, "")
	}
	h.enters("", Visit{Secret: "secret"}, "page of org")
	h.Keep("bob")
	badges := h.Badges("pass", true, []people.ID{h.Called("yan").ID})
	org := Badge{Name: "org", Organiser: true, Belongs: true, Password: "pass", Ticket: TicketOf("page of org")}
	for credential, want := range map[string]Badge{
		"":               {},
		"link":           {},
		"token of ann":   {},
		"secret":         org,
		"page of org":    org,
		h.PageOf("ann"):  {Name: "ann", Password: "pass"},
		h.PageOf("bob"):  {Name: "bob", Belongs: true, Password: "pass"},
		"page of zoe":    {Name: "zoe", Guest: true, Ticket: TicketOf("page of zoe")},
		"page of yan":    {Name: "yan", Guest: true, Ticket: TicketOf("page of yan"), Password: "pass"},
		"page of nobody": {},
	} {
		got, opens := badges[DigestOf(credential)]
		if got != want || opens == (credential == "" || credential == "page of nobody") {
			t.Errorf("%q opens the room, %v, as %+v, want %+v", credential, opens, got, want)
		}
	}
	if b := New(h.Keys()).Badges("pass", false, nil)[DigestOf("secret")]; b != (Badge{Organiser: true, Password: "pass"}) {
		t.Errorf("the secret of nobody who is here is %+v", b)
	}
	if b := h.Badges("", false, nil)[DigestOf(h.PageOf("bob"))]; b.Belongs {
		t.Error("somebody belongs to a room that does not stand")
	}
}

// TestPages checks that a page counts as open until all pages of its person are closed, and that
// strangers' pages only count.
func TestPages(t *testing.T) {
	h := newFixture(t)
	h.join("ann")
	ann := h.PageOf("ann")
	h.OpenPage(ann, h.now)
	h.OpenPage(ann, h.now)
	if h.ClosePage(ann, h.now); !h.Person("ann").HasPage || !h.PageClosed().IsZero() {
		t.Error("with one of two pages closed ann has none")
	}
	if h.ClosePage(ann, h.now); h.Person("ann").HasPage || h.IsWatched() || h.PageClosed() != h.now {
		t.Error("with both pages closed ann has one")
	}
	if h.TakeClosed(time.Second, h.now) || !h.TakeClosed(time.Second, h.now.Add(time.Second)) || h.TakeClosed(0, h.now) {
		t.Error("a closed page is told of too early, or twice")
	}
	h.OpenPage("a stranger's", h.now)
	if !h.IsWatched() || len(h.pages) != 0 {
		t.Errorf("a stranger's page is none, or keeps %v", h.pages)
	}
	h.ClosePage("a stranger's", h.now)
	if h.ClosePage("a stranger's", h.now); h.IsWatched() || h.onlookers != 0 {
		t.Errorf("%d strangers watch", h.onlookers)
	}
	h.OpenPage("secret", h.now)
	if h.Person("ann").HasPage {
		t.Error("the organiser's page is ann's")
	}
	if h.HandOn("ann", "secret"); !h.Person("ann").HasPage {
		t.Error("the organiser's page is not ann's who is the organiser")
	}
}

func TestFull(t *testing.T) {
	h := newFixture(t)
	for i := range places {
		if !h.HasRoom(places) {
			t.Fatalf("with %d players the room is full", i)
		}
		h.join(fmt.Sprint("player ", i))
	}
	if _, refusal := h.hello(wire.Hello{Name: "one more"}); reason(refusal) != wire.ReasonFull || h.HasRoom(places) {
		t.Errorf("one more: %v", refusal)
	}
	if _, refusal := h.hello(wire.Hello{Name: "player 1", Token: "token of player 1"}); refusal != nil {
		t.Errorf("a player comes back: %v", refusal)
	}
	if h.Lock(true); h.HasRoom(places + 1) {
		t.Error("a locked room has room")
	}
}

// TestCredentials checks that derived credentials are those in programs and links of earlier
// releases, and differ from each other.
func TestCredentials(t *testing.T) {
	for _, tt := range []struct{ what, got, want string }{
		{"a page", PageOf("token of ann"), "SEXJOTDTCK53WZGA"},
		{"a ticket", TicketOf("SEXJOTDTCK53WZGA"), "KO6Q36XUYS774PCM"},
		{"an owner", OwnerOf("SEXJOTDTCK53WZGA"), "425PD4TKWUXW7VMT"},
		{"nobody's", OwnerOf(""), ""},
		{"a mark", MarkOf("SEXJOTDTCK53WZGA"), "Y4KKXNKJOZYDTJ4M"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	if isSame("", "") || isSame("a", "b") || isSame("a", "ab") || !isSame("a", "a") {
		t.Error("credentials are taken for others, or an empty one for somebody's")
	}
}
