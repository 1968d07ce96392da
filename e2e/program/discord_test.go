package program_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/freeport"
)

// TestDiscord checks a whole session through Discord: /muster open, two players who come by the card's link, the
// button that begins, the server on the card, and the end. Host and muster-discord are the real programs; a server in
// place of Discord takes the edits.
func TestDiscord(t *testing.T) {
	t.Parallel()
	const token = "A_UNIQUE_TOKEN"
	var mu sync.Mutex
	var edits []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		edits = append(edits, string(body))
	}))
	t.Cleanup(api.Close)
	awaitEdit := func(text string) {
		t.Helper()
		eventually(t, "the card says "+text, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(strings.Join(edits, "\n"), text)
		})
	}
	public, signer, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	const league = "0123456789abcdef0123"
	home, at, answers := t.TempDir(), freeport.TCP(t), freeport.TCP(t)
	list, file, leagues := filepath.Join(home, "list.csv"), filepath.Join(home, "discord.txt"), filepath.Join(home, "leagues.txt")
	config := fmt.Sprintf("host http://%s\nkey %s\napplication 1290000000000000001\npublic-key %x\nsecret 9f2c8e61b7d04a35a1e0\napi %s\n",
		at, league, public, api.URL)
	if err := errors.Join(os.WriteFile(file, []byte(config), 0o600), os.WriteFile(leagues, []byte("discord "+league+" 9\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	fleet := run(t, home, "fleet", "fleet", "--servers", "100", "--world", "css2007", "--master-port", "0", "--write", list)
	eventually(t, "the fleet writes its list", func() bool { return readFile(list) != "" })
	defer fleet.stop(os.Interrupt)
	host := run(t, home, "serve", "serve", "-v", "--listen", at, "--store", filepath.Join(home, "rooms.db"), "--leagues", leagues,
		"--public-url", "http://"+at, "--servers", list)
	host.awaits(`page  http://\S+`)
	bot := start(t, "muster-discord", exec.Command(musterDiscord(t), "-v", "--config", file, "--listen", answers))
	bot.awaits("answering Discord")

	type answer struct {
		Type int
		Data struct {
			Embeds []struct {
				Title, Description string
			}
			Choices    []struct{ Value string }
			Components []struct {
				Components []struct {
					Label, URL string
					CustomID   string `json:"custom_id"`
				}
			}
		}
	}
	sent := 0
	asks := func(request string, replace ...string) (got answer) {
		t.Helper()
		sent++
		replacer := strings.NewReplacer(append(replace, token, fmt.Sprintf("%s%d", token, sent))...)
		body := replacer.Replace(readFile("../../contrib/discord/internal/discord/testdata/" + request + ".json"))
		stamp := fmt.Sprint(time.Now().Unix())
		call, err := http.NewRequest(http.MethodPost, "http://"+answers+"/discord", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		call.Header.Set("X-Signature-Timestamp", stamp)
		call.Header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(signer, []byte(stamp+body))))
		reply, err := http.DefaultClient.Do(call)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		if err := json.NewDecoder(reply.Body).Decode(&got); err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", request, reply.Status, err)
		}
		return got
	}
	const own = `"53908232506183680"`
	presses := func(id string) answer {
		t.Helper()
		return asks("press", "rde.BAKODITALUME.ABCDEFGHIJKLMNOP.c2VhbGVk", id, own, `"80351110224678912"`, `"fr"`, `"en-US"`)
	}
	button := func(a answer, label string) string {
		t.Helper()
		for _, row := range a.Data.Components {
			for _, b := range row.Components {
				if b.Label == label {
					return b.CustomID + b.URL
				}
			}
		}
		t.Fatalf("there is no button %s in %+v", label, a)
		return ""
	}

	card := asks("open", `"locale":"de"`, `"locale":"en-US"`, `,{"name":"players","type":4,"value":2}`, "")
	link := button(card, "Join")
	for name, from := range map[string]string{"ann": "127.200.4.1", "b_o_b": "127.200.9.1"} {
		run(t, t.TempDir(), name, "join", link, "--name", name, "--launch", "never", "--listen-addr", from)
	}
	awaitEdit("2 players here")
	awaitEdit(`b\\_o\\_b`)
	choices := asks("complete", "open ar", "open arenna").Data.Choices
	if len(choices) == 0 || choices[0].Value != "openarena" {
		t.Errorf("a slip finds %+v", choices)
	}
	presses(button(presses(button(card, "Refresh")), "Find our server"))
	awaitEdit("We play OpenArena on")
	played := presses(button(card, "Refresh"))
	if text := played.Data.Embeds[0].Description; !strings.Contains(text, "ms on average") {
		t.Errorf("the card says %s", text)
	}
	if to := button(played, "To the server"); !strings.HasPrefix(to, "http://"+at+"/go/") {
		t.Errorf("the way to the server is %s", to)
	}
	steering := presses(button(played, "Organise"))
	if over := presses(button(steering, "End the room")); over.Data.Embeds[0].Title != "This room is over" {
		t.Errorf("the end: %+v", over)
	}
	awaitEdit("This room is over")
	_, fragment, _ := strings.Cut(button(steering, "Open as organiser"), "#")
	for _, secret := range []string{token, league, fragment, fragment[strings.LastIndexByte(fragment, '.')+1:]} {
		if strings.Contains(host.out.String()+bot.out.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// musterDiscord builds the program for Discord, and returns its path.
func musterDiscord(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "muster-discord")
	if said, err := exec.Command("go", "build", "-C", "../../contrib/discord", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return file
}
