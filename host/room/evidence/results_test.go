package evidence

import (
	"encoding/json"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/roomtime"
	"muster/selection"
)

const ms = time.Millisecond

var (
	eight = roomtime.Opening
	long  = eight.Add(time.Hour) // all questions have been given up by then
)

func answered(server int, rtt time.Duration) discovery.Result {
	return discovery.Result{Server: server, State: discovery.Answered, RTT: rtt}
}

func is(server int, state discovery.State) discovery.Result {
	return discovery.Result{Server: server, State: state}
}

// progress fails unless so many servers are known, and so many of them answered.
func (w *PlayerResults) progress(t *testing.T, probed, answered int) {
	t.Helper()
	if p, a := w.Progress(); p != probed || a != answered {
		t.Errorf("%d servers are known and %d answered, want %d and %d", p, a, probed, answered)
	}
	p, a := 0, 0
	for server := range w.Servers() {
		p += toInt(w.At(server).State.Asked())
		a += toInt(w.At(server).State == discovery.Answered)
	}
	if p != probed || a != answered {
		t.Errorf("of the servers %d are known and %d answered, want %d and %d", p, a, probed, answered)
	}
}

// TestUnasked checks that a result without a question does not count. Once the question comes, an
// answer counts, and silence means that the player could not ask.
func TestUnasked(t *testing.T) {
	for _, tt := range []struct {
		state, asked discovery.State
	}{
		{discovery.Lost, discovery.Forbidden}, {discovery.Refused, discovery.Forbidden},
		{discovery.Forbidden, discovery.Forbidden}, {discovery.Answered, discovery.Answered},
	} {
		var w PlayerResults
		for server := range 10 {
			if isNew, isOwn := w.Report(is(server, tt.state), 0, long); isNew || isOwn {
				t.Errorf("%v of server %d counts", tt.state, server)
			}
			if !w.IsUnprobed(server) {
				t.Errorf("server %d is %v", server, w.At(server).State)
			}
		}
		w.progress(t, 0, 0)
		if ask, admitted := w.Ask([]int{3, 4}, long); !slices.Equal(ask, []int{3, 4}) || !slices.Equal(admitted, ask) {
			t.Errorf("asked is for %v, admitted are %v", ask, admitted)
		}
		if got := w.At(3).State; got != tt.asked || !w.IsUnprobed(5) {
			t.Errorf("%v counts as %v", tt.state, got)
		}
		both := 2 * toInt(tt.asked == discovery.Answered)
		w.progress(t, both, both)
		if got := slices.Collect(w.Servers()); !slices.Equal(got, []int{3, 4}) {
			t.Errorf("known are %v", got)
		}
	}
}

// TestTooSoon checks that a player can call a server silent only when a probe could have ended,
// counted from the question or from the order to measure the whole list.
func TestTooSoon(t *testing.T) {
	for after, want := range map[time.Duration]discovery.State{
		0: discovery.Forbidden, MinProbe - 1: discovery.Forbidden, MinProbe: discovery.Lost,
	} {
		var all, one PlayerResults
		if !all.AskAll(eight) || all.AskAll(long) {
			t.Error("the list is asked for twice")
		}
		one.Ask([]int{1}, eight)
		for name, w := range map[string]*PlayerResults{"all": &all, "one": &one} {
			w.Report(is(1, discovery.Lost), 0, eight.Add(after))
			if got := w.At(1).State; got != want {
				t.Errorf("asked for %s, and lost after %v is %v, want %v", name, after, got, want)
			}
		}
	}
}

// TestTrace checks that a repeated result counts once, and that no clock puts a probe before the
// last one, before the measuring, or ahead of us.
func TestTrace(t *testing.T) {
	var w PlayerResults
	w.AskAll(eight)
	for _, report := range []struct {
		server         int
		at, passed     time.Duration
		isNew          bool
		want           time.Duration
		known, unknown int
	}{
		{2, 1600 * ms, 2 * time.Second, true, 1600 * ms, 1, 0},
		{0, 100 * ms, 2 * time.Second, true, 1600 * ms, 2, 0},
		{2, 1900 * ms, 2 * time.Second, false, 1600 * ms, 2, 0},
		{1, time.Hour, 3 * time.Second, true, 3 * time.Second, 3, 0},
		{3, -time.Hour, 4 * time.Second, true, 3 * time.Second, 4, 0},
	} {
		probe := answered(report.server, ms)
		probe.At = report.at
		if isNew, _ := w.Report(probe, report.passed, long); isNew != report.isNew {
			t.Errorf("a report of server %d is news: %v", report.server, isNew)
		}
		if got, _ := w.Probe(report.server); got.At != report.want {
			t.Errorf("the probe of server %d was at %v, want %v", report.server, got.At, report.want)
		}
		w.progress(t, report.known, report.known)
	}
	if !w.CanName(2) || w.CanName(9) {
		t.Error("a player who measured a server cannot say what it is called, or one who did not can")
	}
	w.Look(Look{Result: answered(2, 3*ms)})
	if w.CanName(2) {
		t.Error("a player who had a second look says a name once more")
	}
	if got, looked := w.Looked(2); !looked || w.At(2).RTT != 3*ms || got.RTT != 3*ms {
		t.Errorf("a look does not count: %v", w.At(2))
	}
	w.Look(Look{Result: is(9, discovery.Lost)})
	w.progress(t, 5, 4)
	w.Forget(2)
	w.Forget(9)
	w.progress(t, 3, 3)
	if _, probed := w.Probe(2); probed || len(w.Probes()) != 3 {
		t.Errorf("what is forgotten is there: %v", w.Probes())
	}
	if got, _ := w.Probe(3); got.Server != 3 {
		t.Errorf("in the place of server 3 stands %v", got)
	}
}

// TestOwnFinds checks that a player can bring up as many servers of its own discovery as allowed,
// and only those that answer.
func TestOwnFinds(t *testing.T) {
	var w PlayerResults
	w.Allow(2)
	w.Report(is(0, discovery.Refused), 0, long)
	for server := 1; server < 9; server++ {
		if isNew, isOwn := w.Report(answered(server, ms), 0, long); isNew != isOwn || isOwn != (server < 3) {
			t.Errorf("server %d is brought up: %v, news: %v", server, isOwn, isNew)
		}
	}
	w.progress(t, 2, 2)
}

// TestBeginMore checks that open questions of a whole list no longer count once a round asks for
// more.
func TestBeginMore(t *testing.T) {
	var w PlayerResults
	w.AskAll(eight)
	w.Report(answered(1, ms), 0, long)
	w.BeginMore()
	w.Report(answered(2, ms), 0, long)
	w.progress(t, 1, 1)
	w.Ask([]int{1, 2, 3}, long)
	w.progress(t, 2, 2)
	if w.Asked() != 3 || w.AskedMore() != 2 {
		t.Errorf("asked for %d, %d of them since", w.Asked(), w.AskedMore())
	}
}

// TestPromise checks that no more servers are asked than the player was told, whatever the reason.
func TestPromise(t *testing.T) {
	var w PlayerResults
	if w.Left() < math.MaxInt32 || w.Promise(0) != 0 || !w.CanShow(1) {
		t.Error("a player who is told of the whole list may not be asked for all of it")
	}
	w.Ask([]int{1, 2}, eight)
	if w.Promise(4) != 4 || w.Promise(3) != 4 || w.Promised() != 4 || w.Left() != 2 {
		t.Errorf("told is %d, left are %d", w.Promised(), w.Left())
	}
	w.Allow(1) // somebody may see this one, too
	ask, admitted := w.Ask([]int{1, 3, 4, 5}, eight)
	if !slices.Equal(ask, []int{1, 3}) || !slices.Equal(admitted, []int{3}) {
		t.Errorf("asked for %v, of which count %v", ask, admitted)
	}
	if w.Left() != 0 || !w.CanShow(1) || w.CanShow(4) {
		t.Errorf("%d are left", w.Left())
	}
	if w.Promise(0) != 0 || w.Promised() != 0 {
		t.Error("a number is left of a list that is measured whole")
	}
	w.Promise(5)
	w.AskAll(eight)
	if w.Promise(5) != 0 {
		t.Error("a player whose plan goes through the list is told a number")
	}
}

// TestKnowledge checks that players behind one address share their results.
func TestKnowledge(t *testing.T) {
	own, mate := &PlayerResults{}, &PlayerResults{}
	for _, w := range []*PlayerResults{own, mate} {
		w.AskAll(eight)
	}
	for server, tt := range []struct{ own, mate, want discovery.Result }{
		{answered(0, 20*ms), answered(0, 10*ms), answered(0, 20*ms)},
		{is(1, discovery.Lost), answered(1, 10*ms), answered(1, 10*ms)},
		{is(2, discovery.Lost), is(2, discovery.Refused), is(2, discovery.Lost)},
		{is(3, discovery.Forbidden), is(3, discovery.Refused), is(3, discovery.Refused)},
		{is(4, discovery.Unprobed), is(4, discovery.Forbidden), is(4, discovery.Forbidden)},
	} {
		own.add(tt.own)
		mate.add(tt.mate)
		if got := KnowledgeOf(own, []*PlayerResults{own, mate}).At(server); got != tt.want {
			t.Errorf("of %v and %v the first knows %v, want %v", tt.own, tt.mate, got, tt.want)
		}
	}
	if got := Pooled([]*PlayerResults{own, mate}, 0); got.RTT != 10*ms {
		t.Errorf("together they know %v", got)
	}
	if got := KnowledgeOf(own, []*PlayerResults{own, mate}).Silent(); !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("together %v do not answer them", got)
	}
	if p, a := KnowledgeOf(own, []*PlayerResults{own, mate}).Progress(); p != 4 || a != 2 {
		t.Errorf("together they know of %d servers, %d of which answered", p, a)
	}
	if got, is := KnowledgeOf(own, []*PlayerResults{own, mate}).Group(0); got.RTT != 10*ms || !is {
		t.Errorf("as a group they know %v: %v", got, is)
	}
	if got, is := KnowledgeOf(own, []*PlayerResults{own}).Group(0); is || got != (discovery.Result{}) {
		t.Errorf("alone the first is a group that knows %v", got)
	}
	r := own.Reading()
	if own.Report(answered(9, 7*ms), 0, long); r.At(9).RTT != 7*ms || r.IsUnprobed(9) {
		t.Errorf("read is %v", r.At(9))
	}
	own.Forget(9)
	if p, a := KnowledgeOf(own, []*PlayerResults{own}).Progress(); p != 3 || a != 1 {
		t.Errorf("alone the first knows of %d servers, %d of which answered", p, a)
	}
}

// TestTable checks that a table has a column of each player's knowledge.
func TestTable(t *testing.T) {
	var ann, bob, mate PlayerResults
	ann.NoteLate(ms)
	mate.NoteLate(2 * ms)
	for _, w := range []*PlayerResults{&ann, &bob} {
		w.AskAll(eight)
		w.Report(answered(0, 10*ms), 0, long)
		w.Report(answered(1, 20*ms), 0, long)
	}
	bob.Look(Look{Result: answered(1, 18*ms), Quality: selection.Quality{Loss: 0.5}})
	table := Table(3, []Column{
		{
			Player:    "ann",
			Knowledge: KnowledgeOf(&ann, []*PlayerResults{&ann, &mate}),
			Hidden:    []int{2},
			Raised:    map[int]time.Duration{0: 15 * ms, 1: 15 * ms},
		},
		{Player: "bob", Knowledge: KnowledgeOf(&bob, []*PlayerResults{&bob})},
	})
	if got := table.Players(); !slices.Equal(got, []string{"ann", "bob"}) || table.Late(0) != 2*ms || table.Late(1) != 0 {
		t.Errorf("the table is of %v, late by %v", got, table.Late(0))
	}
	want := [][]discovery.Result{
		{answered(0, 15*ms), answered(1, 20*ms), is(2, discovery.Lost)},
		{answered(0, 10*ms), answered(1, 18*ms), is(2, discovery.Unprobed)},
	}
	for player, row := range want {
		for server, cell := range row {
			if state, rtt := table.At(player, server); state != cell.State || rtt != cell.RTT {
				t.Errorf("player %d has %v in %v of server %d, want %v", player, state, rtt, server, cell)
			}
		}
	}
}

// golden are results in its saved form.
const golden = `{"report":"AgAAAAIAAisAAgE=","looks":[{"server":1,"state":"answered","rtt_ms":3.000,` +
	`"quality":{"Loss":0.25,"Jitter":0},"rtts":[3,4]}],` +
	`"asked":"Bg==","asked_all":true,"before":1,"own":1,"shown":"Dg==","promised":5}`

// TestSavedAnew checks that what is saved is as new as the results.
func TestSavedAnew(t *testing.T) {
	var w PlayerResults
	w.AskAll(eight)
	for i, change := range []func(){
		func() { w.Report(answered(1, 2*ms), 0, long) },
		func() { w.Report(is(2, discovery.Lost), 0, long) },
		func() { w.Report(answered(2, 5*ms), 0, long) },
		func() { w.Forget(1) },
	} {
		change()
		saved, err := w.Save()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Restore(saved, 4); err != nil || !reflect.DeepEqual(back.probes, w.probes) {
			t.Errorf("%d: %v is saved as %v, %v", i, w.probes, back.probes, err)
		}
	}
}

// TestSaved checks that the saved form stays the same, and comes back.
func TestSaved(t *testing.T) {
	var w PlayerResults
	w.Ask([]int{1, 2}, eight)
	w.Report(answered(1, 2*ms), 0, long)
	w.Report(is(2, discovery.Refused), 0, long)
	w.Look(Look{answered(1, 3*ms), selection.Quality{Loss: 0.25}, []float64{3, 4}})
	w.Promise(5)
	w.Show([]int{3})
	w.Allow(1)
	w.asked.before, w.asked.all = 1, true
	saved, err := w.Save()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(saved)
	if err != nil || string(data) != golden {
		t.Errorf("saved is %s, %v, want %s", data, err, golden)
	}
	var read Saved
	if err := json.Unmarshal([]byte(golden), &read); err != nil {
		t.Fatal(err)
	}
	back, err := Restore(read, 4)
	w.asked.lately, w.packed = nil, nil // neither recent questions nor what was packed are kept
	if err != nil || !reflect.DeepEqual(back, w) {
		t.Errorf("back comes %+v, %v, want %+v", back, err, w)
	}
	for _, listed := range []int{0, 1, 2} {
		if _, err := Restore(read, listed); err == nil {
			t.Errorf("a list of %d servers has it", listed)
		}
	}
}

// FuzzRestore checks that any bytes are refused, or make results that count right and are saved as
// they were restored.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(golden))
	f.Fuzz(func(t *testing.T, data []byte) {
		var saved Saved
		if json.Unmarshal(data, &saved) != nil {
			return
		}
		w, err := Restore(saved, 50)
		if err != nil {
			return
		}
		probed, answered := w.Progress()
		w.progress(t, probed, answered)
		again, err := w.Save()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Restore(again, 50)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := back.Save(); err != nil || !reflect.DeepEqual(same, again) {
			t.Errorf("back comes %+v, %v, want %+v", same, err, again)
		}
	})
}

// FuzzPlayerResults does anything in any order. No more servers are shown than promised, and the
// sums are right.
func FuzzPlayerResults(f *testing.F) {
	f.Add([]byte{0, 9, 1, 3, 2, 3, 4, 3, 5, 3, 6, 3, 7, 1, 2, 8})
	f.Fuzz(func(t *testing.T, moves []byte) {
		var w PlayerResults
		now, most, seen := eight, w.Promise(8), map[int]bool{}
		for len(moves) > 1 {
			move, server := moves[0], int(moves[1]%32)
			moves, now = moves[2:], now.Add(time.Second)
			switch move % 9 {
			case 0:
				most = w.Promise(1 + server)
			case 1:
				ask, _ := w.Ask([]int{server, server + 1}, now)
				for _, one := range ask {
					seen[one] = true
				}
			case 2:
				if _, isOwn := w.Report(answered(server, ms), now.Sub(eight), now); isOwn {
					seen[server] = true
				}
			case 3:
				w.Report(is(server, discovery.State(move%5)), now.Sub(eight), now)
			case 4:
				for _, one := range w.Show([]int{server}) {
					seen[one] = true
					w.Admit(one)
					w.Look(Look{Result: answered(one, ms)})
				}
			case 5:
				w.Forget(server)
			case 6:
				w.BeginMore()
			case 7:
				w.Allow(min(1, w.Left()))
			case 8:
				w.Admit(server)
			}
			probed, answered := w.Progress()
			w.progress(t, probed, answered)
			if len(seen) > most {
				t.Fatalf("%d servers see the address of a player who was told of %d", len(seen), most)
			}
		}
	})
}

// TestWatch checks that results from the time of a download count as if the line had been quiet,
// also after the room was saved.
func TestWatch(t *testing.T) {
	var list []discovery.Server
	for i := range 200 {
		addr := netip.AddrFrom4([4]byte{20, byte(i % 20), 0, byte(i / 20)})
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 1), Country: "DE", ASN: uint32(1 + i%20)})
	}
	tree := topology.New(list)
	w := &PlayerResults{}
	w.AskAll(eight)
	quiet := func(server int) time.Duration { return time.Duration(20+3*(server%20)) * ms }
	for server := range list {
		r := answered(server, quiet(server))
		if r.At = time.Duration(server) * time.Second; server >= 80 {
			r.RTT += 50 * ms
		}
		w.Report(r, time.Hour, long)
	}
	if w.At(150).RTT != quiet(150)+50*ms || w.Delay() != 0 {
		t.Fatal("the line is judged before anybody looked")
	}
	if changed := w.Watch(tree); len(changed) != 120 || w.Watch(tree) != nil {
		t.Errorf("%d RTTs have changed, want 120, once", len(changed))
	}
	if w.At(79).RTT != quiet(79) || w.At(80).RTT != quiet(80) || w.Delay() != 50*ms {
		t.Errorf("%v and %v, %v now", w.At(79).RTT, w.At(80).RTT, w.Delay())
	}
	if w.WasDelayed(79) || !w.WasDelayed(80) {
		t.Error("the line was busy from server 80 on")
	}
	saved, err := w.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(saved, len(list))
	if err != nil || !reflect.DeepEqual(again.At(150), w.At(150)) || again.Delay() != 50*ms {
		t.Errorf("restored: %v, %v, %v", again.At(150), again.Delay(), err)
	}
}
