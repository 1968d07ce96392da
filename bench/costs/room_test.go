package costs

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
	"muster/selection"
)

// benchRoom returns a room whose members have measured 30,000 servers.
func benchRoom(b testing.TB, members int) *room.Room {
	now := time.Unix(1_800_000_000, 0)
	n := roomtest.Play(b, room.New(roomtest.Keys, wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: members, Strategy: "conventional"}, now), now)
	for i := range members {
		n.Join(fmt.Sprint("player ", i))
	}
	infos := wire.Infos{Round: 1}
	for i := range benchServers {
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: i,
			Info:   discovery.Info{Map: "oa_dm1", Mode: "4", Players: i % 12, MaxPlayers: 80},
		})
	}
	list := make([]discovery.Server, benchServers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + i>>8), byte(i)}), 27960)
	}
	n.Gets(list)
	for i := range members {
		n.Says(fmt.Sprint("player ", i), reportOfAll())
	}
	n.Says("player 0", infos)
	return n.Room
}

func reportOfAll() wire.Report {
	report := wire.Report{Round: 1, Results: make([]discovery.Result, benchServers)}
	for i := range report.Results {
		report.Results[i] = discovery.Result{Server: i, State: discovery.Answered, RTT: wire.RoundRTT(time.Duration(10+i%200) * time.Millisecond)}
		if i%8 == 0 {
			report.Results[i] = discovery.Result{Server: i, State: discovery.Lost}
		}
	}
	return report
}

// BenchmarkPublish measures what a room of 64 does five times a second: it makes the view, compares
// it, and makes its frame.
func BenchmarkPublish(b *testing.B) {
	for _, stage := range []wire.Stage{wire.Measuring, wire.Chosen} {
		b.Run(string(stage), func(b *testing.B) {
			r, now := benchRoom(b, 64), time.Unix(1_800_000_000, 0)
			if stage == wire.Chosen {
				r.Step(room.Proceed{}, roomtest.At(now, 0))
			}
			view, of := &page.View{}, page.Host{}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Step(room.Order{Credential: "secret", Action: room.Lock{Locked: i%2 == 0}}, roomtest.At(now, 0))
				next, err := view.Next(r, of)
				if err != nil || next == view {
					b.Fatalf("the view is not new, %v", err)
				}
				view = next
			}
			b.ReportMetric(float64(len(view.News(0, "").Data)), "bytes")
		})
	}
}

// BenchmarkIdleTick measures a tick of an idle room.
func BenchmarkIdleTick(b *testing.B) {
	r, now := benchRoom(b, 8), time.Unix(1_800_000_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		r.Step(room.Tick{}, roomtest.At(now, 0))
		r.Revision()
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, members := range []int{8, 64} {
		b.Run(strconv.Itoa(members), func(b *testing.B) {
			r, now := benchRoom(b, members), time.Unix(1_800_000_000, 0)
			r.Step(room.Proceed{}, roomtest.At(now, 0))
			for b.Loop() {
				r.Step(room.Order{Credential: "secret", Action: room.WhatIf(`{"by":"mean"}`)}, roomtest.At(now, 0))
			}
		})
	}
}

func BenchmarkRoomSave(b *testing.B) {
	for _, members := range []int{8, 64} {
		b.Run(strconv.Itoa(members), func(b *testing.B) {
			r := benchRoom(b, members)
			var data []byte
			b.ReportAllocs()
			for b.Loop() {
				data, _ = r.Save()
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run(strconv.Itoa(members)+"-stored", func(b *testing.B) {
			r := benchRoom(b, members)
			store := open(b, filepath.Join(b.TempDir(), "rooms.db"))
			defer store.Close()
			claim, err := store.Create(b.Context(), r.Keys().Code, "", nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				data, _ := r.Save()
				if err := claim.Save(b.Context(), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
