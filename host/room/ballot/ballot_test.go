package ballot

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

func addr(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960)
}

// choice returns a choice of the first of the servers, ranked in this order.
func choice(servers ...int) *selection.Selection {
	s := &selection.Selection{}
	for _, server := range servers {
		s.Ranking = append(s.Ranking, selection.Ranked{Server: server, Addr: hostport.At(addr(server))})
	}
	if len(servers) > 0 {
		s.Chosen = &s.Ranking[0]
	}
	return s
}

// options returns the options of servers that everyone has looked at, the best by the rule first.
func options(servers ...int) Options { return Among(choice(servers...), servers) }

func opened(t *testing.T, o Options) *Box {
	t.Helper()
	b := &Box{}
	b.Open(o)
	return b
}

func (b *Box) votes(t *testing.T, person people.ID, server int, o Options) {
	t.Helper()
	if _, err := b.Vote(person, addr(server), o); err != nil {
		t.Fatal(err)
	}
}

func TestAmong(t *testing.T) {
	for _, tt := range []struct {
		name             string
		ranking, looked  []int
		candidates, more []int
	}{
		{"no choice", nil, []int{1}, nil, nil},
		{"all were looked at", []int{3, 1, 2}, []int{1, 2, 3}, []int{3, 1, 2}, nil},
		{"too few were", []int{3, 1, 2, 4}, []int{1, 2}, []int{1, 2}, []int{3, 4}},
		{"enough were", []int{3, 1, 2, 4}, []int{1, 2, 4}, []int{1, 2, 4}, nil},
		{"many were", []int{6, 5, 4, 3, 2, 1}, []int{1, 2, 3, 4, 5, 6}, []int{6, 5, 4, 3, 2}, nil},
		{"many were not", []int{6, 5, 4, 3, 2, 1}, nil, nil, []int{6, 5, 4, 3, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Among(choice(tt.ranking...), tt.looked)
			var candidates []int
			for _, c := range o.Candidates {
				candidates = append(candidates, c.Server)
			}
			if !slices.Equal(candidates, tt.candidates) || !slices.Equal(o.More, tt.more) {
				t.Errorf("candidates %v and more %v, want %v and %v", candidates, o.More, tt.candidates, tt.more)
			}
		})
	}
	if o := Among(nil, []int{1}); o.Rule != -1 || o.Candidates != nil || o.More != nil {
		t.Errorf("without a choice: %+v", o)
	}
}

// differing returns a choice between servers with pings of ann and bob, ranked in this order.
func differing(pings map[int][2]float64, servers ...int) *selection.Selection {
	s := choice(servers...)
	for i := range s.Ranking {
		r, ms := &s.Ranking[i], pings[s.Ranking[i].Server]
		r.RTT, r.MeanMS, r.MaxMS = map[string]float64{"ann": ms[0], "bob": ms[1]}, (ms[0]+ms[1])/2, max(ms[0], ms[1])
	}
	s.Chosen = &s.Ranking[0]
	return s
}

// TestChoices checks that the choices that differ come first on the ballot, that everyone looks at
// them first, and that they keep their places when others are vetoed or stand out.
func TestChoices(t *testing.T) {
	pings := map[int][2]float64{1: {10, 60}, 2: {11, 61}, 3: {30, 50}, 4: {12, 62}, 5: {42, 43}}
	s := differing(pings, 1, 2, 4, 3, 5)
	if o := Among(s, []int{1, 2, 4}); !slices.Equal(o.Unseen, []int{5}) || !o.IsSettled() || len(o.Candidates) != 3 {
		t.Errorf("before all have looked at it the options are %+v", o)
	}
	if o := Among(s, []int{2, 3, 5}); o.Choices != nil || o.IsSettled() {
		t.Errorf("before all have looked at the pick the choices are %+v", o.Choices)
	}
	b := &Box{}
	shown := func(s *selection.Selection, looked ...int) string {
		o, text := Among(s, looked), ""
		b.Open(o)
		for _, one := range b.View(true, o, nil).Choices {
			text += fmt.Sprint(one.Server, " ", one.Kind, " ", one.Gone, ", ")
		}
		return text
	}
	for _, tt := range []struct{ what, got, want string }{
		{"all", shown(s, 1, 2, 3, 4, 5), "1 average false, 5 fairest false, "},
		{"without one", shown(differing(pings, 1, 2, 4, 3), 1, 2, 3, 4), "1 average false, 5 also true, 3 fairest false, "},
		{"the pick is vetoed", shown(differing(pings, 2, 4, 3), 2, 3, 4), "1 also true, 5 also true, 3 fairest false, 2 average false, "},
		{"it is special no more", shown(differing(pings, 3, 2), 2, 3), "1 also true, 5 also true, 3 average false, 2 also false, "},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: people see %s, want %s", tt.what, tt.got, tt.want)
		}
	}
	if s := b.State(); s.Validate(6) != nil || !slices.Equal(s.Offered, []int{1, 5, 3, 2}) {
		t.Errorf("it is kept as %+v, error %v", s, s.Validate(6))
	}
	o := Among(choice(1), []int{1})
	for _, tt := range []struct {
		agree wire.Decision
		box   *Box
		want  bool
	}{{wire.Undecided, &Box{}, true}, {wire.Yes, &Box{}, false}, {wire.Undecided, b, false}} {
		if got := tt.box.IsNeedless(tt.agree, o); got != tt.want {
			t.Errorf("%v: a vote on one is needless: %v", tt.agree, got)
		}
	}
}

// TestNumbersStay checks that a candidate keeps its number whatever comes and goes, and that the
// lower number wins a draw.
func TestNumbersStay(t *testing.T) {
	b := opened(t, options(4, 5, 6))
	b.votes(t, "ann", 6, options(4, 5, 6))
	b.votes(t, "bob", 5, options(4, 5, 6))
	o := options(7, 6, 4)
	b.Open(o)
	if v := b.View(true, o, nil); !slices.Equal(v.Numbers, []int{4, 3, 1}) || v.Ballot[0] != addr(7).String() {
		t.Errorf("people see %+v", v)
	}
	if b.Paper("bob").Vote != nil || *b.Paper("ann").Vote != 6 {
		t.Errorf("ann has said %+v, bob %+v", b.Paper("ann"), b.Paper("bob"))
	}
	b.votes(t, "bob", 7, o)
	if got := b.Favourite(o); got != 6 {
		t.Errorf("server %d leads, want 6, which has the lower number", got)
	}
	if v := b.View(false, o, nil); v.Open || !v.Rule.IsZero() || len(v.Ballot) > 0 {
		t.Errorf("when nobody is asked people see %+v", v)
	}
}

func TestWithdraw(t *testing.T) {
	for _, tt := range []struct {
		person people.ID
		words  Words
		want   string // the rest of ann's and bob's words
	}{
		{"", Ready, "1 false true true, 1 false true false"},
		{"", Ready | ByHand, "1 false false true, 1 false false false"},
		{"ann", Vote | Ready, "- false true true, 1 true true false"},
		{"ann", ByHand, "1 true false true, 1 true true false"},
		{"ann", All &^ Veto, "- false false true, 1 true true false"},
		{"ann", All, "- false false false, 1 true true false"},
	} {
		o := options(1)
		b := opened(t, o)
		for _, person := range []people.ID{"ann", "bob"} {
			b.votes(t, person, 1, o)
			b.Ready(person)
			b.ByHand(person)
		}
		b.Veto(selection.Veto{Player: "ann", Map: "dm1"})
		b.Withdraw(tt.person, tt.words)
		said := func(person people.ID) string {
			p, vote := b.Paper(person), "-"
			if p.Vote != nil {
				vote = fmt.Sprint(*p.Vote)
			}
			return fmt.Sprint(vote, " ", p.Ready, " ", p.ByHand, " ", p.Vetoed)
		}
		if got := said("ann") + ", " + said("bob"); got != tt.want {
			t.Errorf("%q takes back %b: %s, want %s", tt.person, tt.words, got, tt.want)
		}
	}
}

// TestSaved checks the form of the saved section. Another form needs another version of the saved
// room.
func TestSaved(t *testing.T) {
	const form = `{"opened":true,"papers":{"ann":{"vote":5,"ready":true},"bob":{"by_hand":true}},` +
		`"vetoes":[{"Player":"cat","Server":"","Map":"dm1"}],"numbers":[4,5]}`
	o := options(4, 5)
	b := opened(t, o)
	b.votes(t, "ann", 5, o)
	b.Ready("ann")
	b.ByHand("bob")
	b.Veto(selection.Veto{Player: "cat", Map: "dm1"})
	data, err := json.Marshal(b.State())
	if err != nil || string(data) != form || b.State().Validate(6) != nil {
		t.Errorf("it is kept as %s, error %v", data, err)
	}
	for _, servers := range []int{4, 5} {
		if b.State().Validate(servers) == nil {
			t.Errorf("of %d servers, it has server 5", servers)
		}
	}
	if data, _ := json.Marshal(new(Box).State()); string(data) != "{}" {
		t.Errorf("an empty one is kept as %s", data)
	}
}

// FuzzBox lets strangers say anything, in any order. Only one guest of each network counts, people
// can vote for the leading server, and a saved box comes back.
func FuzzBox(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 2, 2, 3, 3, 4, 0, 5, 1, 6, 2, 7, 3})
	f.Add([]byte{16, 9, 17, 8, 18, 40, 19, 33, 20, 64, 21, 65})
	f.Fuzz(func(t *testing.T, said []byte) {
		const servers = 8
		e := Electorate{GuestsVote: true, People: []people.Person{{ID: "ann", IsPlayer: true}, {ID: "bob", IsPlayer: true, HasPage: true}}}
		for i, guest := range []people.ID{"zoe", "yan", "mia", "max"} {
			e.People = append(e.People, people.Person{ID: guest, From: addr(i / 2).Addr()})
		}
		o := options(0, 1, 2, 3)
		b := opened(t, o)
		for ; len(said) > 1; said = said[2:] {
			p, value := e.People[int(said[0]>>4)%len(e.People)], int(said[1])
			if b.Refusal(p.ID, e) != nil {
				continue
			}
			switch said[0] & 7 {
			case 0:
				b.Vote(p.ID, addr(value%servers), o)
			case 1:
				b.Vote(p.ID, netip.AddrPort{}, o)
			case 2:
				b.Veto(selection.Veto{Player: string(p.ID), Server: addr(value)})
			case 3:
				b.Ready(p.ID)
			case 4:
				b.ByHand(p.ID)
			case 5:
				b.Withdraw(p.ID, Words(value))
			case 6:
				o = options(value%servers, (value+1)%servers, (value+3)%servers)
				b.Open(o)
			case 7:
				b.Withdraw("", Ready|ByHand)
			}
			speak := map[netip.Addr]int{}
			for _, p := range e.People {
				if !p.IsPlayer && b.hasSpoken(p.ID) {
					speak[p.From]++
				}
			}
			for from, n := range speak {
				if n > 1 {
					t.Fatalf("%d guests of %v are heard", n, from)
				}
			}
			if o.place(b.Favourite(o)) < 0 {
				t.Fatalf("server %d leads, which is no candidate", b.Favourite(o))
			}
			for _, n := range b.View(true, o, nil).Numbers {
				if n < 1 || n > len(b.state.Numbers) {
					t.Fatalf("a candidate is number %d", n)
				}
			}
			if err := b.State().Validate(servers); err != nil {
				t.Fatal(err)
			}
		}
	})
}
