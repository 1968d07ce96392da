package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"muster/host/store"
)

// startThree starts three servers in this process, as one cluster.
func startThree(t testing.TB) (servers []*server.Server, urls string) {
	t.Helper()
	var routes []*url.URL
	for range 3 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, &url.URL{Scheme: "nats", Host: free.Addr().String()})
		free.Close()
	}
	var all []string
	for i := range routes {
		s := startNATS(t, func(o *server.Options) {
			o.ServerName = fmt.Sprint("n", i)
			o.Cluster = server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: port(t, routes[i])}
			o.Routes = routes
		})
		servers = append(servers, s)
		all = append(all, s.ClientURL())
	}
	eventually(t, "JetStream has a leader and all members", func() bool {
		return slices.ContainsFunc(servers, func(s *server.Server) bool { return s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == 3 })
	})
	return servers, strings.Join(all, ",")
}

func port(t testing.TB, u *url.URL) (port int) {
	t.Helper()
	if _, err := fmt.Sscan(u.Port(), &port); err != nil {
		t.Fatal(err)
	}
	return port
}

// TestThree: on three servers everything is kept thrice; one that ends takes nothing
// with it, and a host that ends with it is replaced.
func TestThree(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	servers, urls := startThree(t)
	all := Config{URL: urls}
	b, c := join(t, all, "b"), join(t, all, "c")
	for _, h := range []*Cluster{b, c} {
		if n := h.rooms.CachedInfo().Config.Replicas; n != 3 {
			t.Errorf("kept on %d servers", n)
		}
	}
	a := join(t, all, "a")
	const rooms = 30
	owners := map[string]store.Claim{}
	for i := range rooms {
		code := fmt.Sprint("ROOM", i)
		own, err := a.Create(ctx, code, "", fmt.Append(nil, i, " 0"))
		if err != nil {
			t.Fatal(err)
		}
		owners[code] = own
	}
	// A server ends while all save: none of it fails, and none is lost.
	var saving sync.WaitGroup
	stop := make(chan struct{})
	last := make([]int, rooms)
	slowest := make([]time.Duration, rooms)
	for i := range rooms {
		saving.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if err := owners[fmt.Sprint("ROOM", i)].Save(ctx, fmt.Append(nil, i, " ", n)); err != nil && !errors.Is(err, store.ErrAway) {
					t.Error(err)
				} else if err == nil {
					last[i] = n
				}
				slowest[i] = max(slowest[i], time.Since(began))
			}
		})
	}
	eventually(t, "a has the others in its list", func() bool { return len(a.Hosts()) == 3 })
	gone := slices.IndexFunc(servers, func(s *server.Server) bool { return s.Name() == a.conn.ConnectedServerName() })
	servers[gone].Shutdown()
	pause(ctx, 500*time.Millisecond)
	close(stop)
	saving.Wait()
	t.Logf("the slowest save took %v", slices.Max(slowest))

	adopted := make(chan string, rooms)
	adopting, enough := context.WithCancel(ctx)
	defer enough()
	for _, h := range []*Cluster{b, c} {
		go func() {
			for code := range h.Adopt(adopting) {
				_, data, err := h.Claim(ctx, code)
				if err != nil {
					continue // it is offered again
				}
				adopted <- code + " " + string(data)
			}
		}()
	}
	began := time.Now()
	a.cancel() // as if killed: its lease stays
	a.conn.Close()
	got := map[string]string{}
	for len(got) < rooms {
		select {
		case text := <-adopted:
			code, data, _ := strings.Cut(text, " ")
			got[code] = data
		case <-time.After(20 * time.Second):
			t.Fatalf("only %d of %d are adopted", len(got), rooms)
		}
	}
	t.Logf("replaced after %v", time.Since(began))
	for i := range rooms {
		if want := fmt.Sprint(i, " ", last[i]); got[fmt.Sprint("ROOM", i)] != want {
			t.Errorf("room %d is %q, acknowledged was %q", i, got[fmt.Sprint("ROOM", i)], want)
		}
	}
}
