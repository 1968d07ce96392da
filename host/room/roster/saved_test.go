package roster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/wire"
)

// TestSaved checks the saved section against a golden text.
func TestSaved(t *testing.T) {
	h := newFixture(t)
	h.enters("zoe", Visit{From: ip(1)}, "")
	h.hello(wire.Hello{Name: "ann", As: "secret", Somewhere: true, Program: "P", Line: 3, Asks: true})
	h.join("reg")
	h.Keep("reg")
	h.Rename(h.Caller(h.PageOf("reg")), "rex", h.now)
	h.Unseat("rex", false, h.now)
	h.OpenPage("page of zoe", h.now)
	h.Lock(true)
	const want = `{"code":"BAKODI","link":"link","secret":"secret","locked":true,` +
		`"players":[{"id":"\u00010002","name":"ann","arrival":1,"somewhere":true,"organiser":true,"page":"SEXJOTDTCK53WZGA","token":"token of ann","program":"P"}],` +
		`"guests":[{"id":"\u00010001","name":"zoe","page":"page of zoe","from":"198.51.100.1","seen":31536000000000000},` +
		`{"id":"\u00010003","name":"rex","arrival":2,"regular":true,"page":"Q2T6LHKLOAV6CUDQ","token":"token of reg","seen":31536000000000000}],"came":3}`
	got, err := json.Marshal(h.State())
	if err != nil || string(got) != want {
		t.Errorf("saved is\n%s, want\n%s", got, want)
	}
	back := New(Keys{})
	if err := json.Unmarshal(got, back.State()); err != nil || back.State().Validate() != nil {
		t.Fatal(err, back.State().Validate())
	}
	if got, want := slices.Collect(back.People()), slices.Collect(h.People()); got[1].Mark != want[1].Mark || len(got) != len(want) {
		t.Errorf("restored are %+v, want %+v", got, want)
	}
	if back.Called("zoe").HasPage || back.Called("ann").IsAsked {
		t.Error("pages and programs outlive the host")
	}
}

// TestValidate checks that a roster that could not have come about is an error.
func TestValidate(t *testing.T) {
	id := people.Nth
	for name, s := range map[string]State{
		"nobody's name":           {Players: []*person{{ID: id(1), Page: "P"}}},
		"nobody":                  {Players: []*person{nil}},
		"two players of one name": {Players: []*person{{ID: id(1), Name: "ann"}, {ID: id(2), Name: "ANN"}}},
		"a guest with a player's": {Players: []*person{{ID: id(1), Name: "ann"}}, Guests: []*person{{ID: id(2), Name: "ann"}}},
		"a guest without a name":  {Guests: []*person{{ID: id(1)}}},
		"two of one ID":           {Players: []*person{{ID: id(1), Name: "ann"}, {ID: id(1), Name: "bob"}}},
		"nobody's ID":             {Players: []*person{{ID: id(1), Name: "ann"}, {Name: "bob"}}},
		"an ID that is to come":   {Players: []*person{{ID: id(4), Name: "ann"}}},
		"a former one's ID":       {Players: []*person{{ID: id(1), Name: "ann"}}, Former: []former{{ID: id(1), Name: "bob"}}},
	} {
		s.Came = 3
		if s.Validate() == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// FuzzRoster lets strangers send anything in any order. Nobody gets another's name or rights by it,
// nothing grows without bound, and a saved roster can be read back.
func FuzzRoster(f *testing.F) {
	f.Add("hann\nhbob\nezoe\n>\nuann\nhann")
	f.Add("ezoe\ntzoe\nrzo\u0435\nhzoe\nk\nuzoe\nhzoe\ns\nx")
	f.Add("sorg\nhann\nHann\nRbob\nlk\nhcat\nk\nqorg\nuann\nn")
	f.Add("e\u202e\nh\xff\ne\u0430nn\nhann\nea\u0301\u0301\u0301nn")
	f.Fuzz(func(t *testing.T, script string) {
		r, now := New(Keys{Code: "BAKODI", Link: "link", Secret: "secret"}), eight
		lines := strings.Split(script, "\n")
		for i, line := range lines[:min(len(lines), 100)] {
			now = now.Add(time.Second)
			if len(line) == 0 {
				continue
			}
			name := line[1:]
			one := r.Called(name)
			by := r.Caller(r.PageOf(one.ID))
			switch line[0] {
			case 'h', 't', 'o', 'y': // hello: with a name, a ticket, the secret, the old token
				hello := wire.Hello{Name: name}
				switch line[0] {
				case 't':
					hello.As = TicketOf(r.PageOf(one.ID))
				case 'o':
					hello.As = "secret"
				case 'y':
					if p, _ := r.state.find(one.ID); p != nil {
						hello.Token = p.Token
					}
				}
				if c := r.Recognise(hello); r.Refusal(c, 8, i%2 == 0) == nil {
					r.Admit(c, fmt.Sprint("token ", i), now)
				}
			case 'e':
				r.Enter(Visit{Name: name, Token: fmt.Sprint("page ", i), From: ip(i % 3)}, people.Person{}, now)
			case 's':
				r.Enter(Visit{Name: name, Token: fmt.Sprint("page ", i), Secret: "secret"}, by, now)
			case 'p':
				r.Enter(Visit{Secret: r.PageOf(one.ID)}, r.Caller(fmt.Sprint("page ", i-1)), now)
			case 'r':
				r.Rename(by, name+"x", now)
			case 'u':
				r.Unseat(one.ID, i%2 == 0, now)
			case 'k':
				r.Keep(one.ID)
			case 'q':
				r.Quit(by)
			case 'R':
				if _, err := r.Remove(name); err == nil {
					r.Unseat(one.ID, false, now)
				}
			case 'H':
				r.HandOn(name, "secret")
			case 'w':
				r.OpenPage(r.PageOf(one.ID), now)
			case 'c':
				r.ClosePage(r.PageOf(one.ID), now)
			case 'l':
				r.Lock(i%2 == 0)
			case 'x':
				now = now.Add(guestGone)
				r.Expire([]people.ID{one.ID}, now)
			}
			isSound(t, r)
		}
		if err := r.State().Validate(); err != nil {
			t.Fatalf("%+v: %v", r.State(), err)
		}
	})
}

// isSound checks the invariants of every roster.
func isSound(t *testing.T, r *Roster) {
	everyone := slices.Collect(r.People())
	organisers, guests, pages, arrivals := 0, 0, map[string]bool{}, map[int]bool{}
	for i, p := range everyone {
		if p.IsOrganiser {
			organisers++
		}
		if !p.IsPlayer && !p.IsRegular {
			guests++
		}
		pages[r.PageOf(p.ID)], arrivals[p.Arrival] = true, true
		isTaken := slices.ContainsFunc(everyone[:i], func(other people.Person) bool { return nickname.Alike(other.Name, p.Name) })
		if isTaken || nickname.Clean(p.Name) != p.Name || r.Called(p.Name) != p || r.Person(p.ID) != p || r.Names().Of(p.ID) != p.Name {
			t.Fatalf("%q is not the only one, or nobody could say it: %+v", p.Name, everyone)
		}
		if by := r.Caller(r.PageOf(p.ID)); by.ID != p.ID || by.IsPlayer != p.IsPlayer {
			t.Fatalf("the page of %q acts for %+v", p.Name, by)
		}
	}
	if organisers > 1 || guests > maxGuests+8 || len(pages) != len(everyone) || len(arrivals) != len(everyone) || len(r.state.Former) > maxFormer {
		t.Fatalf("%d organisers, %d guests, %d pages and %d places of %+v", organisers, guests, len(pages), len(arrivals), everyone)
	}
}
