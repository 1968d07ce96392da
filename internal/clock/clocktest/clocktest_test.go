package clocktest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"muster/internal/leak"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestTimeStandsStill(t *testing.T) {
	held := Hold(noon)
	c := held.Clock()
	timer := c.NewTimer(time.Second)
	held.Advance(time.Second - 1)
	select {
	case <-timer.C:
		t.Fatal("a timer rang before its time")
	default:
	}
	if c.Since(noon) != time.Second-1 || c.Until(noon.Add(time.Second)) != 1 {
		t.Fatalf("the clock shows %v", c.Now())
	}
	held.Advance(1)
	if at := <-timer.C; !at.Equal(noon.Add(time.Second)) {
		t.Fatalf("the timer rang at %v", at)
	}
	if timer.Stop() || timer.Reset(time.Second) || !timer.Stop() {
		t.Error("a timer says that it is set, although it has rung, or the other way round")
	}
	if _, waits := held.Next(); waits {
		t.Error("a stopped timer waits")
	}
}

// TestOrder sets alarms out of order, one of which sets another that is due meanwhile.
func TestOrder(t *testing.T) {
	held := Hold(noon)
	c := held.Clock()
	var order []string
	note := func(name string) func() {
		return func() { order = append(order, name+" "+c.Since(noon).String()) }
	}
	c.AfterFunc(3*time.Second, note("late"))
	for _, name := range []string{"first", "second", "third"} {
		c.AfterFunc(2*time.Second, note(name))
	}
	c.AfterFunc(time.Second, func() {
		note("early")()
		c.AfterFunc(time.Second/2, note("between"))
	})
	stopped := c.AfterFunc(time.Second, note("stopped"))
	if !stopped.Stop() {
		t.Error("an alarm that was set says that it was not")
	}
	if in, waits := held.Next(); in != time.Second || !waits {
		t.Errorf("the next is in %v, %v", in, waits)
	}
	held.Advance(time.Minute)
	want := []string{"early 1s", "between 1.5s", "first 2s", "second 2s", "third 2s", "late 3s"}
	if !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

func TestTicker(t *testing.T) {
	held := Hold(noon)
	ticker := held.Clock().NewTicker(time.Second)
	for i := range 3 {
		held.Advance(time.Second)
		if at := <-ticker.C; !at.Equal(noon.Add(time.Duration(i+1) * time.Second)) {
			t.Fatalf("tick %d at %v", i, at)
		}
	}
	held.Advance(time.Minute) // nobody listens: one tick is kept, as time.Ticker keeps it
	<-ticker.C
	select {
	case <-ticker.C:
		t.Error("two ticks were kept")
	default:
	}
	ticker.Stop()
	if _, waits := held.Next(); waits {
		t.Error("a stopped ticker waits")
	}
}

func TestAlarmsInThePast(t *testing.T) {
	leak.Check(t)
	held := Hold(noon)
	c := held.Clock()
	<-c.After(0)
	<-c.NewTimer(-time.Second).C
	called := make(chan struct{})
	c.AfterFunc(0, func() { close(called) })
	<-called
	timer := c.NewTimer(0)
	timer.Reset(time.Second)
	select {
	case <-timer.C:
		t.Error("a timer that was set anew rings for what it was set to before")
	default:
	}
}

func TestAwait(t *testing.T) {
	leak.Check(t)
	held := Hold(noon)
	c := held.Clock()
	c.NewTimer(time.Hour)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := held.Await(ended, 1, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing is due within a minute: %v", err)
	}
	go c.NewTimer(time.Second)
	go c.NewTimer(time.Minute)
	if err := held.Await(t.Context(), 2, time.Minute); err != nil {
		t.Error(err)
	}
}
