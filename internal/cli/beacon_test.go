package cli_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"muster/discovery/protocol/beacon"
	"muster/internal/cli"
)

// TestBeacon checks that a beacon prints the line for friends, answers at that address, and reports
// at the end what it did.
func TestBeacon(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, err, ended := &buffer{}, &buffer{}, make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"beacon", "--listen", "127.0.0.1:0", "--name", "Frank, furt #1"},
			cli.Streams{In: strings.NewReader(""), Out: out, Err: err})
	}()
	for !strings.Contains(err.String(), "Ctrl-C") {
		select {
		case code := <-ended:
			t.Fatalf("it ended with %d\n%s", code, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	name, at, _ := strings.Cut(strings.TrimSpace(out.String()), ", ")
	if name != "Frank furt 1" {
		t.Errorf("it says %q", out)
	}
	conn, dialErr := net.Dial("udp", at)
	if dialErr != nil {
		t.Fatal(dialErr)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	conn.Write(beacon.Protocol{}.AppendQuery(nil, 7, nil))
	b := make([]byte, 100)
	n, readErr := conn.Read(b)
	if reply, parseErr := (beacon.Protocol{}).Parse([][]byte{b[:n]}); readErr != nil || parseErr != nil ||
		!reply.Answers(7) || reply.Info.Name != "Frank, furt #1" {
		t.Errorf("%+v, %v, %v", reply, readErr, parseErr)
	}
	stop()
	if code := <-ended; code != 0 || !strings.Contains(err.String(), "1 question answered") {
		t.Errorf("it ended with %d\n%s", code, err)
	}
}

// TestCanHost checks that a player who can host answers as a beacon while in the room.
func TestCanHost(t *testing.T) {
	t.Parallel()
	h := begin(t, "host", "--game", "openarena", "--servers", writeFile(t, "servers.txt", "127.0.0.1:1\n"), "--listen",
		"127.0.0.1:0", "--no-browser", "--no-mdns", "--lan", "off", "--can-host")
	port := h.says(t, `programs\s+measure\s+this\s+computer\s+at\s+UDP\s+port\s+(\d+)`)[1]
	conn, err := net.Dial("udp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	conn.Write(beacon.Protocol{}.AppendQuery(nil, 7, nil))
	b := make([]byte, 100)
	n, err := conn.Read(b)
	if reply, parseErr := (beacon.Protocol{}).Parse([][]byte{b[:n]}); err != nil || parseErr != nil || !reply.Answers(7) {
		t.Errorf("%+v, %v, %v", reply, err, parseErr)
	}
	h.types(t, "end")
	h.exits(t, 0)
}

func TestBeaconWrongUse(t *testing.T) {
	for _, args := range [][]string{{"--listen", "nowhere"}, {"--each", "0"}, {"--listen", "127.0.0.1:99999"}} {
		if got := muster(t, append([]string{"beacon"}, args...)...); got.code != 2 {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
