package program_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/operating"
	"muster/host/wire"
	"muster/internal/freeport"
)

// TestOperate checks that an operator lists, explains, moves and closes rooms of a cluster of two hosts,
// and that the people in them go on, or read why not in their language.
func TestOperate(t *testing.T) {
	t.Parallel()
	nats, _ := startNATS(t)
	homes, hosts := []string{t.TempDir(), t.TempDir()}, []string{freeport.TCP(t), freeport.TCP(t)}
	var serving []*process
	for i := range hosts {
		p := run(t, homes[i], fmt.Sprint("host", i), "serve", "--listen", hosts[i], "--nats", "nats://"+nats,
			"--node", fmt.Sprint("host", i), "--cluster-listen", "127.0.0.1:0")
		p.awaits(`(?m)^page `)
		serving = append(serving, p)
	}
	operate := func(i int, args ...string) (string, error) {
		t.Helper()
		out, err := command(t, homes[i], slices.Concat([]string{"serve"}, args, []string{"--nats", "nats://" + nats, "--node",
			fmt.Sprint("host", i)})...).CombinedOutput()
		return string(out), err
	}
	list := func(i int) (found operating.Listing) {
		t.Helper()
		out, err := operate(i, "rooms", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &found)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return found
	}

	moves, link := opensRoom(t, hosts[0])
	ann := run(t, t.TempDir(), "ann", "join", link, "--name", "ann", "--launch", "never", "--language", "de")
	awaitRoom(t, hosts[0], moves, "ann is in", func(r wire.Document) bool { return memberOf(r, "ann").Connected })
	opensRoom(t, hosts[1])
	var rooms operating.Listing
	eventually(t, "both hosts know both rooms", func() bool {
		rooms = list(1)
		return len(rooms.Rooms) == 2 && len(list(0).Rooms) == 2 && rooms.Rooms[0].Programs == 1
	})
	if rooms.Rooms[0].Host != "host0" || rooms.Rooms[1].Host != "host1" || rooms.Rooms[0].Wanted != 2 || len(rooms.Silent) > 0 {
		t.Errorf("%+v", rooms)
	}
	id := rooms.Rooms[0].ID
	out, err := operate(1, "rooms", "explain", id)
	if err != nil || !strings.Contains(out, "waits for 1 of 2 players to come") || !strings.Contains(out, "player 1") ||
		strings.Contains(out, "ann") || strings.Contains(out, moves) || strings.Contains(out, "127.0.0.1") {
		t.Errorf("%v: %s", err, out)
	}

	if out, err := operate(1, "rooms", "move", id, "--to", "host1"); err != nil || out != "The room is moved to host1.\n" {
		t.Fatalf("%v: %s", err, out)
	}
	awaitRoom(t, hosts[0], moves, "ann is back", func(r wire.Document) bool { return memberOf(r, "ann").Connected })
	eventually(t, "host1 has the room with ann", func() bool {
		r := list(0).Rooms[0]
		return r.ID == id && r.Host == "host1" && r.Programs == 1
	})
	for to, why := range map[string]string{"host1": "on that host already", "host7": "no such host"} {
		if out, err := operate(0, "rooms", "move", id, "--to", to); err == nil || !strings.Contains(out, why) {
			t.Errorf("to %s: %s", to, out)
		}
	}

	page, _, err := websocket.DefaultDialer.Dial("ws://"+hosts[0]+"/live", http.Header{"Origin": {"http://" + hosts[0]}})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	page.SetReadDeadline(time.Now().Add(patience))
	if err := page.WriteJSON(map[string]string{"code": moves}); err != nil {
		t.Fatal(err)
	}
	if _, data, err := page.ReadMessage(); err != nil || !strings.Contains(string(data), `"type":"state"`) {
		t.Fatalf("%s, %v", data, err)
	}
	if out, err := operate(0, "rooms", "close", id, "--reason", "boredom"); err == nil || !strings.Contains(out, "--reason is one of") {
		t.Errorf("%s", out)
	}
	if out, err := operate(0, "rooms", "close", id, "--reason", operating.Maintenance); err != nil || out != "The room is closed.\n" {
		t.Errorf("%v: %s", err, out)
	}
	ann.awaits("der Betreiber dieses Servers hat den Raum für eine Wartung geschlossen")
	for last := ""; !strings.Contains(last, "refused.operator-maintenance"); {
		_, data, err := page.ReadMessage()
		if err != nil {
			t.Fatalf("the page is told %q last", last)
		}
		last = string(data)
	}
	if found := list(0); len(found.Rooms) != 1 || found.Rooms[0].ID == id {
		t.Errorf("%+v", found)
	}

	for range 8 {
		askFrom(t, "127.0.0.9", hosts[0], "BAKODITALU", "")
	}
	if out, err := operate(1, "limits"); err != nil || !regexp.MustCompile(`127\.0\.0\.0/24 +wrong codes +3 `).MatchString(out) {
		t.Errorf("%v: %s", err, out)
	}

	wrong := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(wrong, []byte("ann 0123456789abcdefghij\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := operate(0, "rooms", "--key-file", wrong); err == nil || !strings.Contains(out, "the key is none of this host's") {
		t.Errorf("%s", out)
	}
	keys := filepath.Join(homes[0], "state", "muster", "operators")
	if info, err := os.Stat(keys); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	text := readFile(keys)
	if err := os.WriteFile(keys, []byte(text+"\nann 0123456789abcdefghij\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := operate(0, "rooms", "--key-file", wrong); err != nil || !strings.HasSuffix(out, "1 room\n") {
		t.Errorf("%v: %s", err, out)
	}
	log := serving[0].out.String()
	for _, want := range []string{
		`level=AUDIT msg=operator audit=true who=operator what=close room=` + id + ` detail=maintenance outcome=done`,
		`who="" what="show a key" outcome="wrong key"`, `who=ann what=list outcome=done`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if strings.Contains(log, "0123456789abcdefghij") || strings.Contains(log, strings.Fields(text)[1]) {
		t.Error("the log has a key")
	}
	serving[0].stop(os.Interrupt)
	if out, err := operate(0, "rooms"); err == nil || !strings.Contains(out, "no muster serve runs here") {
		t.Errorf("%s", out)
	}
}
