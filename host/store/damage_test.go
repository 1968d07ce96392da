package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var everyByte = flag.Bool("every-byte", false, "damage every byte of a store, in every bit")

// filled returns the content of a store after many saves, and the saves of each room in order.
func filled(t *testing.T) (data []byte, saves map[string][]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	saves = map[string][]string{}
	for n := range 5 {
		for _, code := range []string{"BAKODI", "TABOMI", "GAGAGA"} {
			value := strings.Repeat(fmt.Sprintf("%s as of %d. ", code, n), 10)
			save(t, s, code, value)
			saves[code] = append(saves[code], value)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data, saves
}

func open(t *testing.T, file string) *File {
	t.Helper()
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// save saves a room, and creates it if it is new.
func save(t *testing.T, s *File, code, value string) {
	t.Helper()
	if err := trySave(s, code, value); err != nil {
		t.Fatal(err)
	}
}

func trySave(s *File, code, value string) error {
	if e := s.entries[code]; e != nil && e.claim != nil {
		return e.claim.Save(context.Background(), []byte(value))
	}
	_, err := s.Create(context.Background(), code, "id of "+code, []byte(value))
	return err
}

// load returns the content of all rooms. It claims none.
func load(t *testing.T, s *File) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for code := range s.entries {
		if state := s.Find(code).State; state != Here && state != Orphaned {
			continue
		}
		data, err := s.read(code)
		if err != nil {
			t.Fatal(err)
		}
		texts[code] = string(data)
	}
	return texts
}

// survives opens a changed store file. It checks that the store opens, has only what was once
// saved, takes more, and keeps damaged data beside it. It returns how many saves the rooms have
// lost all together.
func survives(t *testing.T, what string, data []byte, saves map[string][]string) (lost int, damage error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "rooms.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, file)
	rooms := load(t, s)
	for code, texts := range saves {
		at := slices.Index(texts, rooms[code])
		if _, has := rooms[code]; has && at < 0 {
			t.Fatalf("%s: room %s is %q, which nobody saved", what, code, rooms[code])
		}
		lost += len(texts) - 1 - at
	}
	for code := range rooms {
		if saves[code] == nil {
			t.Fatalf("%s: a room %q, which nobody saved", what, code)
		}
	}
	save(t, s, "KOKOKO", "new")
	damage = s.Damage()
	s.Close()
	s = open(t, file)
	defer s.Close()
	rooms["KOKOKO"] = "new"
	if again := load(t, s); !reflect.DeepEqual(again, rooms) || s.Damage() != nil {
		t.Fatalf("%s: opened again it has %d rooms of %d, %v", what, len(again), len(rooms), s.Damage())
	}
	if aside, _ := filepath.Glob(file + ".damaged-*"); damage != nil {
		if len(aside) != 1 || !strings.Contains(damage.Error(), aside[0]) {
			t.Fatalf("%s: kept as %q, and said: %v", what, aside, damage)
		}
		if kept, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(kept, data) {
			t.Fatalf("%s: what is kept is not what was damaged: %v", what, err)
		}
	}
	return lost, damage
}

// TestTruncated checks that earlier saves count wherever a file ends too soon.
func TestTruncated(t *testing.T) {
	data, saves := filled(t)
	whole := map[int]bool{}
	scan(bytes.NewReader(data), int64(len(data)), func(_ record, at span) { whole[int(at.start)] = true })
	const records = 15
	step := 37
	if *everyByte {
		step = 1
	}
	for end := 0; end < len(data); end += step {
		left := 0
		for start := range whole {
			left += count(start < end)
		}
		left -= count(!whole[end] && end > 0) // the one that is cut
		lost, damage := survives(t, fmt.Sprint("cut to ", end), data[:end], saves)
		if lost != records-left {
			t.Fatalf("cut to %d of %d bytes the rooms are %d saves older, want %d", end, len(data), lost, records-left)
		}
		if (damage == nil) != (whole[end] || end == 0) { // otherwise it is the file of an earlier moment
			t.Fatalf("cut to %d bytes: %v", end, damage)
		}
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// TestFlipped checks that any changed bit is reported, and costs at most one save of one room.
func TestFlipped(t *testing.T) {
	data, saves := filled(t)
	random := rand.New(rand.NewPCG(1, 2))
	step := 31
	if *everyByte {
		step = 1
	}
	for at := 0; at < len(data); at += step {
		bits := []byte{1 << random.IntN(8)}
		if *everyByte {
			bits = []byte{1, 2, 4, 8, 16, 32, 64, 128}
		}
		for _, bit := range bits {
			flipped := bytes.Clone(data)
			flipped[at] ^= bit
			what := fmt.Sprintf("byte %d of %d ^ %02x", at, len(data), bit)
			if lost, damage := survives(t, what, flipped, saves); lost > 1 || damage == nil {
				t.Fatalf("%s: the rooms are %d saves older, and said is: %v", what, lost, damage)
			}
		}
	}
}

// TestDamaged checks blocks of zeros, blocks at wrong places, and files that are not stores.
func TestDamaged(t *testing.T) {
	data, saves := filled(t)
	random := rand.New(rand.NewPCG(3, 4))
	garbage := make([]byte, 10_000)
	for i := range garbage {
		garbage[i] = byte(random.Uint32())
	}
	zeroed := func(from, to int) []byte {
		b := bytes.Clone(data)
		clear(b[from:to])
		return b
	}
	tests := map[string][]byte{
		"zeros":                 make([]byte, 10_000),
		"garbage":               garbage,
		"openers":               []byte(strings.Repeat(opener, 1000)),
		"half an opener":        []byte(opener[:4]),
		"a block of zeros":      zeroed(512, 1024),
		"zeros at the end":      zeroed(len(data)-512, len(data)),
		"zeros after the end":   append(bytes.Clone(data), make([]byte, 4096)...),
		"zeros at the start":    zeroed(0, 512),
		"garbage in the middle": slices.Insert(bytes.Clone(data), 700, garbage...),
		"a block twice":         slices.Insert(bytes.Clone(data), 1024, data[512:1024]...),
	}
	for what, data := range tests {
		if _, damage := survives(t, what, data, saves); damage == nil {
			t.Errorf("%s: nothing is said", what)
		}
	}
}

// TestChangedWhileOpen checks that the store also notices damage that comes later.
func TestChangedWhileOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	defer s.Close()
	for _, text := range []string{"one", "two"} {
		save(t, s, "BAKODI", text)
	}
	if err := os.Truncate(file, s.end-1); err != nil {
		t.Fatal(err)
	}
	if rooms := load(t, s); rooms["BAKODI"] != "one" {
		t.Errorf("the room is %q", rooms["BAKODI"])
	}
}

// TestFullDisk checks that a failed save leaves the previous one, however much of it was written,
// and that saves succeed once there is space.
func TestFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	save(t, s, "BAKODI", "one")
	disk := s.file
	full, err := os.Open(file) // accepts no writes
	if err != nil {
		t.Fatal(err)
	}
	s.file = full
	for range 3 {
		if err := trySave(s, "BAKODI", "two"); err == nil {
			t.Error("a full disk takes a room")
		}
		if rooms := load(t, s); rooms["BAKODI"] != "one" {
			t.Errorf("the room is %q", rooms["BAKODI"])
		}
		half, _ := appendRecord(nil, "BAKODI", head{Epoch: 1}, []byte("two"))
		if _, err := disk.WriteAt(half[:len(half)/2], s.end); err != nil {
			t.Fatal(err)
		}
	}
	full.Close()
	s.file = disk
	save(t, s, "BAKODI", "3")
	s.Close()
	s = open(t, file)
	defer s.Close()
	if rooms := load(t, s); rooms["BAKODI"] != "3" {
		t.Errorf("the room is %q; %v", rooms["BAKODI"], s.Damage())
	}
}

// TestCompacts checks that the file stops growing, keeps the last two saves of each room, and
// forgets deleted rooms.
func TestCompacts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	large := func(n int) string { return strings.Repeat(string(rune('a'+n%26)), 100_000) }
	save(t, s, "BAKODI", "a small one")
	longest := int64(0)
	for n := range 200 {
		save(t, s, "TABOMI", large(n))
		if n <= 100 {
			save(t, s, "GAGAGA", large(n))
		}
		if n == 100 {
			if err := s.entries["GAGAGA"].claim.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.disk.Lock()
		longest = max(longest, s.end)
		s.disk.Unlock()
		s.background.Wait() // so that the size does not depend on the speed of the disk
	}
	if most := int64(slack + (garbage+1)*4*100_000); longest > most {
		t.Errorf("the file grew to %d bytes", longest)
	}
	if lost, err := s.compact(); err != nil || len(lost) > 0 {
		t.Fatal(lost, err)
	}
	if got := slices.Sorted(maps.Keys(s.entries)); !slices.Equal(got, []string{"BAKODI", "GAGAGA", "TABOMI"}) || s.end > 210_000 {
		t.Errorf("anew it has %q in %d bytes", got, s.end)
	}
	at := s.entries["TABOMI"].newest.start
	s.Close()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[at+200] ^= 1
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, file)
	defer s.Close()
	if rooms := load(t, s); rooms["TABOMI"] != large(198) || rooms["BAKODI"] != "a small one" || len(rooms) != 2 {
		t.Errorf("of the rooms are left %d, TABOMI begins %.10q", len(rooms), rooms["TABOMI"])
	}
}

// FuzzOpen opens arbitrary bytes as a store.
func FuzzOpen(f *testing.F) {
	one, _ := appendRecord(nil, "BAKODI", head{Epoch: 1}, []byte("{}"))
	two, _ := appendRecord(one, "TABOMI", head{Over: time.Unix(1_800_000_000, 0)}, nil)
	for _, data := range [][]byte{nil, one, two, one[:20], append([]byte("x"), two...)} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := 0
		damaged, _, err := scan(bytes.NewReader(data), int64(len(data)), func(r record, at span) {
			if _, got, err := readRecord(bytes.NewReader(data), at); err != nil || got.key != r.key {
				t.Fatalf("a record %q at %v, which is %q, %v", r.key, at, got.key, err)
			}
			whole += int(at.length)
		})
		if err != nil {
			t.Fatal(err)
		}
		if whole+int(damaged) != len(data) {
			t.Fatalf("%d bytes are whole and %d damaged, of %d", whole, damaged, len(data))
		}
	})
}

// TestEmptied checks that a store that has lost everything says so, once. A new store has lost
// nothing, and neither has one whose rooms are all over and forgotten.
func TestEmptied(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rooms.db")
	open := func() *File {
		t.Helper()
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	if f.Damage() != nil {
		t.Errorf("a new store: %v", f.Damage())
	}
	f.Close()
	f = open()
	if f.Damage() != nil {
		t.Errorf("a store that nobody used: %v", f.Damage())
	}
	if _, err := f.Create(t.Context(), "BAKODI", "id", []byte("a room")); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	f = open()
	if f.Damage() == nil || !strings.Contains(f.Damage().Error(), "is empty, though rooms were kept in it") {
		t.Errorf("a store that was emptied: %v", f.Damage())
	}
	f.Close()
	f = open()
	defer f.Close()
	if f.Damage() != nil {
		t.Errorf("the second time: %v", f.Damage())
	}
}

// TestCut checks that a store says once where its file was cut, also if the cut is between two
// records.
func TestCut(t *testing.T) {
	data, _ := filled(t)
	ends := []int64{1, int64(len(data)) - 1}
	scan(bytes.NewReader(data), int64(len(data)), func(_ record, at span) { ends = append(ends, at.start, at.start+at.length/2) })
	for _, end := range ends {
		file := filepath.Join(t.TempDir(), "rooms.db")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, file)
		save(t, s, "KOKOKO", "notes how long the file is")
		if s.Close(); s.Damage() != nil {
			t.Fatal(s.Damage())
		}
		if err := os.Truncate(file, end); err != nil {
			t.Fatal(err)
		}
		s = open(t, file)
		if s.Close(); s.Damage() == nil {
			t.Errorf("cut to %d of %d bytes it says nothing", end, len(data))
		}
		s = open(t, file)
		save(t, s, "GUGUGU", "newer")
		if s.Close(); s.Damage() != nil {
			t.Errorf("cut to %d bytes it says the second time: %v", end, s.Damage())
		}
	}
}

// TestRewrittenIsWhole checks that a shorter file that a store wrote itself is not taken for a cut one.
func TestRewrittenIsWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	s := open(t, file)
	for n := range 20 {
		save(t, s, "BAKODI", strings.Repeat(fmt.Sprint(n), 1000))
	}
	if _, err := s.compact(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, file)
	if s.Close(); s.Damage() != nil {
		t.Error(s.Damage())
	}
}

// TestNoFile checks that a store is a file, or does not open.
func TestNoFile(t *testing.T) {
	for _, name := range []string{os.DevNull, "/dev/zero", "/dev/full"} {
		if _, err := os.Stat(name); err != nil {
			continue // on Windows
		}
		if s, err := Open(name); !errors.Is(err, ErrNoFile) {
			s.Close()
			t.Errorf("%s: %v", name, err)
		}
	}
}
