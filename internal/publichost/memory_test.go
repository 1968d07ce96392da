package publichost

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/networks"
	"muster/selection/memory"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// learn teaches a memory the distance to a country's network, by three rooms and networks.
func learn(m *networks.Memory, country string, ms float64, now time.Time) {
	part := memory.Part{Country: country, ASN: 24940, Prefix: netip.MustParsePrefix("198.18.7.0/24")}
	for i := range 3 {
		from := netip.AddrFrom4([4]byte{203, 0, byte(113 + i), 1})
		m.Learn(fmt.Sprint("room ", i), from, networks.Network{Country: "NL"}, []memory.Cell{{Part: part, MS: ms, Count: 1}}, now)
	}
}

// fakeShelf is a shelf that hosts share.
type fakeShelf struct {
	document []byte
	writes   int
	// faster is called before a write, as if another host were faster.
	faster func()
}

func (f *fakeShelf) read(_ context.Context, known string) ([]byte, string, error) {
	if stamp := stampOf(uint64(f.writes)); stamp != known {
		return f.document, stamp, nil
	}
	return nil, known, nil
}

func (f *fakeShelf) write(_ context.Context, document []byte, over string) (string, error) {
	if faster := f.faster; faster != nil {
		f.faster = nil
		faster()
	}
	if stampOf(uint64(f.writes)) != over {
		return "", errChanged
	}
	f.document, f.writes = document, f.writes+1
	return stampOf(uint64(f.writes)), nil
}

// TestShared checks that hosts which share a memory all know what each has learnt, and write nothing
// that is there already.
func TestShared(t *testing.T) {
	on, log := &fakeShelf{}, slog.New(slog.DiscardHandler)
	a, b := remember(on, log), remember(on, log)
	look := func(now time.Time) {
		for _, r := range []*remembering{a, b, a} {
			r.look(t.Context(), now, false)
		}
	}
	a.saved, b.saved = noon, noon
	look(noon.Add(saveEvery))
	if on.writes != 0 {
		t.Errorf("memories that know nothing write %d times", on.writes)
	}
	learn(a.memory, "DE", 20, noon)
	learn(b.memory, "FR", 30, noon)
	look(noon.Add(2*saveEvery - time.Minute))
	if on.writes != 0 {
		t.Error("a memory is written before it is time")
	}
	on.faster = func() { b.look(t.Context(), noon.Add(2*saveEvery), false) }
	a.look(t.Context(), noon.Add(2*saveEvery), false)
	if on.writes != 2 {
		t.Errorf("two hosts write at the same moment: %d documents", on.writes)
	}
	look(noon.Add(2*saveEvery + time.Minute))
	look(noon.Add(3 * saveEvery))
	if x, y := a.memory.Summary(), b.memory.Summary(); x != y || x.Cells != 6 || on.writes != 2 {
		t.Errorf("after %d writes the hosts have %+v and %+v", on.writes, x, y)
	}
	on.document, on.writes = networks.Forgetting(noon.Add(3*saveEvery)), on.writes+1
	learn(b.memory, "PL", 40, noon)
	look(noon.Add(3*saveEvery + time.Minute))
	look(noon.Add(5 * saveEvery))
	if x, y := a.memory.Summary(), b.memory.Summary(); x.Cells+y.Cells != 0 {
		t.Errorf("after everything was deleted the hosts have %+v and %+v", x, y)
	}
}

// TestMemoryFile checks that a host's file comes back after a restart, can be read and deleted beside
// it, and that damage and newer files do no harm.
func TestMemoryFile(t *testing.T) {
	rooms := filepath.Join(t.TempDir(), "rooms.db")
	settings, logged := &Settings{Store: rooms}, &bytes.Buffer{}
	log := slog.New(slog.NewTextHandler(logged, nil))
	on := fileShelf{memoryFile(rooms)}
	now := time.Now()
	has := func(want int) {
		t.Helper()
		found, err := Memory(t.Context(), settings, false, log)
		if err != nil || found.Cells != want || found.Where != rooms+".networks" {
			t.Errorf("%+v, %v; want %d cells", found, err, want)
		}
	}
	has(0)
	first := remember(on, log)
	learn(first.memory, "DE", 20, now)
	first.look(t.Context(), now, false)
	has(0)
	first.look(t.Context(), now, true)
	has(3)
	namesNobody(t, filepath.Dir(rooms))
	second := remember(on, log)
	second.look(t.Context(), now, false)
	if s := second.memory.Summary(); s.Cells != 3 {
		t.Errorf("after a restart there is %+v", s)
	}
	if found, err := Memory(t.Context(), settings, true, log); err != nil || found.Cells != 3 {
		t.Errorf("deleted: %+v, %v", found, err)
	}
	second.look(t.Context(), now, true)
	if s := second.memory.Summary(); s.Cells != 0 {
		t.Errorf("after it was deleted the host has %+v", s)
	}
	has(0)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(on.name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("muster.networks/2\nnew")
	if _, err := Memory(t.Context(), settings, false, log); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("a newer file: %v", err)
	}
	third := remember(on, log)
	learn(third.memory, "DE", 20, now)
	third.look(t.Context(), now, true)
	if text, _ := os.ReadFile(on.name); string(text) != "muster.networks/2\nnew" || !strings.Contains(logged.String(), "newer Muster") {
		t.Errorf("it is %q then; the log: %s", text, logged)
	}
	write("nonsense")
	if _, err := Memory(t.Context(), settings, false, log); err == nil {
		t.Error("nonsense is read")
	}
	third.look(t.Context(), now, true)
	has(3)
	write("nonsense again")
	if _, err := Memory(t.Context(), settings, true, log); err != nil {
		t.Error(err)
	}
	has(0)
}

// namesNobody checks that no file of a folder contains the rooms, players and servers of learn,
// neither as text nor as bytes.
func namesNobody(t *testing.T, folder string) {
	t.Helper()
	secrets := []string{"room", "198.18.7", "\xc6\x12\x07"}
	for network := byte(113); network < 116; network++ {
		secrets = append(secrets, fmt.Sprint("203.0.", network), string([]byte{203, 0, network}))
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		kept, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(kept, []byte(secret)) {
				t.Errorf("%q is in %s", secret, file.Name())
			}
		}
	}
}
