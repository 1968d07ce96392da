//go:build linux

package lan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/lists/lan"
	"muster/internal/await"
)

// TestAvahi checks that another mDNS program sees a room come, change and go. What it
// announces itself is a room only if it is one.
func TestAvahi(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	host := newMachine(t).plug(n, "eth0", "10.7.0.1/24").gateway("10.7.0.254")
	other := newMachine(t).plug(n, "eth0", "10.7.0.2/24").gateway("10.7.0.254")
	env := other.avahi()
	seen := other.start(env, "avahi-browse", "-rp", "_muster._tcp")

	room := host.role("announce")
	room.room(friday)
	line := seen.line("the room", func(s string) bool {
		return strings.HasPrefix(s, "=;eth0;IPv4;") && strings.Contains(s, `"name=Friday night"`)
	})
	for _, want := range []string{";_muster._tcp;local;", ";10.7.0.1;7777;", `"v=1"`, `"game=openarena"`, `"by=Ann"`,
		`"players=1"`, `"seats=4"`} {
		if !strings.Contains(line, want) {
			t.Errorf("avahi shows %s, without %s", line, want)
		}
	}
	fuller := friday
	fuller.Players = 3
	room.room(fuller)
	resolve := func() string {
		return run(t, "ip", "netns", "exec", other.name, "env", env[0], "avahi-browse", "-rtp", "_muster._tcp")
	}
	await.Until(t, func() bool { return strings.Contains(resolve(), `"players=3"`) }, "avahi does not show the change")
	if out := resolve(); strings.Contains(out, `"players=1"`) {
		t.Errorf("avahi shows what has changed:\n%s", out)
	}

	peer := host.role("browse")
	peer.sees("the room", one("Friday night"))
	publish := func(on *machine, env []string, name, kind string, txt ...string) {
		on.startMerged(env, "avahi-publish", append([]string{"-s", name, kind, "9999"}, txt...)...).
			line("that it is published", func(s string) bool { return strings.HasPrefix(s, "Established") })
	}
	publish(other, env, "Printer", "_ipp._tcp", "v=1", "id=abcdef", "name=Printer", "players=1")
	publish(other, env, "Tomorrow", "_muster._tcp", "v=2", "id=abcdef", "name=Tomorrow")
	publish(other, env, "Nameless", "_muster._tcp")
	// Avahi answers with all its services in one packet, and the DNS library delivers
	// only one of them. Muster's hosts send a packet for each room.
	third := newMachine(t).plug(n, "eth0", "10.7.0.3/24").gateway("10.7.0.254")
	publish(third, third.avahi(), `Evil. \ "Name`, "_muster._tcp", "v=1", "id=abcd",
		"name=\x1b[31mred\u202e\xff\n"+strings.Repeat("x", 200), "players=2", "seats=99")
	red := "[31mred " + strings.Repeat("x", 92)
	l := peer.sees("another's room, cleaned", func(l look) bool {
		for _, f := range l.Rooms {
			if f.Name != friday.Name && f.Name != red {
				t.Errorf("%+v is taken for a room", f)
			}
		}
		return slices.ContainsFunc(l.Rooms, func(f lan.Found) bool { return f.Name == red })
	})
	if i := slices.IndexFunc(l.Rooms, func(f lan.Found) bool { return f.Name == red }); l.Rooms[i].Port != 9999 || l.Rooms[i].Seats != 99 {
		t.Errorf("found %+v", l.Rooms[i])
	}

	closed := time.Now()
	room.end()
	seen.line("that the room has closed", func(s string) bool { return strings.HasPrefix(s, "-;eth0;IPv4;") })
	t.Logf("avahi takes the room out after %v", time.Since(closed).Round(time.Millisecond))
	if out := resolve(); strings.Contains(out, "Friday") {
		t.Errorf("avahi still shows\n%s", out)
	}
	peer.sees("the other room alone", one(red))
	peer.end()
}

// TestSameMachineAsAvahi checks two mDNS programs that share a machine's port.
func TestSameMachineAsAvahi(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	host := newMachine(t).plug(n, "eth0", "10.7.0.1/24").gateway("10.7.0.254")
	seen := host.start(host.avahi(), "avahi-browse", "-rp", "_muster._tcp")
	room := host.role("announce")
	room.room(friday)
	seen.line("the room", func(s string) bool { return strings.HasPrefix(s, "=;eth0;") && strings.Contains(s, "Friday") })
	room.end()
	seen.line("that the room has closed", func(s string) bool { return strings.HasPrefix(s, "-;eth0;") })
}
