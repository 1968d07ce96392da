package program_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
)

// beside is a muster rpc beside a launcher.
type beside struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	lines *bufio.Scanner
	log   *buffer
	ended chan error
}

func launchRPC(t *testing.T) *beside {
	t.Helper()
	b := &beside{t: t, cmd: command(t, t.TempDir(), "rpc", "-v"), log: &buffer{}, ended: make(chan error, 1)}
	b.cmd.Stderr = b.log
	var err [2]error
	b.in, err[0] = b.cmd.StdinPipe()
	b.out, err[1] = b.cmd.StdoutPipe()
	if err[0] != nil || err[1] != nil || b.cmd.Start() != nil {
		t.Fatal(err)
	}
	b.lines = bufio.NewScanner(b.out)
	b.lines.Buffer(nil, 16<<20)
	go func() { b.ended <- b.cmd.Wait() }()
	t.Cleanup(func() {
		b.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("muster rpc logs:\n%s", b.log)
		}
	})
	return b
}

// call makes a call, and returns the members of its result or error.
func (b *beside) call(method string, params any) map[string]any {
	b.t.Helper()
	fmt.Fprintf(b.in, `{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`+"\n", method, method, inJSON(b.t, params))
	return b.answer(method)
}

func (b *beside) answer(id any) map[string]any {
	b.t.Helper()
	for b.lines.Scan() {
		var said struct {
			Version       string `json:"jsonrpc"`
			ID            any
			Method        string
			Result, Error map[string]any
		}
		if err := json.Unmarshal(b.lines.Bytes(), &said); err != nil || said.Version != "2.0" {
			b.t.Fatalf("muster rpc writes %s", b.lines.Bytes())
		}
		switch {
		case said.Method != "" || said.ID != id:
		case said.Error != nil:
			return said.Error
		default:
			return said.Result
		}
	}
	b.t.Fatalf("muster rpc says no more: %v", b.lines.Err())
	return nil
}

// maxMemory returns the most memory that a process has had, in kB.
func (b *beside) maxMemory() (kB int) {
	b.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		b.t.Fatal(err)
	}
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(most, &kB); err != nil {
		b.t.Fatal(err)
	}
	return kB
}

// endsSoon checks that a muster rpc ends, and logs how long that takes. On an idle machine it takes
// at most two seconds.
func (b *beside) endsSoon(what string) {
	b.t.Helper()
	began := time.Now()
	select {
	case <-b.ended:
		b.t.Logf("%s: it takes %v to end", what, time.Since(began).Round(time.Millisecond))
	case <-time.After(patience):
		b.t.Fatalf("%s: muster rpc goes on", what)
	}
}

// TestLauncherMisbehaves checks that a launcher which writes 100 MB without a line feed, reads nothing
// or dies takes no memory, and leaves neither a room nor a program behind. Nothing that lets anybody into
// the room is in the log.
func TestLauncherMisbehaves(t *testing.T) {
	t.Parallel()
	listen, params := partyOf(t, t.TempDir())
	ann, bob := launchRPC(t), launchRPC(t)
	ann.call("hello", map[string]any{"version": 1})
	before := ann.maxMemory()
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		if _, err := ann.in.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(ann.in, "\n")
	if said := ann.answer(nil); said["code"] != -32700.0 {
		t.Errorf("a line of 100 MB is answered %v", said)
	}
	after := ann.maxMemory()
	if t.Logf("a line of 100 MB: at most %d kB before, %d kB after", before, after); after-before > 20<<10 {
		t.Errorf("a line of 100 MB takes %d kB", after-before)
	}
	opened := ann.call("host", params)
	code, _ := opened["code"].(string)
	if code == "" {
		t.Fatalf("there is no room: %v", opened)
	}
	entered := bob.call("join", map[string]any{"link": opened["link"], "name": "bob", "listen_addr": "127.200.9.1"})
	if entered["name"] != "bob" {
		t.Fatalf("bob is not in: %v", entered)
	}
	if said := bob.call("start", map[string]any{"room": entered["room"]}); said["code"] != -32002.0 {
		t.Errorf("bob starts the round of ann's room: %v", said)
	}
	found := ann.call("discover", map[string]any{
		"game": "openarena", "servers_file": params["servers_file"], "listen_addr": "127.200.4.1", "nearest": 5,
	})
	if servers, _ := found["servers"].([]any); found["format"] != "muster.report/1" || len(servers) == 0 {
		t.Errorf("discover finds %v", found)
	}
	if said := ann.call("start", map[string]any{"room": opened["room"]}); len(said) > 0 {
		t.Errorf("the round does not start: %v", said)
	}
	// Nobody reads what either program writes about the search.
	awaitRoom(t, listen, code, "the room chooses", func(r wire.Document) bool { return r.Stage == wire.Chosen })
	bob.out.Close() // bob's launcher is gone
	bob.endsSoon("a broken pipe")
	ann.in.Close()
	ann.endsSoon("the end of the input")
	if _, is := room(t, listen, code); is {
		t.Error("the room goes on")
	}
	for _, secret := range []string{code, opened["link"].(string), opened["page"].(string)[len(opened["link"].(string)):]} {
		if strings.Contains(ann.log.String()+bob.log.String(), secret) {
			t.Errorf("the log tells %q", secret)
		}
	}
}
