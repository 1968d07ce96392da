package store_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/host/store"
)

var kills = flag.Int("kills", 4, "how often TestKilled kills a program that saves")

// killedFile is the environment variable with the file of the program that TestKilled starts and
// kills.
const killedFile = "STORE_TEST_KILLED"

// TestMain runs the tests, or the program that TestKilled kills.
func TestMain(m *testing.M) {
	if file := os.Getenv(killedFile); file != "" {
		if err := saveUntilKilled(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const killedRooms = 8

// saveUntilKilled saves rooms, many at once, and writes a line for each save that is kept. The
// rooms are so large that the file is often rewritten.
func saveUntilKilled(file string) error {
	s, err := store.Open(file)
	if err != nil {
		return err
	}
	if damage := s.Damage(); damage != nil && !strings.Contains(damage.Error(), "what was saved before counts; the damaged file is kept as") {
		return damage
	}
	failed := make(chan error)
	var saying sync.Mutex
	for room := range killedRooms {
		go func() { failed <- saveRoom(s, fmt.Sprint("ROOM", room), &saying) }()
	}
	return <-failed
}

func saveRoom(s *store.File, code string, saying *sync.Mutex) error {
	ctx := context.Background()
	claim, data, err := s.Claim(ctx, code)
	if err != nil {
		if claim, err = s.Create(ctx, code, "id of "+code, killedState(0)); err != nil {
			return err
		}
		data = killedState(0)
	}
	for number := numberOf(data) + 1; ; number++ {
		if err := claim.Save(ctx, killedState(number)); err != nil {
			return err
		}
		saying.Lock()
		fmt.Printf("%s %d\n", code, number)
		saying.Unlock()
	}
}

// killedState returns a room of about 100 kB, by its number.
func killedState(number int) []byte {
	line := fmt.Appendf(nil, "%d\n", number)
	return append(line, bytes.Repeat([]byte(fmt.Sprint(number, " ")), 100_000/len(line))...)
}

func numberOf(data []byte) (number int) {
	fmt.Sscan(string(data[:min(len(data), 20)]), &number)
	return number
}

// TestKilled kills a saving program at many moments. Every save that it reported must be there when
// the file is opened again.
func TestKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.db")
	random := rand.New(rand.NewPCG(1, uint64(*kills)))
	said := map[string]int{}
	saves, halves := 0, 0
	for kill := range *kills {
		program := exec.CommandContext(t.Context(), os.Args[0])
		program.Env = append(os.Environ(), killedFile+"="+file)
		var trouble bytes.Buffer
		program.Stderr = &trouble
		out, err := program.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		after := 1 + random.IntN(100) // saves, and then a moment longer
		for after > 0 && lines.Scan() {
			saves += note(t, said, lines.Text())
			after--
		}
		time.AfterFunc(time.Duration(random.IntN(2000))*time.Microsecond, func() { program.Process.Kill() })
		rest, _ := io.ReadAll(out)
		for line := range strings.Lines(lines.Text() + "\n" + string(rest)) {
			if strings.HasSuffix(line, "\n") {
				saves += note(t, said, line)
			}
		}
		program.Wait()
		if after > 0 || trouble.Len() > 0 {
			t.Fatalf("the program ended by itself: %s", &trouble)
		}
		s := open(t, file)
		if damage := s.Damage(); damage != nil {
			halves++ // a half-written record
		}
		for room := range killedRooms {
			code := fmt.Sprint("ROOM", room)
			if said[code] == 0 {
				continue
			}
			c, text := claim(t, s, code)
			data := []byte(text)
			if number := numberOf(data); number < said[code] || !bytes.Equal(data, killedState(number)) {
				t.Fatalf("kill %d: room %s is as of save %d, but %d was kept; %v", kill, code, number, said[code], s.Damage())
			}
			c.Release(t.Context())
		}
		s.Close()
	}
	t.Logf("killed %d times, in %d saves: all that was kept is there; %d records were half written", *kills, saves, halves)
}

// note takes over a line of the program, and returns how many saves it reports.
func note(t *testing.T, said map[string]int, line string) int {
	t.Helper()
	var code string
	var number int
	if n, _ := fmt.Sscan(line, &code, &number); n != 2 || number <= said[code] {
		return 0
	}
	said[code] = number
	return 1
}
