package faults

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestDamages checks that a seed draws the same damages every time: each kind, on servers that run
// and on stopped ones, and in each third round with a host that is killed.
func TestDamages(t *testing.T) {
	faults := Damages(7, 300, many)
	if !reflect.DeepEqual(faults, Damages(7, 300, many)) {
		t.Error("the same seed draws others")
	}
	drawn := map[Deed]int{}
	live := 0
	for _, f := range faults {
		drawn[f.Do]++
		if f.Live {
			live++
		}
		if f.Do.isOfDisk() && (len(f.On) != 1 || !slices.Contains(many.NATS, f.On[0])) {
			t.Errorf("%v strikes no NATS server", f)
		}
	}
	if drawn[Kill] != 100 || drawn[Flip] < 60 || drawn[Tear] < 60 || drawn[Empty] < 10 || live < 60 || live > 200 {
		t.Errorf("drawn %v, %d of them while a server runs", drawn, live)
	}
}

// TestDamaged checks where files are cut, and how many bits are turned over.
func TestDamaged(t *testing.T) {
	var block []byte
	for _, length := range []uint32{30, 22 | 1<<31, 40} { // the second one has headers
		block = append(binary.LittleEndian.AppendUint32(block, length), make([]byte, length&^(1<<31)-4)...)
	}
	if got := records(block[:len(block)-1]); !slices.Equal(got, []int{0, 30}) { // the last one is torn
		t.Errorf("the records begin at %v", got)
	}
	cuts := map[int]int{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		is, _ := damaged(Flip, "1.blk", block, rng)
		turned := 0
		for i := range is {
			turned += bits.OnesCount8(is[i] ^ block[i])
		}
		if len(is) != len(block) || turned > 8 {
			t.Fatalf("%d of %d bytes are left, and %d bits differ", len(is), len(block), turned)
		}
		if is, _ = damaged(Tear, "1.blk", block, rng); !bytes.HasPrefix(block, is) || len(is) == len(block) {
			t.Fatalf("%d bytes are left of %d", len(is), len(block))
		}
		cuts[len(is)]++
	}
	if cuts[0] < 30 || cuts[30] < 30 || cuts[52] < 30 || len(cuts) < 60 {
		t.Errorf("cut at %v", cuts)
	}
}

// TestLosses checks which acknowledged writes count as lost.
func TestLosses(t *testing.T) {
	number := uint64(0)
	write := func(over, seq uint64, claim string) Ack {
		number++
		return Ack{Room: "R", Over: over, Seq: seq, Claim: claim, Write: number}
	}
	again := write(5, 9, "a")
	for _, c := range []struct {
		name string
		acks []Ack
		end  uint64
		want []Loss
	}{
		{"nothing", []Ack{write(0, 5, "a"), write(5, 9, "a"), write(9, 12, "b")}, 12, nil},
		{"one that nobody heard acknowledged", []Ack{write(0, 5, "a"), write(7, 9, "a")}, 9, nil},
		{"kept twice", []Ack{write(0, 5, "a"), again, {Room: "R", Over: 5, Seq: 10, Claim: "a", Write: again.Write}}, 10, nil},
		{"a newer one at the end", []Ack{write(0, 5, "a")}, 6, nil},
		{"written again by its owner", []Ack{write(0, 5, "a"), write(5, 9, "a"), write(5, 7, "a")}, 7, []Loss{{0, "R", true}}},
		{"taken as it was by another", []Ack{write(0, 5, "a"), write(5, 9, "a"), write(5, 7, "b")}, 7, []Loss{{0, "R", false}}},
		{"gone, and written anew", []Ack{write(0, 5, "a"), write(0, 7, "a")}, 7, []Loss{{0, "R", true}}},
		{"gone at the end", []Ack{write(0, 5, "a")}, 0, []Loss{{0, "R", false}}},
		{"older at the end", []Ack{write(0, 5, "a"), write(5, 9, "a")}, 5, []Loss{{0, "R", false}}},
	} {
		if got := Losses(c.acks, map[string]uint64{"R": c.end}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
