//go:build unix

package game

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/await"
)

var venue = Venue{Place: "New York", Address: netip.MustParseAddrPort("192.0.2.7:27960"), Room: "BAKODI", Game: "openarena", Players: 4}

func hook(t *testing.T, script string, args string) Hook {
	t.Helper()
	file := filepath.Join(t.TempDir(), "start")
	syscall.ForkLock.RLock() // a process that another test starts meanwhile would hold the file open: nobody could run it
	err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHook("'" + file + "' " + args)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHookFill checks that each value stays one argument, that an argument without a value disappears with its option,
// and that no shell sees anything.
func TestHookFill(t *testing.T) {
	h, err := NewHook("start --in {place} --map {map} --at={host}:{port} {address} {room} {game} {players} '$(reboot) ; x'")
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.Fill(venue)
	if want := []string{"start", "--in", "New York", "--at=192.0.2.7:27960", "192.0.2.7:27960", "BAKODI", "openarena",
		"4", "$(reboot) ; x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"", "start {password}", "start 'x", "{map}x{"} {
		if _, err := NewHook(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	for _, text := range []string{`a"; rm -rf x`, "x & reboot", "x|sh", "x<y", "x>y", "$(reboot)", "`reboot`",
		"x\nreboot", "*", "~root", "-oProxyCommand=reboot", "#", "(x)", "!1"} {
		for what, set := range map[string]func(*Venue){"place": func(v *Venue) {
			v.Place = text
		}, "map": func(v *Venue) { v.Map = text }, "room": func(v *Venue) { v.Room = text }, "game": func(v *Venue) { v.Game = text }} {
			hostile := venue
			set(&hostile)
			if got, err := h.Fill(hostile); err == nil && what != "place" || err == nil && slices.Contains(got, text) {
				t.Errorf("the %s %q gives %q", what, text, got)
			}
		}
	}
	for _, code := range []string{"BAKODI reboot", " ", "BAKODI\u00a0"} {
		hostile := venue
		hostile.Room = code
		if got, err := h.Fill(hostile); err == nil {
			t.Errorf("the room %q gives %q", code, got)
		}
	}
	// An unused placeholder needs no safe value, and names may be written as people write them.
	h, _ = NewHook("start {map}")
	odd := venue
	odd.Place, odd.Map = "(x)", "ctf/Zürich_2-b.v1"
	if got, err := h.Fill(odd); err != nil || !slices.Equal(got, []string{"start", odd.Map}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestHookLeavesOthersAlone checks that a hook notices when its group has ended by itself. It then sends no signals to
// the group's number, which may belong to others.
func TestHookLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	r, err := hook(t, "sleep 0.2 >/dev/null 2>&1 &", "").Start(t.Context(), venue)
	if err != nil {
		t.Fatal(err)
	}
	<-r.Ended()
	select {
	case <-r.left:
	case <-time.After(time.Minute):
		t.Fatal("nobody notices that the group has ended")
	}
	other := exec.Command("sleep", "600") // reuses the number
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	r.cmd.Process = other.Process
	r.Stop()
	if err := syscall.Kill(other.Process.Pid, syscall.SIGKILL); err != nil {
		t.Errorf("it was ended: %v", err)
	}
	if err := other.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended with %v", err)
	}
}

// TestHookFails checks that a failed command's error contains its last words, cleaned and bounded.
func TestHookFails(t *testing.T) {
	r, err := hook(t, `i=0; while [ $i -lt 3000 ]; do echo "line $i" >&2; i=$((i+1)); done; printf 'no \033[31mmoney\n' >&2; exit 7`, "").Start(t.Context(), venue)
	if err != nil {
		t.Fatal(err)
	}
	<-r.Ended()
	await.Until(t, func() bool { return strings.Contains(r.Err().Error(), "money") }, "its last words are not told")
	text := r.Err().Error()
	if !strings.Contains(text, "exit status 7") || !strings.Contains(text, "line 2999") ||
		strings.Contains(text, "line 2995\n") || strings.Contains(text, "\x1b") || !strings.Contains(text, "money") {
		t.Errorf("it says %q", text)
	}
	r.Stop()
	if _, err := (Hook{[]string{"no-such-program-here"}}).Start(t.Context(), venue); err == nil ||
		!strings.Contains(err.Error(), "no program no-such-program-here") {
		t.Errorf("what is not there fails with %v", err)
	}
}

// TestHookStops checks that Stop ends what a command has left behind, and kills what ignores the request. The first
// address that the command prints is its server's.
func TestHookStops(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	for name, script := range map[string]string{
		"one that waits":           "echo $$ > '" + pids + "'; echo hello; echo 198.51.100.3:27961; echo 198.51.100.4:1; sleep 600",
		"one that forks and exits": "echo 198.51.100.3:27961; sleep 600 & echo $! > '" + pids + "'",
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(pids)
			r, err := hook(t, script, "{address}").Start(t.Context(), venue)
			if err != nil {
				t.Fatal(err)
			}
			if got := <-r.Told(); got.String() != "198.51.100.3:27961" {
				t.Errorf("its server is at %v", got)
			}
			pid := 0
			await.Until(t, func() bool {
				text, _ := os.ReadFile(pids)
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return pid != 0
			}, "the script does not run")
			r.Stop()
			await.Until(t, func() bool {
				state, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
				isZombie := strings.Contains(string(state), ") Z ") // it has ended, but its parent has not reaped it
				return isZombie || syscall.Kill(pid, 0) != nil
			}, "process %d still runs", pid)
		})
	}
}
