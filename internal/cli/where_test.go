package cli_test

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"muster/discovery/protocol/beacon"
	"muster/internal/cli"
	"muster/internal/echo"
)

// answersAt starts a beacon on this machine until the test ends.
func answersAt(t *testing.T) (at string) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		echo.New("x", echo.Bounds{Each: 100, All: 100}).Serve(t.Context(), conn)
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return conn.LocalAddr().String()
}

// placesOut is what muster where and muster places print as JSON.
type placesOut struct {
	Format string
	Places []struct {
		Name, Provider, Region, Country, State string
		RTT                                    float64 `json:"rtt_ms"`
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	places := writeFile(t, "where.txt", "Nowhere, "+nobody+", tcp\nFrankfurt, "+answersAt(t)+"\nPigeons, 127.0.0.1:1, pigeon\n")
	more := writeFile(t, "more.txt", "Frankfurt, "+answersAt(t)+"\n")
	got := muster(t, "where", "--places", "none", "--places", places, "--places", more)
	if got.code != 2 || !strings.Contains(got.err, "up to 2 machines will see your address") || !strings.Contains(got.err, "--yes") {
		t.Errorf("unasked: %+v", got)
	}
	got = muster(t, "where", "openarena", "--places", places, "--places", more, "--yes", "--json")
	var out placesOut
	if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != 0 || out.Format != "muster.places/1" || len(out.Places) != 2 {
		t.Fatalf("%+v: %v", got, err)
	}
	if best, other := out.Places[0], out.Places[1]; best.Name != "Frankfurt" || best.State != "answered" || best.RTT <= 0 ||
		other.Name != "Nowhere" || other.State == "answered" || other.RTT != 0 {
		t.Errorf("%+v", out.Places)
	}
	silent := writeFile(t, "silent.txt", "Nowhere, "+nobody+", tcp\n")
	got = muster(t, "where", "--places", silent, "--yes")
	if got.code != 3 || !strings.Contains(got.out, "Nowhere") || !strings.Contains(got.err, "none of 1 places answered") ||
		!strings.Contains(got.err, "hint: ") {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"--places", "none", "--yes"}, {"a", "b"}} {
		if got := muster(t, append([]string{"where"}, args...)...); got.code != 2 {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// TestPlaces checks that the built-in places are listed without asking any.
func TestPlaces(t *testing.T) {
	var out placesOut
	if err := json.Unmarshal([]byte(succeeds(t, "places", "--json")), &out); err != nil || out.Format != "muster.places/1" || len(out.Places) != 125 {
		t.Fatalf("%d places: %v", len(out.Places), err)
	}
	for _, p := range out.Places {
		if p.Name == "" || p.Provider == "" || p.Region == "" || len(p.Country) != 2 || p.State != "unprobed" || p.RTT != 0 {
			t.Errorf("%+v", p)
		}
	}
	got := muster(t, "places")
	if !strings.Contains(got.out, "Frankfurt") || !strings.Contains(got.out, "fra-de") || !strings.Contains(got.err, "125 machines in 74 places, as of ") {
		t.Errorf("%+v", got)
	}
}

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
