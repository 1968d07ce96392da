package discovery_test

import (
	"reflect"
	"runtime"
	"testing"

	"muster/discovery"
)

// recorded is the conventional plan with a record of the results it was told.
type recorded struct {
	discovery.Plan
	told []discovery.Result
}

func (r *recorded) Observe(result discovery.Result) { r.told = append(r.told, result) }

func answered(server int) discovery.Result {
	return discovery.Result{Server: server, State: discovery.Answered, RTT: 1}
}

// take runs the agenda until it no longer says Go. It answers each probe before the
// next one.
func take(a *discovery.Agenda) (order []discovery.Probe, last discovery.Verdict) {
	for {
		probe, verdict := a.Next()
		if verdict != discovery.Go {
			return order, verdict
		}
		order = append(order, probe)
		a.Observe(answered(probe.Server))
	}
}

func TestAgenda(t *testing.T) {
	const own, asked = discovery.Ordered, discovery.Refining
	tests := []struct {
		name    string
		servers int
		known   []discovery.Result
		ask     []int
		want    []discovery.Probe
	}{
		{"own plan alone", 3, nil, nil, []discovery.Probe{{0, own}, {1, own}, {2, own}}},
		{"requests first", 3, nil, []int{2}, []discovery.Probe{{2, asked}, {0, own}, {1, own}}},
		{"requests outside the own plan", 1, nil, []int{7, 5}, []discovery.Probe{{7, asked}, {5, asked}, {0, own}}},
		{"asked twice", 1, nil, []int{4, 4}, []discovery.Probe{{4, asked}, {0, own}}},
		{"known before", 3, []discovery.Result{answered(0), answered(2)}, []int{2}, []discovery.Probe{{1, own}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := &recorded{Plan: discovery.NewConventional(tt.servers)}
			a := discovery.NewAgenda(plan, tt.known)
			a.Ask(tt.ask)
			got, verdict := take(a)
			if !reflect.DeepEqual(got, tt.want) || verdict != discovery.Stop {
				t.Errorf("probes %v, verdict %v; want %v and a stop", got, verdict, tt.want)
			}
			if len(plan.told) != tt.servers {
				t.Errorf("the own plan was told %v, want each of its %d servers once", plan.told, tt.servers)
			}
		})
	}
}

// TestAskedTimeAndAgain checks that a host that repeats its requests costs no more
// memory than one that asks once.
func TestAskedTimeAndAgain(t *testing.T) {
	servers := make([]int, 1000)
	for i := range servers {
		servers[i] = i
	}
	a := discovery.NewAgenda(discovery.NewConventional(len(servers)), nil)
	a.Ask(servers)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1000 {
		a.Ask(servers)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("a thousand repetitions took %d bytes", took)
	}
}

func TestAgendaUnderWay(t *testing.T) {
	plan := &recorded{Plan: discovery.NewConventional(2)}
	a := discovery.NewAgenda(plan, nil)
	a.Ask([]int{0})
	if probe, _ := a.Next(); probe != (discovery.Probe{Server: 0, Phase: discovery.Refining}) {
		t.Fatalf("first probe %v", probe)
	}
	if probe, _ := a.Next(); probe.Server != 1 {
		t.Fatalf("the own plan repeats server 0: %v", probe)
	}
	a.Observe(answered(0))
	if len(plan.told) != 1 || plan.told[0].Phase != discovery.Ordered {
		t.Errorf("the own plan was told %v, want server 0 as its own probe", plan.told)
	}
}

func TestAgendaGoesAgain(t *testing.T) {
	a := discovery.NewAgenda(discovery.NewConventional(1), nil)
	take(a)
	a.Ask([]int{0, 3})
	if got, verdict := take(a); len(got) != 1 || got[0].Server != 3 || verdict != discovery.Stop {
		t.Errorf("second run: %v, %v", got, verdict)
	}
}

func TestAgendaCutShort(t *testing.T) {
	plan := &recorded{Plan: discovery.NewConventional(2)}
	a := discovery.NewAgenda(plan, nil)
	a.Ask([]int{5})
	a.Next() // the request
	a.Next() // the plan's first server
	a.Resume()
	got, _ := take(a)
	if want := []discovery.Probe{{0, discovery.Refining}, {1, discovery.Ordered}}; !reflect.DeepEqual(got, want) {
		t.Errorf("after a run that was cut short: %v, want %v", got, want)
	}
	if len(plan.told) != 2 {
		t.Errorf("the own plan was told %v, want its two servers", plan.told)
	}
}

// TestAllowedAtLast checks that servers allowed after a run has ended stay pending
// until the next run has seen them.
func TestAllowedAtLast(t *testing.T) {
	a := discovery.NewAgenda(discovery.NewConventional(1), nil)
	a.Hold()
	take(a)
	for _, allowed := range []int{0, 1, 2} { // the last is more than there are
		if a.Allow(allowed); a.Pending() != (allowed > 0) {
			t.Errorf("allowed %d: pending is %v", allowed, a.Pending())
		}
		if take(a); a.Pending() {
			t.Errorf("allowed %d: something is pending after the run", allowed)
		}
	}
	a.Allow(1)
	if a.Hold(); a.Pending() {
		t.Error("what was allowed before it was held again is pending")
	}
}

// TestHeldAgenda checks that a held plan names as many servers as it is allowed, and
// none that was asked for before.
func TestHeldAgenda(t *testing.T) {
	a := discovery.NewAgenda(discovery.NewConventional(6), nil)
	a.Hold()
	a.Ask([]int{1})
	got, verdict := take(a)
	if want := []discovery.Probe{{1, discovery.Refining}}; !reflect.DeepEqual(got, want) || verdict != discovery.Stop {
		t.Errorf("held: probes %v, verdict %v; want %v and a stop", got, verdict, want)
	}
	a.Allow(2)
	a.Ask([]int{5})
	got, verdict = take(a)
	want := []discovery.Probe{{5, discovery.Refining}, {0, discovery.Ordered}, {2, discovery.Ordered}}
	if !reflect.DeepEqual(got, want) || verdict != discovery.Stop {
		t.Errorf("two allowed: probes %v, verdict %v; want %v and a stop", got, verdict, want)
	}
	a = discovery.NewAgenda(discovery.NewConventional(6), nil)
	a.Next()
	a.Hold() // a server named before is not owed
	if got, verdict = take(a); len(got) > 0 || verdict != discovery.Stop {
		t.Errorf("held in the middle: probes %v, verdict %v; want a stop", got, verdict)
	}
}

// TestAgendaDrops checks that requests that are taken back are not asked, and may come again.
func TestAgendaDrops(t *testing.T) {
	a := discovery.NewAgenda(discovery.NewConventional(9), nil)
	a.Hold()
	a.Ask([]int{3, 5, 7})
	a.Next()
	a.Drop()
	a.Ask([]int{8, 5})
	order, _ := take(a)
	if len(order) != 2 || order[0].Server != 8 || order[1].Server != 5 {
		t.Errorf("after some were taken back it asks %v", order)
	}
}
