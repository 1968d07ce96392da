package cli_test

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/networks"
	"muster/selection/memory"
)

// learnt returns the document of a memory that knows one network from three rooms.
func learnt(at time.Time) []byte {
	m, part := networks.New([32]byte{}), memory.Part{Country: "DE", ASN: 24940, Prefix: netip.MustParsePrefix("198.18.7.0/24")}
	for i := range byte(3) {
		m.Learn(string('a'+i), netip.AddrFrom4([4]byte{203, 0, i, 1}), networks.Network{Country: "NL"}, []memory.Cell{{Part: part, MS: 20}}, at)
	}
	return m.Append(nil)
}

// TestServeMemory checks that an operator sees what a host has learnt, and deletes it while the host
// runs, by the flags and the environment of muster serve.
func TestServeMemory(t *testing.T) {
	rooms := filepath.Join(t.TempDir(), "rooms.db")
	shows := func(want string, args ...string) {
		t.Helper()
		if o := muster(t, append([]string{"serve", "memory"}, args...)...); o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("%v: %+v, want %q", args, o, want)
		}
	}
	if err := os.WriteFile(rooms+".networks", learnt(time.Now()), 0o600); err != nil {
		t.Fatal(err)
	}
	begin(t, "serve", "--listen", "127.0.0.1:0", "--store", rooms).says(t, `(?m)^page `)
	shows("3 distances for players of 1 network, 0.1 kB in "+rooms+".networks; learnt from "+time.Now().UTC().Format(time.DateOnly), "--store", rooms)
	t.Setenv("MUSTER_SERVE_STORE", rooms)
	shows(`"cells":3,"networks":1`, "--json")
	shows("Deleted: 3 distances", "--delete")
	shows("learnt nothing yet")
	var document struct {
		Format  string
		Deleted bool
		Forgot  time.Time
	}
	o := muster(t, "serve", "memory", "--json", "--delete")
	if err := json.Unmarshal([]byte(o.out), &document); err != nil || document.Format != "muster.memory/1" || !document.Deleted || document.Forgot.IsZero() {
		t.Errorf("%+v, %v", o, err)
	}
	if o := muster(t, "serve", "memory", "--nats", "nats://127.0.0.1:1"); o.code != 2 {
		t.Errorf("a file and NATS: %+v", o)
	}
	if err := os.WriteFile(rooms+".networks", []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := muster(t, "serve", "memory"); o.code != 1 || !strings.Contains(o.err, "--delete") {
		t.Errorf("a damaged file: %+v", o)
	}
}
