package master_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/discovery/lists/master"
	"muster/discovery/protocol/quake3"
)

// wait is the silence that ends a list in these tests. It is long compared to loopback's round
// trip.
const wait = 200 * time.Millisecond

var impatient = master.Client{Silence: wait}

// conversation is a master's answer to the n-th question, counted from 1.
type conversation func(n int, q quake3.MasterQuery, reply func(...[]byte))

// startMaster answers on a socket of its own until the test ends.
func startMaster(t testing.TB, listen string, answer conversation) (addr netip.AddrPort) {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(listen)))
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		buf := make([]byte, 1500)
		for n := 1; ; n++ {
			size, client, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			q, err := quake3.ParseMasterQuery(buf[:size])
			if err != nil {
				t.Errorf("the master was asked %q: %v", buf[:size], err)
			}
			answer(n, q, func(datagrams ...[]byte) {
				for _, d := range datagrams {
					_, _ = conn.WriteToUDPAddrPort(d, client)
				}
			})
		}
	})
	t.Cleanup(func() { conn.Close(); done.Wait() })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// ask returns a query for one master, with as many questions as there are games.
func ask(at netip.AddrPort, games ...string) master.Query {
	q := master.Query{Master: at.String()}
	for _, game := range games {
		q.Asks = append(q.Asks, quake3.MasterQuery{Game: game, Protocol: 71, Extended: true, Empty: true, Full: true})
	}
	return q
}

// some returns n servers' addresses, IPv6 ones among them.
func some(n int) []netip.AddrPort {
	addrs := make([]netip.AddrPort, n)
	for i := range addrs {
		ip := binary.BigEndian.AppendUint32(nil, 0x64000000+uint32(i))
		if i%8 == 7 {
			ip = slices.Concat([]byte{0x20, 0x01, 0x0d, 0xb8}, ip, make([]byte, 8)) // a network of its own
		}
		a, _ := netip.AddrFromSlice(ip)
		addrs[i] = netip.AddrPortFrom(a, 27960)
	}
	return addrs
}

func datagrams(addrs []netip.AddrPort) [][]byte {
	return slices.Collect(quake3.MasterReplies(addrs, true))
}

func addrsOf(l master.Listing) []netip.AddrPort {
	var addrs []netip.AddrPort
	for _, s := range l.Servers {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// without returns the list with one of its datagrams lost on the way.
func without(list [][]byte, i int) [][]byte { return slices.Delete(slices.Clone(list), i, i+1) }

func TestFetch(t *testing.T) {
	list := some(1000)
	burst := datagrams(list)
	reversed := slices.Clone(burst)
	slices.Reverse(reversed)
	marked := func() (all [][]byte) { // old masters mark every datagram
		for part := range slices.Chunk(list, 50) {
			all = append(all, datagrams(part)...)
		}
		return all
	}()
	tests := []struct {
		name   string
		answer conversation
	}{
		{"a whole list", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(burst...) }},
		{"another part lost each time", func(n int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(without(burst, n)...) }},
		{"the first question lost", func(n int, _ quake3.MasterQuery, reply func(...[]byte)) {
			if n == 2 {
				reply(burst...)
			}
		}},
		{"the second question lost", func(n int, _ quake3.MasterQuery, reply func(...[]byte)) {
			if n == 1 {
				reply(burst...)
			}
		}},
		{"the end mark first", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(reversed...) }},
		{"an end mark in every datagram", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(marked...) }},
		{"no end mark", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) {
			reply(burst[:len(burst)-1]...)
			reply(burst[len(burst)-1][:len(burst[len(burst)-1])-7])
		}},
		{"everything twice", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(burst...); reply(burst...) }},
		{"junk in between", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) {
			reply([]byte("\xff\xff\xff\xffprint\nhello\n"), nil, []byte{0})
			reply(burst...)
		}},
		{"a datagram cut off", func(n int, _ quake3.MasterQuery, reply func(...[]byte)) {
			if n == 1 {
				reply(burst[0][:len(burst[0])-3])
			}
			reply(burst...)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			at := startMaster(t, "127.0.0.1:0", tt.answer)
			got, err := impatient.Fetch(t.Context(), ask(at, "Quake3Arena"))
			if err != nil || len(got.Warnings) != 0 {
				t.Fatalf("%v, warnings %v", err, got.Warnings)
			}
			want := slices.SortedFunc(slices.Values(list), netip.AddrPort.Compare)
			if all := slices.SortedFunc(slices.Values(addrsOf(got)), netip.AddrPort.Compare); !slices.Equal(all, want) {
				t.Errorf("got %d servers, want all %d", len(all), len(want))
			}
		})
	}
}

// A burst of 30,000 servers exceeds the system's default receive buffer; dpmaster sends
// it at full speed.
func TestFetchIsBurstProof(t *testing.T) {
	list := some(30_000)
	burst := datagrams(list)
	at := startMaster(t, "127.0.0.1:0", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(burst...) })
	got, err := impatient.Fetch(t.Context(), ask(at, "Quake3Arena"))
	if err != nil || len(got.Servers) != len(list) {
		t.Errorf("got %d of %d servers, %v", len(got.Servers), len(list), err)
	}
}

func TestFetchAsksWhatTheQuerySays(t *testing.T) {
	for _, tt := range []struct{ asks, want []string }{
		{[]string{"once"}, []string{"once", "once"}},
		{[]string{"mute", "b"}, []string{"mute", "b"}},
		{[]string{"a", "mute", "c"}, []string{"a", "mute", "c"}},
		{[]string{"mute", "b", "mute", "d"}, []string{"mute", "b", "mute", "d"}},
		{[]string{"mute", "mute", "never"}, []string{"mute", "mute"}},
	} {
		t.Run(strings.Join(tt.asks, " "), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []string
			at := startMaster(t, "127.0.0.1:0", func(_ int, q quake3.MasterQuery, reply func(...[]byte)) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, q.Game)
				if q.Game != "mute" {
					reply(datagrams(some(3))...)
				}
			})
			_, err := impatient.Fetch(t.Context(), ask(at, tt.asks...))
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(asked, tt.want) {
				t.Errorf("the master heard %v, want %v (%v)", asked, tt.want, err)
			}
		})
	}
}

func TestFetchFromSeveralMasters(t *testing.T) {
	t.Parallel()
	list := some(30)
	slices.Reverse(list) // no order but the masters'
	secondDone := make(chan struct{})
	first := startMaster(t, "127.0.0.1:0", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) {
		<-secondDone // the slower one still comes first
		reply(datagrams(list[:20])...)
	})
	second := startMaster(t, "127.0.0.1:0", func(n int, _ quake3.MasterQuery, reply func(...[]byte)) {
		reply(datagrams(list[10:])...)
		if n == 1 {
			close(secondDone)
		}
	})
	mute := startMaster(t, "127.0.0.1:0", func(int, quake3.MasterQuery, func(...[]byte)) {})
	got, err := impatient.Fetch(t.Context(), ask(first, "a"), ask(mute, "a"), ask(second, "a"))
	if err != nil || !slices.Equal(addrsOf(got), list) {
		t.Errorf("got %v, %v, want the union in the order of the masters", got.Servers, err)
	}
	if want := "master: " + mute.String() + ": no answer"; len(got.Warnings) != 1 || got.Warnings[0].Error() != want {
		t.Errorf("got warnings %v, want %q", got.Warnings, want)
	}
}

func TestFetchTakesNoStrangersReply(t *testing.T) {
	t.Parallel()
	stranger, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	list := some(4)
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	defer done.Wait()
	defer conn.Close()
	done.Go(func() {
		buf := make([]byte, 1500)
		for {
			_, client, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = stranger.WriteToUDPAddrPort(datagrams(list[2:])[0], client)
			_, _ = conn.WriteToUDPAddrPort(datagrams(list[:2])[0], client)
		}
	})
	at := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	got, err := impatient.Fetch(t.Context(), ask(at, "a"))
	if err != nil || !slices.Equal(addrsOf(got), list[:2]) {
		t.Errorf("got %v, %v, want only the master's %v", got.Servers, err, list[:2])
	}
}

func TestFetchOverIPv6(t *testing.T) {
	t.Parallel()
	probe, err := net.ListenPacket("udp", "[::1]:0")
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skipf("this machine has no IPv6: %v", err)
	}
	probe.Close()
	list := some(20)
	at := startMaster(t, "[::1]:0", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(datagrams(list)...) })
	got, err := impatient.Fetch(t.Context(), ask(at, "a"))
	if err != nil || !slices.Equal(addrsOf(got), list) {
		t.Errorf("got %v, %v", got.Servers, err)
	}
}

func TestFetchByName(t *testing.T) {
	t.Parallel()
	list := some(5)
	at := startMaster(t, "127.0.0.1:0", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(datagrams(list)...) })
	c := master.Client{Silence: wait, Lookup: hosts(map[string]string{
		"v4.example":   "127.0.0.1",
		"both.example": "::1 127.0.0.1", // nobody listens at ::1
	})}
	for _, tt := range []struct {
		master string
		port   uint16
	}{
		{fmt.Sprintf("v4.example:%d", at.Port()), 1},
		{"v4.example", at.Port()},
		{"127.0.0.1", at.Port()},
		{"both.example", at.Port()},
	} {
		q := ask(at, "a")
		q.Master, q.Port = tt.master, tt.port
		got, err := c.Fetch(t.Context(), q)
		if err != nil || !slices.Equal(addrsOf(got), list) {
			t.Errorf("%s, port %d: got %v, %v", tt.master, tt.port, got.Servers, err)
		}
	}
}

func TestFetchFromNobody(t *testing.T) {
	t.Parallel()
	mute := startMaster(t, "127.0.0.1:0", func(int, quake3.MasterQuery, func(...[]byte)) {})
	chatty := startMaster(t, "127.0.0.1:0", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) {
		reply([]byte("\xff\xff\xff\xffinfoResponse\n\\protocol\\71"))
	})
	c := master.Client{Silence: wait, Lookup: hosts(nil)}
	got, err := c.Fetch(t.Context(), ask(mute, "a"), ask(chatty, "a"),
		master.Query{Master: "nowhere.example"}, master.Query{Master: "never.example"}, master.Query{Master: "http://x"})
	var unreachable *master.UnreachableError
	if !errors.As(err, &unreachable) {
		t.Fatalf("got error %v, want an UnreachableError", err)
	}
	want := fmt.Sprintf("master: no master answers: %s: no answer; %s: what answers there is no master; "+
		"nowhere.example, never.example: cannot find the host: no such host; http://x: is no HOST[:PORT]", mute, chatty)
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if !strings.Contains(unreachable.Hint(), "--servers FILE") || len(got.Warnings) != 5 {
		t.Errorf("hint %q, %d warnings", unreachable.Hint(), len(got.Warnings))
	}
	if one, is := errors.AsType[*master.MasterError](err); !is || one.Master != mute.String() {
		t.Errorf("got %v within it, want a MasterError", one)
	}
}

func TestFetchOfAnEmptyList(t *testing.T) {
	t.Parallel()
	at := startMaster(t, "127.0.0.1:0", func(_ int, _ quake3.MasterQuery, reply func(...[]byte)) { reply(datagrams(nil)...) })
	if _, err := impatient.Fetch(t.Context(), ask(at, "a")); !errors.Is(err, master.ErrEmpty) {
		t.Errorf("got error %v, want ErrEmpty", err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	at := startMaster(t, "127.0.0.1:0", func(int, quake3.MasterQuery, func(...[]byte)) { cancel() })
	patient := master.Client{Silence: time.Hour}
	if _, err := patient.Fetch(ctx, ask(at, "a")); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestQueriesAreIndependent(t *testing.T) {
	q := ask(netip.MustParseAddrPort("127.0.0.1:1"), "a")
	before := slices.Clone(q.Asks)
	_, _ = master.Client{Silence: time.Millisecond}.Fetch(t.Context(), q, q)
	if !reflect.DeepEqual(q.Asks, before) {
		t.Errorf("Fetch changed its query to %v", q.Asks)
	}
}
