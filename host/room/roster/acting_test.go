package roster

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/wire"
)

// TestEnter checks that a page gets a nickname that is free, or becomes the page of the person
// whose credential it shows.
func TestEnter(t *testing.T) {
	for _, tt := range []struct {
		name   string
		visit  Visit
		by     string // the page's earlier credential
		reason string
		is     string // the page's person
		new    bool
	}{
		{"a nickname", Visit{Name: " dan\n"}, "", "", "dan", true},
		{"nothing to see", Visit{Name: "\u202e "}, "", wire.ReasonName, "", false},
		{"a player's name", Visit{Name: "ANN"}, "", wire.ReasonNameTaken, "", false},
		{"a name that looks like a player's", Visit{Name: "\u0430nn"}, "", wire.ReasonNameTaken, "", false},
		{"a guest's name", Visit{Name: "Zoe"}, "", wire.ReasonNameTaken, "", false},
		{"a second nickname", Visit{Name: "dan"}, "page of zoe", "", "zoe", false},
		{"a player's link", Visit{Secret: PageOf("token of ann")}, "", "", "ann", false},
		{"a player's link, on a guest's page", Visit{Secret: PageOf("token of ann")}, "page of zoe", "", "ann", false},
		{"one's own link", Visit{Secret: "page of zoe"}, "page of zoe", "", "zoe", false},
		{"a player's token", Visit{Name: "dan", Secret: "token of ann"}, "", "", "dan", true},
		{"the organiser's link", Visit{Name: "dan", Secret: "secret"}, "", "", "dan", true},
		{"the organiser's link, on a guest's page", Visit{Secret: "secret"}, "page of zoe", "", "zoe", false},
		{"the organiser's link without a name", Visit{Secret: "secret"}, "", wire.ReasonName, "", false},
	} {
		h := newFixture(t)
		h.join("ann")
		h.enters("zoe", Visit{From: ip(1)}, "")
		tt.visit.Token = "new"
		entry, events, err := h.Enter(tt.visit, h.Caller(tt.by), h.now)
		if reason(err) != tt.reason || entry.Name != tt.is || entry.IsNew != tt.new {
			t.Errorf("%s: %+v, %v; want %q, %q", tt.name, entry, err, tt.is, tt.reason)
			continue
		}
		if err != nil {
			continue
		}
		h.events = events
		switch {
		case tt.new:
			h.wants(tt.name, Came{ID: people.ID(tt.is)}, note{tt.is + " has the page open"})
		case tt.by != "" && tt.is == "ann": // this guest was nothing but the page
			h.wants(tt.name, Left{"zoe", false})
		default:
			h.wants(tt.name)
		}
		if got := h.Caller(entry.Token); got.Name != tt.is || got.IsOrganiser != (tt.visit.Secret == "secret") {
			t.Errorf("%s: the page is of %+v", tt.name, got)
		}
	}
}

// TestComesBack checks that only people whose nickname ran out get their earlier credential back.
func TestComesBack(t *testing.T) {
	for _, tt := range []struct {
		was, token string
	}{
		{"page of old", "page of old"}, {"nobody's", "new"}, {"page of zoe", "new"}, {"", "new"},
	} {
		h := newFixture(t)
		h.enters("zoe", Visit{}, "")
		h.enters("old", Visit{}, "")
		h.Drop("old")
		entry, _, err := h.Enter(Visit{Name: "dan", Was: tt.was, Token: "new"}, people.Person{}, h.now)
		if err != nil || entry.Token != tt.token {
			t.Errorf("%+v: %+v, %v", tt, entry, err)
		}
	}
}

// TestManyGuests checks that nicknames do not fill the room. A new one replaces the guest who was away
// longest, and is refused if all are here.
func TestManyGuests(t *testing.T) {
	for _, tt := range []struct {
		name  string
		from  func(i int) netip.Addr
		most  int
		watch func(i int) bool
		left  string // the guest who gives way, or "" for a refusal
	}{
		{"of one address", func(int) netip.Addr { return ip(1) }, guestsByAddress, func(i int) bool { return i == 0 }, "guest 1"},
		{"of one address, all here", func(int) netip.Addr { return ip(1) }, guestsByAddress, func(int) bool { return true }, ""},
		{"of unknown ones", func(int) netip.Addr { return netip.Addr{} }, guestsUnknown, func(i int) bool { return i < 2 }, "guest 2"},
		{"of many", ip, maxGuests, func(int) bool { return false }, "guest 0"},
	} {
		h := newFixture(t)
		h.join("reg")
		h.Keep("reg")
		h.Unseat("reg", false, h.now) // reg is no stranger
		for i := range tt.most {
			h.now = h.now.Add(time.Second)
			name := fmt.Sprint("guest ", i)
			if err := h.enters(name, Visit{From: tt.from(i)}, ""); err != nil {
				t.Fatalf("%s: guest %d: %v", tt.name, i, err)
			}
			if tt.watch(i) {
				h.OpenPage("page of "+name, h.now)
			}
		}
		h.events = nil
		err := h.enters("more", Visit{From: tt.from(200)}, "")
		if tt.left == "" {
			if h.wants(tt.name); reason(err) != wire.ReasonFull {
				t.Errorf("%s: one more: %v", tt.name, err)
			}
			if err := h.enters("from elsewhere", Visit{From: ip(99)}, ""); err != nil {
				t.Errorf("%s: one from elsewhere: %v", tt.name, err)
			}
			continue
		}
		h.wants(tt.name, // and the log does not fill
			Left{people.ID(tt.left), false}, Came{ID: "more"})
		if err != nil || h.Person("reg").Name == "" {
			t.Errorf("%s: one more: %v", tt.name, err)
		}
	}
	h := newFixture(t)
	for i := range guestsByAddress {
		h.enters(fmt.Sprint("guest ", i), Visit{From: ip(1)}, "")
	}
	h.enters("", Visit{Secret: "secret"}, "page of guest 0")
	h.enters("more", Visit{From: ip(1)}, "")
	if h.Organiser() != h.Called("guest 0").ID || h.Person("guest 1").Name != "" {
		t.Errorf("the organiser gives way; here are %q", h.names())
	}
}

// TestGuestsGiveWay checks that guests whose names look like a new player's get free ones.
func TestGuestsGiveWay(t *testing.T) {
	h := newFixture(t)
	h.enters("zoe", Visit{From: ip(1)}, "")
	h.enters("zoe (guest)", Visit{From: ip(2)}, "")
	long := "an exceedingly long name of ääää" // 36 bytes, cut within a letter
	h.enters(long, Visit{From: ip(3)}, "")
	h.join("zоe", long) // its middle letter is Cyrillic
	h.are("then", "zоe", "an exceedingly long name of ää", "|", "zoe (guest 2)", "zoe (guest)", "an exceedingly long name (guest)")
}

// TestSteering checks that only the right people can hand the room on, renew the secret or remove
// people, and that each has the right effect.
func TestSteering(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "bob")
	h.enters("zoe", Visit{}, "")
	h.enters("org", Visit{Secret: "secret"}, "")
	h.events = nil

	if err := h.does(h.Remove("org")); err == nil {
		t.Error("the organiser is removed, and nobody steers")
	}
	if err := h.does(h.Quit(h.Caller("page of org"))); err == nil {
		t.Error("the organiser leaves the room to nobody")
	}
	if err := h.does(h.HandOn("zoe", "another")); err == nil {
		t.Error("a guest is made the organiser by name")
	}
	if err := h.does(h.Remove("nobody")); err == nil {
		t.Error("nobody is removed")
	}
	h.wants("what cannot be")

	h.does(h.HandOn("BOB", "another"))
	h.wants("handed on", note{"bob is now the organiser"})
	for credential, may := range map[string]bool{"secret": false, "page of org": false, "token of bob": false,
		"another": true, h.PageOf("bob"): true, "": false} {
		if h.Caller(credential).IsOrganiser != may {
			t.Errorf("%q steers: %v", credential, !may)
		}
	}
	if by := h.Caller("another"); by.Name != "bob" || !by.IsPlayer {
		t.Errorf("the secret is %+v's", by)
	}
	h.events = h.Renew(h.Caller(h.PageOf("bob")), "third")
	h.wants("renewed", note{"the organiser’s link has changed"})
	if h.Caller("another").IsOrganiser || !h.Caller("third").IsOrganiser || h.Organiser() != h.Called("bob").ID {
		t.Error("the old link steers, or the new one does not")
	}
	h.Renew(people.Person{IsOrganiser: true}, "fourth")
	if h.Organiser() != "" || h.Caller(h.PageOf("bob")).IsOrganiser {
		t.Error("whoever came by the old link still steers")
	}

	h.does(h.Remove("zoe"))
	h.wants("a guest is removed", note{"the organiser removed zoe"}, Removed{"zoe"}, Left{"zoe", false})
	h.Keep("ann")
	h.does(h.Remove("ANN"))
	h.wants("a player is removed", note{"the organiser removed ann"}, Removed{"ann"})
	if h.Unseat("ann", false, h.now); h.Person("ann").Name != "" {
		t.Error("a regular who is removed keeps the name")
	}
	if err := h.does(h.Quit(h.Caller("page of org"))); err != nil {
		t.Error(err)
	}
	h.wants("a guest leaves", note{"org has left"}, Left{"org", false})
	if err := h.does(h.Quit(h.Caller("page of org"))); err != ErrNickname {
		t.Errorf("a stranger leaves: %v", err)
	}
	h.events = h.Lock(true)
	h.events = append(h.events, h.Lock(true)...)
	h.events = append(h.events, h.Lock(false)...)
	h.wants("the lock", note{"the room is locked"}, note{"the room is open again"})
}

// TestMeant checks that people may let the room forget them, and the organiser may let it forget
// anybody.
func TestMeant(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "bob")
	h.HandOn("ann", "secret")
	for _, tt := range []struct {
		by, name string
		is       string
		known    bool
		reason   string // or "error"
	}{
		{"", "", "", false, wire.ReasonName},
		{"", "bob", "", false, wire.ReasonSecret},
		{h.PageOf("bob"), "", "bob", true, ""},
		{h.PageOf("bob"), "bob", "", false, wire.ReasonSecret},
		{"secret", " BOB", "bob", true, ""},
		{"secret", "who has left", "who has left", false, ""},
		{"secret", "ann", "", false, "error"},
		{"secret", "", "", false, "error"},
	} {
		one, err := h.ForgetTarget(h.Caller(tt.by), tt.name)
		if got := reason(err); got != tt.reason && tt.reason != "error" || (err == nil) != (tt.reason == "") {
			t.Errorf("%q means %q: %v, want %q", tt.by, tt.name, err, tt.reason)
		}
		if one.Name != tt.is || (one.Mark != "") != tt.known {
			t.Errorf("%q means %q: %+v", tt.by, tt.name, one)
		}
	}
}
