package outage

import (
	"encoding/json"
	"testing"
	"time"

	"muster/host/room/roomtime"
	"muster/internal/catalogue"
)

// at is the driver's time when tests begin.
const at = 9 * time.Hour

// TestPause checks that a watch pauses for the right time, second by second, and tells people.
func TestPause(t *testing.T) {
	always := func(s Scene) func(int) Scene { return func(int) Scene { return s } }
	const together = "3 of 4 players went silent together: that’s probably the host’s connection. The clock is stopped for up to 2 minutes"
	const alone = "we can’t hear anyone: that’s probably the host’s connection. The clock is stopped until someone is back"
	const goesOn, enough = "the clock is running again", "that was long enough: the clock is running again"
	for _, tt := range []struct {
		name string
		at   func(second int) Scene
		lost time.Duration // in an hour
		// notes are the first notes, by their second.
		notes map[int]string
	}{
		{"all are heard", always(Scene{Players: 4}), 0, nil},
		{"half are silent", always(Scene{Players: 4, Silent: 2}), 0, nil},
		{"most are silent for good", always(Scene{Players: 4, Silent: 3}), LongestPause, map[int]string{1: together, 121: enough}},
		{"nobody is there any more", always(Scene{Players: 2, Silent: 2, IsDeserted: true}), LongestAbsence,
			map[int]string{1: alone, 1801: enough}},
		{"one of one has left a group that gathers", always(Scene{Players: 1, Silent: 1, IsGathering: true}), 0, nil},
		{"two of two have left a group that gathers", always(Scene{Players: 2, Silent: 2, IsGathering: true}),
			LongestPause, map[int]string{1: alone, 121: enough}},
		{"most are silent every other minute", func(second int) Scene {
			if second/60%2 == 0 {
				return Scene{Players: 4, Silent: 3}
			}
			return Scene{Players: 4}
			// It is a minute, plus 20 s for coming back that count as a pause.
		}, 60*time.Second + 40*time.Second, map[int]string{1: together, 61: goesOn}},
		{"nobody is there in two thirds of an hour", func(second int) Scene {
			if second/1200%2 == 0 {
				return Scene{Players: 2, Silent: 2, IsDeserted: true}
			}
			return Scene{Players: 2}
		}, 40*time.Minute - time.Second, map[int]string{1: alone, 1201: goesOn}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w Watch
			var time0 roomtime.Time
			now, due := at, at
			for second := range 3600 {
				s := tt.at(second)
				before, was := w.state.IsPaused, time0
				if time0 = w.Step(now, due, 0, s.IsDeserted); before && time0 != was {
					t.Errorf("in a pause %v pass", time0.Sub(was))
				}
				w.Tick(s.IsDeserted)
				due = now
				pauses, ends, isSettled := w.Next(s)
				says, isOver := w.UpdatePause(s)
				note := catalogue.InEnglish().Say(says)
				if want, is := tt.notes[second+1]; is && note != want {
					t.Errorf("after %d s it says %q, want %q", second+1, note, want)
				} else if !is && note != "" && tt.notes == nil {
					t.Errorf("after %d s it says %q", second+1, note)
				}
				if isOver != (note == goesOn) || isSettled && before != w.state.IsPaused || pauses != w.state.IsPaused {
					t.Errorf("after %d s %q ends a pause: %v; it announced %v, %v", second+1, note, isOver, pauses, isSettled)
				}
				if pauses && ends <= 0 {
					t.Errorf("after %d s a pause ends in %v", second+1, ends)
				}
				now += time.Second
			}
			if lost := time.Hour - time.Second - time0.Sub(roomtime.Opening); lost != tt.lost {
				t.Errorf("%v did not count, want %v", lost, tt.lost)
			}
		})
	}
}

// TestStopped checks that a host that was stopped is told from one that had nothing to do.
func TestStopped(t *testing.T) {
	for _, tt := range []struct {
		name     string
		due      time.Duration // counted from the step before
		after    time.Duration
		idle     time.Duration
		isPaused bool
		counts   time.Duration
		stopped  bool
		passed   time.Duration
	}{
		{"a step in time", 0, 100 * time.Millisecond, 0, false, 100 * time.Millisecond, false, 100 * time.Millisecond},
		{"a late one", 0, LateStep, 0, false, LateStep, false, LateStep},
		{"a program that was stopped", 0, LateStep + 1, 0, false, 0, true, 0},
		{"a room that needed no time", time.Hour, time.Hour + time.Second, 0, false, time.Hour + time.Second, false, time.Second},
		{"one that happens early", time.Hour, time.Minute, 0, false, time.Minute, false, 0},
		{"a pause in which nothing happened", time.Minute, time.Minute, 0, true, 0, false, 0},
		{"and then the program was stopped", time.Minute, 2 * time.Minute, 0, true, 0, true, 0},
		{"a driver whose clock goes back", 0, -time.Hour, 0, false, 0, false, 0},
		{"two seconds without a store", 0, 3 * time.Second, 2 * time.Second, false, time.Second, false, 0},
		{"more of them than have passed", 0, 3 * time.Second, time.Hour, false, 0, false, 0},
		{"a stop without a store", 0, time.Hour, time.Hour, false, 0, true, 0},
	} {
		var w Watch
		opened := w.Step(at, at, 0, false)
		w.state.IsPaused = tt.isPaused
		now := w.Step(at+tt.after, at+tt.due, tt.idle, false)
		if now.Sub(opened) != tt.counts || w.HasStopped() != tt.stopped {
			t.Errorf("%s: %v count, stopped: %v; want %v, %v", tt.name, now.Sub(opened), w.HasStopped(), tt.counts, tt.stopped)
		}
		if tt.isPaused && w.state.Held != time.Minute {
			t.Errorf("%s: the pause has lasted %v", tt.name, w.state.Held)
		}
		if passed, isLost := w.Tick(false); passed != tt.passed || isLost != tt.isPaused || w.Now() != now {
			t.Errorf("%s: %v have passed, lost: %v; want %v", tt.name, passed, isLost, tt.passed)
		}
	}
}

// TestFirst checks that room time begins when the room opens, and goes on where it was saved,
// whatever the driver's clock shows.
func TestFirst(t *testing.T) {
	var w Watch
	if opened := w.Step(at, 0, 0, false); opened != roomtime.Opening {
		t.Errorf("it opens at %v", opened)
	}
	later := roomtime.Opening.Add(time.Hour)
	back := From(later)
	for after := range time.Duration(3) {
		if now := back.Step(5*at+after, 5*at, 0, false); now != later.Add(after) {
			t.Errorf("it goes on at %v, want %v", now, later.Add(after))
		}
	}
}

// TestOtherSteps checks that time that passes in steps without a tick counts at the next tick.
func TestOtherSteps(t *testing.T) {
	var w Watch
	w.Step(at, at, 0, false)
	w.Tick(false)
	for second := range time.Duration(4) {
		w.Step(at+(second+1)*time.Second, at+second*time.Second, 0, false)
	}
	if passed, isLost := w.Tick(false); passed != 4*time.Second || isLost {
		t.Errorf("%v have passed, lost: %v", passed, isLost)
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	w := Watch{stepped: at, ticked: at, state: State{true, time.Second, time.Minute}}
	data, err := json.Marshal(w.State())
	if want := `{"on":true,"held":1000000000,"absent":60000000000}`; err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
	if err := w.State().Validate(); err != nil {
		t.Error(err)
	}
	paused := w
	if paused.Begin(); paused.state != (State{}) {
		t.Errorf("a new list begins in a pause with %+v", paused)
	}
	w.Resume()
	if w.IsPaused() || w.state.Held != time.Second {
		t.Errorf("a host that is back goes on with %+v", w)
	}
	if w.Begin(); w.state != (State{}) {
		t.Errorf("a new list begins with %+v", w)
	}
	for _, s := range []State{{Held: -1}, {Absent: -1}} {
		if s.Validate() == nil {
			t.Errorf("%+v is a watch", s)
		}
	}
}
