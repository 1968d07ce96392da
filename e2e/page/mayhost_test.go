//go:build linux

package page_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/beacon"
	"muster/host"
	"muster/host/wire"
	"muster/selection"
	"muster/web"
)

// TestHomeMayHost checks "My computer may host" on Home. With a tick, this computer answers as a
// beacon while its player is in a room, whether they opened or joined it. The room's page lists it
// among the places. Without a tick neither happens. The tick is remembered.
func TestHomeMayHost(t *testing.T) {
	atNight(t)
	if !alone(t) {
		return
	}
	atHome(t)
	h := startHome(t, 60)
	b := browseHome(t, h, wide)
	goes := func() *browser {
		t.Helper()
		page := h.roomPage()
		page.until("everybody is sent there", func() bool { return eval[string](page, "window.muster?.live.state?.room?.stage ?? ''") == "launching" })
		return page
	}

	b.opensRoom(func() { b.sets("#players", "1") })
	const listed = `(muster.live.state.room.candidates ?? []).includes("ann's computer")`
	if page := goes(); eval[bool](page, listed) || answersAsBeacon(t) {
		t.Error("a computer is listed whose player has not said that it may host")
	}
	b.closesRoom()

	b.opensRoom(func() {
		b.sets("#players", "1")
		b.sees("#more", "My computer may host")
		b.click("#play-form input[name=can-host]")
	})
	if page := goes(); !eval[bool](page, listed) || eval[bool](page, "!!muster.live.state.places") {
		t.Error("ann's computer is no place, or measured although a server suits")
	}
	if !answersAsBeacon(t) {
		t.Error("nothing answers at the port that the others ask")
	}
	b.closesRoom()
	if answersAsBeacon(t) {
		t.Error("it answers although the player has left")
	}

	b.run(`location.hash = "#join"`)
	b.sees("h1", "Join")
	if !eval[bool](b, `document.querySelector("#join-form input[name=can-host]").checked`) {
		t.Error("what was ticked is forgotten")
	}
	rooms, code := openRoom(t, ":7790")
	b.sets("#link", "http://192.168.7.2:7790/#"+code+"_"+rooms.Keys(code).Link)
	b.click("#join-form button.primary")
	b.sees("#now", "You’re in a room")
	friends := browse(t, "http://127.0.0.1:7790/#"+code+"_"+rooms.Keys(code).Link, wide)
	friends.sees("#stage h1", "ann's computer") // no server answers, so the room has looked for a place
	b.shootHome("home-may-host")
	friends.shoot("may-host", narrow, wideDark)
}

// TestHomeBeaconBehindRouter checks Home when this computer answers measurements behind a router.
// The person says whether the router may forward them; the default is the earlier answer about the
// router. With a yes, the line for friends has the router's address and not a local one.
func TestHomeBeaconBehindRouter(t *testing.T) {
	atNight(t)
	if !alone(t) {
		return
	}
	atHome(t, "addr add 192.168.7.1/32 dev lo")
	asked := router(t, "192.168.7.1:5351", netip.MustParseAddrPort("5.6.7.8:40001"))
	h := startHome(t, 5)
	b := browseHome(t, h, wide)
	const box = `document.querySelector("#beacon-map").checked`
	answers := func() {
		t.Helper()
		b.sets("#beacon-port", "7787")
		b.click("#beacon-form button")
		b.sees("#beacon-now", "0 pings answered")
	}
	b.run(`location.hash = "#computer"`)
	b.until("what is kept shows", func() bool { return eval[string](b, `document.querySelector("#set-port_map")?.value ?? ""`) == "false" })
	if eval[bool](b, box) {
		t.Error("the router would be asked, which is to be left alone")
	}
	answers()
	b.sees("#beacon-now", "192.168.7.2:7787")
	b.sees("#beacon-now", "have the router pass on UDP port 7787")
	b.click(`[data-action="end-beacon"]`)
	b.sees("#beacon-now", "Stopped")
	if n := asked.Load(); n > 0 {
		t.Errorf("the router was asked %d times", n)
	}
	b.click("#beacon-map")
	answers()
	b.sees("#beacon-now .beacon-line", "Our place, 5.6.7.8:40001")
	b.sees("#beacon-now", "the router forwards UDP port 40001 to 7787 here (PCP)")
	if said := b.reads("#beacon-now"); strings.Contains(said, "have the router pass on") {
		t.Errorf("who has had the router pass it on is told to do so: %q", said)
	}
	b.shootHome("home-beacon-router")
	b.click(`[data-action="end-beacon"]`)
	b.sees("#beacon-now", "Stopped")
	b.run(`document.querySelector("#beacon-map").checked = false`)
	b.sets("#set-port_map", "true")
	b.until("the choice follows what is kept", func() bool { return eval[bool](b, box) })
}

// atHome gives a namespace a household's network card, which leads nowhere, and runs further ip
// commands.
func atHome(t *testing.T, more ...string) {
	t.Helper()
	for _, command := range append(
		[]string{"link add lan0 type veth peer name nobody0", "addr add 192.168.7.2/24 dev lan0", "link set lan0 up",
			"link set nobody0 up", "route add default dev lan0"}, more...) {
		if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", command, err, out)
		}
	}
}

// router answers by PCP (RFC 6887) that it has opened a port, always the same one. It counts the
// requests.
func router(t *testing.T, at string, outside netip.AddrPort) (asked *atomic.Int32) {
	t.Helper()
	conn, err := net.ListenPacket("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	asked = &atomic.Int32{}
	go func() {
		b := make([]byte, 1100)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			asked.Add(1)
			if n < 60 {
				continue
			}
			b[1] |= 0x80 // an answer; version, lifetime, nonce, protocol and inner port stay
			b[3] = 0     // success
			binary.BigEndian.PutUint16(b[42:], outside.Port())
			address := outside.Addr().As16()
			copy(b[44:], address[:])
			conn.WriteTo(b[:60], from)
		}
	}()
	return asked
}

// openRoom opens a room on a host without a player of its own. Its game's only server is gone.
func openRoom(t *testing.T, at string) (rooms *host.Host, code string) {
	t.Helper()
	gone := []discovery.Server{{Addr: netip.MustParseAddrPort("192.168.7.2:1")}}
	rooms, err := host.New(host.Config{
		Page: web.Handler(),
		List: func(context.Context, string) ([]discovery.Server, error) { return gone, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: rooms.Handler()}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, err = rooms.Open(wire.Settings{Game: "myarena", By: selection.Mean, Strategy: wire.Coordinated, Players: 1})
	if err != nil {
		t.Fatal(err)
	}
	return rooms, code
}

// answersAsBeacon reports whether a beacon answers here at the usual port. If nothing listens, an
// ICMP error comes at once, so only a silent beacon makes it wait.
func answersAsBeacon(t *testing.T) bool {
	t.Helper()
	asker, err := net.Dial("udp", "192.168.7.2:7787")
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	asker.SetDeadline(time.Now().Add(time.Minute))
	asker.Write(beacon.Protocol{}.AppendQuery(nil, 7, nil))
	answer := make([]byte, 100)
	n, err := asker.Read(answer)
	if err != nil {
		return false
	}
	reply, err := (beacon.Protocol{}).Parse([][]byte{answer[:n]})
	return err == nil && reply.Answers(7)
}
