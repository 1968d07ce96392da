//go:build linux

package program_test

import (
	"bytes"
	le "encoding/binary"
	"flag"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/freeport"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/peer/delayed"
	"muster/selection/even"
	"muster/selection/rules"
)

var evenFor = flag.Duration("even-for", 4*time.Second, "how long TestEvenSides plays")

const oob = "\xff\xff\xff\xff"

// ask sends a packet without a connection until an answer comes that begins as the answers to this
// question do. It returns what follows that, and how long it took.
func ask(t *testing.T, conn *net.UDPConn, to netip.AddrPort, question, begins string) (answer string, took time.Duration) {
	t.Helper()
	b := make([]byte, 1<<16)
	began := time.Now()
	eventually(t, fmt.Sprintf("%v answers %q", to, question), func() bool {
		_, _ = conn.WriteToUDPAddrPort([]byte(oob+question), to)
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		for {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return false
			}
			if said, ok := strings.CutPrefix(string(b[:n]), oob+begins); ok && from == to {
				answer, took = said, time.Since(began)
				return true
			}
			t.Logf("after %q comes %q from %v", question, b[:n], from) // to an earlier question, or a refusal
		}
	})
	return answer, took
}

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// lineTo opens a delay line that must have nothing to tell.
func lineTo(t *testing.T, server netip.AddrPort, by time.Duration) *delayed.Line {
	t.Helper()
	line, err := delayed.Open(server, func(s sentence.Sentence) { t.Errorf("the line tells of %s %s", s.Key, s.With) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = line.Close() })
	line.SetDelay(by)
	return line
}

// TestDelayLine plays on real servers through a delay line: the server's status shows the longer ping.
// Without the line the game gets there at once by the server's own address. It plays until the pings are
// right, because a busy machine makes them longer, and shorter if the server's own clock is late.
func TestDelayLine(t *testing.T) {
	t.Parallel()
	const by = 80 * time.Millisecond
	for name, game := range map[string]struct {
		start func(*testing.T) netip.AddrPort
		play  func(t *testing.T, by, server netip.AddrPort, name string) (ping time.Duration)
	}{"MVDSV": {mvdsv, playQuakeWorld}, "DarkPlaces": {darkPlaces, playDarkPlaces}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eventually(t, fmt.Sprintf("a line of %v raises the status' ping by that", by), func() bool {
				at := game.start(t)
				direct := game.play(t, at, at, "direct")
				line := lineTo(t, at, by)
				through := game.play(t, line.Addr(), at, "anna")
				if err := line.Close(); err != nil {
					t.Fatal(err)
				}
				again := game.play(t, at, at, "again")
				t.Logf("pings: %v, %v through the line, and %v after it", direct, through, again)
				raised := through - min(direct, again)
				return raised >= by-10*time.Millisecond && raised <= by+15*time.Millisecond && again <= direct+15*time.Millisecond
			})
		})
	}
	t.Run("ioquake3", func(t *testing.T) {
		t.Parallel()
		at := netip.MustParseAddrPort(freeport.UDP(t))
		dir := t.TempDir()
		start(t, "ioq3ded", exec.Command("/usr/lib/ioquake3/ioq3ded", "+set", "com_basegame", "baseoa", "+set", "fs_basepath", "/usr/lib/openarena-server",
			"+set", "fs_homepath", dir, "+set", "com_homepath", "home", "+set", "com_legacyprotocol", "71", "+set", "com_protocol", "71",
			"+set", "cl_motd", "0", "+set", "ttycon", "0", "+set", "dedicated", "1", "+set", "net_enabled", "1", "+set", "net_ip", "127.0.0.1",
			"+set", "net_port", fmt.Sprint(at.Port()), "+set", "sv_master1", "", "+set", "sv_master2", "", "+set", "com_hunkMegs", "64", "+map", "oa_dm1"))
		game := socket(t)
		answer, _ := ask(t, game, at, "getinfo xyz", "infoResponse\n")
		line := lineTo(t, at, by)
		through, took := ask(t, game, line.Addr(), "getinfo xyz", "infoResponse\n")
		if through != answer || took < by {
			t.Errorf("through the line comes %q after %v, directly %q", through, took, answer)
		}
		ask(t, game, line.Addr(), "getchallenge 7 Quake3Arena", "challengeResponse ") // what a game that connects is told
	})
}

func mvdsv(t *testing.T) netip.AddrPort {
	t.Helper()
	at := netip.MustParseAddrPort(freeport.UDP(t))
	start(t, "mvdsv", quakeWorld(t, t.TempDir(), at))
	ask(t, socket(t), at, "status 23\n", "n")
	return at
}

func playQuakeWorld(t *testing.T, by, server netip.AddrPort, name string) time.Duration {
	t.Helper()
	return playQuakeWorldUntil(t, by, server, name, func() {})
}

// playQuakeWorldUntil connects a game to a server by an address, and plays for some seconds, 60 packets a
// second. It returns the ping that the server's status lists then. Last is called before the game leaves.
func playQuakeWorldUntil(t *testing.T, by, server netip.AddrPort, name string, last func()) time.Duration {
	t.Helper()
	game, window := socket(t), socket(t)
	said, _ := ask(t, game, by, "getchallenge\n", "c")
	challenge := strings.TrimRight(said, "\x00\n")
	qport := uint16(game.LocalAddr().(*net.UDPAddr).Port) // tells games of one address apart
	connect := fmt.Sprintf("connect 28 %d %s \"\\name\\%s\\rate\\25000\\topcolor\\0\\bottomcolor\\0\"\n", qport, challenge, name)
	ask(t, game, by, connect, "j")
	var mu sync.Mutex
	sequence, acknowledged, reliable, spawns := uint32(0), uint32(0), uint32(0), ""
	over := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { _ = game.Close(); <-over }))
	serverData := []byte{11, 28, 0, 0, 0} // svc_serverdata of protocol 28; the number that begin names follows
	go func() {                           // of what the server sends nothing else is read
		defer close(over)
		_ = game.SetReadDeadline(time.Time{})
		for b := make([]byte, 1<<16); ; {
			n, err := game.Read(b)
			if err != nil {
				return
			}
			if n < 8 || bytes.HasPrefix(b, []byte(oob)) {
				continue
			}
			mu.Lock()
			if at := le.LittleEndian.Uint32(b); at&^(1<<31) > acknowledged&^(1<<31) {
				acknowledged = at &^ (1 << 31)
				reliable ^= at & (1 << 31)
			}
			if at := bytes.Index(b[:n-4], serverData); at >= 0 {
				spawns = fmt.Sprint(int32(le.LittleEndian.Uint32(b[at+len(serverData):])))
			}
			mu.Unlock()
		}
	}()
	ping, looks := time.Duration(0), 0
	eventually(t, name+" has a ping in the status", func() bool {
		for i := range 15 {
			mu.Lock()
			says := "\x01" // clc_nop
			switch {
			case i > 0:
			case spawns == "":
				says = "\x04pext\x00\x04new\x00" // a game without extensions
			case ping == 0:
				says = "\x04begin " + spawns + "\x00\x04setinfo name " + name + "\x00"
			}
			sequence++
			b := le.LittleEndian.AppendUint32(nil, sequence)
			b = le.LittleEndian.AppendUint32(b, acknowledged|reliable)
			mu.Unlock()
			if _, err := game.WriteToUDPAddrPort(append(le.LittleEndian.AppendUint16(b, qport), says...), by); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second / 60)
		}
		status, _ := ask(t, window, server, "status 23\n", "n")
		for line := range strings.Lines(status) { // id, frags, minutes, ping, "name"
			var id, frags, minutes, ms int
			if _, err := fmt.Sscan(line, &id, &frags, &minutes, &ms); err == nil && strings.Contains(line, `"`+name+`"`) {
				ping = time.Duration(ms) * time.Millisecond
				looks++
			}
		}
		return looks > 4 // the server averages over 64 packets
	})
	last()
	b := le.LittleEndian.AppendUint32(le.LittleEndian.AppendUint32(nil, sequence+1), acknowledged|reliable)
	_, _ = game.WriteToUDPAddrPort(append(le.LittleEndian.AppendUint16(b, qport), "\x04drop\x00"...), by)
	return ping
}

// TestKilledInEvenPlay kills the program of a player whose game it delays. The game loses its line, and
// gets to the server at once by the server's own address.
func TestKilledInEvenPlay(t *testing.T) {
	t.Parallel()
	const away = 60 * time.Millisecond
	server, by := mvdsv(t), netip.MustParseAddrPort(freeport.UDP(t))
	startRelay(t, relay{addr: by, server: server, delays: map[netip.Addr]time.Duration{source(1): away}})
	at, dir := freeport.TCP(t), t.TempDir()
	host := run(t, t.TempDir(), "host", "host", "--game", "quakeworld", "--servers", writeFile(t, "servers.txt", by.String()+"\n"),
		"--listen", at, "--no-play", "--no-mdns", "--no-browser", "--match", "bo1")
	link := host.awaits(`(?m)^link +(\S+)$`)[1]
	code := host.awaits(`(?m)^code +(\w+)$`)[1]
	personal := regexp.QuoteMeta(code) + `\S*\.(\w+)`
	organiser := &minimalRoom{T: t, at: at, code: code, secret: host.awaits(personal)[1]}
	script := writeFile(t, "game.sh", "#!/bin/sh\necho \"$2\" >\"$1\"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	programs := map[string]*process{}
	for i, name := range []string{"ann", "emil"} {
		programs[name] = run(t, t.TempDir(), name, "join", link, "--name", name, "--side", []string{"a", "b"}[i], "--listen-addr", source(i).String(),
			"--launch", "auto", "--launch-command", script+" "+filepath.Join(dir, name)+" {address}", "--no-browser")
		captain := &minimalRoom{T: t, at: at, code: code, secret: programs[name].awaits(personal)[1]}
		awaitRoom(t, at, code, name+" can delay", func(r wire.Document) bool { return len(r.Members) == i+1 })
		captain.order("even", map[string]bool{"on": true})
	}
	organiser.order("go", nil)
	eventually(t, "ann's game is started", func() bool { return readFile(filepath.Join(dir, "ann")) != "" })
	eventually(t, "emil's game is started", func() bool { return readFile(filepath.Join(dir, "emil")) != "" })
	line, err := netip.ParseAddrPort(readFile(filepath.Join(dir, "ann")))
	if direct := readFile(filepath.Join(dir, "emil")); err != nil || line == by || direct != by.String() {
		t.Fatalf("the games are started with %v, %v and %s, and the server is at %v", line, err, direct, by)
	}
	through := playQuakeWorldUntil(t, line, server, "anna", func() { programs["ann"].stop(syscall.SIGKILL) })
	if direct := playQuakeWorld(t, by, server, "again"); through-direct < away/2 { // on a busy machine both are longer
		t.Errorf("the game plays at %v, and at %v without the program", through, direct)
	}
}

// TestEvenSides plays five against five, 20 and 80 ms from the server, 60 packets a second each way. The
// nearer side plays through delay lines, by the delays of package even. The sides' pings, second by
// second, are within 5 ms in 95 of 100, or in half of a short test.
//
//	go -C e2e test ./program -run TestEvenSides -v -timeout 0 -even-for 30m
func TestEvenSides(t *testing.T) {
	const each, rate, within = 5, 60, 5 * time.Millisecond
	sides := []struct {
		away time.Duration
		side rules.Side
	}{{20 * time.Millisecond, rules.SideA}, {80 * time.Millisecond, rules.SideB}}
	var players []even.Player
	for _, s := range sides {
		for range each {
			players = append(players, even.Player{PingMS: float64(s.away.Milliseconds()), Side: s.side})
		}
	}
	delays := even.Delays(players)
	seconds := int(*evenFor / time.Second)
	pings := make([][2][]time.Duration, seconds)
	var mu sync.Mutex
	sent, lost := 0, 0
	var work sync.WaitGroup
	began := time.Now().Add(100 * time.Millisecond)
	for i, s := range sides {
		at := fleetAway(t, s.away)
		for j := range each {
			to := at
			if by := delays[i*each+j].Sides; by > 0 {
				to = lineTo(t, at, time.Duration(by)*time.Millisecond).Addr()
			}
			game := socket(t)
			stamps := make([]time.Time, seconds*rate)
			work.Go(func() {
				for n := range stamps {
					time.Sleep(time.Until(began.Add(time.Duration(n)*time.Second/rate + time.Duration(j)*3*time.Millisecond)))
					mu.Lock()
					stamps[n] = time.Now()
					mu.Unlock()
					_, _ = game.WriteToUDPAddrPort(quake3.Protocol{}.AppendQuery(nil, discovery.Nonce(n+1), nil), to)
				}
			})
			work.Go(func() {
				_ = game.SetReadDeadline(began.Add(*evenFor + 5*time.Second))
				b := make([]byte, 1<<16)
				for heard := 0; heard < len(stamps); heard++ {
					size, err := game.Read(b)
					if err != nil {
						mu.Lock()
						lost += len(stamps) - heard
						mu.Unlock()
						return
					}
					now := time.Now()
					reply, err := quake3.Protocol{}.Parse([][]byte{b[:size]})
					n := int(reply.Nonce) - 1
					if err != nil || n < 0 || n >= len(stamps) {
						t.Errorf("an answer %q: %v", b[:size], err)
						return
					}
					mu.Lock()
					pings[n/rate][i] = append(pings[n/rate][i], now.Sub(stamps[n]))
					mu.Unlock()
				}
			})
			sent += len(stamps)
		}
	}
	work.Wait()
	var apart []time.Duration
	for _, second := range pings {
		var ping [2]time.Duration // medians: the fleet lets some packets come late, as the internet does
		for i := range second {
			if len(second[i]) == 0 {
				t.Fatal("in one second nothing came back")
			}
			slices.Sort(second[i])
			ping[i] = second[i][len(second[i])/2]
		}
		apart = append(apart, (ping[0] - ping[1]).Abs())
	}
	slices.Sort(apart)
	at := func(share float64) time.Duration { return apart[int(math.Ceil(share*float64(len(apart))))-1] }
	t.Logf("%d seconds: the sides are apart by p50 %v, p95 %v; of %d packets %d are lost", len(apart), at(.5), at(.95), sent, lost)
	share := .95
	if *evenFor < time.Minute {
		share = .5 // a busy machine may take a second from a few
	}
	if at(share) > within || lost > 0 {
		t.Error("that is not even")
	}
}

// fleetAway starts a server that is so far away.
func fleetAway(t *testing.T, away time.Duration) netip.AddrPort {
	t.Helper()
	servers := []sim.Server{{Server: discovery.Server{Addr: netip.MustParseAddrPort("192.0.2.1:27960")}}}
	f, err := fleet.Start(t.Context(), fleet.Options{
		World: sim.NewWorld(1, []sim.Place{{Name: "here"}}, servers, func(int, int) time.Duration { return away }), Kind: fleet.Quake3, OneAddress: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f.Servers()[0].Addr
}
