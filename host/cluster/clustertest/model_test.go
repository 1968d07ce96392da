package clustertest_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"

	"muster/host/cluster/clustertest"
)

// play plays lines on a new model, with a client that is connected to the first server.
func play(t *testing.T, servers, replicas int, text string) {
	synctest.Test(t, func(t *testing.T) {
		m := clustertest.New(servers)
		t.Cleanup(m.Close)
		nc, err := nats.Connect(m.URL(), nats.SetCustomDialer(m.Line()), nats.DontRandomize(), nats.MaxReconnects(-1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		for _, wrong := range clustertest.Play(nc, text, replicas, func(what string) error { return fault(m, servers, what) }) {
			t.Errorf("%d servers, %d replicas: %s", servers, replicas, wrong)
		}
	})
}

// fault does what a line asks for; the number of a server begins with 1.
func fault(m *clustertest.Model, servers int, what string) error {
	words := strings.Fields(what)
	stream := words[len(words)-1]
	var numbers []int
	for _, word := range words {
		var n int
		if _, err := fmt.Sscan(word, &n); err == nil {
			numbers = append(numbers, n-1)
		}
	}
	verb, _, _ := strings.Cut(strings.TrimRight(what, " 0123456789"), " of")
	if words[0] == "rot" {
		verb = "rot"
	}
	switch verb {
	case "start all":
		for i := range servers {
			m.Start(i)
		}
	case "stop the leader":
		m.Stop(m.Leader(stream))
	case "stop a follower", "stop the followers":
		others := slices.DeleteFunc([]int{0, 1, 2}, func(i int) bool { return i == m.Leader(stream) })
		for _, i := range others[:1+strings.Count(verb, "followers")] {
			m.Stop(i)
		}
	case "stop":
		m.Stop(numbers[0])
	case "start":
		m.Start(numbers[0])
	case "rot":
		m.Rot(m.Leader(stream), words[1])
	case "lose acks":
		m.LoseAcks(stream, 1)
	case "lose the tail":
		m.LoseTail(numbers[0], 1)
	case "cut":
		m.Cut(numbers[0], numbers[1], true)
	case "part", "heal":
		for i := range servers {
			for j := range servers {
				m.Cut(i, j, verb == "part" && i != j && (i == numbers[0] || j == numbers[0]))
			}
		}
	case "slow", "quick":
		m.Slow(numbers[0], verb == "slow")
	case "limit":
		m.Limit(numbers[0], 1)
	case "no limit":
		m.Limit(numbers[0], 0)
	case "fill":
		m.Fill(numbers[0], true)
	case "step down " + stream:
		m.StepDown(stream)
	default:
		if !strings.HasPrefix(what, "lead ") || !m.Lead(stream, numbers[0]) {
			return fmt.Errorf("nobody can do that")
		}
	}
	return nil
}

// TestBehaviours checks that the model answers as nats-server does, which e2e checks with the same
// lines.
func TestBehaviours(t *testing.T) {
	play(t, 1, 1, clustertest.Behaviours)
	play(t, 1, 1, clustertest.BehavioursOfOne)
	play(t, 3, 1, clustertest.Behaviours)
	play(t, 3, 3, clustertest.Behaviours)
	play(t, 3, 3, clustertest.BehavioursOfThree)
}

//go:embed testdata/faults.txt
var faults string

// TestFaults checks what follows from faults that nobody can order of real servers.
func TestFaults(t *testing.T) { play(t, 3, 3, faults) }
