//go:build linux

package program_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// router is a real router in a network namespace of its own, with a machine behind it.
type router struct {
	*testing.T
	pid     int    // of a process on the router
	machine string // of a process on the machine
}

func startRouter(t *testing.T) *router {
	t.Helper()
	cmd := exec.Command("unshare", "-n", "bash", "-euc", `. ../../internal/portmap/testdata/router.sh; echo "$machine"; cat >/dev/null`)
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hold.Close(); cmd.Wait() })
	lines := bufio.NewReader(said)
	machine, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the router: %v", err)
	}
	go io.Copy(io.Discard, lines)
	return &router{t, cmd.Process.Pid, strings.TrimSpace(machine)}
}

// forwards returns how many ports the router has opened.
func (r *router) forwards() int {
	r.Helper()
	out, err := exec.Command("nsenter", "-t", fmt.Sprint(r.pid), "-n", "nft", "list", "chain", "inet", "filter",
		"prerouting_miniupnpd").CombinedOutput()
	if err != nil {
		r.Fatalf("nft: %v\n%s", err, out)
	}
	return strings.Count(string(out), "dnat")
}

// TestRouterIsAskedOnce checks muster host behind a router. If somebody can answer, it asks once
// whether it may ask the router to let friends in, and obeys the answer from then on. Without a yes
// it leaves the router alone.
func TestRouterIsAskedOnce(t *testing.T) {
	t.Parallel()
	r := startRouter(t)
	servers := writeFile(t, "servers.txt", "10.9.0.2:27960\n")
	const question = "May Muster ask your router to let friends in"
	yes, no := t.TempDir(), t.TempDir()
	for _, step := range []struct {
		name, home, typed string // at a terminal; nothing typed is none
		more              string
		says              string
		not               []string
		config            string
		forwards          int
	}{
		{"nobody is there", yes, "", "", "--public-url URL", []string{question}, "", 0},
		{"a yes", yes, "y\n", "", "muster join http://5.6.7.8:7777/#", nil, "port_map = true\n", 1},
		{"remembered, nobody is there", yes, "", "", "muster join http://5.6.7.8:7777/#",
			[]string{question, "Three ways"}, "port_map = true\n", 1},
		{"remembered at a terminal", yes, "\n", "", "muster join http://5.6.7.8:7777/#",
			[]string{question, "Three ways"}, "port_map = true\n", 1},
		{"not this time", yes, "\n", "--port-map=false", "press Enter when everyone is here", []string{question}, "port_map = true\n", 0},
		{"Enter is a no", no, "\n", "", "Muster leaves the router alone", []string{"muster join http://5.6.7.8"}, "port_map = false\n", 0},
		{"a no is remembered", no, "\n", "", "press Enter when everyone is here", []string{question}, "port_map = false\n", 0},
		{"just this time", no, "", "--port-map", "muster join http://5.6.7.8:7777/#", []string{question, "Three ways"}, "port_map = false\n", 1},
	} {
		muster := command(t, step.home, "host", "--game", "openarena", "--servers", servers, "--no-play", "--no-mdns", "--no-browser", "--new")
		if step.more != "" {
			muster.Args = append(muster.Args, step.more)
		}
		argv := append([]string{"-t", r.machine, "-n"}, muster.Args...)
		if step.typed != "" {
			argv = []string{"-t", r.machine, "-n", "script", "-qefc", strings.Join(muster.Args, " "), "/dev/null"}
		}
		cmd := exec.Command("nsenter", argv...)
		cmd.Env = append(muster.Env, "SHELL=/bin/sh")
		typed, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, step.name, cmd)
		if step.typed != "" && !slices.Contains(step.not, question) {
			p.awaits("May Muster ask your router to let friends in")
			io.WriteString(typed, step.typed)
		}
		p.awaits(strings.NewReplacer(".", `\.`).Replace(step.says))
		if got := r.forwards(); got != step.forwards {
			t.Errorf("%s: the router has opened %d ports, want %d", step.name, got, step.forwards)
		}
		for _, not := range step.not {
			if strings.Contains(p.out.String(), not) {
				t.Errorf("%s: it says %q", step.name, not)
			}
		}
		text, _ := os.ReadFile(filepath.Join(step.home, "config", "muster", "config.toml"))
		if string(text) != step.config {
			t.Errorf("%s: config.toml is %q, want %q", step.name, text, step.config)
		}
		if step.typed != "" {
			io.WriteString(typed, "\x03") // Ctrl-C
			<-p.done
		}
		p.stop(os.Interrupt)
		eventually(t, "the port is closed", func() bool { return r.forwards() == 0 })
	}
}

// TestRouterPassesOnBeacon checks that a yes in the room opens the port of a player who could host,
// at once. The port is closed with the room. Without a yes no port is opened.
func TestRouterPassesOnBeacon(t *testing.T) {
	t.Parallel()
	r := startRouter(t)
	servers := writeFile(t, "servers.txt", "10.9.0.2:27960\n")
	for _, step := range []struct {
		name, typed, says string
		forwards          int
	}{
		{"a no", "n\n", "press Enter when everyone is here", 0},
		{"a yes", "y\n", `forwards\s+UDP\s+port\s+7787[^:]+:\s+others\s+measure\s+this\s+computer\s+at\s+5\.6\.7\.8:7787`, 2},
	} {
		muster := command(t, t.TempDir(), "host", "--game", "openarena", "--servers", servers, "--can-host",
			"--no-mdns", "--no-browser", "--new", "--lan", "off", "--name", "ann")
		cmd := exec.Command("nsenter", "-t", r.machine, "-n", "script", "-qefc", strings.Join(muster.Args, " "), "/dev/null")
		cmd.Env = append(muster.Env, "SHELL=/bin/sh")
		typed, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, step.name, cmd)
		p.awaits("May Muster ask your router to let friends in")
		if strings.Contains(p.out.String(), "forwards UDP port") {
			t.Errorf("%s: the router is asked before", step.name)
		}
		io.WriteString(typed, step.typed)
		p.awaits(`measure\s+this\s+computer\s+at\s+UDP\s+port\s+7787`)
		p.awaits(step.says)
		eventually(t, step.name+" is followed", func() bool { return r.forwards() == step.forwards })
		io.WriteString(typed, "\x03") // Ctrl-C
		<-p.done
		eventually(t, "the ports are closed", func() bool { return r.forwards() == 0 })
	}
}

// TestRouterGivesAnotherPort checks a router on which another machine has the usual port of
// beacons. A friend elsewhere then measures the player who could host at the port that the router
// gave.
func TestRouterGivesAnotherPort(t *testing.T) {
	t.Parallel()
	r := startRouter(t)
	friend := exec.Command("unshare", "-n", "sleep", "300")
	if err := friend.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { friend.Process.Kill(); friend.Wait() })
	of := map[string]string{"router": fmt.Sprint(r.pid), "machine": r.machine, "friend": fmt.Sprint(friend.Process.Pid)}
	in := func(where string, command ...string) error {
		out, err := exec.Command("nsenter", append([]string{"-t", of[where], "-n"}, command...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %v: %w\n%s", where, command, err, out)
		}
		return nil
	}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the friend has a network namespace", func() bool { // unshare makes it first, and then runs sleep
		of, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", friend.Process.Pid))
		return err == nil && of != own
	})
	if err := in("router", "ip", "link", "set", "nobody0", "netns", of["friend"]); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ where, command string }{
		{"friend", "ip link set lo up"}, {"friend", "ip addr add 5.6.7.9/24 dev nobody0"}, {"friend", "ip link set nobody0 up"},
		{"router", "nft add rule inet filter forward iifname lan0 accept"},
		{"router", "nft add rule inet filter forward ct state established accept"},
		{"router", "nft add rule inet filter postrouting oifname wan0 masquerade"}, {"router", "sysctl -qw net.ipv4.ip_forward=1"},
		{"machine", "ip addr add 10.9.0.3/24 dev machine0"},
	} {
		if err := in(step.where, strings.Fields(step.command)...); err != nil {
			t.Fatal(err)
		}
	}
	becomes := func(addr string) { // to the router, which identifies clients by address
		t.Helper()
		for _, to := range []string{"10.9.0.0/24 dev machine0", "default via 10.9.0.1"} {
			if err := in("machine", strings.Fields("ip route replace "+to+" src "+addr)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	plays := func(where, name string, args ...string) *process {
		muster := command(t, t.TempDir(), args...)
		cmd := exec.Command("nsenter", append([]string{"-t", of[where], "-n"}, muster.Args...)...)
		cmd.Env = muster.Env
		return start(t, name, cmd)
	}
	becomes("10.9.0.3")
	another := plays("machine", "another machine", "beacon", "--port-map")
	another.awaits(`forwards\s+UDP\s+port\s+7787`)
	another.stop(os.Kill) // the router keeps the mapping for an hour
	becomes("10.9.0.2")
	if err := in("machine", "ip", "addr", "del", "10.9.0.3/24", "dev", "machine0"); err != nil { // otherwise ann would answer there, too
		t.Fatal(err)
	}
	common := []string{"--can-host", "--no-browser", "--lan", "off", "--launch", "never"}
	bob := plays("friend", "bob",
		append([]string{"host", "--game", "openarena", "--servers", writeFile(t, "servers.txt", "5.6.7.9:1\n"),
			"--players", "2", "--no-mdns", "--name", "bob"}, common...)...)
	ann := plays("machine", "ann", append([]string{"join", bob.awaits(`(?m)^link  (\S+)$`)[1], "--port-map", "--name", "ann"}, common...)...)
	ann.awaits(`others\s+measure\s+this\s+computer\s+at\s+5\.6\.7\.8:\d`)
	bob.awaits(`host\s+it\s+on\s+ann's\s+computer`)
}
