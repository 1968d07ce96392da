//go:build linux

package page_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"muster/host"
	"muster/host/access"
	"muster/host/wire"
	"muster/peer"
	"muster/selection"
	"muster/web"
)

// TestHomeAsksForTheRouter checks a room on a computer that friends elsewhere cannot reach. Home
// asks once whether the router may let them in. The room does not wait for the answer, which is
// kept and can be changed.
func TestHomeAsksForTheRouter(t *testing.T) {
	if !alone(t) {
		return
	}
	for _, command := range []string{"link add lan0 type veth peer name nobody0", "link set lan0 addrgenmode none",
		"link set nobody0 addrgenmode none", "addr add 192.168.7.2/24 dev lan0", "link set lan0 up",
		"link set nobody0 up", "route add default dev lan0"} {
		if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", command, err, out)
		}
	}
	h := startHomeSet(t, 20, "lan = \"off\"\nrate = 2000\nname = \"ann\"\n")
	said := func() string {
		text, err := os.ReadFile(filepath.Join(xdg.ConfigHome, "muster", "config.toml"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	b := browseHome(t, h, wide)
	const question = "May Muster ask your router to let friends in"
	b.opensRoom(nil)
	b.sees("#questions", question)
	b.shoot("home-router", few(2, everyHome...)...)
	b.click(`#questions [value="n"]`)
	b.until("the answer is kept", func() bool { return strings.Contains(said(), "port_map = false") })
	b.until("and said", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("Muster leaves the router alone"))`)
	})
	if lines := eval[string](b, `home.state().room.lines.join("\n")`); !strings.Contains(lines, "--public-url URL") ||
		strings.Contains(lines, "asking the router") {
		t.Errorf("Home says\n%s", lines)
	}
	b.closesRoom()

	b.opensRoom(nil)
	b.until("the ways out are told", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("--public-url URL"))`)
	})
	if eval[bool](b, `home.state().questions.length > 0`) {
		t.Error("it asks again")
	}
	b.closesRoom()

	b.run(`location.hash = "#computer"`)
	b.sees("#settings", "Your router")
	b.until("what is kept shows", func() bool { return eval[string](b, `document.querySelector("#set-port_map")?.value ?? ""`) == "false" })
	b.sets("#set-port_map", "")
	b.sees("#set-port_map-said", "Saved")
	if strings.Contains(said(), "port_map") {
		t.Errorf("config.toml is\n%s", said())
	}

	b.run(`location.hash = "#join"`)
	b.sees("#join-form", "My computer may host")
	b.click("#join-form input[name=can-host]")
	b.opensRoom(nil)
	b.sees("#questions", question)
	const vain = `home.state().room.lines.some((line) => line.includes("no router here opens UDP port 7787"))`
	if eval[bool](b, vain) {
		t.Error("the router is asked for the beacon's port before anybody has said yes")
	}
	b.click(`#questions [value="y"]`)
	b.until("it is asked in this very room", func() bool { return eval[bool](b, vain) })
	b.closesRoom()
}

// TestLinkForTheInternet checks that the organiser's page has the link for friends elsewhere once
// the router lets them in.
func TestLinkForTheInternet(t *testing.T) {
	atNight(t)
	rooms, err := host.New(host.Config{
		Page:    web.Handler(),
		Address: "192.168.7.2:7777",
		Outside: func(key access.Key) string { return "http://5.6.7.8:7777/#" + key.String() },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, secret, err := rooms.Open(wire.Settings{Game: "openarena", By: selection.Mean, Strategy: wire.Coordinated})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() {
		played <- peer.Run(ctx, peer.Options{
			URL:  "ws" + strings.TrimPrefix(server.URL, "http") + "/peer",
			Code: code,
			Key:  rooms.Keys(code).Link,
			As:   secret,
			Name: "ann",
		})
	}()
	t.Cleanup(func() { cancel(); <-played })
	b := browse(t, server.URL+"/#"+access.Key{Code: code, Link: rooms.Keys(code).Link, Secret: secret}.String(), desktop)
	b.sees("#invite", "Friends on the internet get in through your router")
	if link := eval[string](b, `document.querySelector("#outside-link").innerText || document.querySelector("#outside-link").value`); !strings.HasPrefix(link, "http://5.6.7.8:7777/#"+code+"_") {
		t.Errorf("the link is %s", link)
	}
	b.shoot("outside", desktop, laptop, phone, couch)
}
