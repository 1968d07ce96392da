package roster

import (
	"strings"
	"testing"

	"muster/host/room/people"
	"muster/host/wire"
)

// TestLateHello checks two connections at a time. Of two connections of one program the later one
// counts, whatever the order of their hellos. Of two programs the one that came last counts.
func TestLateHello(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program string
		line    int
		gone    bool
		reason  string // empty if the program comes in
	}{
		{"an earlier connection", "P", 2, false, wire.ReasonReplaced},
		{"an earlier connection, and nobody is there", "P", 2, true, ""},
		{"the same once more", "P", 3, false, ""},
		{"a later connection", "P", 4, false, ""},
		{"another program", "Q", 1, false, ""},
		{"a program that does not count", "", 0, false, ""},
		{"the program before", "O", 5, false, wire.ReasonReplaced},
		{"the program before, and nobody is there", "O", 5, true, ""},
	} {
		h := newFixture(t)
		hello := wire.Hello{Name: "ann", Token: "token of ann", Program: "O", Line: 4}
		h.hello(hello)
		hello.Program, hello.Line = "P", 3
		h.hello(hello)
		hello.Program, hello.Line = tt.program, tt.line
		c := h.Recognise(hello)
		if refusal := h.Refusal(c, places, !tt.gone); reason(refusal) != tt.reason {
			t.Errorf("%s: %v, want %q", tt.name, refusal, tt.reason)
			continue
		}
		seat, _ := h.Admit(c, "", h.now)
		if isSame := tt.program == "P"; seat.IsSameProgram != isSame {
			t.Errorf("%s: %+v", tt.name, seat)
		}
	}
}

// TestOwnToken checks that a token of the program's own making lets the player in again without a
// welcome, unless it could be guessed.
func TestOwnToken(t *testing.T) {
	for own, taken := range map[string]bool{
		"": false, "short": false, strings.Repeat("A", tokenLength-1): false, strings.Repeat("A", longestToken+1): false,
		"Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE": true, strings.Repeat("A", longestToken): true,
	} {
		h := newFixture(t)
		want := "token of ann"
		if taken {
			want = own
		}
		if seat, refusal := h.hello(wire.Hello{Name: "ann", Token: own}); refusal != nil || seat.Token != want || seat.Page != PageOf(want) {
			t.Errorf("with %q of her own ann has %+v, %v, want %q", own, seat, refusal, want)
		}
		if _, refusal := h.hello(wire.Hello{Name: "ann", Token: own}); (refusal == nil) != taken {
			t.Errorf("ann with %q comes again: %v", own, refusal)
		}
	}
}

// TestComesToPlay checks that a guest plays under any name as the same person, by any proof, and
// that guests whose names look like the new one give way.
func TestComesToPlay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hello wire.Hello
		was   string // the guest before, empty for somebody new
	}{
		{"with the page's ticket", wire.Hello{Name: "eve", As: TicketOf("page of zoe")}, "zoe"},
		{"with the ticket, by a name that is a guest's", wire.Hello{Name: "yan", As: TicketOf("page of zoe")}, "zoe"},
		{"with the page's credential", wire.Hello{Name: "eve", As: "page of zoe"}, ""},
		{"with the page's credential, as a regular", wire.Hello{Name: "eve", As: PageOf("token of reg")}, "reg"},
		{"with a regular's token", wire.Hello{Name: "eve", Token: "token of reg"}, "reg"},
		{"with a token whose page entered", wire.Hello{Name: "eve", Token: "another token"}, "tom"},
		{"with the secret", wire.Hello{Name: "eve", As: "secret"}, "org"},
		{"with the link's key", wire.Hello{Name: "eve", As: "link"}, ""},
		{"with nothing", wire.Hello{Name: "eve"}, ""},
	} {
		h := newFixture(t)
		h.join("reg")
		h.Keep("reg")
		h.Unseat("reg", false, h.now)
		for i, name := range []string{"zoe", "yan", "org"} {
			h.enters(name, Visit{From: ip(i)}, "")
		}
		h.enters("tom", Visit{From: ip(9), Token: PageOf("another token")}, "")
		h.enters("", Visit{Secret: "secret"}, "page of org")
		before := h.Person(tt.was)
		h.events = nil
		_, refusal := h.hello(tt.hello)
		if refusal != nil {
			t.Errorf("%s: %v", tt.name, refusal)
			continue
		}
		var want []Event
		if tt.hello.Name == "yan" {
			want = []Event{note{"yan is now yan (guest)"}}
		}
		h.wants(tt.name, append(want, Came{people.ID(tt.hello.Name), tt.was != ""})...)
		if tt.was == "" {
			continue
		}
		after := h.Person(tt.hello.Name)
		if h.Person(tt.was).Name != "" || !after.IsPlayer || after.ID != before.ID || after.Mark != before.Mark || after.IsOrganiser != before.IsOrganiser {
			t.Errorf("%s: %+v was %+v", tt.name, after, before)
		}
		if after.From.IsValid() || !after.Seen.IsZero() {
			t.Errorf("%s: a player is known by an address: %+v", tt.name, after)
		}
	}
}

// TestReserved checks that nobody comes under the name of an organiser or a regular with only the
// page.
func TestReserved(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "reg")
	h.Keep("reg")
	h.Unseat("reg", false, h.now)
	h.HandOn("ann", "secret")
	h.Unseat("ann", false, h.now)
	for _, name := range []string{"ann", "reg", "\u0430nn"} {
		if _, refusal := h.hello(wire.Hello{Name: name}); reason(refusal) != wire.ReasonNameTaken {
			t.Errorf("a stranger plays as %s: %v", name, refusal)
		}
	}
	if _, refusal := h.hello(wire.Hello{Name: "ann", As: "secret"}); refusal != nil || h.Organiser() != h.Called("ann").ID {
		t.Errorf("ann: %v", refusal)
	}
	if _, refusal := h.hello(wire.Hello{Name: "reg", Token: "token of reg"}); refusal != nil {
		t.Errorf("reg: %v", refusal)
	}
}

// TestLocked checks that a locked room lets back in the people who belong there, and nobody else.
func TestLocked(t *testing.T) {
	h := newFixture(t)
	h.join("ann", "reg")
	h.Keep("reg")
	h.Unseat("reg", false, h.now)
	h.enters("zoe", Visit{}, "")
	h.Lock(true)
	for _, tt := range []struct {
		hello  wire.Hello
		reason string
	}{
		{wire.Hello{Name: "bob"}, wire.ReasonLocked},
		{wire.Hello{Name: "zoe", As: TicketOf("page of zoe")}, wire.ReasonLocked},
		{wire.Hello{Name: "ann", Token: "token of ann"}, ""},
		{wire.Hello{Name: "reg", Token: "token of reg"}, ""},
		{wire.Hello{Name: "org", As: "secret"}, ""},
		{wire.Hello{Name: "mal", As: "secret"}, ""}, // mal is not the organiser
	} {
		if _, refusal := h.hello(tt.hello); reason(refusal) != tt.reason {
			t.Errorf("%+v: %v, want %q", tt.hello, refusal, tt.reason)
		}
	}
	if err := h.enters("dan", Visit{}, ""); reason(err) != wire.ReasonLocked {
		t.Errorf("a guest: %v", err)
	}
	if h.Organiser() != h.Called("org").ID || h.Person("mal").IsOrganiser {
		t.Errorf("the organiser is %q", h.Organiser())
	}
}

// TestSays checks that the newest hello replaces the earlier words, except the wish to hide the
// country.
func TestSays(t *testing.T) {
	h := newFixture(t)
	hello := wire.Hello{Name: "ann", Token: "token of ann", Asks: true, Somewhere: true}
	h.hello(hello)
	if p := h.Person("ann"); !p.IsAsked || !p.HidesCountry {
		t.Errorf("at first %+v", p)
	}
	hello.Asks, hello.Somewhere = false, false
	h.hello(hello)
	if p := h.Person("ann"); p.IsAsked || !p.HidesCountry {
		t.Errorf("then %+v", p)
	}
	if err := h.Hide(h.Caller(h.PageOf("ann")), false); err != nil || h.Person("ann").HidesCountry {
		t.Errorf("ann on the page: %v", err)
	}
	if err := h.Hide(h.Caller("nobody's"), false); err != ErrNickname {
		t.Errorf("a stranger: %v", err)
	}
}

// TestStrangersPage checks that a stranger's page becomes the player's once a program comes with its
// ticket, and that the ticket itself, or a second program that carries it, opens nothing.
func TestStrangersPage(t *testing.T) {
	h := newFixture(t)
	const page = "a page of its own"
	if badge := BadgeOf(h.Badges("", false, nil), page); badge != (Badge{Ticket: TicketOf(page)}) {
		t.Errorf("the stranger's page is %+v", badge)
	}
	ticket := TicketOf(page)
	h.hello(wire.Hello{Name: "ann"})
	h.hello(wire.Hello{Name: "zoe", As: ticket})
	h.hello(wire.Hello{Name: "bob", As: ticket}) // zoe has passed the file on
	h.hello(wire.Hello{Name: "eve", As: TicketOf("")})
	badges := h.Badges("", false, nil)
	for credential, is := range map[string]string{page: "zoe", ticket: "", "": "", h.PageOf("bob"): "bob"} {
		if got := h.Caller(credential).Name; got != is {
			t.Errorf("%q is %q, want %q", credential, got, is)
		}
		if got := BadgeOf(badges, credential).Name; got != is {
			t.Errorf("the badge of %q is %q's, want %q's", credential, got, is)
		}
	}
	entry, _, err := h.Enter(Visit{Secret: page}, people.Person{}, h.now)
	if err != nil || entry.Name != "zoe" || entry.Token != h.PageOf("zoe") || entry.IsNew {
		t.Errorf("the page enters as %+v, %v", entry, err)
	}
}
