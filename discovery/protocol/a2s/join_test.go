package a2s_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/a2s"
)

// split returns reply in a Source server's pieces.
func split(reply []byte, id uint32, size int) [][]byte {
	return slices.Collect(SplitSource(reply, id, size))
}

// splitGoldSrc returns reply in a GoldSrc server's pieces.
func splitGoldSrc(reply []byte, id uint32, size int) [][]byte {
	chunks := slices.Collect(slices.Chunk(reply, size))
	for i, c := range chunks {
		b := binary.LittleEndian.AppendUint32([]byte("\xfe\xff\xff\xff"), id)
		chunks[i] = append(append(b, byte(i<<4|len(chunks))), c...)
	}
	return chunks
}

// named returns an INFO reply that needs several pieces.
func named() (discovery.Info, []byte) {
	want := tf2
	want.Name = string(bytes.Repeat([]byte("name"), 60))
	return want, AppendInfo(nil, want)
}

func TestPiecesInAnyOrder(t *testing.T) {
	want, whole := named()
	_, packed := codectest.Packets(t, "tf2_info_bzip2.hex")
	for name, c := range map[string]struct {
		pieces [][]byte
		want   discovery.Info
	}{
		"Source":          {split(whole, 7, 90), want},
		"Source of 2006":  {withoutSize(split(whole, 7, 90)), want},
		"GoldSrc":         {splitGoldSrc(whole, 7, 90), want},
		"GoldSrc, old ID": {splitGoldSrc(whole, 1<<31|7, 90), want},
		"bzip2":           {packed, tf2},
		"bzip2 of 2006":   {withoutSize(packed), tf2},
		"no inner header": {split(whole[4:], 7, 90), want},
	} {
		t.Run(name, func(t *testing.T) {
			for order := range permutations(len(c.pieces)) {
				arrived := pick(c.pieces, order)
				arrived = append(arrived[:1:1], arrived...) // and the first twice
				checkPieces(t, arrived, c.want)
			}
		})
	}
}

// checkPieces checks that the reply is incomplete before the last piece, and equals
// want after it.
func checkPieces(t *testing.T, arrived [][]byte, want discovery.Info) {
	t.Helper()
	for n := range arrived {
		if got, err := (Protocol{}).Parse(arrived[:n]); err != nil || !reflect.DeepEqual(got, discovery.Reply{Incomplete: true}) {
			t.Fatalf("%d of %d datagrams: %+v, %v", n, len(arrived), got, err)
		}
	}
	got, err := Protocol{}.Parse(arrived)
	if err != nil || got.Info == nil || *got.Info != want {
		t.Fatalf("all: %+v, %v", got, err)
	}
}

// withoutSize returns the pieces in the format of the first games on Source.
func withoutSize(pieces [][]byte) [][]byte {
	var old [][]byte
	for _, d := range pieces {
		old = append(old, slices.Delete(slices.Clone(d), 10, 12))
	}
	return old
}

func pick(list [][]byte, order []int) [][]byte {
	var picked [][]byte
	for _, i := range order {
		picked = append(picked, list[i])
	}
	return picked
}

// permutations yields every order of n things.
func permutations(n int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) { permute(nil, n, yield) }
}

func permute(chosen []int, n int, yield func([]int) bool) bool {
	if len(chosen) == n {
		return yield(chosen)
	}
	for i := range n {
		if !slices.Contains(chosen, i) && !permute(append(chosen[:len(chosen):len(chosen)], i), n, yield) {
			return false
		}
	}
	return true
}

func TestAnotherSplitRestarts(t *testing.T) {
	want, whole := named()
	stale, fresh := split(whole, 7, 90), split(whole, 8, 90)
	checkPieces(t, append([][]byte{stale[0], stale[1]}, fresh...), want)
	mixed := [][]byte{stale[0], stale[1], fresh[2], fresh[3]}
	if got, err := (Protocol{}).Parse(mixed); err != nil || !got.Incomplete {
		t.Errorf("half of each: %+v, %v", got, err)
	}
}

func TestLyingPieces(t *testing.T) {
	_, whole := named()
	_, packed := codectest.Packets(t, "tf2_info_bzip2.hex")
	large := append(bytes.Clone(whole), make([]byte, 1<<16)...)
	change := func(pieces [][]byte, at int, to ...byte) [][]byte {
		first := slices.Clone(pieces[0])
		copy(first[at:], to)
		return append([][]byte{first}, pieces[1:]...)
	}
	for name, datagrams := range map[string][][]byte{
		"total of 0":            change(split(whole, 7, 90), 8, 0),
		"total of 255":          change(split(whole, 7, 90), 8, 255),
		"index past the total":  change(split(whole, 7, 90), 9, 200),
		"totals that differ":    change(split(whole, 7, 90), 8, 2),
		"no payload":            {split(whole, 7, 90)[0][:12]},
		"no total":              {split(whole, 7, 90)[0][:8]},
		"wrong checksum":        change(packed, 16, 0),
		"larger than it says":   change(packed, 12, 110),
		"smaller than it says":  change(packed, 12, 112),
		"gigabytes, it says":    change(packed, 12, 0, 0, 0, 255),
		"not bzip2":             change(packed, 20, 'X'),
		"broken bzip2":          change(packed, 40, 1, 2, 3),
		"a bomb":                {reply(t, "bomb_bzip2.hex")},
		"an honest bomb":        {reply(t, "large_bzip2.hex")},
		"more than a datagram":  split(large, 7, 60000),
		"more than 255 of them": slices.Repeat([][]byte{split(whole, 7, 90)[1]}, 300),
	} {
		got, err := Protocol{}.Parse(datagrams)
		if got.Info != nil || errors.Is(err, discovery.ErrMalformed) == got.Incomplete {
			t.Errorf("%s: %+v, err = %v", name, got, err)
		}
	}
}

// Parse unpacks one reply at most, and none takes more memory than its bytes can need:
// a server pays 94 bytes for each.
func TestBombsCostLittle(t *testing.T) {
	bomb := reply(t, "bomb_bzip2.hex")
	bombs := slices.Repeat([][]byte{bomb}, 64)
	if !(Protocol{}).Unpacks(bombs) || (Protocol{}).Unpacks([][]byte{reply(t, "tf2_info.hex")}) {
		t.Error("Unpacks tells no packed reply from another")
	}
	for _, protocol := range []discovery.Protocol{Protocol{}, Protocol{}.Roll()} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		protocol.Parse(bombs)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%T: %d bombs took %d bytes", protocol, len(bombs), took)
		}
	}
}
