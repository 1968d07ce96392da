package host_test

import (
	"flag"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"muster/host"
	"muster/host/room"
	"muster/host/wire"
)

var sleeping = flag.Int("sleeping", 200, "how many rooms sleep in TestSleepingRooms")

// TestSleepingRooms: a room that sleeps costs a few kilobytes, and no processor time.
//
//	go test ./host -run TestSleepingRooms -sleeping 10000 -v
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
	h, err := host.New(everybody(host.Public{Rooms: *sleeping, Standing: host.Standing{Rooms: *sleeping, PerAddress: *sleeping, Keep: twoMonths}}))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	before, _ := used()
	codes := make([]string, *sleeping)
	for i := range codes {
		var err error
		if codes[i], _, err = h.Open(wire.Settings{Name: fmt.Sprintf("room %d", i), Game: "openarena", Every: "fri 20:00 Europe/Berlin"}); err != nil {
			t.Fatal(err)
		}
		h.Steer(codes[i], room.End{})
	}
	for _, code := range codes {
		for s, _ := h.Room(code); s.Room.Ended.IsZero(); s, _ = h.Room(code) {
			time.Sleep(time.Millisecond)
		}
	}
	time.Sleep(time.Second) // until all is shown and saved
	after, began := used()
	const watch = 5 * time.Second
	time.Sleep(watch)
	_, ended := used()
	each := (after - before) / uint64(*sleeping)
	t.Logf("%d rooms that sleep: %d bytes each, %v of processor time in %v in all", *sleeping, each, ended-began, watch)
	if most := uint64(64 << 10); each > most {
		t.Errorf("a room that sleeps takes %d bytes", each)
	}
}
