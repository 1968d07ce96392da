package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"muster/host/store"
)

// TestParseRecord checks which records are valid.
func TestParseRecord(t *testing.T) {
	for text, want := range map[string]error{
		`{"v":1,"epoch":7,"owner":"a","life":"L","claim":3,"write":9,"id":"i","length":10}`: nil,
		`{"v":1,"epoch":7,"over":true}`:                                nil,
		`{"v":1,"epoch":7,"new":"field"}`:                              nil,
		`{"v":1,"epoch":7,"parts":3,"group":"G","sum":"x","length":9}`: nil,
		`{"v":2,"epoch":7,"owner":"a","whatever":[1]}`:                 store.ErrNewer,
		``:                                  errRecord,
		`[]`:                                errRecord,
		`{"epoch":7}`:                       errRecord,
		`{"v":1,"epoch":-1}`:                errRecord,
		`{"v":1,"owner":"a.b"}`:             errRecord,
		`{"v":1,"parts":3}`:                 errRecord,
		`{"v":1,"parts":3,"group":"*"}`:     errRecord,
		`{"v":1,"parts":9999,"group":"G"}`:  errRecord,
		`{"v":1,"length":1000000000}`:       errRecord,
		`{"v":1,"over":true,"owner":"a"}`:   errRecord,
		`{"v":1,"over":true,"length":1}`:    errRecord,
		`{"v":1,"epoch":7,"length":"many"}`: errRecord,
	} {
		if _, err := parseRecord(text); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// FuzzRecord reads arbitrary text as a record's header, a lease and a blob's head.
func FuzzRecord(f *testing.F) {
	f.Add(`{"v":1,"epoch":7,"owner":"a","life":"L","claim":3,"write":9,"id":"i","parts":2,"group":"G","sum":"x","length":9}`)
	f.Add(`{"v":1,"life":"L","adopts":true}`)
	f.Add("1 3 abc")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := parseRecord(text); err == nil {
			again, err := parseRecord(r.header().Get(recordHeader))
			if err != nil || again != r {
				t.Errorf("%+v is %+v when it is read again, %v", r, again, err)
			}
		}
		if l := parseLife([]byte(text)); l.Life != "" && l.Version < 1 {
			t.Errorf("%+v", l)
		}
		if parts, _, ok := parseHead(text); ok && (parts < 1 || parts > maxParts) {
			t.Error(parts)
		}
	})
}

// TestNewerRoom checks that hosts leave a room of a newer version alone, and never lose it.
func TestNewerRoom(t *testing.T) { synctest.Test(t, testNewerRoom) }

func testNewerRoom(t *testing.T) {
	ctx := t.Context()
	w := world(startNATS(t))
	a := join(t, w, "a")
	own, err := a.Create(ctx, "ROOM", "id", []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	newer := map[string]any{"v": recordVersion + 1, "epoch": 2, "owner": "gone", "life": "x", "id": "id", "shape": []int{1}}
	text, err := json.Marshal(newer)
	if err != nil {
		t.Fatal(err)
	}
	m := &nats.Msg{Subject: a.subject("room", "ROOM"), Header: nats.Header{recordHeader: {string(text)}}, Data: []byte("new")}
	if _, err := a.publish(ctx, m, own.(*claim).seq, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a knows", func() bool { return a.Find("ROOM") == store.Place{State: store.Orphaned, Host: "gone", Epoch: 2} })
	if err := own.Save(ctx, []byte("old still")); !errors.Is(err, store.ErrFenced) {
		t.Error(err)
	}
	if _, _, err := a.Claim(ctx, "ROOM"); !errors.Is(err, store.ErrNewer) {
		t.Error(err)
	}
	if codes, _ := a.orphaned(map[string]orphan{}, time.Now().Add(time.Minute)); len(codes) > 0 {
		t.Errorf("%q are to be adopted", codes)
	}
}

// TestRank checks that each room has an order of hosts on which all hosts agree. If a host leaves,
// only its own rooms move.
func TestRank(t *testing.T) {
	four := []string{"a", "b", "c", "d"}
	share, moved := map[string]int{}, 0
	for i := range 1000 {
		code := fmt.Sprint("ROOM", i)
		order := map[int]string{}
		for _, node := range four {
			order[rank(code, node, four)] = node
		}
		if len(order) != 4 {
			t.Fatalf("%s: the hosts do not agree: %v", code, order)
		}
		share[order[0]]++
		for _, node := range four[:3] {
			if order[0] != "d" && rank(code, node, four[:3]) == 0 && order[0] != node {
				moved++
			}
		}
	}
	for _, node := range four {
		if share[node] < 200 {
			t.Errorf("%v", share)
		}
	}
	if moved > 0 {
		t.Errorf("%d rooms moved from living hosts", moved)
	}
}

// TestToken checks that a code or hash cannot change the meaning of a subject.
func TestToken(t *testing.T) {
	for text, want := range map[string]bool{"BAKODI": true, "bäcker": true, "": false, "A.B": false, "*": false,
		">": false, "A B": false, "A\n": false, strings.Repeat("A", 65): false} {
		if isToken(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if got := NodeName("host.example.org"); got != "host-example-org" {
		t.Error(got)
	}
}
