//go:build linux

package program_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/internal/invite"
)

// TestMusterLinks checks that the desktop's own opener leads from a muster:// link into the room,
// after a yes, once Muster is registered. Hostile links lead nowhere, and unregistering removes
// everything.
func TestMusterLinks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	list := filepath.Join(home, "servers.txt")
	if err := os.WriteFile(list, []byte("127.0.0.1:27960\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := run(t, home, "host", "host", "--game", "openarena", "--servers", list, "--listen", "127.0.0.1:0",
		"--no-play", "--no-mdns", "--no-browser")
	link, err := invite.Parse(host.awaits(`(?m)^link  (http\S+)`)[1], "")
	if err != nil {
		t.Fatal(err)
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	env := append(command(t, home).Env, "XDG_DATA_HOME="+filepath.Join(home, "share"),
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"), "DISPLAY=:99",
		"SSH_CONNECTION=far away, so that nobody is shown a page", "WAYLAND_DISPLAY=", "XDG_CURRENT_DESKTOP=", "BROWSER=")
	does := func(typed string, argv ...string) string {
		t.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Stdin = env, strings.NewReader(typed)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	handler := func() string {
		return strings.TrimSpace(does("", "xdg-mime", "query", "default", "x-scheme-handler/muster"))
	}
	if out := does("", file, "register"); !strings.Contains(out, "muster:// links open") || handler() != "muster-open.desktop" {
		t.Fatalf("registered is %q:\n%s", handler(), out)
	}

	for _, hostile := range []string{"muster://launch/calc", link.URL() + "%0a--launch%20auto", link.URL() + `"--launch-command=calc`} {
		if out := does("y\ny\n", "xdg-open", hostile); strings.Contains(out, "Join it?") || !strings.Contains(out, "no link to a room") {
			t.Errorf("%q is answered\n%s", hostile, out)
		}
	}
	if out := does("\n", "xdg-open", link.URL()); !strings.Contains(out, "Join it? [y/N]") ||
		!strings.Contains(out, link.Host) || !strings.Contains(out, "you haven't joined a room") {
		t.Errorf("without a yes:\n%s", out)
	}
	if out := does("", file, "open", link.URL(), "--launch", "auto"); !strings.Contains(out, "takes one link, and got 3 words") {
		t.Errorf("with words behind the link:\n%s", out)
	}

	opened := exec.Command("xdg-open", link.URL())
	opened.Env, opened.Stdin = env, strings.NewReader("y\nzoe\n")
	opened.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	start(t, "xdg-open", opened)
	t.Cleanup(func() { syscall.Kill(-opened.Process.Pid, syscall.SIGTERM) }) // and what it has opened
	host.awaits(`zoe`)

	if out := does("", file, "register", "--remove"); !strings.Contains(out, "no more") || handler() != "" {
		t.Errorf("after that registered is %q:\n%s", handler(), out)
	}
	if out := does("", file, "register", "--remove"); !strings.Contains(out, "opened nothing of yours") {
		t.Errorf("the second time:\n%s", out)
	}
}
