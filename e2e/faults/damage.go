package faults

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"
)

// damaging are the faults of a disk, with how often each is drawn.
var damaging = map[Deed]int{Flip: 9, Tear: 9, Empty: 2}

// Damages draws so many faults of disks, each on one NATS server. With every third a host is
// killed, too, so that another one needs what NATS has. The same seed draws the same faults.
func Damages(seed uint64, n int, m Machines) (all []Fault) {
	rng := rand.New(rand.NewPCG(seed, 17))
	var deeds []Deed
	for _, do := range slices.Sorted(maps.Keys(damaging)) {
		deeds = append(deeds, slices.Repeat([]Deed{do}, damaging[do])...)
	}
	for i := range n {
		if i%3 == 2 {
			all = append(all, Fault{Do: Kill, On: some(1, m.Hosts, rng), For: min(lasts(rng), settles)})
		}
		f := Fault{Do: deeds[rng.IntN(len(deeds))], On: some(1, m.NATS, rng), For: settles, Seed: rng.Uint64()}
		f.Live = f.Do != Empty && rng.IntN(2) == 0
		all = append(all, f)
	}
	return all
}

// storeFile returns the kind of a file in a NATS server's store, or "" of one that holds nothing.
func storeFile(file string) string {
	base, own := path.Base(file), strings.Contains(file, "/_js_/")
	switch {
	case strings.HasSuffix(base, ".blk") && own:
		return "log"
	case strings.HasSuffix(base, ".blk"):
		return "messages"
	case strings.HasPrefix(base, "snap."):
		return "snapshot"
	case base == "index.db":
		return "index"
	case strings.HasPrefix(base, "meta."):
		return "meta"
	case slices.Contains([]string{".idx", ".dat", ".db"}, path.Ext(base)):
		return "state"
	}
	return ""
}

// draws picks a file of a store: each kind that is there as often as the others.
func draws(files []string, rng *rand.Rand) string {
	kinds := map[string][]string{}
	for _, file := range slices.Sorted(slices.Values(files)) {
		if kind := storeFile(file); kind != "" {
			kinds[kind] = append(kinds[kind], file)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(kinds))
	of := kinds[names[rng.IntN(len(names))]]
	return of[rng.IntN(len(of))]
}

// records returns where the records of a file of messages begin: each starts with its length, whose
// highest bit says that it has headers.
func records(block []byte) (starts []int) {
	for at := 0; at+4 <= len(block); {
		length := int(binary.LittleEndian.Uint32(block[at:]) &^ (1 << 31))
		if length < 4 || at+length > len(block) {
			break
		}
		starts = append(starts, at)
		at += length
	}
	return starts
}

// damaged returns a file after a fault of its disk, and what happened to it. Flip turns up to eight
// bits over; Tear cuts the file at any byte, or in every second file of messages just before a
// record.
func damaged(do Deed, file string, was []byte, rng *rand.Rand) (is []byte, what string) {
	if len(was) == 0 {
		return was, "nothing"
	}
	if do == Flip {
		is = slices.Clone(was)
		n := 1 + rng.IntN(8)
		for range n {
			is[rng.IntN(len(is))] ^= 1 << rng.IntN(8)
		}
		return is, fmt.Sprintf("%d bits of %d bytes", n, len(was))
	}
	at, where := rng.IntN(len(was)), ""
	if starts := records(was); strings.HasSuffix(file, ".blk") && len(starts) > 0 && rng.IntN(2) == 0 {
		at, where = starts[rng.IntN(len(starts))], ", before a record"
	}
	return was[:at], fmt.Sprintf("at %d of %d bytes%s", at, len(was), where)
}

// Ack is a write of a room that NATS has acknowledged.
type Ack struct {
	At   time.Duration
	Room string
	// Seq is the message's number, and Over that of the room's message that it replaced.
	Seq, Over uint64
	// Claim names the owner and its claim. Write numbers the claim's writes: one whose acknowledgement
	// the owner does not get is sent again under its number.
	Claim string
	Write uint64
}

// Loss says that NATS no longer had a room's newest acknowledged message.
type Loss struct {
	At   time.Duration
	Room string
	// Back says that the owner wrote the room again. Otherwise another host took what was left, or
	// nobody has written since.
	Back bool
}

// Losses compares acknowledged writes, as they came, with the rooms' newest messages at the end.
func Losses(acks []Ack, end map[string]uint64) (lost []Loss) {
	newest := map[string]Ack{}
	for _, a := range acks {
		if was := newest[a.Room]; a.Over < was.Seq && (a.Claim != was.Claim || a.Write != was.Write) {
			lost = append(lost, Loss{a.At, a.Room, a.Claim == was.Claim})
		}
		newest[a.Room] = a
	}
	for _, room := range slices.Sorted(maps.Keys(newest)) {
		if a := newest[room]; end[room] < a.Seq {
			lost = append(lost, Loss{a.At, room, false})
		}
	}
	return lost
}
