package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/hosttest"
	"muster/host/public"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

func guide(t *testing.T, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(found[1]))
	}
	if len(blocks) == 0 {
		t.Fatalf("docs/api.md has nothing for %s", language)
	}
	return blocks
}

// needs skips a test that cannot run here. The gate skips none.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		}
	}
}

// TestGuideCommands runs the commands of docs/api.md. Each must succeed.
func TestGuideCommands(t *testing.T) {
	needs(t, "sh", "curl")
	h, server := serve(t, everybody(public.Limits{Rooms: 1, PerAddress: 1}))
	known := []string{"HOST=" + server.URL, "no_proxy=*", "PATH=" + os.Getenv("PATH")}
	for _, block := range guide(t, "sh") {
		block = regexp.MustCompile(`(?m)^[A-Z]+=.*`).ReplaceAllString(block, "") // the test knows better values
		command := exec.CommandContext(t.Context(), "sh", "-ec", `curl() { command curl -sSf "$@"; }`+"\n"+block)
		command.Env = known
		command.Stderr = os.Stderr
		said, err := command.Output()
		if err != nil {
			t.Fatalf("%v:\n%s", err, block)
		}
		// The last line names a room, or a person's token.
		var opened wire.Opened
		var entry struct{ Token string }
		last := said[strings.LastIndexByte(strings.TrimSpace(string(said)), '\n')+1:]
		json.Unmarshal(last, &opened)
		json.Unmarshal(last, &entry)
		if opened.OrganiserLink != "" {
			keys := h.Keys(opened.Code)
			known = append(known, "CODE="+opened.Code, "KEY="+keys.Link, "SECRET="+keys.Secret)
		}
		if entry.Token != "" {
			known = append(known, "TOKEN="+entry.Token)
		}
	}
	if len(known) != 7 {
		t.Errorf("the commands have told %q", known)
	}
}

// TestGuideProgram runs the program of docs/api.md in a room whose players find a server.
func TestGuideProgram(t *testing.T) {
	needs(t, "python3")
	config := everybody(public.Limits{Rooms: 1, PerAddress: 1})
	held := clocktest.Hold(noon)
	var list []discovery.Server
	for i := range 40 {
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, 0, byte(i), 1}), 27960), Country: "NL", ASN: 1000})
	}
	config.List = func(context.Context, string) ([]discovery.Server, error) { return slices.Clone(list), nil }
	config.Clock = held.Clock()
	h, server := serve(t, config)
	file := filepath.Join(t.TempDir(), "room.py")
	if err := os.WriteFile(file, []byte(guide(t, "python")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), "python3", file, server.URL)
	program.Env = append(os.Environ(), "no_proxy=*")
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	_, link, found := strings.Cut(first, "#")
	if err != nil || !found {
		t.Fatalf("the program says %q, %v", first, err)
	}
	code, _, _ := strings.Cut(link, "_")
	for _, name := range []string{"ann", "bob"} {
		go join(t, server, code, name).Plays(hosttest.Script{RTT: func(server int) time.Duration {
			return time.Duration(20+server) * time.Millisecond
		}})
	}
	(&night{t, h, held, code}).passesUntil(launches)
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	if said := string(rest); !strings.Contains(said, "launching with ann, bob\nEverybody plays at ") {
		t.Errorf("the program says\n%s", said)
	}
}
