package admission

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
)

// audience is a host's pages and what became of them.
type audience struct {
	pages *Pages
	gone  map[*Page]bool
}

func newAudience(b Bounds) *audience { return &audience{NewPages(b), map[*Page]bool{}} }

func (a *audience) opens(room, person, from string) *Page {
	p := &Page{Room: room, Person: person}
	if from != "" {
		p.Network = PageNetwork(netip.MustParseAddr(from))
	}
	p.Yield = func() { a.gone[p] = true }
	a.pages.Add(p, false)
	return p
}

// TestOpenPages checks that a person who opens thousands of pages loses their own oldest ones.
// Pages with a seat in another room, or from elsewhere, stay.
func TestOpenPages(t *testing.T) {
	few := Bounds{pages: 100, onlookers: 10, ofPerson: 3, ofNetwork: 30}
	for name, c := range map[string]struct {
		room, person, from func(i int) string
		keeps              int
	}{
		"one room, one address":        {text("A"), text(""), text("198.51.100.7"), 10},
		"one room, many addresses":     {text("A"), text(""), many("198.%d.100.7"), 10},
		"one room, a tunnel's end":     {text("A"), text(""), text(""), 10},
		"one room, the organiser":      {text("A"), text("secret"), text("198.51.100.7"), 3},
		"many rooms, one address":      {many("A%d"), text(""), text("198.51.100.7"), 30},
		"many rooms, one network":      {many("A%d"), text(""), many("198.51.100.%d"), 30},
		"many rooms, a /48":            {many("A%d"), text(""), many("2001:db8:1:%x::1"), 30},
		"many rooms, many addresses":   {many("A%d"), text(""), many("198.%d.100.7"), 97},
		"many rooms, a tunnel's end":   {many("A%d"), text(""), text(""), 97},
		"many organisers, one address": {many("A%d"), text("secret"), text("198.51.100.7"), 97},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAudience(few)
			player, named, onlooker := a.opens("B", "ann", "203.0.113.9"), a.opens("B", "guest", "203.0.113.9"), a.opens("B", "", "203.0.113.9")
			var attack []*Page
			for i := range 200 {
				attack = append(attack, a.opens(c.room(i), c.person(i), c.from(i)))
			}
			if a.gone[player] || a.gone[named] {
				t.Error("a page with a seat gave way")
			}
			if spread := name == "many rooms, many addresses" ||
				name == "many rooms, a tunnel's end"; a.gone[onlooker] && !spread && name != "many organisers, one address" {
				t.Error("an onlooker of another room gave way")
			}
			kept := 0
			for _, p := range attack {
				if !a.gone[p] {
					kept++
				}
			}
			if kept < c.keeps || kept > c.keeps+1 {
				t.Errorf("%d pages are kept, want %d", kept, c.keeps)
			}
			if a.gone[attack[len(attack)-1]] {
				t.Error("the newest page gave way")
			}
		})
	}
}

func text(s string) func(int) string { return func(int) string { return s } }

func many(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// TestOpenPagesCount checks that the counts are right in whatever order pages come and go, and that
// no page with a seat gives way to a program.
func TestOpenPagesCount(t *testing.T) {
	a := newAudience(Bounds{pages: 50, onlookers: 8, ofPerson: 2, ofNetwork: 20})
	random := rand.New(rand.NewPCG(1, 2))
	var here []*Page
	for range 20_000 {
		switch n := random.IntN(10); {
		case n < 6 || len(here) == 0:
			person := ""
			if n < 2 {
				person = fmt.Sprint("person", random.IntN(5))
			}
			here = append(here, a.opens(fmt.Sprint(random.IntN(12)), person, fmt.Sprintf("198.51.%d.7", random.IntN(6))))
		case n == 6:
			a.pages.Spare()
		default:
			at := random.IntN(len(here))
			a.pages.Remove(here[at])
			here = append(here[:at], here[at+1:]...)
		}
		open := 0
		for _, of := range a.pages.rooms {
			open += len(of)
		}
		for _, of := range a.pages.persons {
			open += len(of)
		}
		if open != a.pages.open || open > 50 {
			t.Fatalf("%d pages are open, %d are counted", open, a.pages.open)
		}
	}
	for _, p := range here {
		a.pages.Remove(p)
		if a.gone[p] && p.isOpen {
			t.Fatal("a page that gave way is open")
		}
	}
	for a.pages.Spare() {
	}
	if o := a.pages; len(o.rooms)+len(o.onlookers) != 0 || o.open != 0 || len(o.persons)+len(o.seated) != 0 {
		t.Errorf("%d pages are counted after all have gone", o.open)
	}
}

// TestBounds checks that the host admits strangers whatever the system grants, and that pages leave
// a quarter to players' programs.
func TestBounds(t *testing.T) {
	for _, files := range []int{0, 64, 256, 1024, 65536, 120_000} {
		b := BoundsOf(files)
		if b.strangers < 4 || b.ofOne < 2 || b.pages < 8 {
			t.Errorf("%d files: %+v", files, b)
		}
		if files > 64 && (b.all >= files || b.pages+b.strangers > 3*b.all/4) {
			t.Errorf("%d files: %+v", files, b)
		}
	}
}
