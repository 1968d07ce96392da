package attendance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/internal/catalogue"
)

const (
	second  = time.Second
	stalled = 20 * second
	pause   = 2 * time.Minute
)

var eight = roomtime.Opening

// at returns a time so many seconds after eight.
func at(seconds int) roomtime.Time { return eight.Add(time.Duration(seconds) * second) }

// here returns the number of players whose programs are here.
func here(r *Register) int { return r.Count(Nothing, eight).Here }

func of(players ...people.ID) *Register {
	r := &Register{}
	for _, player := range players {
		r.Come(player, "", eight)
	}
	return r
}

// TestOverdue checks that the others wait for one player only for so long, and are told.
func TestOverdue(t *testing.T) {
	const gone, silent = "going on without ann, gone for 30 seconds", "going on without ann: nothing heard for 20 seconds"
	const missed = "going on without ann: silent, away or without a sensible answer for 1 minute in all"
	for _, tt := range []struct {
		name   string
		happen func(r *Register)
		at     int
		want   string
	}{
		{"one who came just now", func(*Register) {}, 20, ""},
		{"one who says nothing", func(*Register) {}, 21, silent},
		{"one who has told something", func(r *Register) { r.Report("ann", true, at(10)) }, 30, ""},
		{"and then nothing", func(r *Register) { r.Report("ann", true, at(10)) }, 31, silent},
		{"one who was asked nothing", func(r *Register) { r.Excuse(at(10), "ann", "nobody") }, 30, ""},
		{"one who is away", func(r *Register) { r.Leave("ann", at(5)) }, 35, ""},
		{"for long", func(r *Register) { r.Leave("ann", at(5)) }, 36, gone},
		{"one who is away needs to be heard all the same", func(r *Register) { r.Leave("ann", at(5)); r.Excuse(at(30), "ann") }, 36, gone},
		{"one who is back", func(r *Register) { r.Leave("ann", at(5)); r.Return("ann", Measure, true, at(30)) }, 50, ""},
		{"one who has finished", func(r *Register) { r.Finish(eight, "ann") }, 3600, ""},
		{"one who rests", func(r *Register) { r.Rest("ann", 25*second, at(5)) }, 50, ""},
		{"and says nothing then", func(r *Register) { r.Rest("ann", 25*second, at(5)) }, 51, silent},
		{"one who was quiet for a minute", func(r *Register) { r.Miss(maxMissed, "ann") }, 1, ""},
		{"and more", func(r *Register) { r.Miss(maxMissed+1, "ann") }, 1, missed},
		{"one for whom the others wait anew", func(r *Register) { r.Await(at(15), "ann") }, 35, ""},
		{"one whose host was away", func(r *Register) { r.Resume(at(100)) }, 130, ""},
		{"one who is left out already", func(r *Register) { r.LeaveOut(Behind, "ann") }, 3600, ""},
	} {
		r := of("ann")
		tt.happen(r)
		before := r.Of("ann").Out
		notes := catalogue.InEnglish().SayAll(r.LeaveOutOverdue(stalled, at(tt.at)))
		if got := strings.Join(notes, "; "); got != tt.want {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.want)
		}
		if tt.want != "" {
			before = Silent
		}
		if got := r.Of("ann").Out; got != before {
			t.Errorf("%s: ann is out for %q, want %q", tt.name, got, before)
		}
	}
}

// TestReturn checks that a player who comes back while the others measure counts again only in the
// right cases, and that the others are told.
func TestReturn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		happen func(r *Register)
		duty   Duty
		may    bool
		note   string
		out    Why
	}{
		{"one who was here", func(*Register) {}, Measure, true, "", ""},
		{"one who was away", func(r *Register) { r.Leave("ann", at(1)) }, Measure, true, "ann is back", ""},
		{"one who was waited for in vain", func(r *Register) { r.LeaveOut(Silent, "ann") }, Measure, true, "ann is back", ""},
		{"one who came too late while all ask more", func(r *Register) { r.LeaveOut(TooLate, "ann") }, Measure, false, "ann is back", TooLate},
		{"one who was left out, when nobody measures", func(r *Register) { r.LeaveOut(Silent, "ann") }, Stay, true, "ann is back", Silent},
		{"one whose numbers do not count", func(r *Register) { r.LeaveOut(Odd, "ann") }, Measure, true, "ann is back", Odd},
		{"one who has held the others for too long", func(r *Register) { r.Miss(maxMissed+1, "ann") }, Measure, true, "", Silent},
		{"for as long as may be", func(r *Register) { r.Miss(maxMissed, "ann") }, Measure, true, "", ""},
		{"one who told nothing since coming back", func(r *Register) {
			r.Miss(maxMissed-5*second, "ann")
			r.Return("ann", Measure, true, at(94))
		}, Measure, true, "", Silent},
		{"it counts no more than it lasted", func(r *Register) {
			r.Miss(maxMissed-6*second, "ann")
			r.Return("ann", Measure, true, at(94))
		}, Measure, true, "", ""},
		{"nor more than a line takes that breaks at once", func(r *Register) {
			r.Miss(maxMissed-emptyReturn, "ann")
			r.Return("ann", Measure, true, at(2))
		}, Measure, true, "", ""},
		{"it costs nothing once something was told", func(r *Register) {
			r.Miss(maxMissed, "ann")
			r.Return("ann", Measure, true, at(90))
			r.Report("ann", true, at(95))
		}, Measure, true, "", ""},
		{"nor once all is measured", func(r *Register) {
			r.Miss(maxMissed, "ann")
			r.Return("ann", Measure, true, at(90))
			r.Finish(at(95), "ann")
		}, Measure, true, "", ""},
		{"room time went back since", func(r *Register) { r.Return("ann", Measure, true, at(101)) }, Measure, true, "", ""},
	} {
		r := of("ann")
		tt.happen(r)
		if got := catalogue.InEnglish().Say(r.Return("ann", tt.duty, tt.may, at(100))); got != tt.note {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.note)
		}
		if got := r.Of("ann"); got.Out != tt.out || !got.Here {
			t.Errorf("%s: she is %+v, want her out for %q", tt.name, got, tt.out)
		}
		if err := r.state.Validate(r.state.Order); err != nil {
			t.Errorf("%s: it cannot be saved: %v", tt.name, err)
		}
	}
}

// TestReport checks that a player who was left out counts again with the first news, unless the
// reason is one that stays.
func TestReport(t *testing.T) {
	for _, tt := range []struct {
		out    Why
		missed time.Duration
		may    bool
		counts bool
	}{
		{"", 0, true, true}, {Silent, maxMissed, true, true}, {Silent, maxMissed + 1, true, false},
		{Silent, 0, false, false}, {Odd, 0, true, false}, {TooLate, 0, true, true},
	} {
		r := of("ann")
		r.LeaveOut(tt.out, "ann")
		r.Miss(tt.missed, "ann")
		note := catalogue.InEnglish().Say(r.Report("ann", tt.may, at(5)))
		if counts := r.Of("ann").Out == ""; counts != tt.counts || (note == "ann is measuring again") != (counts && tt.out != "") {
			t.Errorf("%+v: she counts: %v; it says %q", tt, counts, note)
		}
		if r.LastHeard() != at(5) {
			t.Errorf("%+v: she was heard at %v", tt, r.LastHeard())
		}
	}
}

// TestRest checks that players may announce a silence, of no longer than they may be silent.
func TestRest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		happen func(r *Register)
		rest   time.Duration
		heard  bool
	}{
		{"a router forgets servers", func(*Register) {}, 25 * second, true},
		{"no silence", func(*Register) {}, QuietAfter - 1, false},
		{"a silence", func(*Register) {}, QuietAfter, true},
		{"less than none", func(*Register) {}, -second, false},
		{"too long", func(*Register) {}, maxMissed + 1, false},
		{"too long by now", func(r *Register) { r.Rest("ann", 25*second, eight) }, 36 * second, false},
		{"as long as may be", func(r *Register) { r.Rest("ann", 25*second, eight) }, 35 * second, true},
		{"one who has finished", func(r *Register) { r.Finish(eight, "ann") }, 25 * second, false},
		{"one who is left out", func(r *Register) { r.LeaveOut(Silent, "ann") }, 25 * second, false},
		{"nobody", func(r *Register) { r.Forget("ann") }, 25 * second, true}, // a stranger's rest changes nothing
	} {
		r := of("ann")
		tt.happen(r)
		note := catalogue.InEnglish().Say(r.Rest("ann", tt.rest, at(1)))
		want := ""
		if tt.heard {
			want = fmt.Sprintf("ann’s router handles only a few servers at a time: ann goes on in %v seconds", tt.rest.Seconds())
		}
		if note != want {
			t.Errorf("%s: it says %q, want %q", tt.name, note, want)
		}
	}
	r := of("ann")
	r.Rest("ann", 25*second, eight)
	r.Report("ann", true, at(2)) // this was on its way
	if got := r.Quiet(Measure, at(25+15)); len(got) > 0 {
		t.Errorf("%v are silent who said so", got)
	}
}

// TestApply checks that supposed changes leave the same players as real ones, and change nothing.
func TestApply(t *testing.T) {
	out := func(why Why, players ...people.ID) Change { return Change{why, players} }
	for _, tt := range []struct {
		changes []Change
		active  string
		bob     Why
	}{
		{nil, "[ann bob dan]", ""},
		{[]Change{out(Odd)}, "[ann bob dan]", ""},
		{[]Change{out(Left, "bob", "cat", "zoe")}, "[ann dan]", Left},
		{[]Change{out("", "cat", "zoe")}, "[ann bob cat dan]", ""},
		{[]Change{out(Left, "ann", "bob"), out("", "bob"), out(Odd, "dan")}, "[bob]", ""},
		{[]Change{out("", "cat"), out(Behind, "cat"), out(Odd, "bob"), out(Left, "bob")}, "[ann dan]", Odd},
	} {
		r := of("ann", "bob", "cat", "dan")
		r.LeaveOut(Odd, "cat")
		supposed, before := fmt.Sprint(r.Supposed(tt.changes)), fmt.Sprint(r.Active())
		if supposed != tt.active || before != "[ann bob dan]" {
			t.Errorf("%v: supposed are %s, want %s, and are %s", tt.changes, supposed, tt.active, before)
		}
		r.Apply(tt.changes, at(9))
		if got := fmt.Sprint(r.Active()); got != tt.active || r.Of("bob").Out != tt.bob {
			t.Errorf("%v: active are %s, want %s, and bob is out for %q", tt.changes, got, tt.active, r.Of("bob").Out)
		}
		if r.Of("cat").Out == "" && r.Silence("cat", at(9)) != 0 {
			t.Errorf("%v: cat is waited for since %v", tt.changes, r.Silence("cat", at(9)))
		}
	}
}

// TestRounds checks that the register keeps and forgets the right things over a new round, a new
// measuring, a restart of the host, and a clock that was ahead.
func TestRounds(t *testing.T) {
	begin := func() *Register {
		r := of("ann", "bob", "cat")
		r.Finish(at(1), "ann", "bob", "cat")
		r.Leave("bob", at(2))
		r.LeaveOut(Odd, "cat")
		r.Miss(maxMissed+1, "ann")
		return r
	}
	state := func(r *Register) string {
		var s []string
		for _, player := range r.state.Order {
			m := r.state.Marks[player]
			s = append(s, fmt.Sprint(player, " ", m.Here, " ", m.Done, " ", m.Out, " ", m.Missed > 0, " ", int(m.Heard.Sub(eight).Seconds())))
		}
		return strings.Join(s, ", ")
	}
	for _, tt := range []struct {
		name   string
		happen func(r *Register)
		want   string
	}{
		{"nothing", func(*Register) {}, "ann true true  true 1, bob false true  false 2, cat true true odd false 1"},
		{"a round", func(r *Register) { r.Begin(at(9)) }, "ann true false  false 9, bob false false  false 9, cat true false  false 9"},
		{"more servers", func(r *Register) { r.Again(at(9)) }, "ann true false  true 9, bob false false  false 2, cat true false odd false 9"},
		{"a restart", func(r *Register) { r.Resume(at(9)) }, "ann false true  true 9, bob false true  false 9, cat false true odd false 9"},
		{"a free place", func(r *Register) { r.Forget("bob"); r.Forget("hal") }, "ann true true  true 1, cat true true odd false 1"},
	} {
		r := begin()
		if tt.happen(r); state(r) != tt.want {
			t.Errorf("after %s they are\n%s, want\n%s", tt.name, state(r), tt.want)
		}
	}
	r := begin()
	if here(r) != 2 || r.Leave("bob", at(3)) || !r.Leave("ann", at(3)) || !r.Leave("cat", at(3)) || here(r) > 0 {
		t.Error("who is here is not known")
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	r := of("zoe", "ann", "bob")
	r.Finish(at(1), "ann")
	r.LeaveOut(Left, "bob")
	r.Miss(second, "bob")
	data, err := json.Marshal(r.State())
	const want = `{"order":["zoe","ann","bob"],"marks":{"ann":{"done":true,"heard":31536001000000000},` +
		`"bob":{"out":"left","heard":31536000000000000,"missed":1000000000},"zoe":{"heard":31536000000000000}}}`
	if err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
	var back Register
	if err := json.Unmarshal(data, back.State()); err != nil || here(&back) > 0 || fmt.Sprint(back.Active()) != "[zoe ann]" {
		t.Errorf("it is restored as %+v, %v", back, err)
	}
	if err := back.State().Validate([]people.ID{"zoe", "ann", "bob"}); err != nil {
		t.Error(err)
	}
	if again, _ := json.Marshal(r.State().Anew()); string(again) != `{"order":["zoe","ann","bob"],`+
		`"marks":{"ann":{"heard":31536001000000000},"bob":{"heard":31536000000000000},"zoe":{"heard":31536000000000000}}}` {
		t.Errorf("of a round that begins again is left %s", again)
	}
	ann := []people.ID{"ann"}
	for _, why := range reasons {
		if err := (State{ann, map[people.ID]*mark{"ann": {Mark: Mark{Out: why}}}}).Validate(ann); err != nil {
			t.Errorf("a player who is out for %q: %v", why, err)
		}
	}
	for _, s := range []State{
		{ann, map[people.ID]*mark{"ann": {Missed: -1}}}, {ann, map[people.ID]*mark{"ann": {Mark: Mark{Out: "bored"}}}}, {ann, map[people.ID]*mark{"ann": nil}},
		{ann, map[people.ID]*mark{"bob": {}}}, {ann, map[people.ID]*mark{"ann": {}, "bob": {}}}, {[]people.ID{"bob"}, map[people.ID]*mark{"ann": {}}}, {},
	} {
		if s.Validate(ann) == nil {
			t.Errorf("%+v is a register", s)
		}
	}
}
