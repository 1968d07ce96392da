package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/host/wire"
	"muster/internal/cli"
	"muster/selection"
)

// opener replaces the desktop's program for opening pages. It returns the file that lists them,
// one a line.
func opener(t *testing.T) (opened string) {
	t.Helper()
	folder := t.TempDir()
	opened = filepath.Join(folder, "opened")
	script := "#!/bin/sh\necho \"$1\" >>" + opened + "\n"
	if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":99")
	t.Setenv("SSH_CONNECTION", "")
	return opened
}

// TestHomeInvited checks that the running Home asks about a muster:// link that the system opens.
// Hostile text stays text, a no does nothing, and a yes joins.
func TestHomeInvited(t *testing.T) {
	h := startHome(t, 20)
	rooms, url := newService(t)
	code, _, err := rooms.Open(wire.Settings{Game: "myarena", By: selection.Mean, Strategy: wire.Coordinated})
	if err != nil {
		t.Fatal(err)
	}
	opened := opener(t)
	clicks := func(link string) {
		t.Helper()
		if code := cli.Run(t.Context(), []string{"open", link},
			cli.Streams{In: strings.NewReader(""), Out: testWriter{t}, Err: testWriter{t}}); code != 0 {
			t.Fatalf("opening %.100q: exit status %d", link, code)
		}
	}
	b := browseHome(t, h, wide)
	b.run(`window.open = (to) => { window.wentTo = to; return null; }`)

	clicks(`muster://join/http/<img src=x onerror="document.title='owned'">` + "\u202e\x1b[31m" + `/TABOMI`)
	b.sees("#questions", "leads nowhere")
	b.shoot("home-invited-wrong", few(2, everyHome...)...)
	if eval[bool](b, `!!document.querySelector("#questions img, #questions .primary") || document.title === "owned"`) {
		t.Error("a hostile link is more than text")
	}
	b.click(`#questions [data-action="decline"]`)
	b.until("it is gone", func() bool { return eval[bool](b, `document.querySelector("#questions").hidden`) })

	long := strings.Repeat("a-very-long-label.", 14) + "example"
	clicks("muster://join/http/" + long + "/TABOMI")
	b.sees("#questions", "A link wants to take you into a room. Join it?")
	b.sees("#questions", "example:80")
	b.shoot("home-invited-long", few(2, everyHome...)...)
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("a long name makes the page wider than the screen")
	}
	b.click(`#questions [data-action="decline"]`)

	at := strings.TrimPrefix(url, "http://")
	clicks("muster://join/http/" + at + "/" + code + "_" + rooms.Keys(code).Link)
	b.sees("#questions", at)
	b.shoot("home-invited", few(2, everyHome...)...)
	if !strings.Contains(eval[string](b, "document.title"), "Join this room?") {
		t.Errorf("the tab is called %q", eval[string](b, "document.title"))
	}
	b.sets(".invited input", "zoe")
	b.until("a yes joins", func() bool {
		b.run(`document.querySelector(".invited .primary")?.click()`) // a click right after the page appears does not count
		room, _ := rooms.Room(code)
		return len(room.Players()) == 1 && room.Players()[0].Name == "zoe"
	})
	b.sees("#now", "You’re in a room")
	if went := eval[string](b, "window.wentTo"); went != "/room?after=0" {
		t.Errorf("the room's page does not open: %q", went)
	}

	clicks("muster://join/http/127.0.0.1:1/BAKODI")
	b.sees("#questions", "You’ll leave the room you’re in.")
	b.shoot("home-invited-away", wide, narrow)
	b.click(`#questions [data-action="decline"]`)
	b.until("it is gone", func() bool { return eval[bool](b, `document.querySelector("#questions").hidden`) })
	if room, _ := rooms.Room(code); len(room.Players()) != 1 {
		t.Error("a no has the player leave")
	}
	text, err := os.ReadFile(opened)
	base, _, _ := strings.Cut(h.link, "/?")
	if err != nil || strings.Count(string(text), base+"/open/") != 4 || strings.Count(string(text), "\n") != 4 {
		t.Errorf("the browser is shown\n%s%v", text, err)
	}
	b.click(`[data-action="leave-room"]`)
	b.until("the player has left", func() bool { return !eval[bool](b, "home.state().room.running") })
}
