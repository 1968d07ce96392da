// A hybrid key exchange between hosts would show nothing, and take a twentieth of a night.
//go:debug tlsmlkem=0

// Command world plays nights of a world that consists of a seed: hosts, players, NATS and the
// network between them run in one process, on a clock that stands until all of them wait.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// random is a source of bytes for any goroutine. They depend on the time: how much was drawn before,
// such as by a process that was killed, changes nothing.
type random struct {
	seed uint64

	mu   sync.Mutex // guards following
	at   int64
	from *mathrand.ChaCha8
}

func (r *random) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now().UnixNano(); r.from == nil || now != r.at {
		var of [32]byte
		binary.LittleEndian.PutUint64(of[:], r.seed)
		binary.LittleEndian.PutUint64(of[8:], uint64(now))
		r.at, r.from = now, mathrand.NewChaCha8(of)
	}
	return r.from.Read(b)
}

// repeated plays a night on one processor and on two, and returns how its trace then differs: empty for not.
func repeated(t *testing.T, seed uint64, ops []op) (r result, differs string) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r = night(t, seed, ops)
	runtime.GOMAXPROCS(2)
	one, two := strings.Split(r.trace, "\n"), strings.Split(night(t, seed, ops).trace, "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return r, fmt.Sprintf("line %d of %d and %d differs, after\n%s\non one processor:\n%s\non two:\n%s", i, len(one), len(two),
				strings.Join(one[max(0, i-10):i], "\n"), strings.Join(one[i:min(i+5, len(one))], "\n"), strings.Join(two[i:min(i+5, len(two))], "\n"))
		}
	}
	if len(one) != len(two) {
		return r, fmt.Sprintf("%d lines, and %d", len(one), len(two))
	}
	return r, ""
}

func main() {
	debug.SetGCPercent(800) // a night's memory is small
	testing.Init()          // package synctest wants a test
	nights := flag.Int("nights", 1, "play so many nights")
	seed := flag.String("seed", "1", "the world's seed; with -N, begin with its night N")
	stops := flag.Bool("first", false, "end with the first night that breaks a promise")
	shrinks := flag.Bool("shrink", false, "keep each night that breaks a promise in testdata, with as few faults and steps as possible")
	trace := flag.Bool("trace", false, "tell each night step by step")
	rate := flag.Int("rate", 100, "let the clock of one machine run at so many percent, until the faults are over")
	twice := flag.Bool("twice", false, "play each night on one processor and on two, and tell how they differ")
	flag.Parse()
	of, from, isFrom := strings.Cut(*seed, "-")
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			fmt.Fprintf(os.Stderr, "world: -seed %s: not a number, or two\n", *seed)
			os.Exit(2)
		}
		return n
	}
	world, first := number(of), uint64(0)
	if isFrom {
		first = number(from)
	}
	last := first + uint64(*nights)
	play := func(t *testing.T) {
		began := time.Now()
		broken, all := 0, sha256.New()
		for n := first; n < last; n++ {
			s := world<<31 | n
			ops := script(s)
			if *rate != 100 {
				ops = slices.Insert(ops, 0, op{at: 3 * time.Second, kind: "rate", a: int(n % hosts), b: *rate, lasts: faulty})
			}
			r, differs := result{}, ""
			if *twice {
				if r, differs = repeated(t, s, ops); differs != "" {
					r.broken = append(r.broken, differs)
				}
			} else {
				r = night(t, s, ops)
			}
			if *trace {
				fmt.Print(r.trace)
			}
			for _, what := range r.broken {
				fmt.Printf("%d-%d: %s\n", world, n, what)
			}
			if len(r.broken) > 0 {
				broken++
				if *shrinks {
					fewest := shrink(t, s, ops)
					file, err := keep(s, fewest, night(t, s, fewest).broken)
					fmt.Printf("%d-%d: %d operations of %d, in %s, %v\n", world, n, len(fewest), len(ops), file, err)
				}
			}
			fmt.Fprintln(all, r.hash)
			if *stops && broken > 0 {
				break
			}
		}
		fmt.Printf("nights=%d broken=%d hash=%s seconds=%.1f\n", last-first, broken, hex.EncodeToString(all.Sum(nil)[:8]), time.Since(began).Seconds())
		os.Exit(min(broken, 1))
	}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "world", F: play}}, nil, nil)
}
