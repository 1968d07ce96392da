package hosts

import (
	"flag"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"muster/host"
	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

var (
	sleeping    = flag.Int("sleeping", 200, "how many rooms sleep in TestSleepingRooms")
	sleepingFor = flag.Duration("sleeping-for", 0, "how long TestSleepingRooms watches what processor time they take")
)

// TestSleepingRooms checks that a sleeping room costs a few kilobytes and no processor time.
//
//	go -C bench test ./hosts -run TestSleepingRooms -sleeping 10000 -sleeping-for 5s -v
func TestSleepingRooms(t *testing.T) {
	used := func() (bytes uint64, cpu time.Duration) {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			t.Fatal(err)
		}
		return memory.HeapAlloc + memory.StackInuse, time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	h, err := host.New(host.Config{List: listOf(1000), Public: &public.Limits{
		Games: []public.Game{{Game: wire.Game{ID: "openarena", Name: "OpenArena"}, By: selection.Mean, Listed: true}},
		Rooms: *sleeping, PerAddress: *sleeping, Players: 16, Servers: 50,
		Standing: public.Standing{Rooms: *sleeping, PerAddress: *sleeping, Keep: 8 * 7 * 24 * time.Hour},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	before, _ := used()
	codes := make([]string, *sleeping)
	for i := range codes {
		var err error
		if codes[i], _, err = h.Open(wire.Settings{
			Name:  fmt.Sprintf("room %d", i),
			Game:  "openarena",
			Every: "fri 20:00 Europe/Berlin",
		}); err != nil {
			t.Fatal(err)
		}
		h.Steer(codes[i], room.End{})
	}
	for _, code := range codes {
		awaits(t, "a room sleeps", func() bool { s, _ := h.Room(code); return !s.Room.Ended.IsZero() })
	}
	const most = 64 << 10
	var each uint64
	awaits(t, "a room that sleeps takes at most 64 KiB", func() bool {
		after, _ := used()
		each = (max(after, before) - before) / uint64(*sleeping)
		return each <= most
	})
	time.Sleep(*sleepingFor / 5) // meanwhile all is shown and saved
	_, began := used()
	time.Sleep(*sleepingFor)
	_, ended := used()
	t.Logf("%d rooms that sleep: %d bytes each, %v of processor time in %v in all", *sleeping, each, ended-began, *sleepingFor)
}
