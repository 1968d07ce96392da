package clustertest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"

	"muster/host/cluster/clustertest"
)

func connect(t *testing.T, m *clustertest.Model) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(m.URL(), nats.SetCustomDialer(m.Line()), nats.DontRandomize(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestBehaviours checks that the model answers as nats-server does, which e2e checks with the same
// lines.
func TestBehaviours(t *testing.T) {
	for _, tt := range []struct {
		servers, replicas int
		text              string
	}{
		{1, 1, clustertest.Behaviours}, {1, 1, clustertest.BehavioursOfOne},
		{3, 1, clustertest.Behaviours}, {3, 3, clustertest.Behaviours}, {3, 3, clustertest.BehavioursOfThree},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := clustertest.New(tt.servers)
			t.Cleanup(m.Close)
			fault := func(what string) error {
				verb, of, _ := strings.Cut(what, " of ")
				switch verb {
				case "start all":
					for i := range tt.servers {
						m.Start(i)
					}
				case "stop the leader":
					m.Stop(m.Leader(of))
				case "stop a follower", "stop the followers":
					servers := slices.DeleteFunc([]int{0, 1, 2}, func(i int) bool { return i == m.Leader(of) })
					for _, i := range servers[:1+strings.Count(verb, "followers")] {
						m.Stop(i)
					}
				default:
					return fmt.Errorf("no such fault")
				}
				return nil
			}
			for _, wrong := range clustertest.Play(connect(t, m), tt.text, tt.replicas, fault) {
				t.Errorf("%d servers, %d replicas: %s", tt.servers, tt.replicas, wrong)
			}
		})
	}
}
