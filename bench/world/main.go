// Command world plays nights of a world that consists of a seed: hosts, players, NATS and the
// network between them run in one process, on a clock that stands until all of them wait.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// locked is a source of random bytes for any goroutine.
type locked struct {
	mu   sync.Mutex
	from io.Reader
}

func (l *locked) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.from.Read(b)
}

func main() {
	debug.SetGCPercent(400) // a night's memory is small
	testing.Init()          // package synctest wants a test
	nights := flag.Int("nights", 1, "play so many nights")
	seed := flag.String("seed", "1", "the world's seed; with -N, its night N alone")
	stops := flag.Bool("first", false, "end with the first night that breaks a promise")
	shrinks := flag.Bool("shrink", false, "keep each night that breaks a promise in testdata, with as few faults and steps as possible")
	trace := flag.Bool("trace", false, "tell each night step by step")
	flag.Parse()
	of, one, isOne := strings.Cut(*seed, "-")
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			fmt.Fprintf(os.Stderr, "world: -seed %s: not a number, or two\n", *seed)
			os.Exit(2)
		}
		return n
	}
	first, last := uint64(0), uint64(*nights)
	if isOne {
		first = number(one)
		last = first + 1
	}
	world := number(of)
	play := func(t *testing.T) {
		began := time.Now()
		broken, all := 0, sha256.New()
		for n := first; n < last; n++ {
			s := world<<31 | n
			r := night(t, s, script(s))
			if *trace {
				fmt.Print(r.trace)
			}
			for _, what := range r.broken {
				fmt.Printf("%d-%d: %s\n", world, n, what)
			}
			if len(r.broken) > 0 {
				broken++
				if *shrinks {
					fewest := shrink(t, s, script(s))
					file, err := keep(s, fewest, night(t, s, fewest).broken)
					fmt.Printf("%d-%d: %d operations of %d, in %s, %v\n", world, n, len(fewest), len(script(s)), file, err)
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
